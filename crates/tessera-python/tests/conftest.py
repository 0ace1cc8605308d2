"""What several tests need."""

import math
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[3]
PHOTO = ROOT / "fixtures/photos/coffee.png"


def ramp(height, width, channels=1, dtype=np.uint8):
    """A smooth picture with some structure, different in every channel."""
    y, x = np.mgrid[0:height, 0:width]
    most = np.iinfo(dtype).max
    planes = [
        (0.5 + 0.25 * np.sin(x / (7 + c)) + 0.25 * np.cos(y / (9 + 2 * c))) * most for c in range(channels)
    ]
    array = np.stack(planes, axis=-1).astype(dtype)
    return array[..., 0] if channels == 1 else array


@pytest.fixture(scope="session")
def photo():
    """The samples of a photograph, 256 x 192."""
    from PIL import Image

    small = np.asarray(Image.open(PHOTO).convert("RGB"))
    return np.tile(small, (2, 2, 1))[:192, :256].copy()


@pytest.fixture(scope="session")
def collection(tmp_path_factory):
    """Pictures that are alike, and a file that is none."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("collection")
    rng = np.random.default_rng(3)
    for i in range(5):
        y, x = np.mgrid[0:64, 0:80]
        wave = 128 + 60 * np.sin((x + 3 * i) / 3.1) + 40 * np.sin((x * 0.3 + y) / 2.3)
        picture = np.clip(wave + rng.normal(0, 4, wave.shape), 0, 255).astype(np.uint8)
        Image.fromarray(picture).save(folder / f"{i}.png")
    (folder / "notes.png").write_bytes(b"no picture")
    return folder


@pytest.fixture(scope="session")
def trained_here(collection):
    """What one machine learns from it, and what it told on the way."""
    import tessera

    heard = []
    # So few pictures pay for next to nothing; here that does not matter.
    settings = {"references": False, "expected": math.inf, "threads": 2}
    trained = tessera.train(collection, progress=lambda *step: heard.append(step), **settings)
    return trained, heard
