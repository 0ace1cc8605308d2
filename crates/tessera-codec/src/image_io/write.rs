//! Writing a picture in a common format, and saying what that format could not keep.

use crate::error::Error;
use crate::image_io::row_sinks::{PngSink, PnmSink};
use crate::image_io::whole_sink::WholeSink;
use crate::metadata::{Metadata, MetadataKind};
use crate::picture::Picture;
use crate::rows::PictureInfo;
use image::{ImageError, ImageFormat};
use std::io::Write;
use thiserror::Error as ThisError;

/// Why a picture could not be written.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum WriteImageError {
    /// The format would lose transparency.
    #[error("{0:?} cannot store transparency; choose PNG, WebP or TIFF")]
    Transparency(ImageFormat),
    /// Not one of the formats we write.
    #[error("pictures cannot be written as {0:?}; choose PNG, JPEG, WebP, PNM, TIFF or BMP")]
    UnknownFormat(ImageFormat),
    /// The rows that came are not those that were announced.
    #[error("the rows do not fit the picture that was announced")]
    Rows,
    /// Writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The PNG encoder failed.
    #[error(transparent)]
    Png(#[from] png::EncodingError),
    /// The format's encoder failed.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The picture does not fit in memory.
    #[error(transparent)]
    Codec(#[from] Error),
}

/// What an output format could not keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// Metadata the format or its encoder cannot hold.
    pub dropped: Vec<MetadataKind>,
    /// True when the samples had to be reduced to 8 bits.
    pub reduced_to_8_bits: bool,
}

/// Writes a picture that comes in bands of rows. PNG and PNM are written as the rows come, the
/// other formats when all are there. Nothing is buffered beyond that, so `out` need not be flushed.
pub struct PictureWriter<W: Write + 'static> {
    info: PictureInfo,
    /// Rows that came so far.
    y: u32,
    sink: Sink<W>,
}

/// True for formats whose rows are kept in memory until the last one is there, so that there is no
/// use in handing them over piece by piece.
pub fn keeps_rows(format: ImageFormat) -> bool {
    !matches!(format, ImageFormat::Png | ImageFormat::Pnm)
}

/// Where the rows go.
enum Sink<W: Write + 'static> {
    Png(Box<PngSink<W>>),
    Pnm(PnmSink<W>),
    Whole(WholeSink<W>),
}

impl<W: Write + 'static> PictureWriter<W> {
    /// Starts a file. `metadata` is what should travel with the picture.
    ///
    /// # Errors
    /// When the format cannot hold such a picture, or writing fails.
    pub fn new(
        out: W,
        format: ImageFormat,
        info: PictureInfo,
        metadata: Metadata,
    ) -> Result<Self, WriteImageError> {
        let sink = match format {
            ImageFormat::Png => Sink::Png(Box::new(PngSink::new(out, info, &metadata)?)),
            ImageFormat::Pnm => Sink::Pnm(PnmSink::new(out, info, &metadata)?),
            format => Sink::Whole(WholeSink::new(out, format, info, metadata)?),
        };
        Ok(Self { info, y: 0, sink })
    }

    /// Another quality of JPEG output than the usual 95, 1 to 100; other formats have none.
    #[must_use]
    pub fn jpeg_quality(mut self, quality: u8) -> Self {
        if let Sink::Whole(sink) = &mut self.sink {
            sink.jpeg_quality = quality;
        }
        self
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// [`WriteImageError::Rows`] when they do not fit the picture, else when writing fails.
    pub fn push(&mut self, rows: Picture) -> Result<(), WriteImageError> {
        let alike = rows.width() == self.info.width() && rows.format() == self.info.format();
        if !alike || rows.height() > self.info.height() - self.y {
            return Err(WriteImageError::Rows);
        }
        self.y += rows.height();
        match &mut self.sink {
            Sink::Png(sink) => sink.push(rows),
            Sink::Pnm(sink) => sink.push(rows),
            Sink::Whole(sink) => sink.push(rows),
        }
    }

    /// Ends the file and says what it could not keep.
    ///
    /// # Errors
    /// [`WriteImageError::Rows`] when rows are missing, else when writing fails.
    pub fn finish(self) -> Result<Losses, WriteImageError> {
        if self.y != self.info.height() {
            return Err(WriteImageError::Rows);
        }
        match self.sink {
            Sink::Png(sink) => sink.finish(),
            Sink::Pnm(sink) => sink.finish(),
            Sink::Whole(sink) => sink.finish(),
        }
    }
}
