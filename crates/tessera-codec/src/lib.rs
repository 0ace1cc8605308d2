//! The Tessera container, coefficient bitstream, encoder and decoder.
//!
//! ```
//! # fn main() -> Result<(), tessera_codec::Error> {
//! use tessera_codec::{Picture, decode, encode};
//!
//! let picture = Picture::rgb8(2, 1, vec![255, 0, 0, 0, 0, 255])?;
//! let file = encode(&picture, 90)?;
//! let back = decode(&file)?;
//! assert_eq!((back.width(), back.height()), (2, 1));
//! # Ok(())
//! # }
//! ```
//!
//! [`Encoder`] and [`Decoder`] hold the settings: target, effort, threads, dictionary, limits.
//! Without the feature `encoder` (on by default) the crate is a decoder that uses integers only.
//! The feature `image` adds conversions from and to the `image` crate and its decoding hook.

#![cfg_attr(
    not(feature = "internals"),
    // What only tests, training and evaluation reach is compiled all the same.
    allow(dead_code, unreachable_pub, unused_imports)
)]

mod cancel;
mod coded;
mod container;
mod decode;
mod error;
mod limits;
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
mod search;

pub use cancel::CancelToken;
pub use coded::CodedPicture;
pub use container::{Container, Header, Integrity, Source, StoredFile, VERSION as FORMAT_VERSION};
pub use decode::{Band, Decoder, Partial, decode};
pub use error::{
    DictionaryError, Error, FormatError, LimitError, MemoryError, Result, TargetUnreachable,
};
pub use limits::Limits;
pub use metadata::{Metadata, MetadataKind};
pub use picture::{Colour, Picture, PixelFormat, Samples};
pub use prepared::PreparedDictionary;
pub use quality::{MAX_QUANTISER, Quality};
pub use rows::{PictureInfo, RowSource, WholePicture};
pub use scale::{Downscaler, Scale};
pub use tessera_dict::{DictId, Dictionary};
pub use tessera_patch::colour::BitDepth;
pub use tile_grid::{DEFAULT_TILE_LOG2, Rect, TILE_LOG2_RANGE, TileGrid};

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
    #[cfg(feature = "encoder")]
    pub use crate::quality::CHROMA_OFFSET;
}

/// The example of the README is compiled and run.
#[cfg(all(doctest, feature = "encoder"))]
#[doc = include_str!("../README.md")]
struct Readme;
