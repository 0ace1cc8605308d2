//! The learner of `batchsvd` for arrays whose rows are samples.

use crate::errors::{Raise, Raised, exception, parameter};
use crate::interrupt::interruptible;
use batchsvd::online::{OnlineParams, Penalty};
use batchsvd::{
    BatchSvdParams, Budget, Dictionary, Fit, Phase, Progress, Rule, SampleMatrix, SparseCode,
    Start, code,
};
use faer::MatRef;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use tessera_codec::CancelToken;

/// Offsets, atoms and amplitudes: what a CSR matrix is made of.
type Csr<'py> = (
    Bound<'py, PyArray1<i64>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<f64>>,
);

/// Atoms as rows, the code of the samples, the squared error and the number of iterations.
type Learned<'py> = (Bound<'py, PyArray2<f64>>, Csr<'py>, f64, usize);

/// How the dictionary is learned.
#[derive(FromPyObject)]
pub(crate) struct Options {
    #[pyo3(item)]
    n_components: usize,
    /// Non-zeros of the whole batch.
    #[pyo3(item)]
    budget: usize,
    #[pyo3(item)]
    alternations: usize,
    #[pyo3(item)]
    exchanges: usize,
    #[pyo3(item)]
    tol: f64,
    #[pyo3(item)]
    batch_size: usize,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    n_jobs: usize,
}

/// Learns atoms from the rows of `samples`, starting from those of `start` or from online learning.
#[pyfunction]
#[pyo3(signature = (samples, options, start = None))]
pub(crate) fn learn<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray2<'py, f64>,
    options: Options,
    start: Option<PyReadonlyArray2<'py, f64>>,
) -> PyResult<Learned<'py>> {
    let samples = sample_matrix(py, &samples)?;
    let start = start.map(|atoms| dictionary(py, &atoms)).transpose()?;
    let fit = interruptible(py, |token| {
        with_threads(options.n_jobs, || fit(&samples, &options, start, token))
    })??
    .raise(py)?;
    let iterations = fit.trace.iter().filter(|step| ends_iteration(step.phase));
    let iterations = iterations.count();
    let atoms = rows(py, fit.dictionary.atoms())?;
    Ok((atoms, csr(py, &fit.code), fit.objective, iterations))
}

/// Codes the rows of `samples` over atoms that are rows too.
#[pyfunction]
#[pyo3(signature = (samples, atoms, *, per_sample = None, batch = None, error = None, rule = "ols", n_jobs = 0))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn sparse_code<'py>(
    py: Python<'py>,
    samples: PyReadonlyArray2<'py, f64>,
    atoms: PyReadonlyArray2<'py, f64>,
    per_sample: Option<usize>,
    batch: Option<usize>,
    error: Option<f64>,
    rule: &str,
    n_jobs: usize,
) -> PyResult<Csr<'py>> {
    let rule = match rule {
        "ols" => Rule::Ols,
        "omp" => Rule::Omp,
        other => {
            return Err(parameter(
                py,
                format!("the rule is 'ols' or 'omp', not {other:?}"),
            ));
        }
    };
    let budget = match (per_sample, batch, error) {
        (Some(nonzeros), None, None) => Budget::PerSample(nonzeros),
        (None, Some(nonzeros), None) => Budget::Batch(nonzeros),
        (None, None, Some(error)) => Budget::Error(error),
        _ => return Err(parameter(py, "give one of per_sample, batch and error")),
    };
    let (signs, dictionary) = signed_dictionary(py, &atoms)?;
    let samples = sample_matrix(py, &samples)?;
    let coded = interruptible(py, |_| {
        with_threads(n_jobs, || code(&dictionary, &samples, budget, rule))
    })??;
    Ok(signed_csr(py, &coded.raise(py)?, Some(&signs)))
}

