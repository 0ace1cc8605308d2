//! How many predictors work on a sample (`spec/lossless.md`, "Levels").

use super::errors::MAX_SQUARES;

/// Where and how long a least-squares predictor learns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Log2 of the columns that share a predictor.
    pub(super) columns: u32,
    /// Log2 of the pairs of samples it remembers.
    pub(super) pairs: u32,
}

const fn memory(columns: u32, pairs: u32) -> Memory {
    Memory { columns, pairs }
}

/// The whole row.
const ROW: u32 = 16;

/// Trades models for speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// One predictor.
    One,
    /// Two, one of them for the whole row.
    Two,
    /// Four.
    Four,
    /// Two, and the network of the dictionary.
    Learned,
}

impl Level {
    pub(super) const ALL: [Self; 4] = [Self::One, Self::Two, Self::Four, Self::Learned];

    /// The least-squares predictors.
    pub(super) fn memories(self) -> &'static [Memory] {
        match self {
            Self::One => const { &[memory(5, 6)] },
            Self::Two | Self::Learned => const { &[memory(5, 6), memory(ROW, 10)] },
            Self::Four => const { &[memory(5, 6), memory(4, 6), memory(6, 7), memory(ROW, 10)] },
        }
    }

    /// Steps of descent that each of them takes per pair of samples.
    pub(super) fn steps(self) -> usize {
        match self {
            Self::One | Self::Two | Self::Learned => 4,
            Self::Four => 16,
        }
    }
}

const _: () = assert!(MAX_SQUARES == 4);
