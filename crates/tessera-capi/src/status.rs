//! Codes, sentences, and the net under every function.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tessera_codec::{DictionaryError, Error};

/// How a call ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As asked for.
    Ok = 0,
    /// Reading or writing failed.
    Io = 1,
    /// The data is damaged, cut short, or no Tessera picture.
    Format = 2,
    /// An argument is out of its range, or NULL where that is not allowed.
    Parameter = 3,
    /// The dictionary is missing, the wrong one, damaged or of another version.
    Dictionary = 4,
    /// The picture asks for more than the limits of the decoder allow.
    Limits = 5,
    /// The machine has not enough memory.
    Memory = 6,
    /// No setting of the encoder gives what was asked for.
    Target = 7,
    /// Stopped by a TesseraCancel.
    Cancelled = 8,
    /// A fault of this library; please report it.
    Internal = 9,
}

/// A status that is not OK, and the sentence about it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    status: Status,
    message: String,
}

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self {
            status,
            message: message.into(),
        }
    }

    /// The same, and in which file.
    pub(crate) fn within(self, file: &Path) -> Self {
        let message = format!("{}: {}", file.display(), self.message);
        Self::new(self.status, message)
    }

    /// An argument that cannot be.
    pub(crate) fn parameter(message: impl Into<String>) -> Self {
        Self::new(Status::Parameter, message)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Io(_) | Error::Input(_) => Status::Io,
            Error::Format(_) => Status::Format,
            Error::Parameter(_) => Status::Parameter,
            Error::Dictionary(_) => Status::Dictionary,
            Error::Limits(_) => Status::Limits,
            Error::Memory(_) => Status::Memory,
            Error::TargetUnreachable(_) => Status::Target,
            Error::Cancelled => Status::Cancelled,
            _ => Status::Internal,
        };
        Self::new(status, error.to_string())
    }
}

impl From<DictionaryError> for Failure {
    fn from(error: DictionaryError) -> Self {
        Error::from(error).into()
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// What was wrong in the last call of this thread that failed: a sentence in UTF-8, empty if none has failed. It stays
/// valid until another call of this thread fails.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_last_error() -> *const c_char {
    let read = || LAST_ERROR.with_borrow(|message| message.as_ptr());
    catch_unwind(read).unwrap_or(c"".as_ptr())
}

/// The name of a status, for logs.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_status_name(status: u32) -> *const c_char {
    const NAMES: [&CStr; 10] = [
        c"ok",
        c"io",
        c"format",
        c"parameter",
        c"dictionary",
        c"limits",
        c"memory",
        c"target",
        c"cancelled",
        c"internal",
    ];
    NAMES.get(status as usize).unwrap_or(&c"unknown").as_ptr()
}

/// Runs the body of a function that can fail; keeps its sentence. Nothing unwinds into C.
pub(crate) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return Status::Ok,
        Ok(Err(failure)) => failure,
        Err(_panic) => Failure::new(
            Status::Internal,
            "a fault of Tessera; please report it with the picture",
        ),
    };
    let sentence = CString::new(failure.message.replace('\0', "?")).unwrap_or_default();
    LAST_ERROR.with_borrow_mut(|last| *last = sentence);
    failure.status
}

/// Runs the body of a function that answers a question; `otherwise` is the answer if there is none.
pub(crate) fn answer<T>(otherwise: T, body: impl FnOnce() -> Option<T>) -> T {
    catch_unwind(AssertUnwindSafe(body))
        .ok()
        .flatten()
        .unwrap_or(otherwise)
}

/// Ends a handle. A panic on the way leaks what is left of it.
pub(crate) fn release<T>(handle: Option<Box<T>>) {
    let _panicked = catch_unwind(AssertUnwindSafe(|| drop(handle)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_error() -> String {
        // SAFETY: the pointer is that of a live string of this thread.
        let text = unsafe { CStr::from_ptr(tessera_last_error()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn panics_become_a_status_and_a_sentence() {
        let status = guard(|| panic!("inside"));
        assert_eq!(status, Status::Internal);
        assert!(last_error().contains("report"));
        assert_eq!(answer(7, || panic!("inside")), 7);
    }

    #[test]
    fn each_thread_has_its_own_sentence() {
        guard(|| Err(Failure::parameter("mine\0")));
        let theirs = std::thread::spawn(last_error).join().unwrap();
        assert_eq!((last_error().as_str(), theirs.as_str()), ("mine?", ""));
    }
}
