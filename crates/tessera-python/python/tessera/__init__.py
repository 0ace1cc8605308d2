"""Tessera: a still-image codec whose transform is sparse coding over learned dictionaries.

>>> import numpy as np, tessera
>>> picture = np.zeros((40, 60, 3), dtype=np.uint8)
>>> file = tessera.encode(picture, quality=80)
>>> tessera.decode(file).shape
(40, 60, 3)

``import tessera`` also teaches Pillow, if it is installed, to open and save ``.tsr`` files. ``tessera.BatchSVD``
(needs scikit-learn) learns dictionaries from any data, ``tessera.train`` from pictures; ``tessera.cluster`` (needs
Dask) works on many machines.
"""

import importlib.util as _util

from ._codec import compare, decode, encode, preview
from ._errors import (
    DictionaryError,
    FormatError,
    LimitsError,
    ParameterError,
    TargetError,
    TesseraError,
)
from ._native import CodedImage, Dictionary
from ._pack import Pack
from ._train import Trained, train

__all__ = [
    "BatchSVD",
    "CodedImage",
    "Dictionary",
    "DictionaryError",
    "FormatError",
    "LimitsError",
    "Pack",
    "ParameterError",
    "TargetError",
    "TesseraError",
    "Trained",
    "compare",
    "decode",
    "encode",
    "preview",
    "train",
]

if _util.find_spec("PIL") is not None:
    from . import pillow

    pillow.register()


def __getattr__(name):
    # scikit-learn takes a second to import, which nobody who opens a picture should wait for.
    if name == "BatchSVD":
        from ._batchsvd import BatchSVD

        return BatchSVD
    raise AttributeError(f"module 'tessera' has no attribute {name!r}")
