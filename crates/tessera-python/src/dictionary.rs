//! Dictionaries in Python.

use crate::errors::{Raise, exception};
use pyo3::exceptions::PyFileExistsError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use tessera_codec::{DictId, DictionaryError, PreparedDictionary};
use tessera_dict::store::Store;

/// What sender and receiver share: bases, probabilities and filters, learned from pictures.
///
/// It is named by the hash of its content, so that a file can never meet the wrong one unnoticed. Pickled, it travels
/// whole.
///
/// >>> import tessera
/// >>> tessera.Dictionary.builtin()  # doctest: +ELLIPSIS
/// <tessera.Dictionary builtin:..., ... bytes>
#[pyclass(frozen, module = "tessera", from_py_object)]
#[derive(Clone)]
pub(crate) struct Dictionary(pub(crate) PreparedDictionary);

impl From<tessera_dict::Dictionary> for Dictionary {
    fn from(dictionary: tessera_dict::Dictionary) -> Self {
        Self(dictionary.into())
    }
}

/// Reads and checks a dictionary.
fn parse(bytes: &[u8]) -> Result<Dictionary, DictionaryError> {
    let dictionary = tessera_dict::Dictionary::from_bytes(bytes)?;
    Ok(Dictionary(PreparedDictionary::new(dictionary)?))
}

#[pymethods]
impl Dictionary {
    /// Read and check a dictionary file.
    #[classmethod]
    fn open(_class: &Bound<'_, PyType>, py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let bytes = std::fs::read(&path).map_err(|error| named(&path, error))?;
        parse(&bytes).map_err(|error| {
            exception(
                py,
                "DictionaryError",
                format!("{}: {error}", path.display()),
            )
        })
    }

    /// Read and check the bytes of a dictionary file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        parse(data).raise(py)
    }

    /// The dictionary that every program carries.
    #[staticmethod]
    fn builtin() -> Self {
        Self(PreparedDictionary::builtin().clone())
    }

    /// The installed dictionary whose identity starts with these digits.
    #[staticmethod]
    fn find(py: Python<'_>, identity: &str) -> PyResult<Self> {
        let store = Store::open();
        let Some(path) = store.find(&identity.to_ascii_lowercase()) else {
            let message = format!(
                "no dictionary whose identity starts with {identity} is in {}",
                store.places()
            );
            return Err(exception(py, "DictionaryError", message));
        };
        Self::open(&py.get_type::<Self>(), py, path)
    }

    /// What files that need it name it by.
    #[getter]
    fn id(&self) -> String {
        self.0.id().to_string()
    }

    /// Where it comes from: pictures, settings, licence and credits.
    #[getter]
    fn provenance(&self) -> &str {
        self.0.provenance()
    }

    /// The same with another text about its origin, and therefore with another identity.
    fn with_provenance(&self, py: Python<'_>, provenance: String) -> PyResult<Self> {
        let edited = (self.0.dictionary()).edited(|parts| parts.provenance = provenance);
        Ok(edited.map_err(DictionaryError::from).raise(py)?.into())
    }

    /// Number of reference pictures it carries.
    #[getter]
    fn n_references(&self) -> usize {
        self.0.references().len()
    }

    /// Size of its file.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.to_bytes().len()
    }

    /// Its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    /// Write its file, which appears whole or not at all.
    #[pyo3(signature = (path, *, overwrite = false))]
    fn save(&self, path: PathBuf, overwrite: bool) -> PyResult<()> {
        write(&path, &self.0.to_bytes(), overwrite)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (slf.get().to_bytes(py),)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }

    fn __hash__(&self) -> u64 {
        let fold = |bytes: &[u8]| (bytes.iter()).fold(0, |all, &byte| all << 4 ^ u64::from(byte));
        match self.0.id() {
            DictId::Builtin(number) => u64::from(number),
            DictId::Prefix(bytes) => fold(&bytes),
            DictId::Hash(bytes) => fold(&bytes),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<tessera.Dictionary {}, {} bytes>",
            self.id(),
            self.nbytes()
        )
    }
}

/// Writes a file that appears whole or not at all.
fn write(path: &Path, bytes: &[u8], overwrite: bool) -> PyResult<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let failed = |error| named(path, error);
    let mut file = NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    let kept = match overwrite {
        true => file.persist(path),
        false => file.persist_noclobber(path),
    };
    match kept {
        Ok(_) => Ok(()),
        Err(_) if !overwrite && path.exists() => Err(PyFileExistsError::new_err(format!(
            "{} exists; pass overwrite=True to replace it",
            path.display()
        ))),
        Err(error) => Err(failed(error.error)),
    }
}

/// An error of the system that says which file it is about.
pub(crate) fn named(path: &Path, error: std::io::Error) -> PyErr {
    let message = format!("{}: {error}", path.display());
    std::io::Error::new(error.kind(), message).into()
}