fn fit(
    samples: &SampleMatrix,
    options: &Options,
    start: Option<Dictionary>,
    token: &CancelToken,
) -> Result<Fit, batchsvd::Error> {
    let &Options {
        n_components: atoms,
        budget,
        seed,
        ..
    } = options;
    let start = match start {
        Some(start) => start,
        None => {
            let penalty = Penalty::Nonzeros(budget as f64 / samples.count() as f64);
            let params = OnlineParams {
                batch: options.batch_size,
                seed,
                ..OnlineParams::new(atoms, penalty)
            };
            params.check()?.fit(samples)?
        }
    };
    let mut params = BatchSvdParams {
        start: Start::Given(start),
        iterations: options.exchanges,
        tolerance: options.tol,
        seed,
        ..BatchSvdParams::best(atoms, budget)
    };
    params.alternate.iterations = options.alternations;
    let mut observer = |_: &Progress| match token.is_cancelled() {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    params.check()?.fit_observed(samples, &mut observer)
}

/// Whether a phase is the last of its iteration.
fn ends_iteration(phase: Phase) -> bool {
    matches!(phase, Phase::Alternate | Phase::Amplitude)
}

/// Calls `work` on so many threads, or one per core; what it returns does not depend on it.
pub(crate) fn with_threads<T: Send>(
    threads: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    match pool {
        Ok(pool) => Ok(pool.install(work)),
        Err(error) => Err(Python::attach(|py| {
            exception(
                py,
                "TesseraError",
                format!("cannot start the threads: {error}"),
            )
        })),
    }
}

/// Rows of an array as columns of a matrix, which is the same memory.
fn columns<'a>(array: &'a PyReadonlyArray2<'_, f64>) -> PyResult<MatRef<'a, f64>> {
    let [count, dimension] = [array.shape()[0], array.shape()[1]];
    let values = array.as_slice()?;
    Ok(MatRef::from_column_major_slice(values, dimension, count))
}

fn sample_matrix(py: Python<'_>, array: &PyReadonlyArray2<'_, f64>) -> PyResult<SampleMatrix> {
    SampleMatrix::new(columns(array)?).raise(py)
}

fn dictionary(py: Python<'_>, array: &PyReadonlyArray2<'_, f64>) -> PyResult<Dictionary> {
    Dictionary::new(columns(array)?).raise(py)
}

/// A dictionary, and which of its atoms the crate has turned to their canonical sign.
fn signed_dictionary(
    py: Python<'_>,
    array: &PyReadonlyArray2<'_, f64>,
) -> PyResult<(Vec<f64>, Dictionary)> {
    let given = columns(array)?;
    let dictionary = Dictionary::new(given).map_err(|error| error.raised(py))?;
    let own = dictionary.atoms();
    let sign = |atom: usize| {
        let product: f64 = (0..own.nrows())
            .map(|i| given[(i, atom)] * own[(i, atom)])
            .sum();
        product.signum()
    };
    Ok(((0..own.ncols()).map(sign).collect(), dictionary))
}

fn rows<'py>(py: Python<'py>, atoms: MatRef<'_, f64>) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (dimension, count) = (atoms.nrows(), atoms.ncols());
    let values = (0..count).flat_map(|j| (0..dimension).map(move |i| atoms[(i, j)]));
    PyArray1::from_vec(py, values.collect()).reshape([count, dimension])
}

fn csr<'py>(py: Python<'py>, code: &SparseCode) -> Csr<'py> {
    signed_csr(py, code, None)
}

fn signed_csr<'py>(py: Python<'py>, code: &SparseCode, signs: Option<&[f64]>) -> Csr<'py> {
    let mut offsets = vec![0];
    let mut atoms = Vec::with_capacity(code.nonzeros());
    let mut values = Vec::with_capacity(code.nonzeros());
    for sample in 0..code.count() {
        for (atom, value) in code.entries(sample) {
            atoms.push(atom as i32);
            values.push(value * signs.map_or(1.0, |signs| signs[atom]));
        }
        offsets.push(atoms.len() as i64);
    }
    (
        PyArray1::from_vec(py, offsets),
        PyArray1::from_vec(py, atoms),
        PyArray1::from_vec(py, values),
    )
}
