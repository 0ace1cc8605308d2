//! `container.md`, "Preview".

use super::{Colour, DictionaryName, Header, tiles};
use crate::bytes::Reader;
use crate::error::{Result, ensure};

const MAX_SIDE: usize = 256;

/// Checks that a preview, if there is one, is such a file and not damaged.
pub(super) fn check(file: &[u8], picture: &Header) -> Result<()> {
    if picture.preview == 0 {
        return Ok(());
    }
    let mut reader = Reader::new(file);
    reader.take(picture.bytes.len())?;
    let file = reader.take(picture.preview)?;
    let header = Header::read(file)?;
    let small = header.width <= MAX_SIDE && header.height <= MAX_SIDE && header.bits == 8;
    ensure(small, "a preview is too large")?;
    let alike = format(&header) == format(picture);
    ensure(alike, "a preview has other channels than the picture")?;
    let alone = header.preview == 0 && header.metadata == 0;
    ensure(alone, "a preview has a preview or metadata")?;
    let number = matches!(header.dictionary, DictionaryName::BuiltIn(_));
    ensure(number, "a preview names a dictionary that is not built in")?;
    let tiles = tiles::read(file, &header)?;
    ensure(tiles.len() == 1, "a preview has several tiles")?;
    tiles[0].check(&header, &[0; 16])
}

fn format(header: &Header) -> (Colour, bool) {
    (header.colour, header.alpha)
}
