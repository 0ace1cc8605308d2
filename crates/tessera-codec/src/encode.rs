//! From a picture to a file.

use crate::container::{self, Header, TileData, WorkBound, tile_work};
use crate::decode::{alpha_config, layout};
use crate::distortion::{Distortion, Fingerprint};
use crate::error::{Error, Result};
use crate::picture::{Picture, PixelFormat};
use crate::pixels::{self, TilePlanes};
use crate::quality::{CHROMA_OFFSET, Effort, MAX_QUANTISER, Quality, alpha_quantiser};
use crate::references;
use crate::search::{Pass, Target, search};
use crate::threads;
use crate::tile::{self, TileConfig, encode_tile};
use crate::tile_grid::{DEFAULT_TILE_LOG2, Rect, TILE_LOG2_RANGE, TileGrid};
use rayon::prelude::*;
use std::sync::Arc;
use tessera_dict::Dictionary;
use tessera_patch::Plane;

/// Encodes a picture with the built-in dictionary and the default effort.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Picture, Quality, encode};
/// let gradient: Vec<u8> = (0..64 * 64 * 3).map(|i| (i / 64) as u8).collect();
/// let picture = Picture::rgb8(64, 64, gradient)?;
/// let file = encode(&picture, Quality::default())?;
/// assert!(file.len() < 64 * 64);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Encoder::encode`].
pub fn encode(picture: &Picture, quality: Quality) -> Result<Vec<u8>> {
    let encoder = Encoder::new().target(Target::Quality(quality));
    Ok(encoder.encode(picture)?.bytes)
}

/// An encoder and its settings.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Encoder, Picture, Target};
/// let picture = Picture::gray8(32, 32, vec![90; 1024])?;
/// let encoded = Encoder::new().target(Target::Size(300)).encode(&picture)?;
/// assert!(encoded.bytes.len() <= 300);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    target: Target,
    effort: Effort,
    threads: usize,
    tile_log2: u8,
    keep_opaque_alpha: bool,
    dictionary: Option<Arc<Dictionary>>,
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            target: Target::default(),
            effort: Effort::default(),
            threads: 0,
            tile_log2: DEFAULT_TILE_LOG2,
            keep_opaque_alpha: false,
            dictionary: None,
        }
    }
}

/// A finished file and what the encoder knows about it.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// The quantiser index that was used.
    pub quantiser: u8,
    /// How far the decoded picture is from the original.
    pub distortion: Distortion,
    /// Of the pixels a decoder will output; compare with [`Fingerprint::of`] a decoded picture.
    pub fingerprint: Fingerprint,
}

impl Encoder {
    /// Default quality and effort, all cores, the built-in dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to aim at.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// How hard to search.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.effort = effort;
        self
    }

    /// How many threads encode tiles; zero means one per core. Results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Log2 of the tile side, 6 to 15.
    #[must_use]
    pub fn tile_log2(mut self, tile_log2: u8) -> Self {
        self.tile_log2 = tile_log2;
        self
    }

    /// Stores alpha even when every pixel is opaque.
    #[must_use]
    pub fn keep_opaque_alpha(mut self, keep: bool) -> Self {
        self.keep_opaque_alpha = keep;
        self
    }

    /// Uses a learned dictionary; the receiver needs the same one.
    #[must_use]
    pub fn dictionary(mut self, dictionary: Arc<Dictionary>) -> Self {
        self.dictionary = Some(dictionary);
        self
    }

    /// Encodes a picture and its metadata.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a setting is out of range or the target cannot be reached,
    /// [`Error::Dictionary`] when the dictionary's references are damaged.
    pub fn encode(&self, picture: &Picture) -> Result<Encoded> {
        if !TILE_LOG2_RANGE.contains(&self.tile_log2) {
            let message = "the tile side is 2^6 to 2^15 pixels".into();
            return Err(Error::Parameter(message));
        }
        if let Some(dictionary) = &self.dictionary {
            references::decoded(dictionary)?;
        }
        let threads = threads::count(self.threads);
        threads::run(threads, || {
            search(self.target, picture.pixels(), |quantiser, pass| {
                self.encode_at(picture, quantiser, pass)
            })
        })?
    }

    /// Encodes with one quantiser.
    fn encode_at(&self, picture: &Picture, quantiser: u8, pass: Pass) -> Result<Encoded> {
        let effort = match pass {
            Pass::Rough => Effort::FASTEST,
            Pass::Exact => self.effort,
        };
        let job = Job::new(self, picture, quantiser, effort);
        let grid = job.grid();
        let tiles = (0..grid.count())
            .into_par_iter()
            .map(|index| job.encode_tile(grid.rect(index)))
            .collect::<Result<Vec<_>>>()?;
        Ok(job.assemble(tiles))
    }
}

