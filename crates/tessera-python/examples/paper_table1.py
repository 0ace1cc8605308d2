# %% [markdown]
# # A row of Table 1 of the BatchSVD paper
#
# Patches of a photograph, 8 x 8 pixels, each without its mean; 256 atoms. Online l1 learning chooses how sparse codes are.
# K-SVD gets as many non-zeros for every patch; BatchSVD as many as K-SVD for all patches together. The figures are
# the mean l2 error per patch and, in brackets, its standard deviation.
#
# Run it as a script, `python paper_table1.py barbara.png`, or cell by cell in an editor that knows `# %%`.

# %%
import sys

import numpy as np
from PIL import Image
from sklearn.decomposition import MiniBatchDictionaryLearning, sparse_encode
from tessera import BatchSVD

PATCHES, SIDE, ATOMS, PENALTY = 3000, 8, 256, 10.0
# What the paper prints for this row, in units of ten.
PUBLISHED = {
    "barbara": {"online": (2.9, 0.8), "K-SVD": (2.0, 1.0), "BatchSVD": (1.8, 0.4)},
    "boat": {"online": (3.2, 0.6), "K-SVD": (2.1, 0.6), "BatchSVD": (1.9, 0.3)},
    "house": {"online": (2.2, 0.8), "K-SVD": (1.7, 0.9), "BatchSVD": (1.5, 0.4)},
    "lena": {"online": (2.5, 0.6), "K-SVD": (1.8, 0.7), "BatchSVD": (1.7, 0.3)},
    "peppers": {"online": (2.9, 0.6), "K-SVD": (2.1, 0.7), "BatchSVD": (2.0, 0.3)},
}


# %%
def patches(path, seed=0):
    """Patches at random places, without their means, as rows."""
    picture = np.asarray(Image.open(path).convert("L"), dtype=float)
    places = np.lib.stride_tricks.sliding_window_view(picture, (SIDE, SIDE)).reshape(-1, SIDE * SIDE)
    chosen = np.random.default_rng(seed).choice(len(places), PATCHES, replace=False)
    rows = places[chosen]
    return rows - rows.mean(axis=1, keepdims=True)


def ksvd(samples, nonzeros, iterations=20, seed=0):
    """K-SVD: code every sample with OMP, then renew one atom after the other, by one step towards the singular vector."""
    rng = np.random.default_rng(seed)
    atoms = samples[rng.choice(len(samples), ATOMS, replace=False)]
    atoms = atoms / np.maximum(np.linalg.norm(atoms, axis=1, keepdims=True), 1e-12)
    for _ in range(iterations):
        code = sparse_encode(samples, atoms, algorithm="omp", n_nonzero_coefs=nonzeros)
        rest = samples - code @ atoms
        for j in range(ATOMS):
            users = np.flatnonzero(code[:, j])
            if not len(users):
                worst = np.argmax((rest**2).sum(axis=1))
                atoms[j] = samples[worst] / np.linalg.norm(samples[worst])
                continue
            without = rest[users] + np.outer(code[users, j], atoms[j])
            direction = without.T @ code[users, j]
            atoms[j] = direction / np.linalg.norm(direction)
            code[users, j] = without @ atoms[j]
            rest[users] = without - np.outer(code[users, j], atoms[j])
    return atoms, code


def errors(samples, code, atoms):
    return np.linalg.norm(samples - code @ atoms, axis=1)


# %%
def row(path):
    """All methods of a row: errors per patch by method, and non-zeros per patch."""
    samples = patches(path)
    online = MiniBatchDictionaryLearning(
        ATOMS, alpha=PENALTY, batch_size=512, max_iter=20, fit_algorithm="cd", transform_algorithm="lasso_cd", random_state=0
    ).fit(samples)
    code = online.transform(samples)
    found = {"online": errors(samples, code, online.components_)}
    nonzeros = max(1, int(np.count_nonzero(code) / PATCHES))
    atoms, code = ksvd(samples, nonzeros)
    found["K-SVD"] = errors(samples, code, atoms)
    spent = np.count_nonzero(code) / PATCHES
    batch = BatchSVD(ATOMS, n_nonzero_coefs=spent, transform_budget="batch", random_state=0).fit(samples)
    code = batch.transform(samples)
    assert code.nnz <= spent * PATCHES
    found["BatchSVD"] = errors(samples, code, batch.components_)
    return found, spent


# %%
if __name__ == "__main__":
    path = sys.argv[1]
    name = path.rsplit("/", 1)[-1].split(".")[0]
    found, spent = row(path)
    print(f"{name}: {spent:.2f} non-zeros per patch; errors in units of ten")
    for method, values in found.items():
        paper = PUBLISHED.get(name, {}).get(method)
        told = f", the paper {paper[0]:.1f} ({paper[1]:.1f})" if paper else ""
        print(f"  {method:9} {values.mean() / 10:.2f} ({values.std() / 10:.2f}){told}")
    assert found["BatchSVD"].mean() < found["K-SVD"].mean() < found["online"].mean()
