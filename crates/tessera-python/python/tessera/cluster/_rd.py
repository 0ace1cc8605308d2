"""Rate-distortion curves of many pictures."""

from __future__ import annotations

import csv
import math
import os
from dataclasses import dataclass, field
from typing import Callable, Sequence

from distributed import Client

from .. import _errors
from .._native import Dictionary, bd_rate, measure
from ._flow import Bar, run, shards
from ._storage import Folder

_COLUMNS = ("codec", "image", "quality", "width", "height", "bytes", "bpp", "encode_seconds", "decode_seconds")


@dataclass
class Rd:
    """Rate-distortion points.

    Attributes
    ----------
    points : list of dict
        By picture, codec and quality, in a fixed order: bytes, bits per pixel, CPU seconds, metrics.
    failures : list of (name, reason)
        Pictures that could not be read, and points that could not be measured.
    """

    points: list = field(default_factory=list)
    failures: list = field(default_factory=list)

    def bd_rates(self, metric: str = "ssimulacra2", anchor: str = "jpeg") -> dict[str, float]:
        """Mean change of the rate at equal quality against a codec, as a fraction; pictures without a figure are left out."""
        curves = {}
        for point in self.points:
            curve = curves.setdefault(point["image"], {}).setdefault(point["codec"], [])
            curve.append((point["bpp"], point["metrics"][metric]))
        changes = {}
        for codecs in curves.values():
            for codec, curve in codecs.items():
                if codec != anchor and anchor in codecs:
                    changes.setdefault(codec, []).append(_change(metric, codecs[anchor], curve))
        known = {codec: [c for c in found if c is not None] for codec, found in changes.items()}
        return {codec: math.fsum(found) / len(found) for codec, found in known.items() if found}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all points as a table."""
        metrics = sorted({name for point in self.points for name in point["metrics"]})
        with open(path, "x", newline="") as file:
            table = csv.writer(file)
            table.writerow([*_COLUMNS, *metrics])
            for point in self.points:
                values = [point["metrics"].get(name) for name in metrics]
                table.writerow([*(point[column] for column in _COLUMNS), *values])


def _change(metric, anchor, test):
    try:
        return bd_rate(metric, anchor, test)
    except _errors.ParameterError:
        return None


def rd(
    src: str | os.PathLike[str],
    client: Client,
    *,
    codecs: Sequence[str] = ("tessera", "jpeg", "webp"),
    qualities: dict[str, Sequence[float | str]] | None = None,
    metrics: Sequence[str] = ("psnr-yuv", "ssimulacra2"),
    dictionary: Dictionary | None = None,
    retries: int = 3,
    storage_options: dict | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Rd:
    """Measure codecs on all pictures below ``src``, on the workers of a Dask client.

    Parameters
    ----------
    src : str or path
        A folder anywhere that fsspec reaches.
    client : distributed.Client
    codecs : sequence of str
        Names that ``tessera rd`` knows on the workers; ``tessera-own`` is Tessera with ``dictionary``.
    qualities : dict, optional
        Qualities of codecs by name, where they are not the usual ones: ``{"tessera": [25, 50, 75, 90]}``.
    metrics : sequence of str
        As for :func:`tessera.compare`.

    Returns
    -------
    Rd
        Its points do not depend on the number of workers; only their times do, a little.
    """
    source = Folder(src, storage_options)
    chosen = {name: [str(q) for q in (qualities or {}).get(name, ())] for name in codecs}
    names = list(source.pictures())
    job = (source, list(chosen.items()), list(metrics), dictionary, retries)
    bar = Bar(progress, len(names), "measured")
    found, result = {}, Rd()

    def done(shard, rows, error):
        for name in shard[1] if error is not None else ():
            result.failures.append((name, f"its worker was lost or failed: {error}"))
        for name, points, skipped in rows or ():
            found[name] = points
            result.failures.extend((name, reason) for reason in skipped)
        bar.advance(len(shard[1]))

    run(client, _measure_shard, [(job, group) for group in shards(names, client, 1)], retries=retries, done=done)
    result.points = [point for name in names for point in found.get(name, ())]
    result.failures.sort()
    return result


def _measure_shard(shard):
    """Measure some pictures, on a worker."""
    job, names = shard
    return [_measure_one(job, name) for name in names]


def _measure_one(job, name):
    source, codecs, metrics, dictionary, retries = job
    try:
        data = source.read(name, retries)
        points, skipped = measure(name, data, codecs, metrics, dictionary=dictionary)
    except (_errors.TesseraError, OSError) as error:
        return name, [], [str(error)]
    return name, points, skipped
