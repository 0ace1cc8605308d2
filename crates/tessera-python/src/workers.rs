//! The part of a training that is done elsewhere, through Python.

use crate::dictionary::Dictionary;
use crate::errors::Raise;
use crate::interrupt::interruptible;
use crate::learn::with_threads;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::path::PathBuf;
use tessera_train::{Job, Workers};

/// A function of Python that has jobs done: `run(dictionary, [(message, pictures), ...])` returns a list of answers.
#[derive(Debug)]
pub(crate) struct PythonWorkers(pub(crate) Py<PyAny>);

impl Workers for PythonWorkers {
    fn run(&self, dictionary: &[u8], jobs: &[Job]) -> Result<Vec<Vec<u8>>, String> {
        Python::attach(|py| {
            let jobs = jobs.iter().map(|job| {
                let pictures = job.pictures.iter().map(|path| path.to_string_lossy());
                let pictures: Vec<String> = pictures.map(String::from).collect();
                (PyBytes::new(py, &job.message), pictures)
            });
            let jobs = PyList::new(py, jobs.collect::<Vec<_>>())?;
            let answers = self.0.call1(py, (PyBytes::new(py, dictionary), jobs))?;
            answers.extract(py)
        })
        .map_err(|error: PyErr| error.to_string())
    }
}

/// Does a job of [`PythonWorkers`]; pictures are in the order of the job.
#[pyfunction]
#[pyo3(signature = (dictionary, message, pictures, *, threads = 1))]
pub(crate) fn code_crops<'py>(
    py: Python<'py>,
    dictionary: &Dictionary,
    message: &[u8],
    pictures: Vec<PathBuf>,
    threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let answer = interruptible(py, |_| {
        with_threads(threads, || {
            tessera_train::work(&dictionary.0, message, &pictures)
        })
    })??;
    Ok(PyBytes::new(py, &answer.raise(py)?))
}
