//! From a file to a picture.

use crate::cancel::CancelToken;
use crate::coded::CodedPicture;
use crate::container::{
    self, Container, Header, Integrity, NO_DICTIONARY, Source, StoredFile, TilePayload, tile_work,
};
use crate::error::{DictionaryError, Error, FormatError, Result};
use crate::limits::{self, Limits};
use crate::lossless::{self, Fault, Shape};
use crate::picture::{Colour, Picture, Samples};
use crate::pixels::{self, TilePlanes};
use crate::prepared::PreparedDictionary;
use crate::references;
use crate::scale::Scale;
use crate::threads;
use crate::tile::trace::{Trace, trace_tile};
use crate::tile::{Exhausted, PlaneLayout, TileConfig, decode_tile, decode_tile_by_kinds};
use crate::tile_grid::Rect;
use crate::watch::TileWatch;
use std::io::{Read, Seek};
use std::sync::{Mutex, PoisonError};
use tessera_dict::DictId;

/// Decodes a file with the built-in dictionary and the default limits.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// # let picture = tessera_codec::Picture::gray8(4, 4, vec![128; 16])?;
/// # let file = tessera_codec::encode(&picture, 75)?;
/// let picture = tessera_codec::decode(&file)?;
/// println!("{} x {} pixels", picture.width(), picture.height());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// See [`Decoder::decode`].
pub fn decode(file: &[u8]) -> Result<Picture> {
    Decoder::new().decode(file)
}

/// A decoder and its settings.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Decoder, Limits};
/// # let picture = tessera_codec::Picture::gray8(4, 4, vec![128; 16])?;
/// # let file = tessera_codec::encode(&picture, 75)?;
/// let limits = Limits { pixels: 50_000_000, ..Limits::default() };
/// let picture = Decoder::new().limits(limits).threads(2).decode(&file)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    limits: Limits,
    threads: usize,
    integrity: Integrity,
    dictionaries: Vec<PreparedDictionary>,
    watch: TileWatch,
    cancel: CancelToken,
}

/// Some rows of a picture, decoded.
#[derive(Debug)]
pub struct Band {
    /// The pixels of the whole picture that this is.
    pub rect: Rect,
    /// The pixels, without metadata; damaged tiles are mid-gray, but for the rows of a cut one that are there.
    pub picture: Picture,
    /// The tiles that are not intact, and why.
    pub damaged: Vec<(Rect, Error)>,
}

impl Band {
    /// The pixels, if none of them is missing.
    ///
    /// # Errors
    /// That of the first damaged tile.
    pub fn intact(mut self) -> Result<Picture> {
        if self.damaged.is_empty() {
            return Ok(self.picture);
        }
        Err(self.damaged.swap_remove(0).1)
    }
}

/// What could be saved of a damaged file, or of one whose end is missing.
#[derive(Debug)]
pub struct Partial {
    /// The picture; damaged tiles are mid-gray, but for the rows of a cut one that are there.
    pub picture: Picture,
    /// The tiles that are not intact, and why.
    pub damaged: Vec<(Rect, Error)>,
    /// Why there is no metadata, when it is damaged.
    pub metadata_error: Option<Error>,
}

impl Decoder {
    /// Default limits, all cores, only the built-in dictionary.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a file may cost.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many threads decode tiles; zero means one per core. Results do not depend on it.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Whether checksums are compared.
    #[must_use]
    pub fn integrity(mut self, integrity: Integrity) -> Self {
        self.integrity = integrity;
        self
    }

    /// Offers a dictionary beside the built-in one; may be called several times.
    #[must_use]
    pub fn dictionary(mut self, dictionary: impl Into<PreparedDictionary>) -> Self {
        self.dictionaries.push(dictionary.into());
        self
    }

    /// Calls `hear` with the number of pixels of every tile that is done, from whichever thread did it.
    #[must_use]
    pub fn on_tile(mut self, hear: impl Fn(u64) + Send + Sync + 'static) -> Self {
        self.watch = TileWatch::new(hear);
        self
    }

