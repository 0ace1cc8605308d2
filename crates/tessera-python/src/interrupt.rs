//! Long work with Python's lock released, and Ctrl-C heard all the same.

use pyo3::prelude::*;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use tessera_codec::CancelToken;

/// How often signals are looked for.
const PATIENCE: Duration = Duration::from_millis(100);

/// Does `work` without Python's lock. Python hears signals on its own thread only, so that one waits here, and tells the
/// token when it is interrupted.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&CancelToken) -> T + Send,
) -> PyResult<T> {
    let token = &CancelToken::new();
    let (sender, mut receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let thread = scope.spawn(move || {
            // Nobody waits any more if Python was interrupted.
            let _unheard = sender.send(work(token));
        });
        loop {
            let waiting = &mut receiver;
            let waited = py.detach(move || waiting.recv_timeout(PATIENCE));
            match waited {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // It panicked, and has said so; Python is to go on.
                    let _panic = py.detach(|| thread.join());
                    let message = "the work ended without a result; please report it";
                    return Err(crate::errors::exception(py, "TesseraError", message));
                }
            }
            if let Err(interrupted) = py.check_signals() {
                token.cancel();
                // The thread may need the lock to come to its end.
                let waiting = &mut receiver;
                py.detach(move || waiting.recv().ok());
                return Err(interrupted);
            }
        }
    })
}
