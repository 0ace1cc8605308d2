//! From a picture to a file.

use crate::cancel::CancelToken;
use crate::container::{self, Front, Header, TileData, WorkBound, tile_work};
use crate::decode::{Decoder, alpha_config, layout};
use crate::distortion::{Distortion, Fingerprint};
use crate::encoder::appearance::{Appearance, CELL, LOOKS, cell_stride};
use crate::encoder::masking::PictureActivity;
use crate::encoder::{EncodedTile, SpeedSettings, encode_tile, encode_tile_no_recon, tune};
use crate::error::{Error, Result};
use crate::limits::{self, Limits};
use crate::lossless;
use crate::lossless_file::LosslessJob;
use crate::metadata::Metadata;
use crate::outlook::Outlook;
use crate::picture::{Picture, PixelFormat};
use crate::pixels::{self, TilePlanes};
use crate::prepared::PreparedDictionary;
use crate::preview_file;
use crate::quality::{
    DEFAULT_EFFORT, FASTEST_EFFORT, Quality, Tune, alpha_quantiser, check_effort,
};
use crate::rows::{PictureInfo, RowSource, WholePicture, for_each_band};
use crate::search::{Encode, OperatingPoint, Pass, Target, reaching_score, search};
use crate::threads;
use crate::tile::TileConfig;
use crate::tile_grid::{DEFAULT_TILE_LOG2, Rect, TILE_LOG2_RANGE, TileGrid};
use crate::watch::TileWatch;
use std::io::Write;
use std::iter::Sum;
use tessera_dict::DictId;
use tessera_patch::Plane;

/// Encodes a picture at a quality of 0 to 100, with the built-in dictionary and the default effort.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Picture, encode};
/// let gradient: Vec<u8> = (0..64 * 64 * 3).map(|i| (i / 64) as u8).collect();
/// let picture = Picture::rgb8(64, 64, gradient)?;
/// let file = encode(&picture, 75)?;
/// assert!(file.len() < 64 * 64);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Encoder::encode`].
pub fn encode(picture: &Picture, quality: u8) -> Result<Vec<u8>> {
    Ok(Encoder::new().quality(quality).encode(picture)?.bytes)
}

/// An encoder and its settings.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Encoder, Picture};
/// let picture = Picture::gray8(32, 32, vec![90; 1024])?;
/// let good = Encoder::new().quality(80).effort(5).encode(&picture)?;
/// let small = Encoder::new().target_size(300).encode(&picture)?;
/// assert!(small.bytes.len() <= 300);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Encoder {
    target: Target,
    tune: Tune,
    effort: u8,
    threads: usize,
    tile_log2: u8,
    keep_opaque_alpha: bool,
    strip_metadata: bool,
    measure: bool,
    losslessness: Losslessness,
    clean_alpha: bool,
    cancel: CancelToken,
    dictionary: Option<PreparedDictionary>,
    short_name: bool,
    preview: bool,
    watch: TileWatch,
}

/// Whether files are lossless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Losslessness {
    Lossy,
    /// Lossy, unless the lossless file is smaller.
    IfSmaller,
    /// Samples are at most so far from the original's.
    Near(u8),
}

impl Default for Encoder {
    fn default() -> Self {
        Self {
            target: Target::default(),
            tune: Tune::default(),
            effort: DEFAULT_EFFORT,
            threads: 0,
            tile_log2: DEFAULT_TILE_LOG2,
            keep_opaque_alpha: false,
            strip_metadata: false,
            measure: true,
            losslessness: Losslessness::Lossy,
            clean_alpha: false,
            cancel: CancelToken::default(),
            dictionary: None,
            short_name: false,
            preview: false,
            watch: TileWatch::default(),
        }
    }
}

/// A finished file and what the encoder knows about it.
#[derive(Debug, Clone)]
pub struct Encoded {
    /// The file.
    pub bytes: Vec<u8>,
    /// The quantiser index that was used.
    pub quantiser: u8,
    /// What it was tuned for.
    pub tune: Tune,
    /// What a decoder will make of it, unless the encoder was told not to find out ([`Encoder::measure_distortion`]).
    pub measured: Option<Measured>,
    /// What the measure of [`Encoder::encode_to_score`] says of it.
    pub score: Option<f64>,
    /// How far a sample may be from the original's if the file is lossless (zero) or nearly so.
    pub lossless: Option<u8>,
}

