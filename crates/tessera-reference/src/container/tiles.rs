//! `container.md`, "Tiles".

use super::header::Header;
use crate::bytes::{Reader, crc32};
use crate::error::{Result, ensure};

pub(super) struct Tile<'a> {
    number: u32,
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
    /// Without the check.
    pub(super) body: &'a [u8],
    check: u32,
}

/// All tiles of a file, after their checks were compared: nothing is allocated for a damaged file.
pub(super) fn read_checked<'a>(
    file: &'a [u8],
    header: &Header,
    identity: &[u8; 16],
) -> Result<Vec<Tile<'a>>> {
    let tiles = read(file, header)?;
    tiles
        .iter()
        .try_for_each(|tile| tile.check(header, identity))?;
    Ok(tiles)
}

/// All tiles of a file, their checks not yet compared.
pub(super) fn read<'a>(file: &'a [u8], header: &Header) -> Result<Vec<Tile<'a>>> {
    let mut reader = Reader::new(file);
    reader.take(header.bytes.len())?;
    reader.take(header.preview)?;
    reader.take(header.metadata)?;
    let side = header.tile_side;
    let (across, down) = (header.width.div_ceil(side), header.height.div_ceil(side));
    let lengths = match across * down {
        1 => vec![reader.rest().len()],
        count => table(&mut reader, header, count)?,
    };
    let mut tiles = Vec::new();
    for (number, length) in lengths.into_iter().enumerate() {
        ensure(length >= 4, "a tile is too short")?;
        let body = reader.take(length - 4)?;
        let (x, y) = (number % across * side, number / across * side);
        tiles.push(Tile {
            number: number as u32,
            x,
            y,
            width: side.min(header.width - x),
            height: side.min(header.height - y),
            body,
            check: reader.u32()?,
        });
    }
    reader.end("the last tile")?;
    Ok(tiles)
}

fn table(reader: &mut Reader<'_>, header: &Header, count: usize) -> Result<Vec<usize>> {
    ensure(
        count <= reader.rest().len(),
        "the table of tiles ends too early",
    )?;
    let start = reader.clone();
    let lengths = (0..count)
        .map(|_| reader.length())
        .collect::<Result<Vec<_>>>()?;
    let stored = &start.rest()[..reader.at() - start.at()];
    let check = crc32(&[&header.bytes, stored]);
    ensure(reader.u32()? == check, "the table of tiles is damaged")?;
    Ok(lengths)
}

impl<'a> Tile<'a> {
    /// Compares the check; it includes what a short name leaves out of the dictionary's identity.
    pub(super) fn check(&self, header: &Header, identity: &[u8; 16]) -> Result<()> {
        let left_out: &[u8] = match header.dictionary {
            super::DictionaryName::Short(_) => &identity[4..],
            _ => &[],
        };
        let number = self.number.to_le_bytes();
        let check = crc32(&[&header.bytes, left_out, &number, self.body]);
        ensure(check == self.check, "a tile is damaged")?;
        if header.lossless {
            let channels = if header.colour == super::Colour::Gray {
                1
            } else {
                3
            };
            return self.check_work(
                header,
                channels + usize::from(header.alpha),
                self.body.len(),
            );
        }
        Ok(())
    }

    /// The payloads of colour and of alpha.
    pub(super) fn payloads(&self, header: &Header) -> Result<(&'a [u8], &'a [u8])> {
        let mut reader = Reader::new(self.body);
        let length = if header.alpha {
            reader.length()?
        } else {
            self.body.len()
        };
        let colour = reader.take(length)?;
        let channels = if header.colour == super::Colour::Gray {
            1
        } else {
            3
        };
        let bytes = colour.len() + reader.rest().len();
        self.check_work(header, channels + usize::from(header.alpha), bytes)?;
        Ok((colour, reader.rest()))
    }

    /// "Decode work": one unit per sample and one per bit.
    fn check_work(&self, header: &Header, channels: usize, bytes: usize) -> Result<()> {
        let work = self.width * self.height * channels + 8 * bytes;
        ensure(
            work as u64 <= header.work,
            "a tile takes more work than the header states",
        )
    }
}
