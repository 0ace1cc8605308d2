//! The `tessera` command as its users meet it, one module per subject.
//!
//! The tests are declared by the package of the command, because only there cargo tells where the command is.

mod archive;
mod basics;
mod command;
mod decode;
mod desktop;
mod info;
mod inputs;
mod inputs_support;
mod lossless;
mod outputs;
mod pack;
mod paper;
mod pictures;
mod pillow;
mod preview;
mod refusals;
mod streaming;
mod train;
mod view;