impl Encoded {
    /// Peak signal to noise ratio of the decoded picture in decibels, if that was to be found out.
    pub fn psnr(&self) -> Option<f64> {
        self.measured.map(|measured| measured.distortion.psnr())
    }
}

/// What a decoder will make of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// How far the decoded picture is from the original.
    pub distortion: Distortion,
    /// Of the pixels a decoder will output; compare with [`Fingerprint::of`] a decoded picture.
    pub fingerprint: Fingerprint,
}

impl Encoded {
    /// Whether the decoded picture is as close to the original as its quantiser promises, if that was to be found out.
    /// The encoder sees to it that it is; if not, it has a fault, and the picture should be kept in another format.
    pub fn keeps_its_promise(&self) -> Option<bool> {
        let distortion = self.measured?.distortion;
        if let Some(near) = self.lossless {
            return Some(distortion.is_within(near));
        }
        // Busy blocks and high frequencies are coarser than the quantiser, where it is tuned so.
        const COARSER: u8 = 12;
        let coarsest = match self.tune {
            Tune::Visual => self.quantiser.saturating_add(COARSER),
            Tune::Psnr => self.quantiser,
        };
        Some(distortion.is_explained_by(coarsest))
    }
}

impl Sum for Measured {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        let (distortions, fingerprints): (Vec<_>, Vec<_>) = parts
            .map(|part| (part.distortion, part.fingerprint))
            .unzip();
        Self {
            distortion: distortions.into_iter().sum(),
            fingerprint: fingerprints.into_iter().sum(),
        }
    }
}

impl Encoder {
    /// Default quality and effort, all cores, the built-in dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// What to aim at.
    #[must_use]
    pub fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    /// Aims at a point of the quality scale, from 0 (smallest) to 100 (almost indistinguishable); 75 unless told
    /// otherwise.
    #[must_use]
    pub fn quality(self, quality: u8) -> Self {
        self.target(Target::Quality(quality))
    }

    /// Aims at the best picture in at most so many bytes, everything included.
    #[must_use]
    pub fn target_size(self, bytes: u64) -> Self {
        self.target(Target::Size(bytes))
    }

    /// Aims at the smallest file with at least this PSNR, in decibels.
    #[must_use]
    pub fn target_psnr(self, decibels: f64) -> Self {
        self.target(Target::Psnr(decibels))
    }

    /// How hard to search, from 1 (fast) to 9 (smallest files); 5 unless told otherwise.
    #[must_use]
    pub fn effort(mut self, effort: u8) -> Self {
        self.effort = effort;
        self
    }

    /// How many threads encode tiles; zero means one per core. Results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Log2 of the tile side, 6 to 15.
    #[must_use]
    pub fn tile_log2(mut self, tile_log2: u8) -> Self {
        self.tile_log2 = tile_log2;
        self
    }

    /// Stores alpha even when every pixel is opaque.
    #[must_use]
    pub fn keep_opaque_alpha(mut self, keep: bool) -> Self {
        self.keep_opaque_alpha = keep;
        self
    }

    /// Leaves out ICC, EXIF and XMP.
    #[must_use]
    pub fn strip_metadata(mut self, strip: bool) -> Self {
        self.strip_metadata = strip;
        self
    }

    /// What to spend bits on.
    #[must_use]
    pub fn tune(mut self, tune: Tune) -> Self {
        self.tune = tune;
        self
    }

    /// Whether to find out what a decoder will make of the file, as it is by default; targets that hang on it do so
    /// anyway. Without it effort 1 is about a fifth faster.
    #[must_use]
    pub fn measure_distortion(mut self, wanted: bool) -> Self {
        self.measure = wanted;
        self
    }

