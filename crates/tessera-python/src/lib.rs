//! The part of the Python package that is Rust. Whoever uses Python sees it through `python/tessera`, which documents it.

mod coded;
mod dictionary;
mod encoder;
mod errors;
mod interrupt;
mod learn;
mod measure;
mod pack;
mod python_file;
mod train;
mod workers;

use pyo3::prelude::*;

/// What `tessera._native` holds.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::coded::{CodedImage, preview};
    #[pymodule_export]
    use crate::dictionary::Dictionary;
    #[pymodule_export]
    use crate::encoder::{Encoder, extensions};
    #[pymodule_export]
    use crate::learn::{learn, sparse_code};
    #[pymodule_export]
    use crate::measure::{bd_rate, compare, measure};
    #[pymodule_export]
    use crate::pack::{PackFile, pack_files};
    #[pymodule_export]
    use crate::train::train;
    #[pymodule_export]
    use crate::workers::code_crops;
    /// Most pictures that a training looks at.
    #[pymodule_export]
    const MOST_PICTURES: usize = tessera_train::Trainer::MOST_FILES;
}
