//! Many Tessera pictures in one file (`spec/pack.md`): the dictionary they share, the pictures, and an index by name.
//!
//! ```
//! use std::io::Cursor;
//! use tessera_codec::{Decoder, Encoder, Picture};
//! use tessera_pack::{PackReader, PackWriter};
//!
//! # fn main() -> Result<(), tessera_pack::Error> {
//! let picture = Picture::gray8(40, 30, vec![90; 1200])?;
//! let mut pack = PackWriter::new(Vec::new(), None)?;
//! pack.add("walls/gray", &Encoder::new().encode(&picture)?.bytes)?;
//! let bytes = pack.finish()?;
//!
//! let pack = PackReader::open(Cursor::new(bytes))?;
//! assert_eq!(pack.names().collect::<Vec<_>>(), ["walls/gray"]);
//! let coded = pack.picture("walls/gray", Decoder::new())?;
//! assert_eq!(coded.decode()?.width(), 40);
//! # Ok(())
//! # }
//! ```

mod entry;
mod error;
mod index;
mod names;
mod predicting;
mod reader;
mod shared;
mod writer;

pub use entry::EntryReader;
pub use error::Error;
pub use predicting::predicting_dictionary;
pub use reader::{Entry, PackReader};
pub use writer::PackWriter;

/// Extension of packs.
pub const EXTENSION: &str = "tsp";

/// The first bytes of every pack; the last is the version.
const MAGIC: [u8; 3] = [0xD4, 0x50, 1];

/// Whether a file starts like a pack, of this version or another.
pub fn is_pack(start: &[u8]) -> bool {
    start.starts_with(&MAGIC[..2])
}