    /// Writes lossless files, in which every sample keeps its value, also that of colour under alpha 0. Of the other
    /// settings, targets and tuning have no effect then; of a dictionary its lossless networks count.
    ///
    /// ```
    /// # fn main() -> Result<(), tessera_codec::Error> {
    /// use tessera_codec::{Encoder, Picture, decode};
    /// let picture = Picture::gray8(32, 32, (0..1024u32).map(|i| (i * i / 5) as u8).collect())?;
    /// let file = Encoder::new().lossless(true).encode(&picture)?.bytes;
    /// assert_eq!(decode(&file)?, picture);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn lossless(mut self, lossless: bool) -> Self {
        self.losslessness = match lossless {
            true => Losslessness::Near(0),
            false => Losslessness::Lossy,
        };
        self
    }

    /// Writes nearly lossless files: no sample of colour is more than `most` away from its value, and alpha is exact.
    #[must_use]
    pub fn near(mut self, most: u8) -> Self {
        self.losslessness = Losslessness::Near(most);
        self
    }

    /// Writes the lossless file where it is smaller than the lossy one, as it often is for graphics; for a target of size
    /// or bits per pixel where it fits.
    #[must_use]
    pub fn lossless_if_smaller(mut self, wanted: bool) -> Self {
        self.losslessness = match wanted {
            true => Losslessness::IfSmaller,
            false => Losslessness::Lossy,
        };
        self
    }

    /// Makes colour that nobody sees, under alpha 0, black in lossless files.
    #[must_use]
    pub fn clean_alpha(mut self, clean: bool) -> Self {
        self.clean_alpha = clean;
        self
    }

    /// Stops when `token` says so.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = token.clone();
        self
    }

    /// Uses a learned dictionary; the receiver needs the same one.
    #[must_use]
    pub fn dictionary(mut self, dictionary: impl Into<PreparedDictionary>) -> Self {
        self.dictionary = Some(dictionary.into());
        self
    }

    /// Names a learned dictionary in 4 bytes and not in 16. A reader that has several dictionaries whose names start alike
    /// must be told which one is meant; the checksums notice a wrong one.
    #[must_use]
    pub fn short_dictionary_name(mut self, short: bool) -> Self {
        self.short_name = short;
        self
    }

    /// Puts a small picture of about a kilobyte in front of the large one, for those who want to see something at once: see
    /// [`Decoder::preview`]. Pictures that are not larger than a preview get none. A target of size counts it.
    #[must_use]
    pub fn preview(mut self, wanted: bool) -> Self {
        self.preview = wanted;
        self
    }

    /// Calls `hear` with the number of pixels of every tile that is done, from whichever thread did it. Targets other
    /// than a quality take several passes over all tiles.
    #[must_use]
    pub fn on_tile(mut self, hear: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.watch = TileWatch::new(hear);
        self
    }

    /// Checks the settings as every encode does, for those who want to know before there is a picture.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming what is out of its range.
    pub fn check(&self) -> Result<()> {
        if !TILE_LOG2_RANGE.contains(&self.tile_log2) {
            let message = "the tile side is 2^6 to 2^15 pixels".into();
            return Err(Error::Parameter(message));
        }
        check_effort(self.effort)?;
        self.target.check()
    }

    /// Encodes a picture and its metadata.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a setting is out of range, [`Error::TargetUnreachable`],
    /// [`Error::Dictionary`] when the dictionary's references are damaged, [`Error::Cancelled`].
    pub fn encode(&self, picture: &Picture) -> Result<Encoded> {
        self.encode_rows(&mut WholePicture::from(picture))
    }

    /// The same, and writes the file to `out`.
    ///
    /// # Errors
    /// As for [`Encoder::encode`], and [`Error::Io`] when `out` fails.
    pub fn encode_to(&self, picture: &Picture, mut out: impl Write) -> Result<Encoded> {
        let encoded = self.encode(picture)?;
        out.write_all(&encoded.bytes)?;
        Ok(encoded)
    }

    /// Encodes a picture that comes in rows, with a few rows of tiles in memory at a time. The
    /// file is the same as if the picture had come at once.
    ///
    /// A target other than a quality or a quantiser takes several passes over the source, and
    /// so does the question whether alpha is opaque.
    ///
    /// # Errors
    /// As for [`Encoder::encode`], and whatever the source reports.
    pub fn encode_rows(&self, source: &mut dyn RowSource) -> Result<Encoded> {
        self.check()?;
        match self.losslessness {
            Losslessness::Lossy => self.encode_lossy(source),
            Losslessness::Near(most) => self.encode_lossless(source, most),
            Losslessness::IfSmaller => self.encode_smaller(source),
        }
    }

    /// Lossy or lossless, whichever is smaller. A lossless file is tried where it may be.
    fn encode_smaller(&self, source: &mut dyn RowSource) -> Result<Encoded> {
        let lossy = self.encode_lossy(source);
        let limit = match (&lossy, self.target) {
            (Ok(_), Target::Size(bytes)) => bytes,
            (Ok(_), Target::BitsPerPixel(bits)) => {
                (bits * source.info().pixels() as f64 / 8.0) as u64
            }
            (Ok(lossy), _) => lossy.bytes.len() as u64,
            (Err(Error::TargetUnreachable(_)), Target::Psnr(_)) => u64::MAX,
            (Err(_), _) => return lossy,
        };
        match self.encode_lossless_within(source, limit)? {
            Some(lossless) => Ok(lossless),
            None => lossy,
        }
    }

    /// The lossless file, if it has at most so many bytes. It is made only where a look at the picture says that it may;
    /// other settings as for [`Encoder::lossless`].
    ///
    /// # Errors
    /// As for [`Encoder::encode`], and whatever the source reports.
    pub fn encode_lossless_within(
        &self,
        source: &mut dyn RowSource,
        bytes: u64,
    ) -> Result<Option<Encoded>> {
        self.check()?;
        if !Outlook::of(source, 1 << self.tile_log2)?.may_fit(bytes) {
            return Ok(None);
        }
        let lossless = self.encode_lossless(source, 0)?;
        Ok((lossless.bytes.len() as u64 <= bytes).then_some(lossless))
    }

    fn encode_lossless(&self, source: &mut dyn RowSource, near: u8) -> Result<Encoded> {
        let threads = threads::count(self.threads);
        threads::run(threads, || {
            let options = lossless::Options {
                effort: self.effort,
                near,
                clean_alpha: self.clean_alpha,
            };
            let format = self.coded_format(source)?;
            let job = LosslessJob {
                info: source.info(),
                format,
                tile_log2: self.tile_log2,
                options,
                dictionary: self.dictionary_for_lossless(),
                measure: self.measure,
            };
            let front = self.front(source, format)?;
            let tiles = self.encode_tiles(job.grid(), source, threads, |band, y, rect| {
                job.encode_tile(band, y, rect)
            })?;
            Ok(job.assemble(tiles, &front))
        })?
    }

    /// The dictionary, if it knows more of lossless pictures than the models do by themselves, and its name in the file.
    fn dictionary_for_lossless(&self) -> Option<(PreparedDictionary, DictId)> {
        let dictionary = match &self.dictionary {
            Some(dictionary) => Some(dictionary),
            None => PreparedDictionary::loaded_builtin(),
        };
        let dictionary = dictionary?;
        let name = match self.short_name {
            true => dictionary.id().shortened(),
            false => dictionary.id(),
        };
        let knows = dictionary.lossless_nets().iter().any(Option::is_some);
        knows.then(|| (dictionary.clone(), name))
    }

    /// What goes into the file, whose pictures have this format, before the tiles.
    fn front(&self, source: &mut dyn RowSource, format: PixelFormat) -> Result<Front> {
        let metadata = match self.strip_metadata {
            true => Metadata::default(),
            false => source.metadata().clone(),
        };
        let preview = match self.preview {
            true => preview_file::encode(source, format, self.effort)?,
            false => Vec::new(),
        };
        Ok(Front { preview, metadata })
    }

    /// Codes all tiles in raster order, those of each band in parallel. `encode` is given the band, the number of its
    /// first row, and where the tile lies in the picture.
    fn encode_tiles<T: Send>(
        &self,
        grid: TileGrid,
        source: &mut dyn RowSource,
        threads: usize,
        encode: impl Fn(&Picture, u32, Rect) -> Result<T> + Send + Sync,
    ) -> Result<Vec<T>> {
        let unit = grid.side() * grid.rows_for(threads);
        let mut tiles = Vec::with_capacity(grid.count());
        for_each_band(source, unit, |band, y| {
            let rows = band.height().div_ceil(grid.side());
            let end = tiles.len() + (rows * grid.columns()) as usize;
            let coded = threads::try_map(tiles.len()..end, |index| {
                self.cancel.check()?;
                let tile = encode(band, y, grid.rect(index));
                self.watch.done(grid.rect(index).area());
                tile
            })?;
            tiles.extend(coded);
            Ok(())
        })?;
        Ok(tiles)
    }

    fn encode_lossy(&self, source: &mut dyn RowSource) -> Result<Encoded> {
        let pixels = source.info().pixels();
        self.search(source, |appearance, encode| {
            let coarseness = |quality: Quality| match self.tune {
                Tune::Visual => appearance.coarseness(quality),
                Tune::Psnr => f32::from(quality.quantiser(Tune::Psnr)),
            };
            search(self.target, pixels, coarseness, encode)
        })
    }

    /// The smallest file whose decoded picture scores at least so much by a measure of your own, whatever the target; more
    /// is better. A score that is above by less than `tolerance`, best about a third of what one index of the quantiser
    /// changes, is near enough. The whole picture is decoded once in every pass.
    ///
    /// ```
    /// # fn main() -> Result<(), tessera_codec::Error> {
    /// use tessera_codec::{Encoder, Picture};
    /// let samples: Vec<u8> = (0..64 * 64).map(|i| (i % 64 * i / 70 % 251) as u8).collect();
    /// let original = Picture::gray8(64, 64, samples)?;
    /// // Decoders stay at the size of what they were given; a real measure looks at the samples.
    /// let measure = |decoded: Picture| Ok(f64::from(decoded.width()));
    /// let encoded = Encoder::new().effort(1).encode_to_score(&original, 64.0, 1.0, &measure)?;
    /// assert_eq!(encoded.score, Some(64.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`Encoder::encode`], and whatever the measure reports.
    pub fn encode_to_score(
        &self,
        picture: &Picture,
        at_least: f64,
        tolerance: f64,
        measure: &(dyn Fn(Picture) -> Result<f64> + Sync),
    ) -> Result<Encoded> {
        self.check()?;
        let mut decoder = Decoder::new().threads(self.threads).limits(Limits::none());
        if let Some(dictionary) = &self.dictionary {
            decoder = decoder.dictionary(dictionary.clone());
        }
        self.search(&mut WholePicture::from(picture), |_, encode| {
            reaching_score(at_least, tolerance, |point, pass| {
                let mut encoded = encode(point, pass)?;
                encoded.score = Some(measure(decoder.decode(&encoded.bytes)?)?);
                Ok(encoded)
            })
        })
    }

    /// Looks the source over and lets `find` encode it again and again.
    fn search(
        &self,
        source: &mut dyn RowSource,
        find: impl FnOnce(&Appearance, &mut dyn Encode) -> Result<Encoded> + Send,
    ) -> Result<Encoded> {
        let dictionary =
            (self.dictionary.as_ref()).unwrap_or_else(|| PreparedDictionary::builtin());
        dictionary.ready()?;
        let threads = threads::count(self.threads);
        threads::run(threads, || {
            let format = self.coded_format(source)?;
            let front = self.front(source, format)?;
            let appearance = self.appearance(source)?;
            find(&appearance, &mut |point, pass| {
                let coded = (source.info(), format);
                let job = Job::new(self, dictionary, coded, appearance.activity, point, pass);
                let tiles = self.encode_tiles(job.grid(), source, threads, |band, y, rect| {
                    job.encode_tile(band, y, rect)
                })?;
                Ok(job.assemble(tiles, &front))
            })
        })?
    }

    /// Looks the picture over, if that matters.
    fn appearance(&self, source: &mut dyn RowSource) -> Result<Appearance> {
        let mut appearance = Appearance::default();
        if self.tune == Tune::Psnr || source.info().pixels() < SMALLEST_TUNED {
            return Ok(appearance);
        }
        let info = source.info();
        let stride = CELL * cell_stride(info.width(), info.height());
        let side = CELL as u32;
        for_each_band(source, 1 << self.tile_log2, |band, top| {
            let next = (top as usize).next_multiple_of(stride) as u32 - top;
            for y in (next..band.height()).step_by(stride) {
                for x in (0..band.width()).step_by(stride) {
                    let cell = Rect {
                        x,
                        y,
                        width: side.min(band.width() - x),
                        height: side.min(band.height() - y),
                    };
                    appearance.add(&pixels::read_tile(band, cell)?.colour);
                }
            }
            Ok(())
        })?;
        Ok(appearance)
    }

    /// What a look over a picture measures at some quantisers, for those who fit the quality scale.
    #[doc(hidden)]
    pub fn appearance_measures(
        &self,
        picture: &Picture,
    ) -> Result<Vec<(u8, [Option<f32>; LOOKS])>> {
        Ok(self
            .appearance(&mut WholePicture::from(picture))?
            .measures())
    }

    /// The format as coded: alpha that lets nothing through is left out.
    fn coded_format(&self, source: &mut dyn RowSource) -> Result<PixelFormat> {
        let mut format = source.info().format();
        if !format.alpha || self.keep_opaque_alpha {
            return Ok(format);
        }
        let mut opaque = true;
        for_each_band(source, 1 << self.tile_log2, |band, _| {
            opaque &= band.is_opaque();
            Ok(())
        })?;
        format.alpha = !opaque;
        Ok(format)
    }
}