    /// Stops when `token` says so.
    #[must_use]
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.cancel = token.clone();
        self
    }

    /// Opens a file on disk or behind any other reader: header and tile table are read, tiles when they are decoded.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::Format`] and [`Error::Limits`].
    pub fn open(&self, reader: impl Read + Seek + Send + 'static) -> Result<CodedPicture<'static>> {
        self.parse(StoredFile::new(reader)?)
    }

    /// Opens a file in memory, or one that others read too.
    ///
    /// # Errors
    /// [`Error::Format`] and [`Error::Limits`].
    pub fn parse<'a>(&self, file: impl Into<Source<'a>>) -> Result<CodedPicture<'a>> {
        Ok(CodedPicture::new(self.clone(), self.container(file)?))
    }

    /// Takes a file apart. If it names its dictionary by a part of its identity, the one that was offered says the rest.
    fn container<'a>(&self, file: impl Into<Source<'a>>) -> Result<Container<'a>> {
        let container = Container::parse(file, &self.limits, self.integrity)?;
        match container.header().dictionary {
            name @ DictId::Prefix(_) => match self.look_up(name) {
                Ok(found) => container.with_dictionary(found.id()),
                Err(_) => Ok(container),
            },
            _ => Ok(container),
        }
    }

    /// Decodes a whole file.
    ///
    /// # Errors
    /// See [`CodedPicture::decode`].
    pub fn decode<'a>(&self, file: impl Into<Source<'a>>) -> Result<Picture> {
        self.parse(file)?.decode()
    }

    /// Decodes only the tiles that `region` touches and returns exactly that part.
    ///
    /// # Errors
    /// See [`CodedPicture::decode_region`].
    pub fn decode_region<'a>(&self, file: impl Into<Source<'a>>, region: Rect) -> Result<Picture> {
        self.parse(file)?.decode_region(region)
    }

    /// Decodes a picture to a smaller size.
    ///
    /// # Errors
    /// See [`CodedPicture::decode_scaled`].
    pub fn decode_scaled<'a>(&self, file: impl Into<Source<'a>>, scale: Scale) -> Result<Picture> {
        self.parse(file)?.decode_scaled(scale)
    }

    /// Decodes what is intact of a damaged file, and what has arrived of one whose end is missing.
    ///
    /// # Errors
    /// See [`CodedPicture::decode_partial`].
    pub fn decode_partial<'a>(&self, file: impl Into<Source<'a>>) -> Result<Partial> {
        self.parse(file)?.decode_partial()
    }

    /// Decodes the small picture in front of the large one, if there is one. The beginning of the file is enough, up to
    /// the preview's end: of a shorter one the error is [`FormatError::Truncated`], and more bytes will help. The picture
    /// has no metadata; that of the file says what its colours mean.
    ///
    /// ```
    /// # fn main() -> Result<(), tessera_codec::Error> {
    /// # use tessera_codec::{Decoder, Encoder, Picture};
    /// # let picture = Picture::gray8(600, 400, (0..600 * 400).map(|i| (i % 600 / 3) as u8).collect())?;
    /// let file = Encoder::new().preview(true).encode(&picture)?.bytes;
    /// let arrived = &file[..file.len() - 1];
    /// let preview = Decoder::new().preview(arrived)?.expect("it was asked for");
    /// assert!(preview.width() <= 256 && preview.height() < preview.width());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Format`] when the header or the preview is damaged or incomplete, [`Error::Limits`], [`Error::Cancelled`].
    pub fn preview<'a>(&self, file: impl Into<Source<'a>>) -> Result<Option<Picture>> {
        let found = container::find_preview(&file.into(), self.integrity)?;
        found.map(|bytes| self.decode_preview(&bytes)).transpose()
    }

    /// Decodes a preview, of which nobody who counts the tiles of the picture is told.
    pub(crate) fn decode_preview(&self, file: &[u8]) -> Result<Picture> {
        let silent = Self {
            watch: TileWatch::default(),
            ..self.clone()
        };
        silent.decode(file)
    }

    /// The bands of a part, checked to be affordable before anything is decoded.
    pub(crate) fn plan_bands(
        &self,
        container: &Container<'_>,
        part: Rect,
    ) -> Result<impl Iterator<Item = Rect> + use<>> {
        check_part(container, part)?;
        let grid = container.grid();
        let tile_rows = grid.rows_for(threads::count(self.threads));
        for band in grid.bands(part, tile_rows) {
            self.plan_threads(container, band)?;
        }
        self.find_dictionary(container.header())?;
        Ok(grid.bands(part, tile_rows))
    }

    /// Decodes a part of a picture at once, as far as its tiles are intact.
    pub(crate) fn decode_band(&self, container: &Container<'_>, part: Rect) -> Result<Band> {
        check_part(container, part)?;
        self.decode_window(container, part)
    }

    /// Decodes every payload (per tile: colour, then alpha) and keeps a record of each decision.
    ///
    /// # Errors
    /// As for [`Decoder::decode`].
    #[doc(hidden)]
    pub fn trace(&self, file: &[u8]) -> Result<Vec<Trace>> {
        self.trace_with(file, true)
    }

    /// The same with a record of the leaves alone, which takes a hundredth of the memory.
    ///
    /// # Errors
    /// As for [`Decoder::decode`].
    #[doc(hidden)]
    pub fn trace_leaves(&self, file: &[u8]) -> Result<Vec<Trace>> {
        self.trace_with(file, false)
    }

    fn trace_with(&self, file: &[u8], decisions: bool) -> Result<Vec<Trace>> {
        let container = self.container(file)?;
        let header = container.header();
        let dictionary = self.find_dictionary(header)?;
        let Some(dictionary) = dictionary.filter(|_| header.lossless.is_none()) else {
            let message = "a lossless file has no decisions to record".into();
            return Err(Error::Parameter(message));
        };
        let mut traces = Vec::new();
        for index in 0..container.grid().count() {
            let payload = container.tile(index)?;
            let colour = tile_config(header, container.grid().rect(index));
            let alpha = header
                .alpha_quantiser
                .map(|quantiser| alpha_config(&colour, quantiser));
            let parts = [
                Some(payload.colour()).zip(Some(colour)),
                payload.alpha().zip(alpha),
            ];
            for (data, config) in parts.into_iter().flatten() {
                let trace = trace_tile(data, &config, dictionary, decisions);
                traces.push(trace.map_err(|Exhausted| exhausted(&container, index))?);
            }
        }
        Ok(traces)
    }

    /// Decodes the tiles that touch `window`, in parallel, into a picture of its size.
    fn decode_window(&self, container: &Container<'_>, window: Rect) -> Result<Band> {
        let header = container.header();
        let threads = self.plan_threads(container, window)?;
        let dictionary = self.find_dictionary(header)?;
        let tiles: Vec<usize> = container.grid().touching(window).collect();
        let spare = tiles.len() < threads;
        let decode_one = |index: usize| -> Result<Result<Samples>> {
            self.cancel.check()?;
            let decoded = decode_samples(container, index, dictionary, spare);
            self.watch.done(container.grid().rect(index).area());
            Ok(decoded)
        };
        let mid_gray = header.format.depth.max_value() / 2 + 1;
        let blank = || Picture::filled(window.width, window.height, header.format, mid_gray);
        if let [only] = tiles[..]
            && container.grid().rect(only) == window
        {
            let (picture, damaged) = match threads::run(threads, || decode_one(only))?? {
                Ok(samples) => {
                    let Rect { width, height, .. } = window;
                    (Picture::new(width, height, header.format, samples)?, vec![])
                }
                Err(error) => {
                    let mut picture = blank()?;
                    if let Some((part, samples)) = self.cut_tile(container, only, dictionary) {
                        pixels::paste(&mut picture, window, part, &samples);
                    }
                    (picture, vec![(window, error)])
                }
            };
            return Ok(Band {
                rect: window,
                picture,
                damaged,
            });
        }
        let canvas = Mutex::new(blank()?);
        let paste_one = |index: usize| {
            let rect = container.grid().rect(index);
            Ok(match decode_one(index)? {
                Ok(samples) => {
                    let mut canvas = canvas.lock().unwrap_or_else(PoisonError::into_inner);
                    pixels::paste(&mut canvas, window, rect, &samples);
                    None
                }
                Err(error) => {
                    if let Some((part, samples)) = self.cut_tile(container, index, dictionary) {
                        let mut canvas = canvas.lock().unwrap_or_else(PoisonError::into_inner);
                        pixels::paste(&mut canvas, window, part, &samples);
                    }
                    Some((rect, error))
                }
            })
        };
        let damaged = threads::run(threads, || {
            threads::try_map(0..tiles.len(), |at| paste_one(tiles[at]))
        })??;
        Ok(Band {
            rect: window,
            picture: canvas.into_inner().unwrap_or_else(PoisonError::into_inner),
            damaged: damaged.into_iter().flatten().collect(),
        })
    }

    /// Checks that references, picture and tiles in work fit in the allowed memory, and takes fewer
    /// threads when not all of them could hold a tile.
    fn plan_threads(&self, container: &Container<'_>, window: Rect) -> Result<usize> {
        let header = container.header();
        let channels = header.format.channels() as u64;
        let sample_bytes = channels * header.format.bytes_per_sample() as u64;
        let references = match header.lossless {
            Some(_) => 0,
            None => references::memory(self.look_up(header.dictionary)?),
        };
        let kept = (window.area().saturating_mul(sample_bytes)).saturating_add(references);
        let largest = container.grid().largest();
        let tile = largest.saturating_mul(channels * WORKING_BYTES_PER_SAMPLE);
        let models = match header.lossless {
            Some(_) => lossless::model_bytes(largest, channels),
            None if header.graphics => lossless::drawn_bytes(largest),
            None => 0,
        };
        let tile = tile.saturating_add(models);
        let needed = kept.saturating_add(tile);
        let allowed = self.limits.memory_of(container.file_len());
        limits::check("bytes of memory", needed, allowed)?;
        let tiles_that_fit = (allowed - kept) / tile;
        let threads = threads::count(self.threads) as u64;
        Ok(threads.min(tiles_that_fit) as usize)
    }

    /// The dictionary a file names, with its references decoded unless the file is lossless; such a file may need none.
    pub(crate) fn find_dictionary(
        &self,
        header: &Header,
    ) -> Result<Option<&PreparedDictionary>, DictionaryError> {
        if header.lossless.is_some() && header.dictionary == NO_DICTIONARY {
            return Ok(None);
        }
        let dictionary = self.look_up(header.dictionary)?;
        if header.lossless.is_none() {
            dictionary.ready()?;
        }
        Ok(Some(dictionary))
    }

    fn look_up(&self, needed: DictId) -> Result<&PreparedDictionary, DictionaryError> {
        let builtin = PreparedDictionary::loaded_builtin();
        if let Some(builtin) = builtin.filter(|builtin| builtin.id() == needed) {
            return Ok(builtin);
        }
        let mut offered = (self.dictionaries.iter()).filter(|dict| needed.names(dict.id()));
        if let Some(found) = offered.next() {
            return match offered.any(|other| other.id() != found.id()) {
                true => Err(DictionaryError::Ambiguous { id: needed }),
                false => Ok(found),
            };
        }
        Err(match (needed, self.dictionaries.as_slice()) {
            (DictId::Builtin(number), _) => DictionaryError::UnknownBuiltin(number),
            (_, [given]) => DictionaryError::Mismatch {
                needed,
                given: given.id(),
            },
            _ => DictionaryError::Missing { id: needed },
        })
    }
}

