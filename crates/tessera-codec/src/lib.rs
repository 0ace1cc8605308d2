//! The Tessera codec: pictures to files and back.
//!
//! Encode a picture:
//!
//! ```
//! # #[cfg(feature = "encoder")]
//! fn main() -> Result<(), tessera_codec::Error> {
//!     use tessera_codec::{Encoder, Picture};
//!
//!     let gradient = (0..64 * 64 * 3).map(|i| (i / 64) as u8).collect();
//!     let picture = Picture::rgb8(64, 64, gradient)?;
//!     let encoded = Encoder::new().quality(80).effort(5).encode(&picture)?;
//!     println!("{} bytes, {:?} dB", encoded.bytes.len(), encoded.psnr());
//!     assert!(encoded.bytes.len() < 64 * 64);
//!     Ok(())
//! }
//! # #[cfg(not(feature = "encoder"))]
//! # fn main() {}
//! ```
//!
//! Decode a file, here one that lies in memory; [`Decoder::open`] takes any reader:
//!
//! ```
//! # #[cfg(feature = "encoder")]
//! fn main() -> Result<(), tessera_codec::Error> {
//!     use tessera_codec::{Decoder, Limits};
//!
//!     # let picture = tessera_codec::Picture::gray8(48, 40, vec![128; 48 * 40])?;
//!     # let file = tessera_codec::encode(&picture, 75)?;
//!     let limits = Limits { pixels: 50_000_000, ..Limits::default() };
//!     let picture = Decoder::new().limits(limits).decode(&file)?;
//!     assert_eq!((picture.width(), picture.height()), (48, 40));
//!     Ok(())
//! }
//! # #[cfg(not(feature = "encoder"))]
//! # fn main() {}
//! ```
//!
//! Decode a region, and a thumbnail: only the tiles that are needed are read, and only some of them are in memory at a
//! time.
//!
//! ```
//! # #[cfg(feature = "encoder")]
//! fn main() -> Result<(), tessera_codec::Error> {
//!     use tessera_codec::{Decoder, Rect, Scale};
//!
//!     # let picture = tessera_codec::Picture::gray8(150, 140, vec![128; 150 * 140])?;
//!     # let file = std::io::Cursor::new(tessera_codec::encode(&picture, 75)?);
//!     let coded = Decoder::new().open(file)?;
//!     let region = coded.decode_region(Rect { x: 70, y: 10, width: 20, height: 9 })?;
//!     assert_eq!((region.width(), region.height()), (20, 9));
//!     let thumbnail = coded.decode_scaled(Scale::Quarter)?;
//!     assert_eq!((thumbnail.width(), thumbnail.height()), (38, 35));
//!     Ok(())
//! }
//! # #[cfg(not(feature = "encoder"))]
//! # fn main() {}
//! ```
//!
//! Use a dictionary of one's own, which the receiver needs as well; [`Dictionary::from_bytes`] reads one that
//! `tessera train` has learned:
//!
//! ```
//! # #[cfg(feature = "encoder")]
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     use tessera_codec::{Decoder, Dictionary, Encoder, Picture, PreparedDictionary};
//!
//!     let own = Dictionary::untrained().edited(|parts| parts.provenance = "mine".into())?;
//!     let dictionary = PreparedDictionary::new(own)?;
//!     let picture = Picture::gray8(32, 32, vec![90; 1024])?;
//!     let file = Encoder::new().dictionary(&dictionary).encode(&picture)?.bytes;
//!     assert!(Decoder::new().decode(&file).is_err(), "without the dictionary");
//!     Decoder::new().dictionary(&dictionary).decode(&file)?;
//!     Ok(())
//! }
//! # #[cfg(not(feature = "encoder"))]
//! # fn main() {}
//! ```
//!
//! # Where to look
//!
//! | for | there is |
//! |---|---|
//! | settings | `Encoder`, `Target`, [`Decoder`], [`Limits`], [`CancelToken`] |
//! | pictures | [`Picture`], [`Metadata`]; in rows [`RowSource`] |
//! | files | [`CodedPicture`], [`Container`], [`StoredFile`] |
//! | dictionaries | [`Dictionary`], [`PreparedDictionary`], [`DictId`]; on this machine `tessera_dict::store` |
//! | what goes wrong | [`Error`], by who is at fault |
//! | the `image` crate | `TesseraDecoder`, `register_image_hooks` and the module `image_io` |
//!
//! # Features
//!
//! - `builtin` (on by default): the default dictionary inside the program. Without it the program is about 4 MB smaller
//!   and calls [`Dictionary::load_builtin`] before it codes anything.
//! - `encoder` (on by default): without it the crate is a decoder that uses integers only.
//! - `threads` (on by default): tiles are coded side by side. Without it everything happens on the thread of the caller,
//!   through the same interface and with the same results; WebAssembly needs that.
//! - `image`: conversions from and to the `image` crate, reading of common formats, its decoding hook. `avif` and
//!   `jpeg2000` add these formats.

