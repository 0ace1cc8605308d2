//! Planes, colour and the partition of a plane into patches.

pub mod colour;
pub mod plane;
pub mod shape;

pub use plane::{MAX_SAMPLE, Plane, PlaneError, SAMPLE_BITS};
pub use shape::Shape;
