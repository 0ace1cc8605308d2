//! Keeps a panic of a decoder that others wrote to the one file that caused it.

use crate::image_io::error::ReadImageError;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// True while a panic of this thread is expected and will be told in our own words.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs a decoder; a panic inside it becomes an error, and nothing is printed about it.
pub(super) fn contained<T>(
    format: &'static str,
    decode: impl FnOnce() -> Result<T, ReadImageError>,
) -> Result<T, ReadImageError> {
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                usual(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    // What the decoder was writing to is dropped with the panic, so nobody sees it half done.
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    QUIET.set(before);
    result.unwrap_or(Err(ReadImageError::DecoderStopped(format)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_and_the_next_file_is_read() {
        let stopped = contained("TIFF", || -> Result<(), _> {
            panic!("assertion of others")
        });
        assert!(matches!(
            stopped,
            Err(ReadImageError::DecoderStopped("TIFF"))
        ));
        assert_eq!(contained("TIFF", || Ok(7)).unwrap(), 7);
    }
}
