//! Coding of one tile: prediction, sparse code, entropy coding (`spec/bitstream.md`).

mod arrival;
#[cfg(feature = "threads")]
mod by_kinds;
pub(crate) mod canvas;
pub(crate) mod decoder;
pub(crate) mod entropy;
pub(crate) mod graphics;
pub(crate) mod intra;
pub(crate) mod loop_filter;
pub(crate) mod pool;
pub(crate) mod quantiser_map;
pub(crate) mod reference;
pub(crate) mod state;
pub(crate) mod syntax;
#[doc(hidden)]
pub mod trace;
pub(crate) mod transform;

pub(crate) use arrival::{TileStart, decode_tile_start};
#[cfg(feature = "threads")]
pub(crate) use by_kinds::decode_tile_by_kinds;
#[cfg(not(feature = "threads"))]
pub(crate) use decoder::decode_tile as decode_tile_by_kinds;
pub use decoder::{Exhausted, decode_tile};

use entropy::mix::PlaneKind;
use syntax::Block;
use tessera_patch::shape::SUPERBLOCK;
use transform::quantiser;
pub use transform::weights::WeightCurve;

/// Which planes a tile carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaneLayout {
    /// One plane.
    Gray,
    /// Luma and two chroma planes of the same size.
    Ycbcr444,
}

impl PlaneLayout {
    /// Number of planes.
    pub fn planes(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Ycbcr444 => 3,
        }
    }

    pub(crate) fn kinds(self) -> &'static [PlaneKind] {
        match self {
            Self::Gray => &[PlaneKind::Luma],
            Self::Ycbcr444 => &[PlaneKind::Luma, PlaneKind::Chroma],
        }
    }
}

/// What a tile's reader must know from outside the tile.
#[derive(Clone, Copy, Debug)]
pub struct TileConfig {
    /// Width in samples.
    pub width: u32,
    /// Height in samples.
    pub height: u32,
    /// Planes.
    pub layout: PlaneLayout,
    /// Index of the luma step, 0..=127.
    pub quantiser: u8,
    /// Added to `quantiser` for Cb and for Cr.
    pub chroma_offsets: [i8; 2],
    /// Whether blocks have quantiser offsets of their own.
    pub adaptive: bool,
    /// Whether the payload begins with blocks that are coded pixel by pixel.
    pub graphics: bool,
    /// Frequency weights of luma and of chroma.
    pub weights: [WeightCurve; 2],
    /// Column and row of the tile in its picture, where references are looked up.
    pub origin: (u32, u32),
    /// Whether the plane is alpha, which takes the alpha of references.
    pub alpha: bool,
}

impl TileConfig {
    /// Quantiser indices of luma, Cb and Cr.
    pub(crate) fn quantisers(&self) -> [u8; 3] {
        let [cb, cr] = self.chroma_offsets;
        [0, cb, cr].map(|offset| {
            let index = self.quantiser.saturating_add_signed(offset);
            index.min(quantiser::MAX_INDEX)
        })
    }
}

/// Superblocks of a tile in coding order.
pub(crate) fn superblocks(config: &TileConfig) -> impl Iterator<Item = Block> {
    let (width, height) = (config.width as usize, config.height as usize);
    (0..height).step_by(SUPERBLOCK).flat_map(move |y| {
        (0..width).step_by(SUPERBLOCK).map(move |x| Block {
            x,
            y,
            size: SUPERBLOCK,
        })
    })
}
