//! A file that is open and not yet decoded.

use crate::arrival::TileStart;
use crate::container::Container;
use crate::decode::{Band, Decoder, Partial};
use crate::error::Result;
use crate::picture::{Picture, Samples};
use crate::rows::PictureInfo;
use crate::scale::{Downscaler, Scale};
use crate::tile_grid::Rect;
use std::ops::Deref;

/// A file whose header and tile table are read; its pixels wait to be asked for, all of them or some.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// # use tessera_codec::{Decoder, Picture, Scale};
/// # let file = std::io::Cursor::new(tessera_codec::encode(&Picture::gray8(9, 4, vec![128; 36])?, 75)?);
/// let coded = Decoder::new().open(file)?;
/// println!("{} x {} pixels", coded.header().width, coded.header().height);
/// let thumbnail = coded.decode_scaled(Scale::MaxSide(3))?;
/// assert_eq!((thumbnail.width(), thumbnail.height()), (3, 1));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct CodedPicture<'a> {
    decoder: Decoder,
    container: Container<'a>,
}

impl<'a> Deref for CodedPicture<'a> {
    type Target = Container<'a>;

    fn deref(&self) -> &Container<'a> {
        &self.container
    }
}

impl<'a> CodedPicture<'a> {
    pub(crate) fn new(decoder: Decoder, container: Container<'a>) -> Self {
        Self { decoder, container }
    }

    /// Calls `hear` as [`Decoder::on_tile`] does.
    #[must_use]
    pub fn on_tile(mut self, hear: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.decoder = self.decoder.on_tile(hear);
        self
    }

    /// All of its pixels.
    pub fn rect(&self) -> Rect {
        self.container.header().rect()
    }

    /// Sides and format of the picture.
    pub fn info(&self) -> PictureInfo {
        let header = self.container.header();
        PictureInfo::of_part(header.rect(), header.format)
    }

    /// Decodes the whole picture.
    ///
    /// # Errors
    /// [`Error::Format`] when anything at all is damaged, [`Error::Dictionary`] when its dictionary was not offered,
    /// [`Error::Limits`] when it would cost too much, [`Error::Cancelled`].
    ///
    /// [`Error::Format`]: crate::Error::Format
    /// [`Error::Dictionary`]: crate::Error::Dictionary
    /// [`Error::Limits`]: crate::Error::Limits
    /// [`Error::Cancelled`]: crate::Error::Cancelled
    pub fn decode(&self) -> Result<Picture> {
        self.container.check()?;
        let metadata = self.container.metadata()?;
        let mut picture = self.decode_band(self.rect())?.intact()?;
        picture.metadata = metadata;
        Ok(picture)
    }

    /// Decodes only the tiles that `region` touches and returns exactly that part. Of a file that is not in memory
    /// nothing else is read.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) when the region is empty or leaves the picture, else as for
    /// [`CodedPicture::decode`].
    pub fn decode_region(&self, region: Rect) -> Result<Picture> {
        let mut picture = self.decode_band(region)?.intact()?;
        picture.metadata = self.container.metadata()?;
        Ok(picture)
    }

    /// Decodes the picture to a smaller size, a few rows of tiles at a time: each pixel is the mean of those it stands
    /// for, and the picture is never in memory at its full size.
    ///
    /// # Errors
    /// As for [`CodedPicture::decode`].
    pub fn decode_scaled(&self, scale: Scale) -> Result<Picture> {
        self.container.check()?;
        let mut scaler = Downscaler::new(self.info(), scale)?;
        let to = scaler.info();
        let mut samples = Samples::empty(to.format());
        for band in self.bands(self.rect())? {
            if let Some(rows) = scaler.push(&band?.intact()?)? {
                samples.append(rows.into_samples())?;
            }
        }
        let mut picture = Picture::new(to.width(), to.height(), to.format(), samples)?;
        picture.metadata = self.container.metadata()?;
        Ok(picture)
    }

