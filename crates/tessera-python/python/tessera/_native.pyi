"""The part that is Rust; ``tessera`` exports what is public of it."""

import os
from typing import Any, BinaryIO, Callable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

_Source = Union[bytes, str, "os.PathLike[str]", BinaryIO]
_Csr = tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]

class Dictionary:
    @classmethod
    def open(cls, path: Union[str, "os.PathLike[str]"]) -> Dictionary: ...
    @staticmethod
    def from_bytes(data: bytes) -> Dictionary: ...
    @staticmethod
    def builtin() -> Dictionary: ...
    @staticmethod
    def find(identity: str) -> Dictionary: ...
    @property
    def id(self) -> str: ...
    @property
    def provenance(self) -> str: ...
    def with_provenance(self, provenance: str) -> Dictionary: ...
    @property
    def n_references(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    def to_bytes(self) -> bytes: ...
    def save(self, path: Union[str, "os.PathLike[str]"], *, overwrite: bool = False) -> None: ...

class CodedImage:
    def __new__(
        cls,
        source: _Source,
        *,
        dictionary: Optional[Dictionary] = None,
        threads: int = 0,
        max_pixels: Optional[int] = None,
        max_memory: Optional[int] = None,
    ) -> CodedImage: ...
    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def mode(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def dictionary_id(self) -> str: ...
    @property
    def tile_size(self) -> int: ...
    def metadata(self) -> list[tuple[str, bytes]]: ...
    def preview(self) -> Optional[NDArray[Any]]: ...
    def decode(
        self,
        *,
        region: Optional[tuple[int, int, int, int]] = None,
        reduce: int = 1,
        max_side: Optional[int] = None,
    ) -> NDArray[Any]: ...

class PackFile:
    def __new__(
        cls,
        source: _Source,
        *,
        threads: int = 0,
        max_pixels: Optional[int] = None,
        max_memory: Optional[int] = None,
    ) -> PackFile: ...
    def names(self) -> list[str]: ...
    def sizes(self) -> list[int]: ...
    @property
    def dictionary(self) -> Optional[Dictionary]: ...
    def coded(self, name: str) -> CodedImage: ...
    def file(self, name: str) -> bytes: ...

class Encoder:
    def __new__(
        cls,
        *,
        quality: Optional[int] = None,
        target_size: Optional[int] = None,
        target_psnr: Optional[float] = None,
        effort: int = 5,
        tune: str = "visual",
        threads: int = 0,
        dictionary: Optional[Dictionary] = None,
        keep_alpha: bool = False,
        strip: bool = False,
        preview: bool = False,
        lossless: bool = False,
    ) -> Encoder: ...
    def encode(
        self,
        array: NDArray[Any],
        *,
        depth: Optional[int] = None,
        exif: Optional[bytes] = None,
        icc_profile: Optional[bytes] = None,
        xmp: Optional[bytes] = None,
        cicp: Optional[tuple[int, int, bool]] = None,
    ) -> bytes: ...
    def encode_file(self, file: bytes, *, page: Optional[int] = None) -> tuple[bytes, list[str]]: ...

def preview(source: _Source) -> Optional[NDArray[Any]]: ...
def pack_files(files: Sequence[tuple[str, bytes]], dictionary: Optional[Dictionary] = None) -> bytes: ...
def extensions() -> list[str]: ...
def compare(reference: NDArray[Any], distorted: NDArray[Any], metrics: Sequence[str]) -> list[Optional[float]]: ...
def bd_rate(
    metric: str, anchor: Sequence[tuple[float, float]], test: Sequence[tuple[float, float]]
) -> float: ...
def measure(
    name: str,
    file: bytes,
    codecs: Sequence[tuple[str, Sequence[str]]],
    metrics: Sequence[str],
    *,
    dictionary: Optional[Dictionary] = None,
) -> tuple[list[dict[str, Any]], list[str]]: ...
def learn(
    samples: NDArray[np.float64], options: dict[str, Any], start: Optional[NDArray[np.float64]] = None
) -> tuple[NDArray[np.float64], _Csr, float, int]: ...
def sparse_code(
    samples: NDArray[np.float64],
    atoms: NDArray[np.float64],
    *,
    per_sample: Optional[int] = None,
    batch: Optional[int] = None,
    error: Optional[float] = None,
    rule: str = "ols",
    n_jobs: int = 0,
) -> _Csr: ...
MOST_PICTURES: int

def code_crops(dictionary: Dictionary, message: bytes, pictures: Sequence[str], *, threads: int = 1) -> bytes: ...
def train(wishes: dict[str, Any]) -> tuple[Any, ...]: ...
