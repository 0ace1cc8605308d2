"""Arrays to files and back."""

import io
import threading
import time

import numpy as np
import pytest
import tessera
from conftest import ramp


def psnr(a, b, peak):
    return 10 * np.log10(peak**2 / np.mean((a.astype(float) - b.astype(float)) ** 2))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_all_kinds_of_arrays_come_back(channels, dtype):
    array = ramp(70, 90, channels, dtype)
    back = tessera.decode(tessera.encode(array, quality=90))
    assert back.shape == array.shape and back.dtype == array.dtype
    assert psnr(array, back, np.iinfo(dtype).max) > 38


@pytest.mark.parametrize("depth", [10, 12])
def test_depths_between_are_kept(depth):
    array = ramp(40, 40, 3, np.uint16) >> (16 - depth)
    file = tessera.encode(array, quality=95, depth=depth)
    assert tessera.CodedImage(file).depth == depth
    back = tessera.decode(file)
    assert back.max() < 2**depth and psnr(array, back, 2**depth - 1) > 38


def test_one_channel_with_an_axis_is_gray():
    array = ramp(30, 20)
    assert tessera.encode(array[..., None]) == tessera.encode(array)


def test_views_and_byte_orders_do_not_matter(photo):
    file = tessera.encode(photo[::-1, ::2], effort=1)
    assert file == tessera.encode(photo[::-1, ::2].copy(), effort=1)
    deep = ramp(20, 20, 1, np.uint16)
    assert tessera.encode(deep.astype(">u2")) == tessera.encode(deep)


def test_threads_change_nothing(photo):
    files = {tessera.encode(photo, effort=3, threads=threads) for threads in (1, 2, 5)}
    assert len(files) == 1
    (file,) = files
    arrays = [tessera.decode(file, threads=threads) for threads in (1, 4)]
    np.testing.assert_array_equal(*arrays)


def test_lossless_keeps_every_sample(photo):
    deep = np.random.default_rng(0).integers(0, 65536, (30, 20, 3)).astype(np.uint16)
    for array in (photo, deep):
        back = tessera.decode(tessera.encode(array, lossless=True, effort=1))
        assert back.dtype == array.dtype and (back == array).all()
    with pytest.raises(tessera.ParameterError, match="lossless"):
        tessera.encode(photo, lossless=True, quality=50)


def test_quality_effort_tune_and_targets_have_a_say(photo):
    sizes = [len(tessera.encode(photo, quality=quality, effort=1)) for quality in (20, 60, 95)]
    assert sizes == sorted(sizes) and sizes[0] < sizes[2] / 3
    assert tessera.encode(photo, tune="psnr") != tessera.encode(photo)
    assert len(tessera.encode(photo, target_size=6000)) <= 6000
    decoded = tessera.decode(tessera.encode(photo, target_psnr=36))
    assert tessera.compare(photo, decoded, ["psnr-rgb"])["psnr-rgb"] >= 36


def test_region_and_smaller_sizes(photo):
    file = tessera.encode(photo, effort=1)
    whole = tessera.decode(file)
    np.testing.assert_array_equal(tessera.decode(file, region=(30, 20, 101, 77)), whole[20:77, 30:101])
    assert tessera.decode(file, reduce=4).shape == (48, 64, 3)
    assert tessera.decode(file, max_side=100).shape == (75, 100, 3)


class Counting(io.BytesIO):
    """A file object that knows how much of it was read."""

    total = 0

    def read(self, size=-1):
        read = super().read(size)
        self.total += len(read)
        return read


def test_sources_of_all_kinds_and_only_what_is_needed(photo, tmp_path):
    file = tessera.encode(np.tile(photo, (8, 8, 1)), effort=1, quality=50)
    path = tmp_path / "photo.tsr"
    path.write_bytes(file)
    whole = tessera.decode(file)
    for source in (path, str(path), io.BytesIO(file)):
        np.testing.assert_array_equal(tessera.decode(source), whole)
    counting = Counting(file)
    coded = tessera.CodedImage(counting)
    assert (coded.width, coded.height, coded.mode) == (2048, 1536, "RGB")
    assert counting.total < 600, "the header and the table of tiles"
    coded.decode(region=(0, 0, 20, 20))
    assert counting.total < len(file) / 2