/// Pictures of fewer pixels are not tuned for the eye.
const SMALLEST_TUNED: u64 = 32 * 32;

/// Memory a tile takes while it is encoded, per sample.
const BYTES_PER_SAMPLE: u64 = 16;

/// One pass over a picture with everything decided.
struct Job<'a> {
    info: PictureInfo,
    /// The format as coded: opaque alpha may be gone.
    format: PixelFormat,
    dictionary: &'a PreparedDictionary,
    /// Whether the header names the dictionary by the start of its hash.
    short_name: bool,
    effort: u8,
    tile_log2: u8,
    point: OperatingPoint,
    tune: Tune,
    activity: PictureActivity,
    /// Whether to find out what a decoder will make of it.
    measure: bool,
}

/// A coded tile and its share of the picture's statistics.
struct CodedTile {
    data: TileData,
    work: u64,
    measured: Option<Measured>,
}

impl CodedTile {
    /// Leaves out of all payloads that they draw nothing.
    fn leave_graphics_out(&mut self) {
        let TileData { colour, alpha } = &mut self.data;
        for payload in std::iter::once(colour).chain(alpha) {
            let drawn = payload.remove(0);
            debug_assert_eq!(drawn, 0, "the length of nothing");
            self.work -= tile_work(0, 1);
        }
    }
}

