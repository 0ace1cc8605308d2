//! Weights of the filter that ends decoding.

/// Classes of activity.
pub const ACTIVITIES: usize = 8;
/// Classes of direction.
pub const DIRECTIONS: usize = 5;
/// Classes of position on the edge of a patch.
pub const EDGES: usize = 4;
/// Number of classes.
pub const CLASSES: usize = ACTIVITIES * DIRECTIONS * EDGES;
/// Weights per class: one for each pair of opposite neighbours.
pub const TAPS: usize = 12;
/// Fractional bits of a weight.
pub const COEFFICIENT_BITS: u32 = 12;
/// Largest sum of absolute weights of a class: keeps the weighted sum of differences inside 32 bits.
pub const MAX_GAIN: u32 = 1 << 17;
/// Number of ranges of step sizes with weights of their own.
pub const BANDS: usize = 3;

/// Weights of all classes for one range of steps.
pub type FilterBand = Vec<[i16; TAPS]>;

/// Filters of one plane kind, from fine to coarse steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterSet {
    /// One entry per range of steps.
    pub bands: [FilterBand; BANDS],
}

impl FilterSet {
    /// A filter that changes nothing.
    pub fn neutral() -> Self {
        Self {
            bands: std::array::from_fn(|_| vec![[0; TAPS]; CLASSES]),
        }
    }

    /// The range a quantiser index belongs to.
    pub fn band(quantiser: u8) -> usize {
        match quantiser {
            0..=61 => 0,
            62..=71 => 1,
            _ => 2,
        }
    }
}