/// Memory a tile takes while it is decoded, per sample: its plane, the tile coder's working
/// copies of it and the interleaved result.
pub(crate) const WORKING_BYTES_PER_SAMPLE: u64 = 12;

fn check_part(container: &Container<'_>, part: Rect) -> Result<()> {
    let whole = container.header().rect();
    if part.area() == 0 || whole.intersection(&part) != Some(part) {
        return Err(Error::Parameter(format!(
            "the region {part} is not inside the picture ({whole})"
        )));
    }
    Ok(())
}

/// Decodes one tile to interleaved samples; with a thread to spare, chroma beside luma.
fn decode_samples(
    container: &Container<'_>,
    index: usize,
    dictionary: Option<&PreparedDictionary>,
    spare: bool,
) -> Result<Samples> {
    let header = container.header();
    let rect = container.grid().rect(index);
    let payload = container.tile(index)?;
    let config = tile_config(header, rect);
    check_work(header, &config, &payload)?;
    let dictionary = match (header.lossless, dictionary) {
        (None, Some(dictionary)) => dictionary,
        (_, dictionary) => return decode_lossless(container, index, &payload, dictionary),
    };
    let models = match header.graphics {
        true => lossless::drawn_bytes(rect.area()),
        false => 0,
    };
    let channels = header.format.channels() as u64;
    limits::probe(rect.area() * channels * WORKING_BYTES_PER_SAMPLE + models)?;
    let decode_planes = |data: &[u8], config: &TileConfig| {
        let decode = match spare {
            true => decode_tile_by_kinds,
            false => decode_tile,
        };
        decode(data, config, dictionary).map_err(|Exhausted| exhausted(container, index))
    };
    let colour = decode_planes(payload.colour(), &config)?;
    let alpha = match (payload.alpha(), header.alpha_quantiser) {
        (Some(data), Some(quantiser)) => {
            decode_planes(data, &alpha_config(&config, quantiser))?.pop()
        }
        _ => None,
    };
    let planes = TilePlanes { colour, alpha };
    Ok(pixels::to_samples(&planes, header.format))
}

