"""Tessera files in Pillow."""

import io

import numpy as np
import pytest
import tessera
from conftest import PHOTO, ramp
from PIL import Image, ImageCms


def saved(image, **options):
    file = io.BytesIO()
    image.save(file, "TESSERA", **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_modes_come_back(mode, tmp_path):
    image = Image.fromarray(ramp(60, 80, len(mode)), mode) if mode != "L" else Image.fromarray(ramp(60, 80))
    image.save(tmp_path / "x.tsr", quality=90)
    with Image.open(tmp_path / "x.tsr") as back:
        assert (back.format, back.mode, back.size) == ("TESSERA", mode, (80, 60))
        difference = np.abs(np.asarray(back).astype(int) - np.asarray(image).astype(int))
    assert difference.mean() < 3


def test_lossless_and_preview_are_options():
    image = Image.open(PHOTO).convert("RGB").crop((0, 0, 300, 200))
    file = saved(image, lossless=True, preview=True, effort=1)
    assert tessera.preview(file.getvalue()) is not None
    assert (np.asarray(Image.open(file)) == np.asarray(image)).all()


@pytest.mark.parametrize("mode, becomes", [("1", "L"), ("P", "RGB"), ("RGBX", "RGB")])
def test_other_modes_are_converted(mode, becomes):
    image = Image.open(PHOTO).convert("RGB").crop((0, 0, 64, 64)).convert(mode)
    assert Image.open(saved(image)).mode == becomes


def test_palettes_keep_their_transparency():
    image = Image.new("P", (32, 32))
    image.putpalette([0, 0, 0, 255, 0, 0] + [0] * 762)
    image.paste(1, (8, 8, 24, 24))
    back = Image.open(saved(image.copy(), quality=95, transparency=0))
    assert back.mode == "RGB", "an option is not what the picture is"
    image.info["transparency"] = 0
    back = Image.open(saved(image, quality=95))
    assert back.mode == "RGBA" and back.getpixel((2, 2))[3] < 8 and back.getpixel((16, 16))[3] > 247


def test_gray_of_16_bits_keeps_them():
    deep = ramp(50, 40, 1, np.uint16)
    image = Image.fromarray(deep)
    back = Image.open(saved(image, quality=100))
    assert back.mode == "I;16"
    assert np.abs(np.asarray(back).astype(int) - deep).mean() < 200
    ten = tessera.encode(np.full((9, 9), 1023, np.uint16), depth=10)
    assert Image.open(io.BytesIO(ten)).getpixel((4, 4)) > 65000, "white is white"
    colour = tessera.encode(ramp(50, 40, 3, np.uint16), quality=100)
    eight = Image.open(io.BytesIO(colour))
    assert eight.mode == "RGB" and eight.info["bits"] == 16
    assert np.abs(np.asarray(eight).astype(int) - ramp(50, 40, 3)).mean() < 2


def test_modes_without_meaning_are_refused():
    with pytest.raises(OSError, match="mode CMYK"):
        saved(Image.new("CMYK", (8, 8)))


def test_opening_reads_the_header_only(photo, monkeypatch, tmp_path):
    path = tmp_path / "x.tsr"
    path.write_bytes(tessera.encode(photo, effort=1))
    damaged = bytearray(path.read_bytes())
    damaged[-200:] = b"\0" * 200
    path.write_bytes(bytes(damaged))
    image = Image.open(path)
    assert image.size == (256, 192)
    with pytest.raises(OSError):
        image.load()


def test_metadata_goes_both_ways():
    exif = Image.Exif()
    exif[0x010E] = "a ramp"
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    image = Image.fromarray(ramp(40, 40, 3))
    back = Image.open(saved(image, exif=exif, icc_profile=profile, xmp=b"<x:xmpmeta/>"))
    assert back.getexif()[0x010E] == "a ramp"
    assert back.info["icc_profile"] == profile and back.info["xmp"] == b"<x:xmpmeta/>"
    again = Image.open(saved(back))
    assert again.getexif()[0x010E] == "a ramp" and again.info["icc_profile"] == profile
    jpeg = io.BytesIO()
    again.save(jpeg, "JPEG", exif=again.getexif())
    assert Image.open(saved(Image.open(jpeg))).getexif()[0x010E] == "a ramp"
    assert not Image.open(saved(back, exif=b"", icc_profile=b"", xmp=b"")).info.keys() & {"exif", "xmp", "icc_profile"}


def test_settings_reach_the_encoder(photo):
    image = Image.fromarray(photo)
    small, large = saved(image, quality=20), saved(image, quality=95)
    assert len(small.getbuffer()) < len(large.getbuffer()) / 3
    assert saved(image, quality=60, effort=2).getvalue() == tessera.encode(photo, quality=60, effort=2)
    with pytest.raises(ValueError):
        saved(image, quality=200)


def test_region_draft_and_thumbnail(photo):
    file = saved(Image.fromarray(photo))
    whole = np.asarray(Image.open(file))
    part = Image.open(file).region((10, 20, 90, 100))
    np.testing.assert_array_equal(np.asarray(part), whole[20:100, 10:90])
    image = Image.open(file)
    image.draft("RGB", (60, 40))
    assert image.size == (64, 48) and np.asarray(image).shape == (48, 64, 3)
    thumbnail = Image.open(file)
    thumbnail.thumbnail((50, 50))
    assert thumbnail.size == (50, 38)


def test_copies_conversions_and_closing(photo, tmp_path):
    path = tmp_path / "x.tsr"
    Image.fromarray(photo).save(path)
    with Image.open(path) as image:
        gray = image.convert("L")
        copy = image.copy()
    assert gray.size == copy.size == (256, 192)
    path.unlink()
    np.testing.assert_array_equal(np.asarray(copy), np.asarray(image))


def test_learned_dictionaries(photo, tmp_path, monkeypatch):
    from test_dictionary import other_dictionary

    own = other_dictionary()
    file = saved(Image.fromarray(photo), dictionary=own)
    image = Image.open(file)
    assert image.info["dictionary"] == own.id
    monkeypatch.setenv("TESSERA_DICT_PATH", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    with pytest.raises(tessera.DictionaryError, match=own.id):
        image.load()
    image.dictionary = own
    image.load()
    own.save(tmp_path / "own.tsd")
    np.testing.assert_array_equal(np.asarray(Image.open(file)), np.asarray(image))


def test_names_and_types_are_registered():
    assert Image.registered_extensions()[".tsr"] == "TESSERA"
    assert Image.MIME["TESSERA"] == "image/x-tessera"


def test_foreign_files_are_left_to_others():
    with pytest.raises(OSError, match="cannot identify"):
        Image.open(io.BytesIO(b"nothing that anyone knows"))
