//! Pictures that come in bands of rows, so that a whole one need never be in memory.

#[cfg(feature = "encoder")]
use crate::error::Error;
use crate::error::Result;
use crate::metadata::Metadata;
use crate::picture::{Picture, PixelFormat, sample_count};
use std::borrow::Cow;

/// What is known of a picture before its first row.
///
/// Invariant: both sides are 1 to 65535.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureInfo {
    width: u32,
    height: u32,
    format: PixelFormat,
}

impl PictureInfo {
    /// Checks the sides.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) when a side is zero or too long to be stored.
    pub fn new(width: u32, height: u32, format: PixelFormat) -> Result<Self> {
        sample_count(width, height, format)?;
        Ok(Self {
            width,
            height,
            format,
        })
    }

    /// A part of a picture, which is not empty.
    pub(crate) fn of_part(part: crate::Rect, format: PixelFormat) -> Self {
        Self {
            width: part.width,
            height: part.height,
            format,
        }
    }

    /// Columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Channels and depth.
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// Number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

impl From<&Picture> for PictureInfo {
    fn from(picture: &Picture) -> Self {
        Self {
            width: picture.width(),
            height: picture.height(),
            format: picture.format(),
        }
    }
}

/// A picture that can be read from top to bottom, as often as needed.
pub trait RowSource: Send {
    /// Sides and format.
    fn info(&self) -> PictureInfo;

    /// What travels with the picture.
    fn metadata(&self) -> &Metadata;

    /// Goes back to the top; called before every pass.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn rewind(&mut self) -> Result<()>;

    /// The next rows over the full width: a multiple of `unit` unless the picture ends. A source
    /// that has the picture in memory may return more than `unit` rows. Not called again once all
    /// rows were returned.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn next_rows(&mut self, unit: u32) -> Result<Cow<'_, Picture>>;
}

/// A picture in memory as a source: all its rows come at once.
#[derive(Debug)]
pub struct WholePicture<'a>(Cow<'a, Picture>);

impl<'a> From<&'a Picture> for WholePicture<'a> {
    fn from(picture: &'a Picture) -> Self {
        Self(Cow::Borrowed(picture))
    }
}

impl From<Picture> for WholePicture<'static> {
    fn from(picture: Picture) -> Self {
        Self(Cow::Owned(picture))
    }
}

impl RowSource for WholePicture<'_> {
    fn info(&self) -> PictureInfo {
        PictureInfo::from(&*self.0)
    }

    fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    fn rewind(&mut self) -> Result<()> {
        Ok(())
    }

    fn next_rows(&mut self, _unit: u32) -> Result<Cow<'_, Picture>> {
        Ok(Cow::Borrowed(&self.0))
    }
}

/// Calls `visit` with the rows of a source from top to bottom and the number of the first of them.
///
/// Every band but the last is a multiple of `unit` rows high; a source that breaks its contract
/// is an error.
#[cfg(feature = "encoder")]
pub(crate) fn for_each_band(
    source: &mut dyn RowSource,
    unit: u32,
    mut visit: impl FnMut(&Picture, u32) -> Result<()>,
) -> Result<()> {
    let info = source.info();
    source.rewind()?;
    let mut y = 0;
    while y < info.height {
        let band = source.next_rows(unit)?;
        let bottom = y.saturating_add(band.height());
        let whole_units = band.height() % unit == 0 || bottom == info.height;
        let alike = band.width() == info.width && band.format() == info.format;
        if bottom > info.height || !whole_units || !alike {
            let message = "the rows of the picture do not fit what was announced";
            return Err(Error::Parameter(message.into()));
        }
        visit(&band, y)?;
        y = bottom;
    }
    Ok(())
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;

    /// Announces `info`, then returns the same band again and again.
    struct Repeating {
        info: PictureInfo,
        band: Picture,
    }

    impl RowSource for Repeating {
        fn info(&self) -> PictureInfo {
            self.info
        }

        fn metadata(&self) -> &Metadata {
            &self.band.metadata
        }

        fn rewind(&mut self) -> Result<()> {
            Ok(())
        }

        fn next_rows(&mut self, _unit: u32) -> Result<Cow<'_, Picture>> {
            Ok(Cow::Borrowed(&self.band))
        }
    }

    fn starts(height: u32, band: Picture, unit: u32) -> Result<Vec<u32>> {
        let info = PictureInfo::new(2, height, PixelFormat::GRAY8)?;
        let mut starts = Vec::new();
        for_each_band(&mut Repeating { info, band }, unit, |_, y| {
            starts.push(y);
            Ok(())
        })?;
        Ok(starts)
    }

    #[test]
    fn bands_follow_each_other() {
        let band = Picture::gray8(2, 4, vec![0; 8]).unwrap();
        assert_eq!(starts(12, band.clone(), 2).unwrap(), [0, 4, 8]);
        assert_eq!(starts(4, band, 8).unwrap(), [0]);
    }

    #[test]
    fn sources_that_break_their_word_are_refused() {
        let band = Picture::gray8(2, 4, vec![0; 8]).unwrap();
        assert!(starts(10, band.clone(), 2).is_err(), "beyond the bottom");
        assert!(starts(12, band, 3).is_err(), "no multiple of the unit");
        let narrow = Picture::gray8(1, 4, vec![0; 4]).unwrap();
        assert!(starts(4, narrow, 4).is_err(), "another width");
    }
}
