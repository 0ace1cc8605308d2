"""BatchSVD beside the dictionary learners of scikit-learn and SPAMS: error at equal non-zeros, and time.

    python compare_learners.py PICTURES... [--samples 100000] [--atoms 256] [--nonzeros 5] [--jobs 2] [--methods ...]

Samples are 8 x 8 patches of the pictures without their means. Every method learns its atoms with the settings its
users would choose; time is that of learning, wall and CPU. Then all dictionaries are judged alike, on the same samples
with the same number of non-zeros in two ways: so many in every sample, by orthogonal matching pursuit, and so many in all
samples together. BatchSVD's error is printed with its own code too.
"""

import argparse
import resource
import time
import warnings

import numpy as np
from PIL import Image
from scipy.sparse import csr_matrix
from sklearn.decomposition import DictionaryLearning, MiniBatchDictionaryLearning, sparse_encode
from tessera import BatchSVD
from tessera._native import sparse_code

SIDE = 8


def patches(paths, count):
    """As many patches of every picture, at random places."""
    rng = np.random.default_rng(0)
    rows = []
    for at, path in enumerate(paths):
        share = count * (at + 1) // len(paths) - count * at // len(paths)
        picture = np.asarray(Image.open(path).convert("L"), dtype=np.float64)
        places = np.lib.stride_tricks.sliding_window_view(picture, (SIDE, SIDE)).reshape(-1, SIDE * SIDE)
        rows.append(places[rng.choice(len(places), share, replace=len(places) < share)])
    rows = np.concatenate(rows)
    return rows - rows.mean(axis=1, keepdims=True)


def penalty(samples, arguments):
    """A penalty of l1 codes with about as many non-zeros, found on a few samples with a few atoms of a first try."""
    few = samples[:: max(1, len(samples) // 2000)]
    low, high = 0.1, 1000.0
    learner = MiniBatchDictionaryLearning(arguments.atoms, alpha=10, max_iter=5, batch_size=256, random_state=0)
    atoms = learner.fit(few).components_
    for _ in range(12):
        middle = (low * high) ** 0.5
        found = np.count_nonzero(sparse_encode(few, atoms, algorithm="lasso_lars", alpha=middle)) / len(few)
        low, high = (middle, high) if found > arguments.nonzeros else (low, middle)
    return (low * high) ** 0.5


def learn_batchsvd(samples, arguments):
    learner = BatchSVD(
        arguments.atoms,
        n_nonzero_coefs=arguments.nonzeros,
        max_iter=arguments.max_iter,
        exchange_iter=arguments.exchange_iter,
        random_state=0,
        n_jobs=arguments.jobs,
    )
    learner.fit(samples)
    return learner.components_, learner.error_


def learn_minibatch(samples, arguments):
    learner = MiniBatchDictionaryLearning(
        arguments.atoms, alpha=arguments.penalty, batch_size=512, random_state=0, n_jobs=arguments.jobs
    )
    return learner.fit(samples).components_, None


def learn_full(samples, arguments):
    learner = DictionaryLearning(
        arguments.atoms,
        alpha=arguments.penalty,
        max_iter=arguments.full_iterations,
        fit_algorithm="cd",
        random_state=0,
        n_jobs=arguments.jobs,
    )
    return learner.fit(samples).components_, None


def learn_spams(samples, arguments):
    import spams

    atoms = spams.trainDL(
        np.asfortranarray(samples.T),
        K=arguments.atoms,
        lambda1=arguments.penalty,
        iter=-(-arguments.spams_passes * len(samples) // 512),
        batchsize=512,
        numThreads=arguments.jobs,
        verbose=False,
    )
    return atoms.T, None


METHODS = {
    "BatchSVD": learn_batchsvd,
    "MiniBatchDictionaryLearning": learn_minibatch,
    "SPAMS": learn_spams,
    "DictionaryLearning": learn_full,
}


def judge(samples, atoms, arguments):
    """Root mean square error per sample over given atoms, with non-zeros for each sample and for all."""
    norms = np.linalg.norm(atoms, axis=1, keepdims=True)
    atoms = np.ascontiguousarray(np.where(norms > 0, atoms / np.maximum(norms, 1e-300), np.eye(*atoms.shape)))
    found = []
    for budget in ({"per_sample": arguments.nonzeros}, {"batch": arguments.nonzeros * len(samples)}):
        offsets, columns, values = sparse_code(samples, atoms, rule="omp", **budget)
        code = csr_matrix((values, columns, offsets), shape=(len(samples), len(atoms)))
        found.append(np.sqrt(((samples - code @ atoms) ** 2).sum() / len(samples)))
    return found


def cpu():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--atoms", type=int, default=256)
    parser.add_argument("--nonzeros", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--max-iter", type=int, help="of BatchSVD; its default if not given")
    parser.add_argument("--exchange-iter", type=int, help="of BatchSVD; its default if not given")
    parser.add_argument("--full-iterations", type=int, default=20, help="of DictionaryLearning")
    parser.add_argument("--spams-passes", type=int, default=15, help="how often SPAMS sees every sample")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    arguments = parser.parse_args()
    # Neighbours that end before they have converged say so for every sample.
    warnings.simplefilter("ignore")
    samples = patches(arguments.pictures, arguments.samples)
    arguments.penalty = penalty(samples, arguments)
    print(f"{len(samples)} samples, {arguments.atoms} atoms, {arguments.nonzeros} non-zeros, l1 penalty {arguments.penalty:.1f}")
    print(f"{'':28} {'wall s':>8} {'CPU s':>8} {'each':>8} {'all':>8} {'own code':>9}", flush=True)
    for name in arguments.methods:
        wall, busy = time.perf_counter(), cpu()
        try:
            atoms, own = METHODS[name](samples, arguments)
        except ImportError as error:
            print(f"{name:28} not installed: {error}")
            continue
        wall, busy = time.perf_counter() - wall, cpu() - busy
        each, together = judge(samples, np.asarray(atoms, dtype=np.float64), arguments)
        own = "" if own is None else f"{np.sqrt(own / len(samples)):9.3f}"
        print(f"{name:28} {wall:8.1f} {busy:8.1f} {each:8.3f} {together:8.3f} {own}", flush=True)


if __name__ == "__main__":
    main()
