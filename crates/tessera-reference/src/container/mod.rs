//! `container.md`: the `.tsr` file down to the tiles.

mod header;
pub(crate) mod metadata;
mod pixels;
mod preview;
mod tiles;

pub(crate) use header::{Colour, DictionaryName, Header};

use crate::bitstream;
use crate::dictionary::{Dictionary, Shelf};
use crate::error::{Result, ensure, refuse};
use crate::lossless;
use crate::picture::Picture;
use crate::plane::Plane;
use tiles::Tile;

/// Pictures with more pixels are refused: this decoder holds every plane as 32-bit numbers.
pub const MAX_PIXELS: usize = 1 << 26;

/// A picture as planes: of 12 bits if it is lossy, of the picture's depth if it is lossless.
pub(crate) struct Planes {
    /// One of gray, or three of colour.
    pub(crate) colour: Vec<Plane>,
    pub(crate) alpha: Option<Plane>,
}

/// Decodes a whole file.
pub(crate) fn decode(file: &[u8], shelf: &Shelf) -> Result<Picture> {
    let header = Header::read(file)?;
    match header.dictionary {
        DictionaryName::BuiltIn(0) => decode_with(file, None),
        _ => decode_with(file, Some(shelf.find(&header.dictionary)?)),
    }
}

/// Decodes a file whose dictionary is known; lossless files may have none.
pub(crate) fn decode_with(file: &[u8], dictionary: Option<&Dictionary>) -> Result<Picture> {
    let header = Header::read(file)?;
    preview::check(file, &header)?;
    metadata::metadata(file)?;
    let planes = match dictionary {
        _ if header.lossless => decode_lossless(file, &header, dictionary)?,
        Some(dictionary) => decode_planes(file, &header, dictionary)?,
        None => return refuse("a lossy file without a dictionary"),
    };
    Ok(pixels::from_planes(&planes, &header))
}

/// The planes of a lossy file.
pub(crate) fn decode_planes(
    file: &[u8],
    header: &Header,
    dictionary: &Dictionary,
) -> Result<Planes> {
    let tiles = tiles::read_checked(file, header, dictionary.identity())?;
    let mut planes = empty_planes(header)?;
    for tile in tiles {
        let (colour, alpha) = tile.payloads(header)?;
        let parts = bitstream::decode(&payload(&tile, header, dictionary, colour, false))?;
        for (plane, part) in planes.colour.iter_mut().zip(&parts) {
            plane.put(part, tile.x, tile.y);
        }
        if let Some(plane) = &mut planes.alpha {
            let parts = bitstream::decode(&payload(&tile, header, dictionary, alpha, true))?;
            plane.put(&parts[0], tile.x, tile.y);
        }
    }
    Ok(planes)
}

fn decode_lossless(
    file: &[u8],
    header: &Header,
    dictionary: Option<&Dictionary>,
) -> Result<Planes> {
    let identity = dictionary.map_or(&[0; 16], Dictionary::identity);
    let networks = dictionary.map(|dictionary| &dictionary.content.lossless_networks);
    let tiles = tiles::read_checked(file, header, identity)?;
    let mut planes = empty_planes(header)?;
    for tile in tiles {
        let shape = lossless::Shape {
            width: tile.width,
            height: tile.height,
            depth: header.bits,
            colours: planes.colour.len(),
            alpha: header.alpha,
        };
        // In the order of the page: alpha, then gray, or green, red and blue.
        let mut parts = lossless::decode(tile.body, &shape, networks)?.into_iter();
        if let Some(plane) = &mut planes.alpha {
            parts
                .by_ref()
                .take(1)
                .for_each(|part| plane.put(&part, tile.x, tile.y));
        }
        let order: &[usize] = if header.colour == Colour::Gray {
            &[0]
        } else {
            &[1, 0, 2]
        };
        for (&channel, part) in order.iter().zip(parts) {
            planes.colour[channel].put(&part, tile.x, tile.y);
        }
    }
    Ok(planes)
}

fn empty_planes(header: &Header) -> Result<Planes> {
    ensure(
        header.width * header.height <= MAX_PIXELS,
        "the picture has too many pixels",
    )?;
    let plane = Plane::new(header.width, header.height);
    let colours = if header.colour == Colour::Gray { 1 } else { 3 };
    Ok(Planes {
        colour: vec![plane.clone(); colours],
        alpha: header.alpha.then_some(plane),
    })
}

/// What `bitstream.md` takes from outside.
fn payload<'a>(
    tile: &Tile<'_>,
    header: &Header,
    dictionary: &'a Dictionary,
    bytes: &'a [u8],
    alpha: bool,
) -> bitstream::Payload<'a> {
    let chroma = |offset: i8| (header.quantiser + i32::from(offset)).clamp(0, 127);
    let [blue, red] = header.chroma_offsets.map(chroma);
    bitstream::Payload {
        bytes,
        width: tile.width,
        height: tile.height,
        place: [tile.x as i64, tile.y as i64],
        planes: if alpha || header.colour == Colour::Gray {
            1
        } else {
            3
        },
        indices: if alpha {
            [header.alpha_quantiser; 3]
        } else {
            [header.quantiser, blue, red]
        },
        curves: if alpha { [[0; 3]; 2] } else { header.weights },
        has_offsets: header.quantiser_offsets && !alpha,
        has_drawn: header.drawn,
        references: dictionary.reference_planes(alpha),
        dictionary,
    }
}
