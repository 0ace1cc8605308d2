#!/usr/bin/env python3
"""Dictionary learning beside SPAMS and scikit-learn, on the same patches in the same run.

    peers_learning.py [--data DIR] [--count 100000] [--atoms 256] [--nonzeros 9]
                      [--spams 100,1000,3000] [--sklearn] [--ours large,best] [--threads 1,2]

Needs `pip install numpy pillow spams-bin` (or `spams`), `scikit-learn` for --sklearn, and
`cargo build --release -p batchsvd --example learn`. The samples are 8x8 patches, each with its
mean removed, from the photographs under DIR (default: $TESSERA_DATA/train).

Every method ends with a dictionary; the error is the mean of ||y - Ax|| over the samples when
the batch spends `nonzeros` per sample on average. Peers are listed twice: with their own coding
(the same number of non-zeros for every sample, by OMP) and with ours (one budget for the batch,
by Block OLS), so that the gain of the coding and the gain of the dictionary can be told apart.
Time is processor time of the learning alone, in seconds; wall time is given as well.
"""

import argparse
import os
import pathlib
import subprocess
import tempfile
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
from PIL import Image  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LEARN = ROOT / "target" / "release" / "examples" / "learn"
SIDE = 8


def default_data():
    base = os.environ.get("TESSERA_DATA")
    return base and pathlib.Path(base) / "train"


def load_patches(folder, count, seed=1):
    """Random patches in columns, spread evenly over all photographs."""
    names = sorted(p for p in folder.iterdir() if p.suffix in (".webp", ".png"))
    random = np.random.default_rng(seed)
    columns = []
    for at, name in enumerate(names):
        image = np.asarray(Image.open(name).convert("L"), dtype=np.float64)
        share = count * (at + 1) // len(names) - count * at // len(names)
        rows = random.integers(0, image.shape[0] - SIDE + 1, share)
        cols = random.integers(0, image.shape[1] - SIDE + 1, share)
        columns += [image[r : r + SIDE, c : c + SIDE].ravel() for r, c in zip(rows, cols)]
    patches = np.stack(columns, axis=1)
    return np.asfortranarray(patches - patches.mean(axis=0))


def timed(work):
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def run_learn(samples, atoms, budget, *options):
    """Runs our example; returns error, CPU seconds and wall seconds."""
    command = [LEARN, samples, str(atoms), str(budget), *map(str, options)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    fields = lines[-1].split()
    return float(fields[1]), float(fields[4]), float(fields[5])


class Table:
    def __init__(self):
        self.rows = []
        print("| method | error | CPU s | wall s |\n|---|--:|--:|--:|")

    def add(self, method, error, cpu, wall):
        self.rows.append((method, error, cpu, wall))
        print(f"| {method} | {error:.3f} | {cpu:.1f} | {wall:.1f} |", flush=True)


def spams_omp_error(spams, patches, dictionary, nonzeros):
    code = spams.omp(patches, dictionary, L=nonzeros, eps=0.0, numThreads=1)
    return float(np.linalg.norm(patches - dictionary @ code, axis=0).mean())


def add_peer(table, name, dictionary, times, patches, args, folder, samples):
    import spams

    dictionary = np.asfortranarray(dictionary / np.linalg.norm(dictionary, axis=0))
    own = spams_omp_error(spams, patches, dictionary, args.nonzeros)
    table.add(f"{name}, OMP", own, *times)
    path = folder / "peer.npy"
    np.save(path, dictionary)
    budget = args.nonzeros * args.count
    ours, _, _ = run_learn(samples, args.atoms, budget, "best", "--given", path, "--threads", 1)
    table.add(f"{name}, Block OLS", ours, *times)


def spams_row(table, iterations, patches, args, folder, samples):
    import spams

    def learn():
        return spams.trainDL(
            patches, K=args.atoms, lambda1=args.penalty, mode=2, iter=iterations,
            batchsize=512, numThreads=1, verbose=False,
        )

    dictionary, cpu, wall = timed(learn)
    add_peer(table, f"SPAMS {iterations} it", dictionary, (cpu, wall), patches, args, folder, samples)


def sklearn_row(table, patches, args, folder, samples):
    from sklearn.decomposition import MiniBatchDictionaryLearning

    learner = MiniBatchDictionaryLearning(
        n_components=args.atoms, alpha=args.penalty, batch_size=512, max_iter=args.sklearn,
        fit_algorithm="lars", n_jobs=1, random_state=0, max_no_improvement=None,
    )
    fitted, cpu, wall = timed(lambda: learner.fit(patches.T))
    name = f"scikit-learn {args.sklearn} epochs"
    add_peer(table, name, fitted.components_.T, (cpu, wall), patches, args, folder, samples)


def summary(rows, threads):
    peers = [row for row in rows if not row[0].startswith("ours")]
    single = [row for row in rows if row[0].startswith("ours") and row[0].endswith("1 thread")]
    if peers and single:
        best = min(peers, key=lambda row: row[1])
        for row in single:
            print(f"{row[0]}: error {row[1] / best[1]:.4f} of the best peer's ({best[0]}), "
                  f"CPU time {row[2] / best[2]:.3f} of its")
    for row in single:
        for count in threads[1:]:
            name = row[0].replace("1 thread", f"{count} threads")
            other = next((r for r in rows if r[0] == name), None)
            if other:
                print(f"{name}: {row[3] / other[3]:.2f} times as fast as with one")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data = default_data()
    parser.add_argument("--data", type=pathlib.Path, default=data, required=data is None)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--atoms", type=int, default=256)
    parser.add_argument("--nonzeros", type=int, default=9)
    parser.add_argument("--penalty", type=float, default=10.0)
    parser.add_argument("--spams", default="100,1000,3000", help="iterations, comma separated; empty: none")
    parser.add_argument("--sklearn", type=int, default=0, help="epochs; 0: leave out")
    parser.add_argument("--ours", default="large", help="presets, comma separated")
    parser.add_argument("--threads", default="1,2")
    return parser.parse_args()


def main():
    args = arguments()
    patches = load_patches(args.data, args.count)
    threads = [int(t) for t in args.threads.split(",")]
    table = Table()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        samples = folder / "samples.npy"
        np.save(samples, patches)
        budget = args.nonzeros * args.count
        for preset in args.ours.split(","):
            for count in threads:
                result = run_learn(samples, args.atoms, budget, preset, "--threads", count)
                table.add(f"ours, {preset}, {count} thread{'s' * (count > 1)}", *result)
        for iterations in filter(None, args.spams.split(",")):
            spams_row(table, int(iterations), patches, args, folder, samples)
        if args.sklearn:
            sklearn_row(table, patches, args, folder, samples)
    summary(table.rows, threads)


if __name__ == "__main__":
    main()
