//! Errors of the crates as exceptions of `tessera._errors`, by who can do something about them.

use pyo3::exceptions::{PyMemoryError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::fmt::Display;
use tessera_codec::image_io::ReadImageError;
use tessera_codec::{DictionaryError, Error};
use tessera_train::TrainError;

/// Turns what went wrong into an exception.
pub(crate) trait Raise<T> {
    fn raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Raised> Raise<T> for Result<T, E> {
    fn raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| error.raised(py))
    }
}

/// An error that knows its exception.
pub(crate) trait Raised {
    fn raised(self, py: Python<'_>) -> PyErr;
}

/// An exception of this package, by the name of its class.
pub(crate) fn exception(py: Python<'_>, class: &str, message: impl Display) -> PyErr {
    let found = (|| {
        let class = py.import("tessera._errors")?.getattr(class)?;
        Ok::<_, PyErr>(class.cast_into::<PyType>()?)
    })();
    match found {
        Ok(class) => PyErr::from_type(class, (message.to_string(),)),
        Err(missing) => missing,
    }
}

/// A parameter out of its range.
pub(crate) fn parameter(py: Python<'_>, message: impl Display) -> PyErr {
    exception(py, "ParameterError", message)
}

/// A whole number of Python as one of ours, which may be smaller; an error says which and what it was.
pub(crate) fn natural<T: TryFrom<i64>>(py: Python<'_>, name: &str, value: i64) -> PyResult<T> {
    T::try_from(value).map_err(|_| parameter(py, format!("{name} cannot be {value}")))
}

impl Raised for Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Error::Io(error) => PyErr::from(error),
            Error::Format(error) => exception(py, "FormatError", error),
            Error::Input(error) => exception(py, "FormatError", error),
            Error::Parameter(message) => exception(py, "ParameterError", message),
            Error::Dictionary(error) => error.raised(py),
            Error::Limits(error) => exception(py, "LimitsError", error),
            Error::Memory(error) => PyMemoryError::new_err(error.to_string()),
            Error::TargetUnreachable(error) => exception(py, "TargetError", error),
            other => exception(py, "TesseraError", other),
        }
    }
}

impl Raised for DictionaryError {
    fn raised(self, py: Python<'_>) -> PyErr {
        exception(py, "DictionaryError", self)
    }
}

impl Raised for ReadImageError {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            ReadImageError::Io(error) => PyErr::from(error),
            ReadImageError::Codec(error) => error.raised(py),
            ReadImageError::TooLarge => exception(py, "LimitsError", self),
            other => exception(py, "FormatError", other),
        }
    }
}

impl Raised for TrainError {
    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            TrainError::Open(error) => PyOSError::new_err(error.to_string()),
            TrainError::NoPictures | TrainError::OnePicture | TrainError::TooLarge { .. } => {
                exception(py, "ParameterError", self)
            }
            other => {
                let cause = std::error::Error::source(&other).map(|cause| format!(": {cause}"));
                let message = format!("{other}{}", cause.unwrap_or_default());
                exception(py, "TesseraError", message)
            }
        }
    }
}

impl Raised for batchsvd::Error {
    fn raised(self, py: Python<'_>) -> PyErr {
        exception(py, "ParameterError", self)
    }
}
