//! The subcommands, one module each.

pub mod decode;
pub mod encode;
pub mod info;
