//! A plane of samples.

/// Samples of one component: 12-bit values in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Width in samples.
    pub width: usize,
    /// Height in samples.
    pub height: usize,
    /// `width * height` samples.
    pub data: Vec<u16>,
}
