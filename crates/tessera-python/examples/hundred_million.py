"""What a hundred million photos take, simulated: slow workers, lost workers, shards of different sizes.

    python hundred_million.py [--seconds-per-photo 8.5] [--photos 100000000] [--workers 10000]

Every worker has a speed of its own, some are several times slower, and all are lost now and then (spot machines): what
a worker had under way is done again by another, except outputs that are there already. ``dealt`` gives every worker its
part once, by name, as ``tessera encode --shard`` does; ``asked`` lets workers ask for the next shard, as Dask does.
The scheduler handles one task at a time.
"""

import argparse
import heapq

import numpy as np

# Of workers: how many are slow, by how much, and how much all others differ.
SLOW_SHARE, SLOWNESS, SPREAD = 0.02, 4.0, 0.1
# Mean hours to the loss of a worker, and minutes until another one stands in.
LIFETIME, BOOT = 24.0, 3.0
# Seconds the scheduler takes for a task.
TASK_OVERHEAD = 0.001


def speeds(workers, rng):
    factors = np.exp(rng.normal(0, SPREAD, workers))
    factors[rng.random(workers) < SLOW_SHARE] /= SLOWNESS
    return factors


def work_through(start, seconds, photo, rng, lost):
    """When a worker is through with ``seconds`` of work that begins at ``start``, and what it did twice.

    It is lost at random; another takes over after a while, with the photo that was under way and everything that is
    not there yet.
    """
    now, again = start, 0.0
    while True:
        alive = rng.exponential(LIFETIME * 3600) if lost else np.inf
        if alive >= seconds:
            return now + seconds, again
        done = alive - alive % photo
        again += alive - done
        now += alive + BOOT * 60
        seconds -= done


def dealt(photos, workers, seconds, rng, lost=True):
    """Every worker has one part from the start."""
    counts = rng.multinomial(photos, np.full(workers, 1 / workers))
    factors, ends, again = speeds(workers, rng), [], 0.0
    for count, factor in zip(counts, factors):
        end, twice = work_through(0.0, count * seconds / factor, seconds / factor, rng, lost)
        ends.append(end)
        again += twice
    return max(ends), again


def asked(photos, workers, seconds, shard, rng, lost=True):
    """Workers ask for shards; a scheduler hands them out one after the other."""
    factors, again = speeds(workers, rng), 0.0
    free = [(0.0, at) for at in range(workers)]
    heapq.heapify(free)
    tasks, scheduler, last = -(-photos // shard), 0.0, 0.0
    for task in range(tasks):
        ready, at = heapq.heappop(free)
        scheduler = max(scheduler, ready) + TASK_OVERHEAD
        count = min(shard, photos - task * shard)
        # The photos of a shard differ in size; that of many shards evens out.
        own = count * seconds * np.exp(rng.normal(0, 0.5 / count**0.5)) / factors[at]
        end, twice = work_through(scheduler, own, seconds / factors[at], rng, lost)
        again += twice
        last = max(last, end)
        heapq.heappush(free, (end, at))
    return last, again


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=int, default=100_000_000)
    parser.add_argument("--workers", type=int, default=10_000, help="of one core each")
    parser.add_argument("--seconds-per-photo", type=float, default=8.5, help="of one core")
    parser.add_argument("--shards", type=int, nargs="+", default=[100_000, 10_000, 1_000, 250, 64])
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    photos, workers, seconds = arguments.photos, arguments.workers, arguments.seconds_per_photo
    ideal = photos * seconds / workers
    print(f"{photos * seconds / 3600:,.0f} core-hours; {ideal / 3600:.1f} hours on {workers:,} cores if nothing went wrong")
    print(f"{'':24} {'hours':>7} {'of ideal':>9} {'done twice':>11}")

    def tell(name, result):
        end, again = result
        print(f"{name:24} {end / 3600:7.1f} {end / ideal:9.2f} {again / (photos * seconds):11.2%}", flush=True)

    tell("dealt, none lost", dealt(photos, workers, seconds, np.random.default_rng(arguments.seed), lost=False))
    tell("dealt", dealt(photos, workers, seconds, np.random.default_rng(arguments.seed)))
    for shard in arguments.shards:
        rng = np.random.default_rng(arguments.seed)
        tell(f"asked, shards of {shard:,}", asked(photos, workers, seconds, shard, rng))


if __name__ == "__main__":
    main()
