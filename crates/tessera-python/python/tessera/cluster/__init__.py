"""Archives on many machines, with Dask distributed; pictures and results lie anywhere that fsspec reaches.

>>> import tessera.cluster
>>> sorted(tessera.cluster.__all__)
['Rd', 'Report', 'encode_archive', 'rd', 'train']

Every worker needs this package, and credentials for the storage if it asks for some. See ``CLUSTER.md``.
"""

from ._archive import Report, encode_archive
from ._rd import Rd, rd
from ._train import train

__all__ = ["Rd", "Report", "encode_archive", "rd", "train"]
