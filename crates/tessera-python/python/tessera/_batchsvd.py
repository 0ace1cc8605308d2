"""Batchwise dictionary learning as a scikit-learn estimator."""

from __future__ import annotations

import os
import warnings
from numbers import Integral, Real

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ._native import learn, sparse_code

__all__ = ["BatchSVD"]

# Beyond so many samples passes over the data are what costs, and there are enough of them to need few.
_LARGE = 20_000
# How strongly partial_fit forgets: the memory at step t is (1 - 1/t) ** _FADING.
_FADING = 5.0
# Damping of the dictionary update of partial_fit, relative to the mean diagonal.
_DAMPING = 1e-10


class BatchSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Dictionary learning with one budget of non-zeros for the whole batch.

    Finds unit atoms and a sparse code so that ``X`` is about ``code @ components_``, while all samples together spend
    ``n_nonzero_coefs`` non-zeros per sample **on average**: samples that are hard to represent get more, easy ones
    fewer. No BLAS is needed, and the result is the same bits for any ``n_jobs``.

    Parameters
    ----------
    n_components : int, optional
        Number of atoms; that of the features if not given.
    n_nonzero_coefs : int or float, optional
        Non-zeros per sample on average; a tenth of the features, but at least one, if not given. More than the
        features or atoms there are cannot be used: they are clipped, with a warning.
    tol : float
        Stop once an iteration lowers the squared error by no more than this share.
    max_iter : int, optional
        Alternations of coding the batch and updating the atoms; 80 for up to 20,000 samples, 4 for more, if not given.
    exchange_iter : int, optional
        Iterations after these, in which samples exchange non-zeros; 15 and 2 if not given.
    batch_size : int
        Samples of a mini-batch of the online l1 learning that finds the first atoms.
    dict_init : array of shape (n_components, n_features), optional
        First atoms instead.
    transform_budget : {"sample", "batch"}
        What ``transform`` spends: ``n_nonzero_coefs`` for each sample, so that a sample's code does not depend on the
        others, or one budget for all samples it is called with, which gives the smaller error.
    sparse_output : bool
        Whether codes are CSR matrices or dense arrays.
    random_state : int, RandomState or None
        Seed of the first atoms. ``None`` is a new one in every fit.
    n_jobs : int, optional
        Threads; ``None`` and -1 are one per core.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Unit atoms, those used most first.
    error_ : float
        Squared error of the batch with the code it was learned with.
    n_iter_ : int
        Iterations made.
    n_features_in_ : int
    feature_names_in_ : ndarray
        Only if ``X`` has names of strings.

    Examples
    --------
    >>> import numpy as np
    >>> from tessera import BatchSVD
    >>> rng = np.random.RandomState(0)
    >>> atoms = rng.standard_normal((12, 8))
    >>> X = (rng.standard_normal((500, 12)) * (rng.random_sample((500, 12)) < 0.15)) @ atoms
    >>> learner = BatchSVD(n_components=12, n_nonzero_coefs=2, random_state=0).fit(X)
    >>> code = learner.transform(X)
    >>> code.shape, bool(code.nnz <= 1000)
    ((500, 12), True)
    >>> learner.set_params(transform_budget="batch")  # doctest: +ELLIPSIS
    BatchSVD(...)
    >>> better = learner.transform(X)
    >>> bool(np.linalg.norm(X - better @ learner.components_) < np.linalg.norm(X - code @ learner.components_))
    True
    """

    def __init__(
        self,
        n_components=None,
        *,
        n_nonzero_coefs=None,
        tol=1e-6,
        max_iter=None,
        exchange_iter=None,
        batch_size=512,
        dict_init=None,
        transform_budget="sample",
        sparse_output=True,
        random_state=None,
        n_jobs=None,
    ):
        self.n_components = n_components
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.max_iter = max_iter
        self.exchange_iter = exchange_iter
        self.batch_size = batch_size
        self.dict_init = dict_init
        self.transform_budget = transform_budget
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X, y=None):
        """Learn the atoms from the rows of ``X``."""
        X = self._validated(X, reset=True)
        self._check_parameters()
        atoms, code, error, iterations = self._learn(X)
        self.components_ = atoms.astype(X.dtype, copy=False)
        self.error_ = float(error)
        self.n_iter_ = max(1, iterations)
        self._forget()
        return self

    def fit_transform(self, X, y=None):
        """``fit(X)`` followed by ``transform(X)``."""
        return self.fit(X).transform(X)

    def partial_fit(self, X, y=None):
        """Improve the atoms by one more mini-batch.

        The batch is coded over the present atoms; sums over all batches, old ones fading, give the next atoms. The
        first call on a new estimator is a ``fit``.
        """
        if not hasattr(self, "components_"):
            self.fit(X)
            self._remember(self._validated(X, reset=False))
            return self
        X = self._validated(X, reset=False)
        self._remember(X)
        self._update_atoms()
        self.n_iter_ += 1
        return self

    def transform(self, X):
        """Code the rows of ``X`` sparsely over the atoms, by orthogonal least squares."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        self._check_parameters()
        code = self._code(X)
        return code if self.sparse_output else code.toarray()

    def inverse_transform(self, X):
        """The samples that codes stand for."""
        check_is_fitted(self)
        X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
        if X.shape[1] != len(self.components_):
            raise ValueError(f"a code has {len(self.components_)} columns, one for each atom, not {X.shape[1]}")
        return X @ self.components_

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _validated(self, X, reset):
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32], order="C")

    def _check_parameters(self):
        at_least_one = ("n_components", "max_iter", "batch_size")
        for name in at_least_one:
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Integral) and value >= 1):
                raise ValueError(f"{name} must be an integer of at least 1, not {value!r}")
        exchange = self.exchange_iter
        if exchange is not None and not (isinstance(exchange, Integral) and exchange >= 0):
            raise ValueError(f"exchange_iter must be an integer of at least 0, not {exchange!r}")
        wanted = self.n_nonzero_coefs
        if wanted is not None and not (isinstance(wanted, Real) and wanted > 0):
            raise ValueError(f"n_nonzero_coefs must be a positive number, not {wanted!r}")
        if not (isinstance(self.tol, Real) and 0 <= self.tol <= 1):
            raise ValueError(f"tol must be a number from 0 to 1, not {self.tol!r}")
        if self.transform_budget not in ("sample", "batch"):
            raise ValueError(f"transform_budget must be 'sample' or 'batch', not {self.transform_budget!r}")

    def _nonzeros(self, n_features, n_components):
        """Non-zeros per sample, as many as independent atoms can use."""
        wanted = self.n_nonzero_coefs
        if wanted is None:
            return max(1, n_features // 10)
        most = min(n_features, n_components)
        if wanted > most:
            warnings.warn(
                f"n_nonzero_coefs={wanted} is more than {n_features} features and {n_components} atoms can use; "
                f"{most} are taken",
                stacklevel=4,
            )
        return min(wanted, most)

    def _learn(self, X):
        count, features = X.shape
        start = self._start(features)
        components = self.n_components or (features if start is None else len(start))
        large = count > _LARGE
        options = {
            "n_components": components,
            "budget": max(1, int(self._nonzeros(features, components) * count)),
            "alternations": self.max_iter or (4 if large else 80),
            "exchanges": (2 if large else 15) if self.exchange_iter is None else self.exchange_iter,
            "tol": float(self.tol),
            "batch_size": self.batch_size,
            "seed": int(check_random_state(self.random_state).randint(2**31)),
            "n_jobs": _threads(self.n_jobs),
        }
        X = X.astype(np.float64, copy=False)
        if not X.any():
            # Nothing can be learned from zeros, and they are represented already.
            return np.eye(components, features) + _tail(components, features), None, 0.0, 1
        return learn(X, options, start)

    def _start(self, features):
        if self.dict_init is None:
            return None
        start = check_array(self.dict_init, dtype=np.float64, order="C")
        if start.shape[1] != features or (self.n_components or len(start)) != len(start):
            raise ValueError(
                f"dict_init has the shape {start.shape}, not ({self.n_components or 'n_components'}, {features})"
            )
        return start

    def _code(self, X):
        count, features = X.shape
        components = self.components_.astype(np.float64, order="C", copy=False)
        nonzeros = self._nonzeros(features, len(components))
        if self.transform_budget == "sample":
            budget = {"per_sample": max(1, int(nonzeros))}
        else:
            budget = {"batch": max(1, int(nonzeros * count))}
        samples = X.astype(np.float64, order="C", copy=False)
        offsets, atoms, values = sparse_code(samples, components, n_jobs=_threads(self.n_jobs), **budget)
        code = (values.astype(X.dtype, copy=False), atoms, offsets.astype(np.int32 if len(values) < 2**31 else np.int64))
        return sparse.csr_matrix(code, shape=(count, len(components)))

    def _forget(self):
        for name in ("_gram", "_cross", "_batches"):
            self.__dict__.pop(name, None)

    def _remember(self, X):
        """Add a batch to the fading sums of products of codes, and of codes and samples."""
        code = self._code(X).astype(np.float64)
        gram, cross = (code.T @ code).toarray(), code.T @ X.astype(np.float64)
        self._batches = getattr(self, "_batches", 0) + 1
        kept = (1 - 1 / self._batches) ** _FADING
        self._gram = gram + kept * getattr(self, "_gram", 0)
        self._cross = cross + kept * getattr(self, "_cross", 0)

    def _update_atoms(self):
        """The atoms that fit all codes remembered best; those that no code uses stay."""
        atoms = self.components_.astype(np.float64)
        used = np.flatnonzero(np.diag(self._gram) > 0)
        if not len(used):
            return
        gram = self._gram[np.ix_(used, used)]
        damping = _DAMPING * np.trace(gram) / len(used)
        # Relative to the present atoms, so that damping holds them and does not shrink them.
        rest = self._cross[used] - gram @ atoms[used]
        moved = atoms[used] + np.linalg.solve(gram + damping * np.eye(len(used)), rest)
        norms = np.linalg.norm(moved, axis=1)
        alive = norms > 0
        atoms[used[alive]] = moved[alive] / norms[alive, None]
        self.components_ = atoms.astype(self.components_.dtype)


def _tail(components, features):
    """Ones in the first column of the rows that an identity of this shape leaves empty."""
    tail = np.zeros((components, features))
    tail[features:, 0] = 1.0
    return tail


def _threads(n_jobs):
    if n_jobs is None:
        return 0
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return int(n_jobs)
