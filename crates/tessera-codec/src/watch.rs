//! Telling how far the work on a picture is.

use std::fmt;
use std::sync::Arc;

/// Hears of every tile that is done, with its number of pixels, from whichever thread did it.
#[derive(Clone, Default)]
pub(crate) struct TileWatch(Option<Arc<dyn Fn(u64) + Send + Sync>>);

impl TileWatch {
    pub(crate) fn new(hear: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn done(&self, pixels: u64) {
        if let Some(hear) = &self.0 {
            hear(pixels);
        }
    }
}

impl fmt::Debug for TileWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TileWatch").field(&self.0.is_some()).finish()
    }
}
