"""How much faster more workers are: encodes a folder on clusters of this machine, in turn, and tells the best of each.

    python cluster_scaling.py PHOTOS [--workers 1 2] [--effort 5] [--rounds 3]

``busy`` is the share of their time that workers spent reading, encoding and writing: what is left is what the
cluster itself costs, and other load of the machine hardly changes it. Worker processes are started before the clock.
"""

import argparse
import tempfile

from distributed import Client, LocalCluster
from tessera import cluster


def once(photos, workers, effort):
    """Seconds from beginning to end, and the busy share."""
    local = LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with local, Client(local) as client, tempfile.TemporaryDirectory() as coded:
        # Loads the package everywhere.
        client.run(lambda: __import__("tessera").encode)
        report = cluster.encode_archive(photos, coded, client, effort=effort)
    assert not report.failures, report
    return report.seconds, report.core_seconds / (workers * report.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--effort", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    best = {}
    for _ in range(arguments.rounds):
        for workers in arguments.workers:
            found = once(arguments.photos, workers, arguments.effort)
            best[workers] = min(best.get(workers, found), found)
    first = best[arguments.workers[0]][0]
    for workers, (seconds, busy) in best.items():
        print(f"{workers} workers: {seconds:.2f} s, {first / seconds:.2f} times as fast, busy {busy:.1%}")


if __name__ == "__main__":
    main()
