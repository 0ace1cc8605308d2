//! Files of formats that store rows from top to bottom, as sources of rows.

use crate::error::{Error, Result};
use crate::image_io::contain::contained;
use crate::image_io::error::ReadImageError;
use crate::image_io::input::Input;
use crate::limits::try_filled;
use crate::metadata::Metadata;
use crate::picture::{Picture, Samples, sample_count};
use crate::rows::{PictureInfo, RowSource};
use std::borrow::Cow;

/// Gives the rows of a file one after the other, samples of two bytes with the high byte first.
pub(super) trait ByteRows: Send {
    /// Fills `row` with the next row.
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ReadImageError>;
}

/// A file at its first row.
pub(super) struct Opened<'a> {
    pub(super) info: PictureInfo,
    pub(super) rows: Box<dyn ByteRows + 'a>,
}

/// Opens a file at its first row; `None` if it must be read as a whole.
pub(super) type Open<'a> = fn(Input<'a>) -> Result<Option<Opened<'a>>, ReadImageError>;

/// A picture that is read from its file as its rows are asked for.
pub(super) struct RowFile<'a> {
    format: &'static str,
    input: Input<'a>,
    open: Open<'a>,
    opened: Opened<'a>,
    metadata: Metadata,
    /// The next row.
    y: u32,
}

impl<'a> RowFile<'a> {
    /// `None` if the file must be read as a whole.
    pub(super) fn new(
        format: &'static str,
        input: Input<'a>,
        open: Open<'a>,
        metadata: Metadata,
    ) -> Result<Option<Self>, ReadImageError> {
        let opened = contained(format, || open(input))?;
        Ok(opened.map(|opened| Self {
            format,
            input,
            open,
            opened,
            metadata,
            y: 0,
        }))
    }

    /// Reads the next `count` rows.
    fn read_rows(&mut self, count: u32) -> Result<Picture> {
        let info = self.opened.info;
        let len = sample_count(info.width(), count, info.format())?;
        let per_row = len / count as usize;
        let samples = match info.format().bytes_per_sample() {
            1 => {
                let mut samples = try_filled(len, 0)?;
                for row in samples.chunks_exact_mut(per_row) {
                    self.next_row(row)?;
                }
                Samples::U8(samples)
            }
            _ => {
                let mut samples = try_filled(len, 0)?;
                let mut bytes = vec![0; 2 * per_row];
                for row in samples.chunks_exact_mut(per_row) {
                    self.next_row(&mut bytes)?;
                    for (sample, pair) in row.iter_mut().zip(bytes.as_chunks::<2>().0) {
                        *sample = u16::from_be_bytes(*pair);
                    }
                }
                Samples::U16(samples)
            }
        };
        Picture::new(info.width(), count, info.format(), samples)
    }

    fn next_row(&mut self, row: &mut [u8]) -> Result<()> {
        let rows = &mut self.opened.rows;
        let read = contained(self.format, || rows.next_row(row));
        read.map_err(|error| Error::Input(Box::new(error)))
    }

    /// Reads everything.
    pub(super) fn into_picture(mut self) -> Result<Picture, ReadImageError> {
        let mut picture = self.read_rows(self.opened.info.height())?;
        picture.metadata = self.metadata;
        Ok(picture)
    }
}

impl RowSource for RowFile<'_> {
    fn info(&self) -> PictureInfo {
        self.opened.info
    }

    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn rewind(&mut self) -> Result<()> {
        if self.y == 0 {
            return Ok(());
        }
        let changed = || Error::Input("the picture was changed while it was read".into());
        let opened = (self.open)(self.input).map_err(|error| Error::Input(Box::new(error)))?;
        let opened = opened.ok_or_else(changed)?;
        if opened.info != self.opened.info {
            return Err(changed());
        }
        self.opened = opened;
        self.y = 0;
        Ok(())
    }

    fn next_rows(&mut self, unit: u32) -> Result<Cow<'_, Picture>> {
        let count = unit.min(self.opened.info.height() - self.y);
        let rows = self.read_rows(count)?;
        self.y += count;
        Ok(Cow::Owned(rows))
    }
}
