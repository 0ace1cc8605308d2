//! From a picture to a lossless file.

use crate::container::{self, Front, Header, NO_DICTIONARY, TileData, WorkBound, tile_work};
use crate::distortion::{Distortion, Fingerprint};
use crate::encode::{Encoded, Measured};
use crate::error::Result;
use crate::limits;
use crate::lossless::{self, NO_NETS, Options, Shape};
use crate::picture::{Picture, PixelFormat};
use crate::prepared::PreparedDictionary;
use crate::quality::Tune;
use crate::rows::PictureInfo;
use crate::tile_grid::{Rect, TileGrid};
use tessera_dict::DictId;

/// Memory a tile takes while it is encoded, per sample.
const BYTES_PER_SAMPLE: u64 = 24;

/// A picture with everything decided.
pub(crate) struct LosslessJob {
    pub(crate) info: PictureInfo,
    /// The format as coded: opaque alpha may be gone.
    pub(crate) format: PixelFormat,
    pub(crate) tile_log2: u8,
    pub(crate) options: Options,
    /// A dictionary of a collection, and the name it is to have in the file.
    pub(crate) dictionary: Option<(PreparedDictionary, DictId)>,
    /// Whether to find out what a decoder will make of it.
    pub(crate) measure: bool,
}

/// A coded tile and its share of the picture's statistics.
pub(crate) struct LosslessTile {
    bytes: Vec<u8>,
    needs_dictionary: bool,
    work: u64,
    measured: Option<Measured>,
}

impl LosslessJob {
    pub(crate) fn grid(&self) -> TileGrid {
        TileGrid::new(self.info.width(), self.info.height(), self.tile_log2)
    }

    /// Codes the tile at `rect`, whose pixels are in `band`; the band's first row is row `y`.
    pub(crate) fn encode_tile(&self, band: &Picture, y: u32, rect: Rect) -> Result<LosslessTile> {
        let inside = Rect {
            y: rect.y - y,
            ..rect
        };
        let channels = self.format.channels() as u64;
        let models = lossless::model_bytes(rect.area(), channels);
        limits::probe(rect.area() * channels * BYTES_PER_SAMPLE + models)?;
        let shape = Shape::new(rect.width, rect.height, self.format);
        let nets = match &self.dictionary {
            Some((dictionary, _)) => dictionary.lossless_nets(),
            None => &NO_NETS,
        };
        let coded = lossless::encode_tile(band, inside, &shape, &self.options, nets);
        let measured = self.measure.then(|| {
            let decoded = coded.samples(&shape, self.format);
            Measured {
                distortion: Distortion::of_tile(band, inside, &decoded, self.format),
                fingerprint: Fingerprint::of_part(rect, &decoded),
            }
        });
        Ok(LosslessTile {
            work: tile_work(rect.area() * channels, coded.bytes.len()),
            needs_dictionary: coded.needs_dictionary,
            bytes: coded.bytes,
            measured,
        })
    }

    pub(crate) fn assemble(&self, tiles: Vec<LosslessTile>, front: &Front) -> Encoded {
        let work = tiles.iter().map(|tile| tile.work).max().unwrap_or(0);
        let measured = tiles.iter().map(|tile| tile.measured).sum();
        // A file names the dictionary only if a tile needs it.
        let needed = tiles.iter().any(|tile| tile.needs_dictionary);
        let payloads = tiles.into_iter().map(|tile| TileData {
            colour: tile.bytes,
            alpha: None,
        });
        let data: Vec<TileData> = payloads.collect();
        let named = self.dictionary.as_ref().filter(|_| needed);
        let identity = named.map_or(NO_DICTIONARY, |(dictionary, _)| dictionary.id());
        let name = named.map_or(NO_DICTIONARY, |&(_, name)| name);
        let header = self.header(WorkBound::at_least(work), name);
        Encoded {
            bytes: container::write_with(header, identity, front, &data),
            quantiser: 0,
            tune: Tune::Psnr,
            measured,
            score: None,
            lossless: Some(self.options.near),
        }
    }

    fn header(&self, tile_work: WorkBound, dictionary: DictId) -> Header {
        Header {
            format: self.format,
            dictionary,
            width: self.info.width(),
            height: self.info.height(),
            tile_log2: self.tile_log2,
            quantiser: 0,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            alpha_quantiser: self.format.alpha.then_some(0),
            lossless: Some(self.options.near),
            tile_work,
            preview_len: 0,
            metadata_len: 0,
        }
    }
}
