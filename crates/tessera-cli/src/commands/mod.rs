//! The subcommands, one module each.

pub mod compare;
pub mod decode;
pub mod encode;
pub mod info;
pub mod rd;
