//! Stopping work from another thread, or after a time.

use crate::status::{answer, release};
use std::time::Duration;
use tessera_codec::CancelToken;

/// Stops encoders and decoders, from any thread or after a time.
#[derive(Debug)]
pub struct Cancel(pub(crate) CancelToken);

/// A token that stops work when tessera_cancel_now() is called.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_cancel_new() -> Option<Box<Cancel>> {
    answer(None, || Some(Some(Box::new(Cancel(CancelToken::new())))))
}

/// A token that stops work when so many milliseconds have passed from now, or when tessera_cancel_now() is called before.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_cancel_after(milliseconds: u64) -> Option<Box<Cancel>> {
    let token = || CancelToken::after(Duration::from_millis(milliseconds));
    answer(None, || Some(Some(Box::new(Cancel(token())))))
}

/// Stops the work of everything that was given this token: it ends with TESSERA_STATUS_CANCELLED before its next tile.
/// May be called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_cancel_now(cancel: Option<&Cancel>) {
    if let Some(Cancel(token)) = cancel {
        token.cancel();
    }
}

/// Frees a token; encoders and decoders that were given it go on as before.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_cancel_free(cancel: Option<Box<Cancel>>) {
    release(cancel);
}