def test_metadata_travels(photo):
    blocks = {"exif": b"MM\0*\0\0\0\x08\0\0", "icc_profile": b"p" * 300, "xmp": b"<x/>"}
    coded = tessera.CodedImage(tessera.encode(photo[:32, :32], **blocks))
    assert dict(coded.metadata()) == blocks


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 4), np.float32),
        np.zeros((4, 4), np.int16),
        np.zeros((4, 4), np.uint32),
        np.zeros(16, np.uint8),
        np.zeros((4, 4, 5), np.uint8),
        np.zeros((0, 4), np.uint8),
        np.zeros((1, 70000), np.uint8),
    ],
)
def test_what_is_no_picture_is_refused(array):
    with pytest.raises(tessera.ParameterError):
        tessera.encode(array)


@pytest.mark.parametrize(
    "settings",
    [
        {"quality": 101},
        {"quality": 300},
        {"quality": -1},
        {"target_size": -5},
        {"threads": -1},
        {"quality": 50, "target_size": 1000},
        {"effort": 0},
        {"effort": 10},
        {"tune": "ssim"},
        {"depth": 12},
        {"target_psnr": float("nan")},
    ],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ValueError):
        tessera.encode(ramp(8, 8), **settings)


def test_unreachable_targets_say_how_far_it_goes(photo):
    with pytest.raises(tessera.TargetError, match="smaller than"):
        tessera.encode(photo, target_size=50)


def test_damaged_and_foreign_files_are_errors_that_say_why(photo, tmp_path):
    file = tessera.encode(photo, effort=1)
    with pytest.raises(tessera.FormatError, match="not a Tessera picture"):
        tessera.decode(b"\x89PNG....")
    with pytest.raises(tessera.FormatError, match="truncated|damaged|ends"):
        tessera.decode(file[:-100])
    hurt = bytearray(file)
    hurt[len(file) // 2] ^= 0x55
    with pytest.raises(tessera.FormatError):
        tessera.decode(bytes(hurt))
    with pytest.raises(FileNotFoundError, match="nowhere.tsr"):
        tessera.decode(tmp_path / "nowhere.tsr")
    assert issubclass(tessera.FormatError, OSError) and issubclass(tessera.FormatError, tessera.TesseraError)


def test_regions_outside_are_refused():
    file = tessera.encode(ramp(20, 30))
    for region in [(0, 0, 31, 10), (5, 5, 5, 9), (9, 0, 3, 4), (-3, 0, 4, 4), (0, 0, 2**40, 4)]:
        with pytest.raises(tessera.ParameterError):
            tessera.decode(file, region=region)
    with pytest.raises(tessera.ParameterError):
        tessera.decode(file, reduce=3)


def test_other_threads_run_while_one_encodes(photo):
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    tessera.encode(np.tile(photo, (3, 3, 1)), effort=5, threads=1)
    end = time.perf_counter()
    done.set()
    thread.join()
    during = sum(start < tick < end for tick in ticks)
    assert during > 20, f"{during} turns in {end - start:.2f} s: the lock was held"


def test_ctrl_c_is_heard():
    import signal
    import subprocess
    import sys

    program = (
        "import time, numpy as np, tessera\n"
        "tile = np.random.default_rng(1).integers(0, 256, (1024, 1024, 3), dtype=np.uint8)\n"
        "def encode(picture, said=None):\n"
        "    start = time.process_time()\n"
        "    try:\n        if said: print(said, flush=True)\n"
        "        tessera.encode(picture, effort=3, threads=1)\n"
        "    except KeyboardInterrupt:\n        print('interrupted', flush=True)\n"
        "    return time.process_time() - start\n"
        "one, picture = encode(tile), np.tile(tile, (6, 6, 1))\n"
        "print(encode(picture, 'ready') / one, flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        said, tiles = child.communicate(timeout=300)[0].split()
    finally:
        child.kill()
    assert said == "interrupted"
    assert float(tiles) < 12, f"{tiles} of 36 tiles were encoded all the same"
