//! Tags of a TIFF: where they are and what they hold, with every offset checked.

/// The tags that are read.
pub(super) mod tag {
    pub(in crate::image_io) const NEW_SUBFILE_TYPE: u16 = 254;
    pub(in crate::image_io) const SUBFILE_TYPE: u16 = 255;
    pub(in crate::image_io) const WIDTH: u16 = 256;
    pub(in crate::image_io) const HEIGHT: u16 = 257;
    pub(in crate::image_io) const BITS: u16 = 258;
    pub(in crate::image_io) const COMPRESSION: u16 = 259;
    pub(in crate::image_io) const PHOTOMETRIC: u16 = 262;
    pub(in crate::image_io) const FILL_ORDER: u16 = 266;
    pub(in crate::image_io) const STRIP_OFFSETS: u16 = 273;
    pub(in crate::image_io) const ORIENTATION: u16 = 274;
    pub(in crate::image_io) const SAMPLES: u16 = 277;
    pub(in crate::image_io) const ROWS_PER_STRIP: u16 = 278;
    pub(in crate::image_io) const STRIP_LENGTHS: u16 = 279;
    pub(in crate::image_io) const PLANAR: u16 = 284;
    pub(in crate::image_io) const FAX3_OPTIONS: u16 = 292;
    pub(in crate::image_io) const PREDICTOR: u16 = 317;
    pub(in crate::image_io) const COLOUR_MAP: u16 = 320;
    pub(in crate::image_io) const TILE_WIDTH: u16 = 322;
    pub(in crate::image_io) const TILE_HEIGHT: u16 = 323;
    pub(in crate::image_io) const TILE_OFFSETS: u16 = 324;
    pub(in crate::image_io) const TILE_LENGTHS: u16 = 325;
    pub(in crate::image_io) const EXTRA_SAMPLES: u16 = 338;
    pub(in crate::image_io) const SAMPLE_FORMAT: u16 = 339;
    pub(in crate::image_io) const JPEG_TABLES: u16 = 347;
    pub(in crate::image_io) const OLD_JPEG_START: u16 = 513;
    pub(in crate::image_io) const OLD_JPEG_LENGTH: u16 = 514;
    pub(in crate::image_io) const SUBSAMPLING: u16 = 530;
    pub(in crate::image_io) const XMP: u16 = 700;
    pub(in crate::image_io) const ICC: u16 = 34675;
}

/// A list of tags.
#[derive(Debug, Clone, Copy)]
pub(super) struct Directory<'a> {
    pub(super) file: &'a [u8],
    pub(super) layout: Layout,
    /// Where the first entry is.
    start: u64,
    entries: u64,
}

/// The values of one tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    layout: Layout,
    /// Bytes per value.
    size: u64,
    bytes: &'a [u8],
}

impl<'a> Entry<'a> {
    /// As stored.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// As unsigned numbers.
    pub(super) fn numbers(self) -> impl Iterator<Item = u64> + 'a {
        let values = self.bytes.chunks_exact(self.size as usize);
        values.map(move |bytes| self.layout.value(bytes))
    }
}

impl<'a> Directory<'a> {
    /// The directory at `offset`, if all of it is there.
    pub(super) fn at(file: &'a [u8], layout: Layout, offset: u64) -> Option<Self> {
        let entries = layout.number(file, offset, layout.count_len)?;
        let start = offset.checked_add(layout.count_len)?;
        let end = start.checked_add(entries.checked_mul(layout.entry_len)?)?;
        (end <= file.len() as u64).then_some(Self {
            file,
            layout,
            start,
            entries,
        })
    }

    /// Where the next directory is; zero for none.
    pub(super) fn next(&self) -> Option<u64> {
        let end = self.start + self.entries * self.layout.entry_len;
        self.layout.number(self.file, end, self.layout.offset_len)
    }

    /// The values of a tag; none if it is missing, of an unknown type or outside the file.
    pub(super) fn get(&self, tag: u16) -> Option<Entry<'a>> {
        let entry = (0..self.entries)
            .map(|index| self.start + index * self.layout.entry_len)
            .find(|&at| self.layout.number(self.file, at, 2) == Some(u64::from(tag)))?;
        let size = match self.layout.number(self.file, entry + 2, 2)? {
            1 | 2 | 6 | 7 => 1,
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16 | 17 | 18 => 8,
            _ => return None,
        };
        let offset_len = self.layout.offset_len;
        let count = self.layout.number(self.file, entry + 4, offset_len)?;
        let len = count.checked_mul(size)?;
        let place = entry + 4 + offset_len;
        let at = match len <= offset_len {
            true => place,
            false => self.layout.number(self.file, place, offset_len)?,
        };
        let at = usize::try_from(at).ok()?;
        let bytes = self.file.get(at..)?.get(..usize::try_from(len).ok()?)?;
        Some(Entry {
            layout: self.layout,
            size,
            bytes,
        })
    }

    /// The first value of a tag.
    pub(super) fn number(&self, tag: u16) -> Option<u64> {
        self.get(tag)?.numbers().next()
    }

    /// All values of a tag.
    pub(super) fn numbers(&self, tag: u16) -> Option<Vec<u64>> {
        Some(self.get(tag)?.numbers().collect())
    }
}

/// Byte order, and the sizes in which classic TIFF and BigTIFF differ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    pub(super) big_endian: bool,
    pub(super) first_at: u64,
    count_len: u64,
    entry_len: u64,
    pub(super) offset_len: u64,
}

impl Layout {
    pub(super) fn of(file: &[u8]) -> Option<Self> {
        let (big_endian, version) = match file.first_chunk::<4>()? {
            [b'I', b'I', version, 0] => (false, *version),
            [b'M', b'M', 0, version] => (true, *version),
            _ => return None,
        };
        let (first_at, count_len, entry_len, offset_len) = match version {
            42 => (4, 2, 12, 4),
            43 => (8, 8, 20, 8),
            _ => return None,
        };
        Some(Self {
            big_endian,
            first_at,
            count_len,
            entry_len,
            offset_len,
        })
    }

    /// The number of `len` bytes at `offset`.
    pub(super) fn number(&self, file: &[u8], offset: u64, len: u64) -> Option<u64> {
        let start = usize::try_from(offset).ok()?;
        Some(self.value(file.get(start..)?.get(..len as usize)?))
    }

    /// Bytes as a number.
    pub(super) fn value(&self, bytes: &[u8]) -> u64 {
        let push = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        if self.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        }
    }
}
