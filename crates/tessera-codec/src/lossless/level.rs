//! How many predictors work on a sample (`spec/lossless.md`, "Levels").

use super::errors::MAX_SQUARES;

/// Where and how long a least-squares predictor learns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Log2 of the columns that share a predictor.
    pub(super) columns: u32,
    /// Log2 of the samples it remembers.
    pub(super) samples: u32,
}

const fn memory(columns: u32, samples: u32) -> Memory {
    Memory { columns, samples }
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
            Self::One => const { &[memory(5, 7)] },
            Self::Two | Self::Learned => const { &[memory(5, 7), memory(ROW, 11)] },
            Self::Four => const { &[memory(5, 7), memory(4, 7), memory(6, 8), memory(ROW, 11)] },
        }
    }

    /// Steps of descent that each of them takes per sample.
    pub(super) fn steps(self) -> usize {
        match self {
            Self::One | Self::Two | Self::Learned => 2,
            Self::Four => 8,
        }
    }
}

const _: () = assert!(MAX_SQUARES == 4);
