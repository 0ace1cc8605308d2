//! Errors of the rows above, which contexts are made of (`spec/lossless.md`, "Errors").

use super::planes::BORDER;
use super::taps::SMALL;

/// Most least-squares predictors there are.
pub(super) const MAX_SQUARES: usize = 4;

/// How far each prediction of a sample was from it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SampleErrors {
    /// Of the final prediction, with fractional bits and sign.
    pub(super) signed: i32,
    /// Of the blend that a network starts from, the same; without a network they are equal.
    pub(super) raw: i32,
    /// Of the small predictors.
    pub(super) small: [u32; SMALL],
    /// Of the least-squares predictors, with fractional bits.
    pub(super) squares: [u32; MAX_SQUARES],
}

/// The row in work and the two above it, with a border.
#[derive(Clone, Debug)]
pub(super) struct ErrorRows([Vec<SampleErrors>; 3]);

impl ErrorRows {
    pub(super) fn new(width: usize) -> Self {
        Self(std::array::from_fn(|_| {
            vec![SampleErrors::default(); width + 2 * BORDER]
        }))
    }

    /// Starts a row: on its left stand the errors above its first sample.
    pub(super) fn open_row(&mut self) {
        self.0.rotate_right(1);
        let first = self.0[1][BORDER];
        self.0[0][..BORDER].fill(first);
    }

    /// Ends a row: on its right stand its last errors.
    pub(super) fn close_row(&mut self) {
        let end = self.0[0].len() - BORDER;
        let last = self.0[0][end - 1];
        self.0[0][end..].fill(last);
    }

    /// West, north, north-east, north-west, west of west, north of north.
    #[inline(always)]
    pub(super) fn around(&self, x: usize) -> [&SampleErrors; 6] {
        let [row, above, second] = &self.0;
        let at = x + BORDER;
        [
            &row[at - 1],
            &above[at],
            &above[at + 1],
            &above[at - 1],
            &row[at - 2],
            &second[at],
        ]
    }

    /// The errors `left` columns to the left and `up` rows up, at most the border and two.
    #[inline(always)]
    pub(super) fn at(&self, x: usize, left: isize, up: usize) -> &SampleErrors {
        &self.0[up][(x + BORDER).wrapping_add_signed(-left)]
    }

    #[inline(always)]
    pub(super) fn set(&mut self, x: usize, errors: SampleErrors) {
        self.0[0][x + BORDER] = errors;
    }
}
