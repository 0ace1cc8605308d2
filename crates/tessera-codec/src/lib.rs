//! The Tessera container, coefficient bitstream, encoder and decoder.
//!
//! ```
//! # fn main() -> Result<(), tessera_codec::Error> {
//! use tessera_codec::{Picture, Quality, decode, encode};
//!
//! let picture = Picture::rgb8(2, 1, vec![255, 0, 0, 0, 0, 255])?;
//! let file = encode(&picture, Quality::new(90)?)?;
//! let back = decode(&file)?;
//! assert_eq!((back.width(), back.height()), (2, 1));
//! # Ok(())
//! # }
//! ```
//!
//! [`Encoder`] and [`Decoder`] hold the settings: target, effort, threads, dictionary, limits.
//! Without the feature `encoder` (on by default) the crate is a decoder that uses integers only.
//! The feature `image` adds conversions from and to the `image` crate and its decoding hook.

pub mod container;
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
pub mod simd;
#[doc(hidden)]
pub mod stages;
mod threads;
pub mod tile;
mod tile_grid;
mod watch;

#[cfg(feature = "encoder")]
mod distortion;
#[cfg(feature = "encoder")]
mod encode;
#[cfg(feature = "encoder")]
pub mod encoder;
#[cfg(feature = "encoder")]
mod search;

pub use container::{Integrity, Source, StoredFile};
pub use decode::{Band, Decoder, Partial, decode};
pub use error::{DictionaryError, Error, FormatError, LimitError, MemoryError, Result};
pub use limits::Limits;
pub use metadata::{Metadata, MetadataKind};
pub use picture::{Colour, Picture, PixelFormat, Samples};
pub use prepared::PreparedDictionary;
#[cfg(feature = "encoder")]
pub use quality::CHROMA_OFFSET;
pub use quality::{Effort, MAX_QUANTISER, Quality};
pub use rows::{PictureInfo, RowSource, WholePicture};
pub use tessera_dict::{DictId, Dictionary};
pub use tessera_patch::colour::BitDepth;
pub use tile_grid::{DEFAULT_TILE_LOG2, Rect, TILE_LOG2_RANGE, TileGrid};

#[cfg(feature = "encoder")]
pub use distortion::{Distortion, Fingerprint};
#[cfg(feature = "encoder")]
pub use encode::{Encoded, Encoder, Outcome, encode};
#[cfg(feature = "encoder")]
pub use search::Target;

#[cfg(feature = "image")]
mod image_hook;
#[cfg(feature = "image")]
pub mod image_io;
#[cfg(feature = "image")]
pub use image_hook::register_image_hooks;
