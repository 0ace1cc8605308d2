"""Packs, read by name."""

import io
from pathlib import Path

import numpy as np
import pytest
import tessera
from conftest import ROOT, ramp

PACKS = ROOT / "fixtures/conformance/packs"


class Counting(io.BytesIO):
    """A file that counts the bytes read from it."""

    read_bytes = 0

    def read(self, size=-1):
        data = super().read(size)
        self.read_bytes += len(data)
        return data


@pytest.fixture(scope="module")
def files():
    """Small pictures of several kinds."""
    pictures = {"gray": ramp(40, 30), "sub/colour": ramp(90, 150, 3), "sub/deep": ramp(20, 20, 1, np.uint16)}
    return {name: tessera.encode(array, effort=1, exif=name.encode()) for name, array in pictures.items()}


def test_a_pack_is_a_mapping_of_arrays(files, tmp_path):
    path = tmp_path / "all.tsp"
    path.write_bytes(tessera.Pack.build(files))
    for source in (path, str(path), path.read_bytes(), open(path, "rb")):
        pack = tessera.Pack(source)
        assert pack.names == sorted(files) == list(pack) and len(pack) == 3
        assert "gray" in pack and "nobody" not in pack and pack.get("nobody") is None
        for name, array in pack.items():
            np.testing.assert_array_equal(array, tessera.decode(files[name]))
            assert pack.file(name) == files[name] and 0 < pack.nbytes(name) < len(files[name])
    assert pack.dictionary is None and "3 pictures" in repr(pack)
    assert pack == pack and pack != tessera.Pack(path)
    with pytest.raises(KeyError, match="nobody"):
        pack["nobody"]


def test_regions_sizes_and_metadata_are_there_without_decoding_all(files):
    pack = tessera.Pack(tessera.Pack.build(files))
    coded = pack.open("sub/colour")
    assert (coded.width, coded.height, coded.mode) == (150, 90, "RGB")
    assert dict(coded.metadata()) == {"exif": b"sub/colour"}
    whole = tessera.decode(files["sub/colour"])
    np.testing.assert_array_equal(coded.decode(region=(20, 10, 70, 40)), whole[10:40, 20:70])
    assert coded.decode(max_side=50).shape == (30, 50, 3)
    with pytest.raises(tessera.LimitsError):
        tessera.Pack(tessera.Pack.build(files), max_pixels=100)["gray"]


def test_pillow_gets_pictures_out_of_a_pack(files):
    pack = tessera.Pack(tessera.Pack.build(files))
    image = pack.image("sub/colour")
    assert image.size == (150, 90) and image.info["exif"] == b"sub/colour"
    np.testing.assert_array_equal(np.asarray(image), pack["sub/colour"])
    assert pack.image("sub/deep").mode == "I;16"


def test_one_picture_is_read_without_the_rest(files):
    many = {f"{i:05}": files["sub/colour"] for i in range(500)}
    file = Counting(tessera.Pack.build(many))
    pack = tessera.Pack(file)
    opened = file.read_bytes
    pack["00250"]
    assert opened < 10_000 and file.read_bytes - opened < 3 * len(files["sub/colour"])


def test_the_dictionary_travels_in_the_pack(photo):
    own = tessera.Dictionary.builtin().with_provenance("ours")
    coded = tessera.encode(photo, effort=1, dictionary=own)
    pack = tessera.Pack(tessera.Pack.build({"photo": coded}, dictionary=own))
    assert pack.dictionary.id == own.id
    expected = tessera.decode(coded, dictionary=own)
    np.testing.assert_array_equal(pack["photo"], expected)
    np.testing.assert_array_equal(np.asarray(pack.image("photo")), expected)
    with pytest.raises(tessera.DictionaryError):
        tessera.Pack.build({"photo": coded})


def test_what_is_no_pack_is_refused_in_a_sentence(files, tmp_path):
    with pytest.raises(tessera.FormatError, match="no pack"):
        tessera.Pack(files["gray"])
    with pytest.raises(FileNotFoundError, match="nosuch"):
        tessera.Pack(tmp_path / "nosuch.tsp")
    with pytest.raises(tessera.ParameterError, match="no name"):
        tessera.Pack.build({"../up": files["gray"]})
    damaged = bytearray(tessera.Pack.build(files))
    damaged[60] ^= 1
    pack = tessera.Pack(bytes(damaged))
    with pytest.raises(tessera.FormatError, match="damaged"):
        [array for array in pack.values()]


def test_conforming_packs_are_read_and_others_refused():
    lines = [line.split("\t") for line in (PACKS / "manifest.tsv").read_text().splitlines()]
    assert len(lines) > 8
    for file in {line[0] for line in lines}:
        pack = tessera.Pack(PACKS / file)
        assert pack.names == [line[1] for line in lines if line[0] == file], file
        assert all(array.size for array in pack.values()), file
    refused = [Path(line.split("\t")[0]) for line in (PACKS / "refused.tsv").read_text().splitlines()]
    assert len(refused) > 8
    for file in refused:
        with pytest.raises((tessera.FormatError, tessera.DictionaryError)):
            for array in tessera.Pack(PACKS / file).values():
                assert array.size
