//! A file object of Python as a reader, so that only what is needed of it is read.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::io::{self, Read, Seek, SeekFrom};

/// Anything with `read` and `seek`.
pub(crate) struct PythonFile(pub(crate) Py<PyAny>);

impl Read for PythonFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Python::attach(|py| {
            let read = self.0.bind(py).call_method1("read", (buffer.len(),))?;
            let bytes = read.cast::<PyBytes>().map_err(PyErr::from)?.as_bytes();
            let len = bytes.len().min(buffer.len());
            buffer[..len].copy_from_slice(&bytes[..len]);
            Ok(len)
        })
        .map_err(|error: PyErr| io::Error::other(error))
    }
}

impl Seek for PythonFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (offset, whence) = match to {
            SeekFrom::Start(offset) => (offset as i64, 0),
            SeekFrom::Current(offset) => (offset, 1),
            SeekFrom::End(offset) => (offset, 2),
        };
        Python::attach(|py| {
            let file = self.0.bind(py);
            file.call_method1("seek", (offset, whence))?;
            // Not every `seek` tells where it went.
            file.call_method0("tell")?.extract::<u64>()
        })
        .map_err(io::Error::other)
    }
}
