//! What a decoder must do, also one built without the encoder: the conformance streams, the worked example of the
//! specification, and damage behind the checksums.

#[path = "../conformance_support/mod.rs"]
mod support;

mod conformance;
mod lossless;
mod mutations;
mod spec_example;