/// Decodes one lossless tile to interleaved samples.
fn decode_lossless(
    container: &Container<'_>,
    index: usize,
    payload: &TilePayload<'_>,
    dictionary: Option<&PreparedDictionary>,
) -> Result<Samples> {
    let header = container.header();
    let rect = container.grid().rect(index);
    let channels = header.format.channels() as u64;
    let models = lossless::model_bytes(rect.area(), channels);
    limits::probe(rect.area() * channels * WORKING_BYTES_PER_SAMPLE + models)?;
    // As if all tiles were coded like this one.
    let samples = header.rect().area() * channels;
    let work = samples.saturating_mul(lossless::sample_work(payload.colour()));
    let allowed = container.limits().work_of(container.file_len());
    limits::check("units of decode work", work, allowed)?;
    let shape = Shape::new(rect.width, rect.height, header.format);
    let nets = dictionary.map(|dictionary| dictionary.lossless_nets());
    let decoded = lossless::decode_tile(payload.colour(), &shape, header.format, nets);
    decoded.map_err(|fault| match fault {
        Fault::Exhausted => exhausted(container, index),
        Fault::Invalid(reason) => {
            container.tile_error(index, FormatError::invalid("the tile data", reason).into())
        }
    })
}

/// The error of a tile whose payload is too short.
fn exhausted(container: &Container<'_>, index: usize) -> Error {
    let reason = "the coded data ends too early";
    container.tile_error(index, FormatError::invalid("the tile data", reason).into())
}

