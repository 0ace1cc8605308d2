"""Packs: many pictures in one file."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Iterator

import numpy.typing as npt

from ._native import CodedImage, Dictionary, PackFile, pack_files

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Pack"]


class Pack(Mapping[str, Any]):
    """The pictures of a pack (``tessera pack``), by name.

    Opening reads the index; a picture is read when it is asked for, and nothing else of the file. The dictionary that
    the pictures were coded with is in the pack.

    Parameters
    ----------
    source : bytes, path or binary file object
        Of a path or a file object only what is needed is read.
    threads, max_pixels, max_memory : int, optional
        As for ``tessera.decode``.

    Examples
    --------
    >>> import numpy as np, tessera
    >>> logo = tessera.encode(np.full((64, 48, 3), 90, dtype=np.uint8))
    >>> pack = tessera.Pack(tessera.Pack.build({"forms/logo": logo, "empty": logo}))
    >>> len(pack), list(pack)
    (2, ['empty', 'forms/logo'])
    >>> pack["forms/logo"].shape
    (64, 48, 3)
    >>> pack.open("forms/logo").decode(region=(0, 0, 9, 5)).shape
    (5, 9, 3)
    >>> pack.image("empty").size
    (48, 64)
    """

    def __init__(
        self,
        source: bytes | str | os.PathLike[str] | BinaryIO,
        *,
        threads: int = 0,
        max_pixels: int | None = None,
        max_memory: int | None = None,
    ):
        self._pack = PackFile(source, threads=threads, max_pixels=max_pixels, max_memory=max_memory)
        self._sizes = dict(zip(self._pack.names(), self._pack.sizes()))

    @staticmethod
    def build(files: Mapping[str, bytes], *, dictionary: Dictionary | None = None) -> bytes:
        """The bytes of a pack with these pictures, given as ``.tsr`` files by name.

        They were coded with ``dictionary``, which goes into the pack, or with the built-in one. ``tessera pack`` makes
        packs of folders, and chooses dictionary and qualities for all pictures together.
        """
        return pack_files(list(files.items()), dictionary)

    @property
    def names(self) -> list[str]:
        """The names of all pictures, in order."""
        return list(self._sizes)

    @property
    def dictionary(self) -> Dictionary | None:
        """The dictionary in the pack; ``None`` if the pictures need none but the built-in one."""
        return self._pack.dictionary

    def nbytes(self, name: str) -> int:
        """Bytes that a picture takes in the pack."""
        return self._sizes[name]

    def open(self, name: str) -> CodedImage:
        """A picture whose header is read: its size, its metadata, and regions or smaller versions of it."""
        return self._pack.coded(name)

    def image(self, name: str) -> Image.Image:
        """A picture for Pillow, with its metadata; it is decoded when its pixels are asked for."""
        from .pillow import TesseraImageFile

        image = TesseraImageFile(io.BytesIO(self.file(name)))
        image.dictionary = self.dictionary
        return image

    def file(self, name: str) -> bytes:
        """A picture as the bytes of a ``.tsr`` file, which needs the dictionary of the pack."""
        return self._pack.file(name)

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self.open(name).decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self._sizes)

    def __len__(self) -> int:
        return len(self._sizes)

    def __contains__(self, name: object) -> bool:
        return name in self._sizes

    # A mapping compares what it holds; nobody wants all pictures decoded for that.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<tessera.Pack of {len(self)} pictures>"
