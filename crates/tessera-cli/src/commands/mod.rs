//! The subcommands, one module each.

pub mod compare;
pub mod completions;
pub mod decode;
pub mod desktop;
pub mod dict;
pub mod encode;
pub mod info;
pub mod list;
pub mod man;
pub mod pack;
pub mod paper;
pub mod rd;
pub mod train;
pub mod unpack;
pub mod view;