impl<'a> Job<'a> {
    fn new(
        encoder: &'a Encoder,
        dictionary: &'a PreparedDictionary,
        (info, format): (PictureInfo, PixelFormat),
        activity: PictureActivity,
        point: OperatingPoint,
        pass: Pass,
    ) -> Self {
        Self {
            info,
            format,
            dictionary,
            short_name: encoder.short_name,
            effort: match pass {
                Pass::Rough => FASTEST_EFFORT,
                Pass::Exact => encoder.effort,
            },
            tile_log2: encoder.tile_log2,
            point,
            tune: encoder.tune,
            activity,
            measure: match encoder.target {
                Target::Psnr(_) => true,
                _ => encoder.measure && pass == Pass::Exact,
            },
        }
    }

    fn grid(&self) -> TileGrid {
        TileGrid::new(self.info.width(), self.info.height(), self.tile_log2)
    }

    fn alpha_quantiser(&self) -> Option<u8> {
        self.format
            .alpha
            .then(|| alpha_quantiser(self.point.quantiser))
    }

    /// What the colour payload of a tile is coded with.
    fn tile_config(&self, rect: Rect) -> TileConfig {
        let mut config = TileConfig {
            width: rect.width,
            height: rect.height,
            layout: layout(self.format.colour),
            quantiser: self.point.quantiser,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: true,
            weights: Default::default(),
            origin: (rect.x, rect.y),
            alpha: false,
        };
        // What tuning has to tell would be a good part of a tiny file.
        if self.info.pixels() >= SMALLEST_TUNED {
            tune::apply(self.tune, &self.activity, &mut config);
        }
        config
    }

