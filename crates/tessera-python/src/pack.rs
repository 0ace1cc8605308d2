//! Packs of pictures.

use crate::coded::{CodedImage, Stored, limited};
use crate::dictionary::Dictionary;
use crate::errors::{Raise, Raised, exception};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tessera_codec::{Decoder, StoredFile};
use tessera_pack::{Error, PackReader, PackWriter};

/// An open pack, of which only the index is read. `tessera.Pack` documents it.
#[pyclass(frozen, module = "tessera")]
pub(crate) struct PackFile {
    pack: PackReader<Stored>,
    decoder: Decoder,
}

#[pymethods]
impl PackFile {
    #[new]
    #[pyo3(signature = (source, *, threads = 0, max_pixels = None, max_memory = None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        threads: i64,
        max_pixels: Option<i64>,
        max_memory: Option<i64>,
    ) -> PyResult<Self> {
        let decoder = limited(py, threads, max_pixels, max_memory)?;
        let stored = Stored::open(source)?;
        let pack = py.detach(|| PackReader::open(stored)).raise(py)?;
        // A damaged dictionary is told at once.
        py.detach(|| pack.dictionary().map(drop)).raise(py)?;
        Ok(Self { pack, decoder })
    }

    /// Names of all pictures, in order.
    fn names(&self) -> Vec<&str> {
        self.pack.names().collect()
    }

    /// Bytes that each picture takes, in the order of their names.
    fn sizes(&self) -> Vec<u64> {
        self.pack.entries().map(|entry| entry.bytes).collect()
    }

    /// The dictionary in the pack.
    #[getter]
    fn dictionary(&self, py: Python<'_>) -> PyResult<Option<Dictionary>> {
        let own = self.pack.dictionary().raise(py)?;
        Ok(own.cloned().map(Dictionary))
    }

    /// A picture whose pixels wait to be asked for.
    fn coded(&self, py: Python<'_>, name: &str) -> PyResult<CodedImage> {
        let open = || {
            let stored = StoredFile::new(self.pack.entry(name)?)?;
            let decoder = match self.pack.dictionary_of(name)? {
                Some(needed) => self.decoder.clone().dictionary(needed),
                None => self.decoder.clone(),
            };
            Ok((decoder, stored))
        };
        let opened: Result<(Decoder, StoredFile), Error> = py.detach(open);
        let (decoder, stored) = opened.raise(py)?;
        CodedImage::of(py, decoder, stored.into(), true)
    }

    /// A picture as the bytes of a file of its own.
    fn file<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyBytes>> {
        let file = py.detach(|| self.pack.file(name)).raise(py)?;
        Ok(PyBytes::new(py, &file))
    }
}

/// The bytes of a pack with these files, which were coded with the dictionary given or with the built-in one.
#[pyfunction]
#[pyo3(signature = (files, dictionary = None))]
pub(crate) fn pack_files<'py>(
    py: Python<'py>,
    files: Vec<(String, Vec<u8>)>,
    dictionary: Option<&Dictionary>,
) -> PyResult<Bound<'py, PyBytes>> {
    let write = || {
        let own = dictionary.map(|own| own.0.to_difference(tessera_dict::Dictionary::builtin()));
        let mut pack = PackWriter::new(Vec::new(), own.as_deref())?;
        for (name, file) in &files {
            pack.add(name, file)?;
        }
        pack.finish()
    };
    let pack: Result<Vec<u8>, Error> = py.detach(write);
    Ok(PyBytes::new(py, &pack.raise(py)?))
}

impl Raised for Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Error::Io(error) => PyErr::from(error),
            Error::Codec(error) => error.raised(py),
            Error::Dictionary(_) | Error::OtherDictionary(_) => {
                exception(py, "DictionaryError", self)
            }
            Error::BadName(_) | Error::BadKey(_) | Error::Exists(_) => {
                exception(py, "ParameterError", self)
            }
            Error::NoSuchPicture(name) => PyKeyError::new_err(name),
            other => exception(py, "FormatError", other),
        }
    }
}