    /// Decodes the small picture in front of this one, if there is one.
    ///
    /// # Errors
    /// See [`Decoder::preview`].
    pub fn decode_preview(&self) -> Result<Option<Picture>> {
        let found = self.container.preview()?;
        found
            .map(|bytes| self.decoder.decode_preview(&bytes))
            .transpose()
    }

    /// Decodes the beginning of a tile, of which `bytes` have arrived, as far as rows of superblocks (64 pixels high) are
    /// whole; see [`TileStart`]. For those who show a picture while it comes: the bytes of a tile lie at
    /// [`Container::tile_range`]. `None` if there is nothing to show yet, as always of a lossless tile.
    ///
    /// ```
    /// # fn main() -> Result<(), tessera_codec::Error> {
    /// # use tessera_codec::{Decoder, Encoder, Picture};
    /// # let samples = (0..300 * 200).map(|i| (i % 300 * i / 290) as u8).collect();
    /// # let file = Encoder::new().quality(90).effort(1).encode(&Picture::gray8(300, 200, samples)?)?.bytes;
    /// let arrived = &file[..file.len() * 2 / 3];
    /// let coded = Decoder::new().parse(arrived)?;
    /// let start = coded.decode_tile_start(0, &arrived[coded.tile_range(0)])?.expect("some rows");
    /// assert_eq!((start.rect.width, start.rect.height % 64), (300, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Dictionary`](crate::Error::Dictionary), [`Error::Limits`](crate::Error::Limits).
    pub fn decode_tile_start(&self, index: usize, bytes: &[u8]) -> Result<Option<TileStart>> {
        self.decoder.tile_start(&self.container, index, bytes)
    }

    /// Decodes what is intact of a damaged file, and what has arrived of one whose end is missing: the rows of superblocks
    /// that are there of a tile that was cut, before the filter and without a checksum to vouch for them.
    ///
    /// # Errors
    /// As for [`CodedPicture::decode`] when the dictionary cannot be used; damage in tiles and metadata is reported in
    /// the result.
    pub fn decode_partial(&self) -> Result<Partial> {
        let band = self.decode_band(self.rect())?;
        let mut partial = Partial {
            picture: band.picture,
            damaged: band.damaged,
            metadata_error: None,
        };
        match self.container.metadata() {
            Ok(metadata) => partial.picture.metadata = metadata,
            Err(error) => partial.metadata_error = Some(error),
        }
        Ok(partial)
    }

    /// Decodes a part of a picture a few rows of tiles at a time, from top to bottom: only those
    /// are in memory, and no tile is decoded twice.
    ///
    /// ```
    /// # fn main() -> Result<(), tessera_codec::Error> {
    /// # use tessera_codec::{Decoder, Picture};
    /// # let file = tessera_codec::encode(&Picture::gray8(4, 4, vec![128; 16])?, 75)?;
    /// let coded = Decoder::new().parse(&file)?;
    /// let mut rows = 0;
    /// for band in coded.bands(coded.rect())? {
    ///     rows += band?.intact()?.height();
    /// }
    /// assert_eq!(rows, 4);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`CodedPicture::decode_band`], before anything is decoded.
    pub fn bands(&self, part: Rect) -> Result<impl Iterator<Item = Result<Band>> + '_> {
        let bands = self.decoder.plan_bands(&self.container, part)?;
        Ok(bands.map(|band| self.decode_band(band)))
    }

    /// Decodes a part of a picture at once, as far as its tiles are intact.
    ///
    /// # Errors
    /// [`Error::Parameter`](crate::Error::Parameter) when the part is empty or leaves the picture,
    /// [`Error::Dictionary`](crate::Error::Dictionary), [`Error::Limits`](crate::Error::Limits),
    /// [`Error::Cancelled`](crate::Error::Cancelled).
    pub fn decode_band(&self, part: Rect) -> Result<Band> {
        self.decoder.decode_band(&self.container, part)
    }
}