    /// Codes the tile at `rect`, whose pixels are in `band`; the band's first row is row `y`.
    fn encode_tile(&self, band: &Picture, y: u32, rect: Rect) -> Result<CodedTile> {
        let inside = Rect {
            y: rect.y - y,
            ..rect
        };
        limits::probe(rect.area() * self.info.format().channels() as u64 * BYTES_PER_SAMPLE)?;
        let mut source = pixels::read_tile(band, inside)?;
        if !self.format.alpha {
            source.alpha = None;
        }
        let config = self.tile_config(rect);
        let colour = self.encode_planes(&source.colour, &config);
        let alpha = source.alpha.as_ref().zip(self.alpha_quantiser());
        let alpha = alpha.map(|(plane, quantiser)| {
            self.encode_planes(
                std::slice::from_ref(plane),
                &alpha_config(&config, quantiser),
            )
        });
        let work = |planes: usize, tile: &EncodedTile| {
            tile_work(rect.area() * planes as u64, tile.bytes.len())
        };
        let alpha_work = alpha.as_ref().map_or(0, |tile| work(1, tile));
        let work = work(source.colour.len(), &colour) + alpha_work;
        let (alpha_bytes, alpha_planes) = alpha.map(|tile| (tile.bytes, tile.planes)).unzip();
        let measured = self.measure.then(|| {
            let decoded = TilePlanes {
                colour: colour.planes,
                alpha: alpha_planes.and_then(|mut planes| planes.pop()),
            };
            self.measured(&decoded, band, inside, rect)
        });
        Ok(CodedTile {
            data: TileData {
                colour: colour.bytes,
                alpha: alpha_bytes,
            },
            work,
            measured,
        })
    }

