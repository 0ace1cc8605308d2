//! Ending long work early on Ctrl-C.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Knows of Ctrl-C. The first one asks politely; the second ends the process.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Listens from now on.
    pub(crate) fn new() -> Self {
        let pressed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&pressed);
        let asked = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
            eprintln!("stopping; Ctrl-C again to give up what was learned");
        });
        // Without a handler Ctrl-C ends the process as ever; the checkpoint on disk remains.
        drop(asked);
        Self(pressed)
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn pressed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// What shells report for a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;