/// One pass over a picture with everything decided.
struct Job<'a> {
    picture: &'a Picture,
    /// The format as coded: opaque alpha may be gone.
    format: PixelFormat,
    dictionary: &'a Dictionary,
    effort: Effort,
    tile_log2: u8,
    quantiser: u8,
}

/// A coded tile and its share of the picture's statistics.
struct CodedTile {
    data: TileData,
    work: u64,
    distortion: Distortion,
    fingerprint: Fingerprint,
}

impl<'a> Job<'a> {
    fn new(encoder: &'a Encoder, picture: &'a Picture, quantiser: u8, effort: Effort) -> Self {
        let mut format = picture.format();
        format.alpha &= encoder.keep_opaque_alpha || !picture.is_opaque();
        Self {
            picture,
            format,
            dictionary: encoder
                .dictionary
                .as_deref()
                .unwrap_or_else(|| Dictionary::builtin()),
            effort,
            tile_log2: encoder.tile_log2,
            quantiser: quantiser.min(MAX_QUANTISER),
        }
    }

    fn grid(&self) -> TileGrid {
        TileGrid::new(self.picture.width(), self.picture.height(), self.tile_log2)
    }

    fn alpha_quantiser(&self) -> Option<u8> {
        self.format.alpha.then(|| alpha_quantiser(self.quantiser))
    }

    fn chroma_offset(&self) -> i8 {
        match self.format.colour_channels() {
            1 => 0,
            _ => CHROMA_OFFSET,
        }
    }

    fn encode_tile(&self, rect: Rect) -> Result<CodedTile> {
        let mut source = pixels::read_tile(self.picture, rect)?;
        if !self.format.alpha {
            source.alpha = None;
        }
        let config = TileConfig {
            width: rect.width,
            height: rect.height,
            layout: layout(self.format.colour),
            quantiser: self.quantiser,
            chroma_offset: self.chroma_offset(),
            origin: (rect.x, rect.y),
            alpha: false,
        };
        let encode_planes = |planes: &[Plane], config: &TileConfig| {
            let tile = encode_tile(
                planes,
                config,
                self.dictionary,
                tile::Effort::level(self.effort.value()),
            );
            let samples = rect.area() * planes.len() as u64;
            (tile_work(samples, tile.bytes.len()), tile)
        };
        let (mut work, colour) = encode_planes(&source.colour, &config);
        let mut alpha = None;
        if let Some((plane, quantiser)) = source.alpha.as_ref().zip(self.alpha_quantiser()) {
            let config = alpha_config(&config, quantiser);
            let (alpha_work, tile) = encode_planes(std::slice::from_ref(plane), &config);
            work += alpha_work;
            alpha = Some(tile);
        }
        let (alpha_bytes, alpha_planes) = alpha.map(|tile| (tile.bytes, tile.planes)).unzip();
        let decoded = TilePlanes {
            colour: colour.planes,
            alpha: alpha_planes.and_then(|mut planes| planes.pop()),
        };
        let decoded = pixels::to_samples(&decoded, self.format);
        Ok(CodedTile {
            data: TileData {
                colour: colour.bytes,
                alpha: alpha_bytes,
            },
            work,
            distortion: Distortion::of_tile(self.picture, rect, &decoded, self.format),
            fingerprint: Fingerprint::of_tile(rect, &decoded),
        })
    }

    fn assemble(&self, tiles: Vec<CodedTile>) -> Encoded {
        let work = tiles.iter().map(|tile| tile.work).max().unwrap_or(0);
        let distortion = tiles.iter().map(|tile| tile.distortion).sum();
        let fingerprint = tiles.iter().map(|tile| tile.fingerprint).sum();
        let data: Vec<TileData> = tiles.into_iter().map(|tile| tile.data).collect();
        let header = self.header(WorkBound::at_least(work));
        Encoded {
            bytes: container::write(header, &self.picture.metadata, &data),
            quantiser: self.quantiser,
            distortion,
            fingerprint,
        }
    }

    fn header(&self, tile_work: WorkBound) -> Header {
        Header {
            format: self.format,
            dictionary: self.dictionary.id(),
            width: self.picture.width(),
            height: self.picture.height(),
            tile_log2: self.tile_log2,
            quantiser: self.quantiser,
            chroma_offset: self.chroma_offset(),
            alpha_quantiser: self.alpha_quantiser(),
            tile_work,
            metadata_len: 0,
        }
    }
}