    /// Compares a decoded tile with its place `inside` the band; `rect` is where it lies in the picture.
    fn measured(&self, tile: &TilePlanes, band: &Picture, inside: Rect, rect: Rect) -> Measured {
        let decoded = pixels::to_samples(tile, self.format);
        Measured {
            distortion: Distortion::of_tile(band, inside, &decoded, self.format),
            fingerprint: Fingerprint::of_part(rect, &decoded),
        }
    }

    /// Codes planes; what a decoder makes of them is left out unless it is wanted.
    fn encode_planes(&self, planes: &[Plane], config: &TileConfig) -> EncodedTile {
        let mut speed = SpeedSettings::preset(self.effort);
        speed.lambda *= self.point.thrift;
        speed.mean_activity = self.activity.mean();
        if self.measure {
            return encode_tile(planes, config, self.dictionary, speed);
        }
        EncodedTile {
            bytes: encode_tile_no_recon(planes, config, self.dictionary, speed),
            planes: Vec::new(),
        }
    }

    fn assemble(&self, mut tiles: Vec<CodedTile>, front: &Front) -> Encoded {
        let graphics = tiles.iter().any(|tile| tile.data.has_graphics());
        if !graphics {
            tiles.iter_mut().for_each(CodedTile::leave_graphics_out);
        }
        let work = tiles.iter().map(|tile| tile.work).max().unwrap_or(0);
        let measured = tiles.iter().map(|tile| tile.measured).sum();
        let data: Vec<TileData> = tiles.into_iter().map(|tile| tile.data).collect();
        let header = Header {
            graphics,
            ..self.header(WorkBound::at_least(work))
        };
        Encoded {
            bytes: container::write_with(header, self.dictionary.id(), front, &data),
            quantiser: self.point.quantiser,
            tune: self.tune,
            measured,
            score: None,
            lossless: None,
        }
    }

    fn header(&self, tile_work: WorkBound) -> Header {
        let config = self.tile_config(self.grid().rect(0));
        Header {
            format: self.format,
            dictionary: match self.short_name {
                true => self.dictionary.id().shortened(),
                false => self.dictionary.id(),
            },
            width: self.info.width(),
            height: self.info.height(),
            tile_log2: self.tile_log2,
            quantiser: self.point.quantiser,
            chroma_offsets: config.chroma_offsets,
            adaptive: config.adaptive,
            graphics: config.graphics,
            weights: config.weights,
            alpha_quantiser: self.alpha_quantiser(),
            lossless: None,
            tile_work,
            preview_len: 0,
            metadata_len: 0,
        }
    }
}
