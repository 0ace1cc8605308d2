//! A rectangle of samples: what the tile coder predicts, transforms and filters.

use thiserror::Error;

/// Bits of a sample inside the codec, whatever the depth of the picture.
///
/// One internal depth means one set of dictionaries, tables and quantiser steps; twelve bits
/// leave four fractional bits under an 8-bit picture, so that rounding never decides a pixel.
pub const SAMPLE_BITS: u32 = 12;

/// The largest sample value a plane may hold.
pub const MAX_SAMPLE: u16 = (1 << SAMPLE_BITS) - 1;

/// Why a plane could not be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PlaneError {
    /// A side is zero, or the number of samples does not fit in memory's address range.
    #[error("a plane cannot be {width}x{height} samples")]
    Size {
        /// Requested width.
        width: usize,
        /// Requested height.
        height: usize,
    },
    /// The samples handed over do not fill the rectangle exactly.
    #[error("a {width}x{height} plane needs width x height samples, not {found}")]
    Length {
        /// Requested width.
        width: usize,
        /// Requested height.
        height: usize,
        /// Number of samples that came.
        found: usize,
    },
}

/// A row-major rectangle of samples without padding.
///
/// Both sides are at least one and `data.len() == width * height`; the constructors check it and
/// whoever builds a plane by hand keeps to it. Samples are at most [`MAX_SAMPLE`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plane {
    /// Samples per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// The samples, row by row.
    pub data: Vec<u16>,
}

impl Plane {
    /// A plane of zeros.
    ///
    /// # Errors
    /// [`PlaneError::Size`] when a side is zero or the product overflows.
    pub fn new(width: usize, height: usize) -> Result<Self, PlaneError> {
        let len = checked_len(width, height)?;
        Ok(Self {
            width,
            height,
            data: vec![0; len],
        })
    }

    /// A plane around samples that are already there (row-major).
    ///
    /// # Errors
    /// [`PlaneError::Size`] as for [`Plane::new`], [`PlaneError::Length`] when `data` is too
    /// short or too long.
    pub fn from_vec(width: usize, height: usize, data: Vec<u16>) -> Result<Self, PlaneError> {
        if checked_len(width, height)? != data.len() {
            return Err(PlaneError::Length {
                width,
                height,
                found: data.len(),
            });
        }
        Ok(Self {
            width,
            height,
            data,
        })
    }

    /// One row; panics when `y` is outside, like slice indexing.
    pub fn row(&self, y: usize) -> &[u16] {
        &self.data[y * self.width..][..self.width]
    }

    /// One row for writing; panics when `y` is outside, like slice indexing.
    pub fn row_mut(&mut self, y: usize) -> &mut [u16] {
        &mut self.data[y * self.width..][..self.width]
    }
}

fn checked_len(width: usize, height: usize) -> Result<usize, PlaneError> {
    match width.checked_mul(height) {
        Some(len) if len > 0 && len <= isize::MAX as usize / 2 => Ok(len),
        _ => Err(PlaneError::Size { width, height }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_slices_of_the_data() {
        let plane = Plane::from_vec(3, 2, vec![1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(plane.row(0), [1, 2, 3]);
        assert_eq!(plane.row(1), [4, 5, 6]);
    }

    #[test]
    fn sizes_are_checked() {
        assert!(matches!(Plane::new(0, 4), Err(PlaneError::Size { .. })));
        assert!(matches!(
            Plane::new(usize::MAX, 2),
            Err(PlaneError::Size { .. })
        ));
        assert!(matches!(
            Plane::from_vec(2, 2, vec![0; 3]),
            Err(PlaneError::Length { found: 3, .. })
        ));
    }
}