/// What the colour payload of a tile is decoded with.
pub(crate) fn tile_config(header: &Header, rect: Rect) -> TileConfig {
    TileConfig {
        width: rect.width,
        height: rect.height,
        layout: layout(header.format.colour),
        quantiser: header.quantiser,
        chroma_offsets: header.chroma_offsets,
        adaptive: header.adaptive,
        graphics: header.graphics,
        weights: header.weights,
        origin: (rect.x, rect.y),
        alpha: false,
    }
}

/// Holds a tile to the work the header stated.
pub(crate) fn check_work(
    header: &Header,
    config: &TileConfig,
    payload: &TilePayload<'_>,
) -> Result<()> {
    let area = u64::from(config.width) * u64::from(config.height);
    let alpha = payload
        .alpha()
        .map_or(0, |data| tile_work(area, data.len()));
    let planes = match header.lossless {
        Some(_) => header.format.channels(),
        None => config.layout.planes(),
    };
    let colour = tile_work(area * planes as u64, payload.colour().len());
    limits::check(
        "units of decode work in a tile",
        colour.saturating_add(alpha),
        header.tile_work.units(),
    )?;
    Ok(())
}

/// The planes a tile of this colour has.
pub(crate) fn layout(colour: Colour) -> PlaneLayout {
    match colour {
        Colour::Gray => PlaneLayout::Gray,
        Colour::Rgb => PlaneLayout::Ycbcr444,
    }
}

/// Alpha is coded like a gray tile with a quantiser of its own.
pub(crate) fn alpha_config(colour: &TileConfig, quantiser: u8) -> TileConfig {
    TileConfig {
        layout: PlaneLayout::Gray,
        quantiser,
        chroma_offsets: [0; 2],
        adaptive: false,
        weights: Default::default(),
        alpha: true,
        ..*colour
    }
}
