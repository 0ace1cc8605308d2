//! Planes, colour and the partition of a plane into patches.

pub mod plane;
pub mod shape;

pub use plane::Plane;
pub use shape::Shape;
