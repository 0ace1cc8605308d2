"""One dictionary learned by many machines."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from functools import lru_cache
from typing import Any

from distributed import Client

from .._native import MOST_PICTURES, Dictionary, code_crops
from .._train import Trained
from .._train import train as _train
from ._storage import Folder


def train(
    src: str | os.PathLike[str],
    client: Client,
    *,
    limit: int = MOST_PICTURES,
    retries: int = 3,
    storage_options: dict | None = None,
    **settings: Any,
) -> Trained:
    """Learn a dictionary from the pictures below ``src``, on the workers of a Dask client.

    Workers code crops of the pictures, which is nearly all of the work; what they see is merged here in a fixed order.
    The dictionary is the same to the byte for any number of workers, and the same as that of :func:`tessera.train` with
    the same pictures, unless ``seconds`` limits the time. Choosing reference pictures, fitting and learning networks stay
    on this machine.

    Parameters
    ----------
    src : str or path
        A folder anywhere that fsspec reaches. Of storage that is not local, pictures are copied to this machine, at
        most ``limit`` of them.
    client : distributed.Client
    limit : int
        Most pictures that are looked at, evenly spread over all; more than 2000 never are.
    retries : int
        How often work whose worker is lost is done again.
    storage_options : dict, optional
        For fsspec.
    **settings :
        ``start``, ``seconds``, ``holdout``, ``max_size``, ``expected``, ``references``, ``seed``, ``threads``, ``note`` and
        ``progress`` of :func:`tessera.train`.

    Returns
    -------
    tessera.Trained
    """
    source = Folder(src, storage_options)
    names = _spread(list(source.pictures()), min(limit, MOST_PICTURES))
    if source.is_local:
        paths = [source.path(name) for name in names]
        return _train(paths, workers=_Workers(client, source, {}, retries), **settings)
    copies = tempfile.mkdtemp(prefix="tessera-train-")
    try:
        paths = {_copy(source, name, copies): name for name in names}
        return _train(list(paths), workers=_Workers(client, source, paths, retries), **settings)
    finally:
        shutil.rmtree(copies, ignore_errors=True)


def _spread(names, limit):
    count = len(names)
    return names if count <= limit else [names[i * count // limit] for i in range(limit)]


def _copy(source, name, folder):
    """A copy of a picture below a folder, under its own name, so that the order of pictures stays."""
    path = os.path.join(folder, *name.split("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(source.read(name, retries=3))
    return path


class _Workers:
    """Has crops coded on a cluster."""

    def __init__(self, client, source, names, retries):
        self.client, self.source, self.names, self.retries = client, source, names, retries

    def __call__(self, dictionary, jobs):
        # In the memory of every worker, not in every task.
        (dictionary,) = self.client.scatter([dictionary], broadcast=True, hash=True)
        tasks = [(message, [self.names.get(path, path) for path in paths]) for message, paths in jobs]
        source = self.source if self.names else None
        futures = [
            self.client.submit(_work, source, dictionary, *task, pure=False, retries=self.retries)
            for task in tasks
        ]
        return self.client.gather(futures)


@lru_cache(maxsize=2)
def _prepared(dictionary):
    return Dictionary.from_bytes(dictionary)


def _work(source, dictionary, message, pictures):
    """Code the crops of a job, on a worker."""
    paths = pictures if source is None else [_cached(source, name) for name in pictures]
    return code_crops(_prepared(dictionary), message, paths)


@lru_cache(maxsize=1)
def _cache():
    """A folder for copies of pictures, which crops are taken from again and again; gone with the process."""
    return tempfile.TemporaryDirectory(prefix="tessera-worker-")


def _cached(source, name):
    key = hashlib.sha256(source.path(name).encode()).hexdigest()[:32]
    path = os.path.join(_cache().name, key)
    if not os.path.exists(path):
        data = source.read(name, retries=3)
        with tempfile.NamedTemporaryFile(dir=_cache().name, delete=False) as file:
            file.write(data)
        os.replace(file.name, path)
    return path
