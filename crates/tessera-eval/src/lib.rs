//! Metrics, peers and rate-distortion curves.
//!
//! The rate-distortion tool, from the inside out: a [`image8::Image8`] goes through a
//! [`codec::Codec`]; [`metrics`] compare the result with the original; [`run`] does so for every
//! picture, codec and quality and keeps the [`points`]; [`bd`] condenses curves to BD-rates;
//! [`report`] writes it all down; [`rd`] is all of that in one call.
//!
//! [`gain`] measures what a learned dictionary brings; [`mosaic`] draws dictionaries.

pub mod bd;
pub mod codec;
pub mod compare;
pub mod curve;
pub mod gain;
pub mod image8;
pub mod metrics;
pub mod mosaic;
pub mod points;
pub mod rd;
pub mod report;
pub mod run;
pub mod timing;
