"""Arrays to files and back."""

from __future__ import annotations

import os
from typing import Any, BinaryIO, Sequence

import numpy as np
import numpy.typing as npt

from ._errors import ParameterError
from ._native import CodedImage, Dictionary, Encoder
from ._native import compare as _compare
from ._native import preview as _preview

__all__ = ["compare", "decode", "encode", "preview"]


def encode(
    array: npt.ArrayLike,
    *,
    quality: int | None = None,
    target_size: int | None = None,
    target_psnr: float | None = None,
    effort: int = 5,
    tune: str = "visual",
    threads: int = 0,
    dictionary: Dictionary | None = None,
    depth: int | None = None,
    exif: bytes | None = None,
    icc_profile: bytes | None = None,
    xmp: bytes | None = None,
    cicp: tuple[int, int, bool] | None = None,
    keep_alpha: bool = False,
    preview: bool = False,
    lossless: bool = False,
) -> bytes:
    """Encode an array to the bytes of a file.

    Parameters
    ----------
    array : ndarray of uint8 or uint16
        ``height x width`` (gray) or ``height x width x channels`` with 1 (gray), 2 (gray and alpha), 3 (RGB) or
        4 (RGBA) channels.
    quality : int, optional
        From 0 (smallest) to 100 (almost indistinguishable); 75 if no target is given.
    target_size : int, optional
        The best picture in at most this many bytes, instead of a quality.
    target_psnr : float, optional
        The smallest file with at least this PSNR in decibels, instead of a quality.
    effort : int
        How hard to search, from 1 (fast) to 9 (smallest files).
    tune : {"visual", "psnr"}
        Spend bits on what people see, or on the squared error.
    threads : int
        0 is one per core. The bytes do not depend on it.
    dictionary : Dictionary, optional
        A learned dictionary; the receiver needs the same one.
    depth : {8, 10, 12, 16}, optional
        Bits per sample that count; those of the array's type if not given.
    exif, icc_profile, xmp : bytes, optional
        Metadata that travels with the picture.
    cicp : (primaries, transfer, full range), optional
        What the colours mean, in numbers of ITU-T H.273: ``(9, 16, True)`` is BT.2020 with PQ.
    keep_alpha : bool
        Store alpha even when every pixel is opaque.
    preview : bool
        Put a small picture of about a kilobyte in front; see :func:`preview`.
    lossless : bool
        Keep every sample, instead of a quality.

    Examples
    --------
    >>> import numpy as np, tessera
    >>> ramp = np.linspace(0, 255, 64 * 48, dtype=np.uint8).reshape(48, 64)
    >>> file = tessera.encode(ramp, quality=80)
    >>> len(file) < ramp.nbytes // 10
    True
    >>> tessera.decode(file).shape
    (48, 64)
    >>> len(tessera.encode(ramp, target_size=200)) <= 200
    True
    >>> bool((tessera.decode(tessera.encode(ramp, lossless=True)) == ramp).all())
    True
    """
    encoder = Encoder(
        quality=quality,
        target_size=target_size,
        target_psnr=target_psnr,
        effort=effort,
        tune=tune,
        threads=threads,
        dictionary=dictionary,
        keep_alpha=keep_alpha,
        preview=preview,
        lossless=lossless,
    )
    return encoder.encode(
        _samples(array), depth=depth, exif=exif, icc_profile=icc_profile, xmp=xmp, cicp=cicp
    )


def preview(source: bytes | str | os.PathLike[str] | BinaryIO) -> npt.NDArray[np.uint8] | None:
    """Decode the small picture in front of a file, or ``None`` if it has none.

    The beginning of the file is enough, up to the end of the preview; of a shorter one there is a ``FormatError``.

    Examples
    --------
    >>> import numpy as np, tessera
    >>> ramp = np.linspace(0, 255, 600 * 400, dtype=np.uint8).reshape(400, 600)
    >>> file = tessera.encode(ramp, preview=True)
    >>> max(tessera.preview(file[:1100]).shape) <= 256
    True
    >>> tessera.preview(tessera.encode(ramp)) is None
    True
    """
    return _preview(source)


def decode(
    source: bytes | str | os.PathLike[str] | BinaryIO,
    *,
    region: tuple[int, int, int, int] | None = None,
    reduce: int = 1,
    max_side: int | None = None,
    dictionary: Dictionary | None = None,
    threads: int = 0,
    max_pixels: int | None = None,
    max_memory: int | None = None,
) -> npt.NDArray[Any]:
    """Decode a file to an array, of uint8 or, for more than 8 bits, of uint16.

    Parameters
    ----------
    source : bytes, path or binary file object
        Of a path or a file object only what is needed is read.
    region : (left, upper, right, lower), optional
        Decode only these pixels, and only the tiles they lie in.
    reduce : {1, 2, 4, 8}
        Decode to so many times smaller sides.
    max_side : int, optional
        Decode so that neither side is longer.
    dictionary : Dictionary, optional
        The one the file was encoded with, if it is neither built in nor installed (``tessera dict install``).
    threads : int
        0 is one per core. The pixels do not depend on it.
    max_pixels, max_memory : int, optional
        Refuse files that ask for more pixels or bytes; 2**29 and 2**32 if not given.

    Examples
    --------
    >>> import numpy as np, tessera
    >>> file = tessera.encode(np.full((100, 150, 3), 90, dtype=np.uint8))
    >>> tessera.decode(file, region=(70, 10, 90, 19)).shape
    (9, 20, 3)
    >>> tessera.decode(file, max_side=30).shape
    (20, 30, 3)
    >>> tessera.decode(file, max_pixels=1000)
    Traceback (most recent call last):
        ...
    tessera.LimitsError: decoding needs 15000 pixels, above the limit of 1000; raise the limit if you trust the file
    """
    coded = CodedImage(
        source, dictionary=dictionary, threads=threads, max_pixels=max_pixels, max_memory=max_memory
    )
    return coded.decode(region=region, reduce=reduce, max_side=max_side)


def compare(
    reference: npt.ArrayLike,
    distorted: npt.ArrayLike,
    metrics: Sequence[str] = ("psnr-yuv", "ssimulacra2"),
) -> dict[str, float | None]:
    """How far a picture is from its original, by the metrics of ``tessera compare``.

    There are ``psnr-y``, ``psnr-yuv``, ``psnr-rgb``, ``ms-ssim`` (dB), ``ms-ssim-linear``, ``ssimulacra2`` and
    ``butteraugli`` (3-norm). One that pictures this small do not have is ``None``.

    Examples
    --------
    >>> import numpy as np, tessera
    >>> gray = np.full((64, 64), 100, dtype=np.uint8)
    >>> tessera.compare(gray, gray + np.uint8(1), ["psnr-y"])
    {'psnr-y': 48.1308036086791}
    """
    values = _compare(_samples(reference), _samples(distorted), list(metrics))
    return dict(zip(metrics, values))


def _samples(array: npt.ArrayLike) -> npt.NDArray[Any]:
    """An array as the encoder takes it: contiguous, in the byte order of the machine."""
    array = np.asarray(array)
    if array.dtype.kind != "u" or array.dtype.itemsize > 2:
        raise ParameterError(
            f"an array of {array.dtype} cannot be encoded; convert it to uint8 or uint16"
        )
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