#![cfg_attr(
    not(all(feature = "internals", feature = "encoder")),
    // What only tests, training and evaluation reach is compiled all the same.
    allow(dead_code, unreachable_pub, unused_imports)
)]

mod arrival;
mod cancel;
mod coded;
mod container;
mod decode;
mod error;
mod limits;
mod lossless;
mod metadata;
mod picture;
mod pixels;
mod prepared;
mod quality;
mod references;
mod rows;
mod scale;
mod simd;
mod stages;
mod threads;
mod tile;
mod tile_grid;
mod watch;

#[cfg(feature = "encoder")]
mod distortion;
#[cfg(feature = "encoder")]
mod encode;
#[cfg(feature = "encoder")]
mod encoder;
#[cfg(feature = "encoder")]
mod lossless_file;
#[cfg(feature = "encoder")]
mod outlook;
#[cfg(feature = "encoder")]
mod preview_file;
#[cfg(feature = "encoder")]
mod search;

pub use arrival::TileStart;
pub use cancel::CancelToken;
pub use coded::CodedPicture;
pub use container::{Container, Header, Integrity, MAX_PREVIEW_SIDE, Source, StoredFile};
pub use decode::{Band, Decoder, Partial, decode};
pub use error::{DictionaryError, Error, FormatError, LimitError, MemoryError, TargetUnreachable};
pub use limits::Limits;
pub use metadata::{Cicp, GainMap, Metadata, MetadataKind};
pub use picture::{Colour, Picture, PixelFormat, Samples};
pub use prepared::PreparedDictionary;
pub use quality::{Quality, Tune};
pub use rows::{PictureInfo, RowSource, WholePicture};
pub use scale::{Downscaler, Scale};
pub use tessera_dict::{DictId, Dictionary};
pub use tessera_patch::colour::BitDepth;
pub use tile_grid::Rect;

#[cfg(feature = "encoder")]
pub use distortion::{Distortion, Fingerprint};
#[cfg(feature = "encoder")]
pub use encode::{Encoded, Encoder, Measured, encode};
#[cfg(feature = "encoder")]
pub use search::Target;

#[cfg(feature = "image")]
mod image_hook;
#[cfg(feature = "image")]
pub mod image_io;
#[cfg(feature = "image")]
pub use image_hook::{TesseraDecoder, register_image_hooks};

/// The parts inside, for tests, training and evaluation. No promise is made about any of it.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    /// Header, metadata, tile table and tiles of a file.
    pub mod container {
        pub use crate::container::*;
    }
    /// Decisions of the encoder.
    #[cfg(feature = "encoder")]
    pub mod encoder {
        pub use crate::encoder::*;
    }
    /// What lossless networks learn from.
    #[cfg(feature = "encoder")]
    pub mod lossless {
        pub use crate::lossless::training::*;
    }
    /// Instruction sets.
    pub mod simd {
        pub use crate::simd::*;
    }
    /// Single stages of the decoder.
    pub mod stages {
        pub use crate::stages::*;
    }
    /// Coding of a tile.
    pub mod tile {
        pub use crate::tile::*;
    }
    pub use crate::quality::MAX_QUANTISER;
    pub use crate::tile_grid::{DEFAULT_TILE_LOG2, TILE_LOG2_RANGE, TileGrid};
}

/// The README's program compiles.
#[cfg(all(doctest, feature = "encoder"))]
#[doc = include_str!("../README.md")]
struct Readme;
