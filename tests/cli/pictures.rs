//! Reading pictures in tests.

use std::path::Path;

/// Not `image::open`: it has every decoder compiled anew inside the crate that calls it.
pub(crate) fn open(path: impl AsRef<Path>) -> image::DynamicImage {
    image::load_from_memory(&std::fs::read(path).unwrap()).unwrap()
}
