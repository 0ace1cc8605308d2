//! Decoding of the reference pictures a dictionary carries (`spec/dictionary.md`, "References").

use crate::container::{Container, Integrity, TilePayload};
use crate::decode::{alpha_config, check_work, tile_config};
use crate::error::{DictionaryError, Error, FormatError, Result};
use crate::limits::Limits;
use crate::prepared::{BadReference, PreparedDictionary, ReferencePlanes};
use crate::tile::{Exhausted, decode_tile};
use crate::tile_grid::Rect;
use tessera_dict::{Dictionary, Reference};
use tessera_patch::Plane;

impl PreparedDictionary {
    /// Prepares a dictionary and decodes its references, if it has any, to see whether they are valid.
    ///
    /// # Errors
    /// [`DictionaryError::Reference`] naming the first one that is no valid picture of its stated size.
    pub fn new(dictionary: impl Into<Self>) -> Result<Self, DictionaryError> {
        let prepared = dictionary.into();
        prepared.ready()?;
        Ok(prepared)
    }

    /// Decodes the references unless that has been done.
    pub(crate) fn ready(&self) -> Result<(), DictionaryError> {
        self.references_by(|dictionary| {
            let references = dictionary.references().iter().enumerate();
            references
                .map(|(index, reference)| {
                    decode(reference).map_err(|error| BadReference {
                        index,
                        reason: error.to_string(),
                    })
                })
                .collect()
        })?;
        Ok(())
    }
}

/// Most bytes that the decoded references of a dictionary take: two for each of up to four channels.
pub(crate) fn memory(dictionary: &Dictionary) -> u64 {
    let references = dictionary.references().iter();
    let pixels = references.map(|reference| reference.pixels());
    8 * pixels.sum::<u64>()
}

/// Pixels of a tile of a reference: what one takes to decode comes on top of what the references take.
const MOST_TILE_PIXELS: u64 = 1 << 20;

/// Decodes one tile after the other on the calling thread: other threads may be waiting for the result, and one
/// that helped out with tiles of theirs meanwhile would wait for itself.
fn decode(reference: &Reference) -> Result<ReferencePlanes> {
    let container = Container::parse(reference.stream(), &Limits::default(), Integrity::Checked)?;
    check_kind(reference, &container)?;
    container.check()?;
    let header = container.header();
    let empty = || Plane {
        width: header.width as usize,
        height: header.height as usize,
        data: vec![0; header.width as usize * header.height as usize],
    };
    let mut all = ReferencePlanes {
        colour: vec![empty(); header.format.colour_channels()],
        alpha: header.format.alpha.then(empty),
    };
    for index in 0..container.grid().count() {
        let rect = container.grid().rect(index);
        let payload = container.tile(index)?;
        for (plane, tile) in all
            .colour
            .iter_mut()
            .chain(&mut all.alpha)
            .zip(decode_planes(&container, rect, &payload)?)
        {
            paste(plane, rect, &tile);
        }
    }
    Ok(all)
}

/// A reference must have the size its entry states and must not depend on other references.
fn check_kind(reference: &Reference, container: &Container<'_>) -> Result<()> {
    let header = container.header();
    let refuse = |reason| Err(FormatError::invalid("the reference picture", reason).into());
    if Some(header.dictionary) != Dictionary::loaded_builtin().map(Dictionary::id) {
        return refuse("it does not use the default dictionary");
    }
    if container.grid().largest() > MOST_TILE_PIXELS {
        return refuse("its tiles are too large");
    }
    let stated = (u32::from(reference.width()), u32::from(reference.height()));
    if (header.width, header.height) != stated {
        return refuse("it does not have the stated size");
    }
    Ok(())
}

/// The planes of a tile: colour, then alpha.
fn decode_planes(
    container: &Container<'_>,
    rect: Rect,
    payload: &TilePayload<'_>,
) -> Result<Vec<Plane>> {
    let header = container.header();
    let config = tile_config(header, rect);
    check_work(header, &config, payload)?;
    let decode = |data: &[u8], config| {
        decode_tile(data, config, PreparedDictionary::builtin()).map_err(|Exhausted| {
            Error::from(FormatError::invalid("the tile data", "it ends too early"))
        })
    };
    let mut planes = decode(payload.colour(), &config)?;
    if let (Some(data), Some(quantiser)) = (payload.alpha(), header.alpha_quantiser) {
        planes.extend(decode(data, &alpha_config(&config, quantiser))?);
    }
    Ok(planes)
}

fn paste(plane: &mut Plane, rect: Rect, tile: &Plane) {
    for (row, samples) in tile.data.chunks_exact(tile.width).enumerate() {
        let start = (rect.y as usize + row) * plane.width + rect.x as usize;
        plane.data[start..start + tile.width].copy_from_slice(samples);
    }
}
