//! What things cost: distortion in squared steps plus lambda times bits, from rough to exact.

pub(crate) mod estimate;
pub(crate) mod levels;
pub mod reference;
