"""Tessera files in Pillow: ``Image.open`` and ``Image.save`` know them once ``tessera`` is imported.

>>> import io, tessera
>>> from PIL import Image
>>> picture = Image.new("RGB", (120, 80), "teal")
>>> file = io.BytesIO()
>>> picture.save(file, "TESSERA", quality=80, effort=5)
>>> opened = Image.open(file)
>>> opened.format, opened.size, opened.mode
('TESSERA', (120, 80), 'RGB')
"""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageFile

from ._native import CodedImage, Encoder

__all__ = ["TesseraImageFile", "register"]

FORMAT = "TESSERA"
MAGIC = b"\xd4\x53"
EXTENSION = ".tsr"
MIME = "image/x-tessera"

# Pillow has no mode of several channels above 8 bits; only gray keeps its depth.
_DEEP_GRAY = "I;16"
_MODES = {"1": "L", "P": "RGBA", "PA": "RGBA", "La": "LA", "RGBa": "RGBA", "RGBX": "RGB"}
_AS_THEY_ARE = ("L", "LA", "RGB", "RGBA", _DEEP_GRAY)


class TesseraImageFile(ImageFile.ImageFile):
    """A Tessera file in Pillow. Opening reads the header and the metadata, loading decodes.

    ``dictionary`` may be set between the two, if the one that the file needs (``info["dictionary"]``) is neither built
    in nor installed.
    """

    format = FORMAT
    format_description = "Tessera still image"
    dictionary = None
    _reduce = 1

    def _open(self):
        self._coded = CodedImage(self.fp)
        self._size = (self._coded.width, self._coded.height)
        deep = self._coded.depth > 8
        self._mode = _DEEP_GRAY if deep and self._coded.mode == "L" else self._coded.mode
        self.info["dictionary"] = self._coded.dictionary_id
        self.info["bits"] = self._coded.depth
        self.info.update(self._coded.metadata())
        self.tile = []

    def draft(self, mode, size):
        """Have the picture decoded 2, 4 or 8 times smaller, but not below ``size``; ``thumbnail`` calls this."""
        if self._coded is None or self._reduce != 1 or size is None:
            return None
        width, height = self.size
        fits = [n for n in (8, 4, 2) if width // n >= size[0] and height // n >= size[1]]
        if not fits:
            return None
        self._reduce = fits[0]
        self._size = tuple(max(1, (side + self._reduce // 2) // self._reduce) for side in self.size)
        return self.mode, (0, 0, width / self._reduce, height / self._reduce)

    def load(self):
        """Decode the pixels, once."""
        if self._coded is not None:
            coded = self._coded
            if self.dictionary is not None:
                coded = CodedImage(self.fp, dictionary=self.dictionary)
            pixels = coded.decode(reduce=self._reduce)
            self._take(pixels)
            self._coded = None
            if self._exclusive_fp and self._close_exclusive_fp_after_loading:
                self.fp.close()
            self.fp = None
        return super().load()

    def region(self, box):
        """The pixels of ``(left, upper, right, lower)``, decoded from the tiles they lie in and no others."""
        if self._coded is None:
            return self.crop(box)
        coded = self._coded
        if self.dictionary is not None:
            coded = CodedImage(self.fp, dictionary=self.dictionary)
        return _image(self.mode, _pixels(coded.decode(region=box), self.mode, coded.depth))

    def _take(self, pixels):
        pixels = _pixels(pixels, self.mode, self._coded.depth)
        self.im = _image(self.mode, pixels).im
        self._size = (pixels.shape[1], pixels.shape[0])


def _pixels(pixels, mode, depth):
    """Samples of the depth that a mode has."""
    if mode == _DEEP_GRAY:
        # White stays white.
        return pixels if depth == 16 else (pixels << (16 - depth)) | (pixels >> (2 * depth - 16))
    return pixels if depth == 8 else (pixels >> (depth - 8)).astype(np.uint8)


def _image(mode, pixels):
    height, width = pixels.shape[:2]
    return Image.frombytes(mode, (width, height), pixels.tobytes())


def _accept(prefix):
    return prefix[:2] == MAGIC


def _save(image, file, filename):
    options = image.encoderinfo
    metadata = {
        "icc_profile": options.get("icc_profile", image.info.get("icc_profile")),
        "exif": _exif(options.get("exif", image.info.get("exif"))),
        "xmp": options.get("xmp", image.info.get("xmp")),
    }
    known = (
        *("quality", "target_size", "target_psnr", "lossless", "effort", "tune"),
        *("threads", "dictionary", "keep_alpha", "preview"),
    )
    settings = {name: options[name] for name in known if options.get(name) is not None}
    present = {name: block for name, block in metadata.items() if block}
    file.write(Encoder(**settings).encode(_samples(image), **present))


def _exif(exif):
    """EXIF without the prefix that JPEG puts before it."""
    if isinstance(exif, Image.Exif):
        exif = exif.tobytes()
    return exif[6:] if exif and exif.startswith(b"Exif\0\0") else exif


def _samples(image):
    """The samples of an image."""
    if image.mode.startswith(_DEEP_GRAY):
        return np.asarray(image).astype(np.uint16)
    if image.mode == "P" and "transparency" not in image.info:
        image = image.convert("RGB")
    mode = _MODES.get(image.mode, image.mode)
    if mode not in _AS_THEY_ARE:
        raise OSError(
            f"cannot write mode {image.mode} as Tessera; convert the picture to L, LA, RGB or RGBA first"
        )
    image = image if image.mode == mode else image.convert(mode)
    return np.asarray(image)


def register():
    """Tell Pillow about Tessera files; ``import tessera`` does so."""
    Image.register_open(FORMAT, TesseraImageFile, _accept)
    Image.register_save(FORMAT, _save)
    Image.register_extension(FORMAT, EXTENSION)
    Image.register_mime(FORMAT, MIME)
