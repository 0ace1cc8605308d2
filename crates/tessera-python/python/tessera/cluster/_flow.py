"""Work on a cluster: a few tasks under way at a time, each done again if its worker is lost."""

from __future__ import annotations

import sys
from collections import deque

from distributed import as_completed

# Tasks under way for every thread of the cluster: enough that none waits, few enough that millions need no memory.
_AHEAD = 3


def run(client, function, shards, *, retries, done):
    """Call ``function`` with every shard and ``done`` with every result, in the order in which they come.

    A shard whose worker is lost goes to another one; if workers are lost with it more than ``retries`` times, or it
    raises, ``done`` gets the exception instead, with the shard.
    """
    waiting = deque(shards)
    under_way = {}
    flow = as_completed()

    def submit():
        shard = waiting.popleft()
        future = client.submit(function, shard, pure=False, retries=retries)
        under_way[future] = shard
        flow.add(future)

    for _ in range(min(len(waiting), _AHEAD * max(1, _threads(client)))):
        submit()
    for future in flow:
        shard = under_way.pop(future)
        error = future.exception()
        done(shard, None if error else future.result(), error)
        future.release()
        if waiting:
            submit()


def shards(items, client, size):
    """Items in groups of ``size``, or small enough that all workers have their share."""
    if size is None:
        size = max(1, min(64, len(items) // (8 * max(1, _threads(client)))))
    return [items[start : start + size] for start in range(0, len(items), size)]


def _threads(client):
    return sum(worker["nthreads"] for worker in client.scheduler_info(n_workers=-1)["workers"].values())


class Bar:
    """Tells how far work is: to a function of the user's, or on the terminal."""

    def __init__(self, progress, total, verb):
        self.tell = progress if callable(progress) else None
        self.drawn = progress is True or (progress is None and sys.stderr.isatty())
        self.total, self.verb, self.count = total, verb, 0

    def advance(self, count):
        self.count += count
        if self.tell:
            self.tell(self.count, self.total)
        elif self.drawn:
            end = "\n" if self.count >= self.total else ""
            print(f"\r{self.verb} {self.count} of {self.total}", end=end, file=sys.stderr, flush=True)
