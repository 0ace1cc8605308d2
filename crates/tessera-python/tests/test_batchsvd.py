"""The scikit-learn estimator."""

import pickle
import warnings

import numpy as np
import pytest
import tessera
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tessera import BatchSVD


@parametrize_with_checks([BatchSVD(), BatchSVD(transform_budget="sample", sparse_output=False, random_state=0)])
def test_scikit_learn_has_no_complaints(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def samples():
    """Sparse in twenty atoms; some samples need many, most need few."""
    rng = np.random.default_rng(5)
    atoms = rng.standard_normal((20, 16))
    share = rng.choice([0.05, 0.4], size=(900, 1), p=[0.7, 0.3])
    code = rng.standard_normal((900, 20)) * (rng.random((900, 20)) < share)
    return code @ atoms + 0.01 * rng.standard_normal((900, 16))


def learner(**settings):
    return BatchSVD(20, **{"n_nonzero_coefs": 3, "random_state": 0, "max_iter": 10, "exchange_iter": 3, **settings})


def error(samples, code, estimator):
    return np.linalg.norm(samples - code @ estimator.components_) ** 2


def test_atoms_are_unit_and_codes_sparse(samples):
    estimator = learner().fit(samples)
    np.testing.assert_allclose(np.linalg.norm(estimator.components_, axis=1), 1)
    code = estimator.transform(samples)
    assert sparse.issparse(code) and code.format == "csr" and code.shape == (900, 20)
    assert np.diff(code.indptr).max() <= 3 and code.has_sorted_indices
    assert estimator.n_iter_ >= 10 and estimator.n_features_in_ == 16
    np.testing.assert_allclose(estimator.inverse_transform(code), code @ estimator.components_)
    assert list(estimator.get_feature_names_out())[:2] == ["batchsvd0", "batchsvd1"]


def test_the_batch_decides_where_non_zeros_go(samples):
    estimator = learner(transform_budget="batch").fit(samples)
    batch = estimator.transform(samples)
    each = clone(estimator).set_params(transform_budget="sample").fit(samples).transform(samples)
    assert batch.nnz <= 2700 and np.diff(batch.indptr).max() > 3
    assert error(samples, batch, estimator) < 0.8 * error(samples, each, estimator)
    assert estimator.error_ <= error(samples, batch, estimator) * 1.0001


def test_jobs_change_nothing(samples):
    fits = [learner(n_jobs=jobs).fit(samples) for jobs in (1, 2, -1, None)]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
        assert (other.transform(samples) != fits[0].transform(samples)).nnz == 0


def test_floats_stay_as_they_are(samples):
    estimator = learner().fit(samples.astype(np.float32))
    assert estimator.components_.dtype == np.float32
    code = estimator.transform(samples.astype(np.float32))
    assert code.dtype == np.float32 and estimator.inverse_transform(code).dtype == np.float32
    double = learner().fit(samples)
    np.testing.assert_allclose(estimator.components_, double.components_, atol=1e-3)


def test_too_many_non_zeros_are_clipped_with_a_warning(samples):
    with pytest.warns(UserWarning, match="16 are taken"):
        estimator = learner(n_nonzero_coefs=50).fit(samples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        code = estimator.transform(samples)
    np.testing.assert_allclose(code @ estimator.components_, samples, atol=1e-6)


def test_it_starts_where_it_is_told(samples):
    first = learner(max_iter=1, exchange_iter=0).fit(samples)
    going_on = learner(dict_init=first.components_).fit(samples)
    assert going_on.error_ < first.error_
    with pytest.raises(ValueError, match="dict_init"):
        learner(dict_init=first.components_[:, :7]).fit(samples)


def test_partial_fit_learns_from_batch_to_batch(samples):
    estimator = learner(max_iter=1, exchange_iter=0)
    estimator.partial_fit(samples[:150])
    before = error(samples, estimator.transform(samples), estimator)
    for _ in range(3):
        for start in range(150, 900, 150):
            estimator.partial_fit(samples[start : start + 150])
    after = error(samples, estimator.transform(samples), estimator)
    assert after < 0.8 * before
    np.testing.assert_allclose(np.linalg.norm(estimator.components_, axis=1), 1)


def test_it_is_cloned_pickled_and_piped(samples):
    estimator = learner().fit(samples)
    again = pickle.loads(pickle.dumps(estimator))
    np.testing.assert_array_equal(again.transform(samples).toarray(), estimator.transform(samples).toarray())
    assert clone(estimator).get_params() == estimator.get_params()
    pipe = make_pipeline(StandardScaler(), learner(sparse_output=False))
    assert pipe.fit_transform(samples).shape == (900, 20)


@pytest.mark.parametrize(
    "settings",
    [
        {"n_components": 0},
        {"n_nonzero_coefs": 0},
        {"n_nonzero_coefs": "many"},
        {"tol": -1},
        {"max_iter": 0},
        {"exchange_iter": -1},
        {"batch_size": 0},
        {"transform_budget": "all"},
    ],
)
def test_nonsense_is_refused(samples, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        learner().set_params(**settings).fit(samples)


def test_it_is_found_in_the_package():
    assert tessera.BatchSVD is BatchSVD
    with pytest.raises(AttributeError):
        tessera.NoSuchThing
