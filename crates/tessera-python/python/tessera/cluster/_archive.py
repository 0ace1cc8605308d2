"""Whole archives to Tessera."""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass, field
from typing import Callable

from distributed import Client

from .. import _errors
from .._native import Dictionary, Encoder
from ._flow import Bar, run, shards
from ._storage import Folder, output_names

# Below the folder of the outputs; readers find the dictionary of the archive there.
_DICTIONARIES = ".tessera"


@dataclass
class Report:
    """What became of an archive.

    Attributes
    ----------
    encoded, skipped : int
        Pictures encoded now, and pictures that were done before.
    failures : list of (name, reason)
        Pictures that could not be encoded; everything else is there.
    bytes_before, bytes_after : int
        Of the pictures encoded now.
    core_seconds : float
        Time that workers spent reading, encoding and writing.
    seconds : float
        Time from beginning to end.
    """

    encoded: int = 0
    skipped: int = 0
    failures: list = field(default_factory=list)
    bytes_before: int = 0
    bytes_after: int = 0
    core_seconds: float = 0.0
    seconds: float = 0.0

    def to_json(self):
        """The report as JSON."""
        return json.dumps(asdict(self), indent=2)

    def __str__(self):
        lines = [f"failed: {name}: {reason}" for name, reason in self.failures]
        lines.append(
            f"{self.encoded} encoded, {self.skipped} done before, {len(self.failures)} failed; "
            f"{self.bytes_before} -> {self.bytes_after} bytes"
        )
        return "\n".join(lines)


@dataclass(frozen=True)
class _Item:
    """One picture: names below the two folders, bytes, and when it was changed."""

    name: str
    output: str
    size: int
    modified: float | None


@dataclass(frozen=True)
class _Job:
    """What a worker has to know beside the pictures."""

    source: Folder
    target: Folder
    settings: dict
    dictionary: str | None
    retries: int
    force: bool


def encode_archive(
    src: str | os.PathLike[str],
    dst: str | os.PathLike[str],
    client: Client,
    *,
    quality: int | None = None,
    effort: int = 5,
    tune: str = "visual",
    dictionary: Dictionary | None = None,
    strip: bool = False,
    force: bool = False,
    retries: int = 3,
    shard_size: int | None = None,
    storage_options: dict | None = None,
    dst_storage_options: dict | None = None,
    progress: Callable[[int, int], object] | bool | None = None,
) -> Report:
    """Encode all pictures below ``src`` to files below ``dst``, on the workers of a Dask client.

    Outputs that are there and not older than their pictures are skipped, so a run that was stopped goes on where it was.
    Each output appears whole or not at all. A shard whose worker is lost is done by another; files are the same bytes
    whoever makes them, and the same as those of ``tessera encode -r``.

    Parameters
    ----------
    src, dst : str or path
        Folders anywhere that fsspec reaches: ``/photos``, ``s3://bucket/photos``.
    client : distributed.Client
    quality, effort, tune, strip :
        As for ``tessera encode``.
    dictionary : Dictionary, optional
        A learned one. It is also written to ``dst/.tessera``, where readers of the archive find it.
    force : bool
        Encode what is done as well.
    retries : int
        How often a read or write that fails, and a shard whose worker is lost, is tried again.
    shard_size : int, optional
        Pictures of one task.
    storage_options, dst_storage_options : dict, optional
        For fsspec; those of ``src`` serve both if the others are not given.
    progress : callable or bool, optional
        Called with pictures done and pictures in all; by default a line on the terminal, if there is one.

    Returns
    -------
    Report
    """
    started = time.monotonic()
    source = Folder(src, storage_options)
    target = Folder(dst, storage_options if dst_storage_options is None else dst_storage_options)
    settings = {"quality": quality, "effort": effort, "tune": tune, "strip": strip, "threads": 1}
    # Nonsense is refused here and not by every worker.
    Encoder(dictionary=dictionary, **settings)
    items, skipped = _plan(source, target, force)
    report = Report(skipped=skipped)
    job = _Job(source, target, settings, _publish(dictionary, target), retries, force)
    bar = Bar(progress, len(items), "encoded")

    def done(shard, rows, error):
        if error is not None:
            rows = [{"name": item.name, "error": f"its worker was lost or failed: {error}"} for item in shard.items]
        for row in rows:
            _add(report, row)
        bar.advance(len(rows))

    groups = [_Shard(job, group) for group in shards(items, client, shard_size)]
    run(client, _encode_shard, groups, retries=retries, done=done)
    report.failures.sort()
    report.seconds = time.monotonic() - started
    return report


@dataclass(frozen=True)
class _Shard:
    job: _Job
    items: list


def _plan(source, target, force):
    """What is to be done, and how much is done already."""
    pictures, there = source.pictures(), target.listing()
    names = output_names(pictures)
    items = [_Item(name, names[name], *pictures[name]) for name in pictures]
    if force:
        return items, 0
    missing = [item for item in items if not _is_done(item, there.get(item.output))]
    return missing, len(items) - len(missing)


def _is_done(item, output):
    """An output counts as done when it is there and not older than its picture."""
    if output is None:
        return False
    _, modified = output
    return item.modified is None or modified is None or modified >= item.modified


def _publish(dictionary, target):
    """Put a learned dictionary where workers and readers find it; its name there."""
    if dictionary is None or dictionary.id.startswith("builtin:"):
        return None
    name = f"{_DICTIONARIES}/{dictionary.id}.tsd"
    if target.stat(name) is None:
        target.write(name, dictionary.to_bytes())
    return name


def _add(report, row):
    if "error" in row:
        report.failures.append((row["name"], row["error"]))
        return
    report.encoded += 1
    report.bytes_before += row["before"]
    report.bytes_after += row["after"]
    report.core_seconds += row["seconds"]


# Dictionaries that this worker has read; their names are the hashes of what they hold.
_known = {}


def _encoder(job):
    name = job.dictionary
    if name is not None and name not in _known:
        _known[name] = Dictionary.from_bytes(job.target.read(name, job.retries))
    return Encoder(dictionary=_known.get(name), **job.settings)


def _encode_shard(shard):
    """Encode some pictures, on a worker; one row for each."""
    encoder = _encoder(shard.job)
    return [_encode_one(encoder, shard.job, item) for item in shard.items]


def _encode_one(encoder, job, item):
    started = time.perf_counter()
    try:
        left = None if job.force else job.target.stat(item.output)
        if _is_done(item, left):
            # By a worker that was lost before it could tell.
            after = left[0]
        else:
            data = job.source.read(item.name, job.retries)
            encoded, _ = encoder.encode_file(data)
            job.target.write(item.output, encoded, job.retries)
            after = len(encoded)
    except (_errors.TesseraError, OSError, MemoryError) as error:
        return {"name": item.name, "error": str(error) or type(error).__name__}
    return {
        "name": item.name,
        "before": item.size,
        "after": after,
        "seconds": time.perf_counter() - started,
    }

