//! What can go wrong, grouped by who has to act: the data, the parameters, or a file.

use std::io;

/// Why a batch was refused or a file could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A matrix without rows or columns was passed.
    #[error("{what} is empty ({rows} x {columns})")]
    Empty {
        /// Which matrix.
        what: &'static str,
        /// Its number of rows.
        rows: usize,
        /// Its number of columns.
        columns: usize,
    },
    /// A matrix holds NaN or an infinity.
    #[error("{what} has a non-finite value at row {row}, column {column}")]
    NonFinite {
        /// Which matrix.
        what: &'static str,
        /// Row of the first such value.
        row: usize,
        /// Column of the first such value.
        column: usize,
    },
    /// Squares of the values would overflow or vanish in double precision.
    #[error("{what} has a largest magnitude of {magnitude:e}, outside 1e-140..1e140")]
    OutOfRange {
        /// Which matrix.
        what: &'static str,
        /// The largest absolute value found.
        magnitude: f64,
    },
    /// A dictionary atom has no direction.
    #[error("atom {atom} is zero and cannot be normalised")]
    ZeroAtom {
        /// Index of the atom.
        atom: usize,
    },
    /// Every sample is zero, so that there is nothing to learn.
    #[error("all samples are zero; there is nothing to learn")]
    AllZero,
    /// Two inputs disagree about a dimension.
    #[error("{what} should be {expected}, found {found}")]
    Shape {
        /// Which dimension.
        what: &'static str,
        /// The size required by the other input.
        expected: usize,
        /// The size found.
        found: usize,
    },
    /// A parameter is outside its domain.
    #[error("parameter {name}: {reason}")]
    Parameter {
        /// Name of the field.
        name: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// More non-zeros were asked for than linearly independent codes can hold.
    #[error("a budget of {budget} non-zeros exceeds the capacity {capacity} of this batch")]
    BudgetAboveCapacity {
        /// The budget asked for.
        budget: usize,
        /// `samples * min(dimension, atoms)`.
        capacity: usize,
    },
    /// A checkpoint file is damaged, of another version, or from another run.
    #[error("checkpoint: {0}")]
    Checkpoint(String),
    /// A `.npy` file has an unusable type or shape.
    #[error("npy: {0}")]
    Npy(String),
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    pub(crate) fn parameter(name: &'static str, reason: impl Into<String>) -> Self {
        Self::Parameter {
            name,
            reason: reason.into(),
        }
    }
}

/// Fails unless `found == expected`.
pub(crate) fn same_size(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found {
        Ok(())
    } else {
        Err(Error::Shape {
            what,
            expected,
            found,
        })
    }
}
