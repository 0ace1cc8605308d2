//! Pictures that are shown while they arrive: the rows of a tile that are there already (`spec/container.md`, "Arrival").

use crate::container::bytes::ByteReader;
use crate::container::{Container, tile_work};
use crate::decode::{Decoder, WORKING_BYTES_PER_SAMPLE, alpha_config, tile_config};
use crate::error::Result;
use crate::limits;
use crate::lossless;
use crate::picture::{Picture, Samples};
use crate::pixels::{self, TilePlanes};
use crate::prepared::PreparedDictionary;
use crate::tile::{self, TileConfig, decode_tile, decode_tile_start};
use crate::tile_grid::Rect;
use tessera_patch::Plane;

/// Alpha that lets nothing through.
const OPAQUE: u16 = 4095;

/// The beginning of a tile. Its samples are those before the filter, which comes when the tile is complete; colours whose
/// bytes are not there yet are gray, and what has no alpha yet is opaque. No checksum vouches for it.
#[derive(Debug)]
pub struct TileStart {
    /// The pixels of the whole picture that this is: whole rows of the tile, from its top.
    pub rect: Rect,
    /// The pixels, without metadata.
    pub picture: Picture,
}

impl Decoder {
    /// Decodes what `bytes`, the beginning of a tile, hold.
    pub(crate) fn tile_start(
        &self,
        container: &Container<'_>,
        index: usize,
        bytes: &[u8],
    ) -> Result<Option<TileStart>> {
        let dictionary = self.find_dictionary(container.header())?;
        let Some((rect, samples)) = start_of(container, index, bytes, dictionary)? else {
            return Ok(None);
        };
        let format = container.header().format;
        let picture = Picture::new(rect.width, rect.height, format, samples)?;
        Ok(Some(TileStart { rect, picture }))
    }

    /// What is there of a tile that cannot be decoded, if that is because its end is missing.
    pub(crate) fn cut_tile(
        &self,
        container: &Container<'_>,
        index: usize,
        dictionary: Option<&PreparedDictionary>,
    ) -> Option<(Rect, Samples)> {
        let bytes = container.cut_tile(index)?;
        start_of(container, index, &bytes, dictionary)
            .ok()
            .flatten()
    }
}

/// The rows of a tile that are there, and where they lie in the picture.
fn start_of(
    container: &Container<'_>,
    index: usize,
    bytes: &[u8],
    dictionary: Option<&PreparedDictionary>,
) -> Result<Option<(Rect, Samples)>> {
    let header = container.header();
    let rect = container.grid().rect(index);
    let Some(dictionary) = dictionary.filter(|_| header.lossless.is_none()) else {
        return Ok(None);
    };
    let channels = header.format.channels() as u64;
    let work = tile_work(rect.area() * channels, bytes.len());
    limits::check(
        "units of decode work in a tile",
        work,
        header.tile_work.units(),
    )?;
    let models = match header.graphics {
        true => lossless::drawn_bytes(rect.area()),
        false => 0,
    };
    limits::probe(rect.area() * channels * WORKING_BYTES_PER_SAMPLE + models)?;
    let config = tile_config(header, rect);
    let planes = match header.alpha_quantiser {
        None => TilePlanes {
            colour: decode_tile_start(bytes, &config, dictionary).planes,
            alpha: None,
        },
        Some(quantiser) => with_alpha(bytes, &config, quantiser, dictionary),
    };
    let Some(first) = planes.colour.first() else {
        return Ok(None);
    };
    let part = Rect {
        height: first.height as u32,
        ..rect
    };
    Ok(Some((part, pixels::to_samples(&planes, header.format))))
}

/// Colour comes first; alpha begins when all of it is there.
fn with_alpha(
    bytes: &[u8],
    config: &TileConfig,
    quantiser: u8,
    dictionary: &PreparedDictionary,
) -> TilePlanes {
    let mut reader = ByteReader::new(bytes, 0, "a tile");
    let len = reader.length().unwrap_or(usize::MAX);
    let rest = &bytes[reader.position()..];
    let (colour, alpha) = rest.split_at(len.min(rest.len()));
    let whole = (len <= rest.len()).then(|| decode_tile(colour, config, dictionary).ok());
    let colour = whole
        .flatten()
        .unwrap_or_else(|| decode_tile_start(colour, config, dictionary).planes);
    let start = decode_tile_start(alpha, &alpha_config(config, quantiser), dictionary);
    let alpha = colour.first().map(|first| opaque_below(start, first));
    TilePlanes { colour, alpha }
}

/// A plane of alpha of the size of another, opaque where it is not there.
fn opaque_below(start: tile::TileStart, like: &Plane) -> Plane {
    let mut data = start
        .planes
        .into_iter()
        .next()
        .map_or(Vec::new(), |plane| plane.data);
    data.resize(like.data.len(), OPAQUE);
    Plane {
        width: like.width,
        height: like.height,
        data,
    }
}
