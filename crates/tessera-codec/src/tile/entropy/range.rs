//! Binary range coder (`spec/bitstream.md`, section "Range coder"); it codes dictionaries too and lives with them.

pub(crate) use tessera_dict::range::*;
