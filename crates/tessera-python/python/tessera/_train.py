"""Dictionaries learned from pictures."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Callable, Sequence

from ._native import Dictionary
from ._native import train as _train

__all__ = ["Trained", "train"]


@dataclass(frozen=True)
class Trained:
    """What :func:`train` learned.

    Attributes
    ----------
    dictionary : Dictionary
        The best one found; the start itself if none was better.
    change : float or None
        Change of the held-out pictures' files at equal error against the built-in dictionary, as a fraction:
        -0.1 is ten percent smaller.
    finished : bool
        Whether training ended by itself and not because its time was over.
    n_training, n_validation : int
        Pictures it was learned from, and pictures that were held out.
    skipped : list of (path, reason)
        Files that are no pictures.
    """

    dictionary: Dictionary
    change: float | None
    finished: bool
    n_training: int
    n_validation: int
    skipped: list = field(default_factory=list)


def train(
    pictures: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    start: Dictionary | None = None,
    seconds: float | None = None,
    holdout: float = 0.1,
    max_size: int | None = None,
    expected: float | None = None,
    references: bool = True,
    seed: int = 1,
    threads: int = 0,
    note: str = "",
    progress: Callable[[str, int, int], object] | None = None,
    workers: Callable[[bytes, list], list[bytes]] | None = None,
) -> Trained:
    """Learn a dictionary from pictures, as ``tessera train`` does.

    Parameters
    ----------
    pictures : path or sequence of paths
        Folders (with all pictures below them) and pictures.
    start : Dictionary, optional
        What to start from; the built-in one if not given.
    seconds : float, optional
        Learn what can be learned in this time. Without it the same pictures, start and seed give the same dictionary
        on any machine and any number of threads.
    holdout : float
        Share of the pictures that decides what of all that was learned is kept.
    max_size : int, optional
        Largest size of the dictionary's file in bytes.
    expected : float, optional
        How many pictures will be coded with the dictionary, those that are found if not given. What does not pay for its
        bytes with so many is not learned; with ``math.inf`` size does not matter.
    references : bool
        Whether the dictionary may carry reference pictures if they pay.
    seed : int
        Seed of the sampling.
    threads : int
        0 is one per core.
    note : str
        Licence and credits that the dictionary carries along.
    progress : callable, optional
        Called with the name of a stage, steps done and steps in all.
    workers : callable, optional
        Has parts of the work done elsewhere; :func:`tessera.cluster.train` passes one.

    Returns
    -------
    Trained
    """
    if isinstance(pictures, (str, os.PathLike)):
        pictures = [pictures]
    wishes = {
        "pictures": list(pictures),
        "start": start,
        "seconds": seconds,
        "holdout": holdout,
        "max_size": max_size,
        "expected": expected,
        "references": references,
        "seed": seed,
        "threads": threads,
        "note": note,
        "progress": progress,
        "workers": workers,
    }
    return Trained(*_train(wishes))
