//! Tessera files to arrays.

use crate::dictionary::{Dictionary, named};
use crate::errors::{Raise, exception, natural, parameter};
use crate::interrupt::interruptible;
use crate::python_file::PythonFile;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::PathBuf;
use tessera_codec::{
    CodedPicture, Colour, Decoder, DictId, Header, Limits, MetadataKind, Picture, Rect, Samples,
    Scale, Source, StoredFile,
};
use tessera_dict::store::Store;

/// A file whose header is read; its pixels wait to be asked for.
///
/// Takes bytes, a path or a binary file object, of which only what is needed is read, and the keywords `dictionary`,
/// `threads`, `max_pixels` and `max_memory` of `tessera.decode`.
///
/// >>> import numpy as np, tessera
/// >>> coded = tessera.CodedImage(tessera.encode(np.zeros((20, 30), np.uint8)))
/// >>> coded.width, coded.height, coded.mode, coded.depth
/// (30, 20, 'L', 8)
/// >>> coded.decode(region=(0, 0, 5, 4)).shape
/// (4, 5)
#[pyclass(frozen, module = "tessera")]
pub(crate) struct CodedImage {
    decoder: Decoder,
    source: Source<'static>,
    coded: CodedPicture<'static>,
    /// Whether the dictionaries given hold the one it needs.
    has_dictionary: bool,
}

#[pymethods]
impl CodedImage {
    #[new]
    #[pyo3(signature = (source, *, dictionary = None, threads = 0, max_pixels = None, max_memory = None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        dictionary: Option<&Dictionary>,
        threads: i64,
        max_pixels: Option<i64>,
        max_memory: Option<i64>,
    ) -> PyResult<Self> {
        let mut decoder = limited(py, threads, max_pixels, max_memory)?;
        if let Some(dictionary) = dictionary {
            decoder = decoder.dictionary(&dictionary.0);
        }
        let stored = Stored::open(source)?;
        let stored = py.detach(|| StoredFile::new(stored))?;
        Self::of(py, decoder, stored.into(), dictionary.is_some())
    }

    /// Columns.
    #[getter]
    fn width(&self) -> u32 {
        self.header().width
    }

    /// Rows.
    #[getter]
    fn height(&self) -> u32 {
        self.header().height
    }

    /// The mode in Pillow's words.
    #[getter]
    fn mode(&self) -> &'static str {
        let format = self.header().format;
        match (format.colour, format.alpha) {
            (Colour::Gray, false) => "L",
            (Colour::Gray, true) => "LA",
            (Colour::Rgb, false) => "RGB",
            (Colour::Rgb, true) => "RGBA",
        }
    }

    /// Bits per sample.
    #[getter]
    fn depth(&self) -> u32 {
        self.header().format.depth.bits()
    }

    /// The identity of the dictionary it was encoded with.
    #[getter]
    fn dictionary_id(&self) -> String {
        self.header().dictionary.to_string()
    }

    /// Side of the tiles that are decoded on their own.
    #[getter]
    fn tile_size(&self) -> u32 {
        1 << self.header().tile_log2
    }

    /// What travels with the picture: pairs of `exif`, `icc_profile`, `xmp`, `cicp` or `gain_map` and bytes.
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Vec<(&'static str, Bound<'py, PyBytes>)>> {
        let metadata = py.detach(|| self.coded.metadata()).raise(py)?;
        let name = |kind| match kind {
            MetadataKind::Icc => "icc_profile",
            MetadataKind::Exif => "exif",
            MetadataKind::Xmp => "xmp",
            MetadataKind::Cicp => "cicp",
            MetadataKind::GainMap => "gain_map",
        };
        let blocks = metadata.iter();
        Ok(blocks
            .map(|(kind, block)| (name(kind), PyBytes::new(py, block)))
            .collect())
    }

    /// The small picture in front, or None.
    fn preview<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let preview = py.detach(|| self.coded.decode_preview()).raise(py)?;
        preview.map(|preview| to_array(py, preview)).transpose()
    }

    /// Decodes all pixels, those of a region `(left, upper, right, lower)`, or all of them smaller.
    #[pyo3(signature = (*, region = None, reduce = 1, max_side = None))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        region: Option<[i64; 4]>,
        reduce: i64,
        max_side: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let region = region.map(|sides| rect(py, sides)).transpose()?;
        let scale = scale(py, reduce, max_side)?;
        if region.is_some() && scale.is_some() {
            let message = "a region is decoded at its full size; scale it afterwards";
            return Err(parameter(py, message));
        }
        let decoder = self.ready(py)?;
        let picture = interruptible(py, |token| {
            let coded = decoder.cancel(token).parse(self.source.clone())?;
            match (region, scale) {
                (Some(region), _) => coded.decode_region(region),
                (_, Some(scale)) => coded.decode_scaled(scale),
                _ => coded.decode(),
            }
        })?;
        to_array(py, picture.raise(py)?)
    }
}

impl CodedImage {
    /// Reads the header; `given` says that the decoder has a learned dictionary.
    pub(crate) fn of(
        py: Python<'_>,
        decoder: Decoder,
        source: Source<'static>,
        given: bool,
    ) -> PyResult<Self> {
        let coded = py.detach(|| decoder.parse(source.clone())).raise(py)?;
        let builtin = matches!(coded.header().dictionary, DictId::Builtin(_));
        Ok(Self {
            has_dictionary: builtin || given,
            decoder,
            source,
            coded,
        })
    }

    fn header(&self) -> &Header {
        self.coded.header()
    }

    /// The decoder with the dictionary that the file needs, from the store of this machine if it was not given.
    fn ready(&self, py: Python<'_>) -> PyResult<Decoder> {
        let decoder = self.decoder.clone();
        if self.has_dictionary {
            return Ok(decoder);
        }
        let store = Store::open();
        let id = self.header().dictionary;
        let loaded = py.detach(|| store.load(id));
        let loaded = loaded.map_err(|error| exception(py, "DictionaryError", error))?;
        let Some(dictionary) = loaded else {
            let places = store.places();
            let message = format!(
                "this picture needs the dictionary {id}, which is not in {places}; pass dictionary=, or install it there"
            );
            return Err(exception(py, "DictionaryError", message));
        };
        Ok(decoder.dictionary(dictionary))
    }
}

/// The small picture in front of a file of which the beginning may be all there is, or None.
#[pyfunction]
pub(crate) fn preview<'py>(
    py: Python<'py>,
    source: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let stored = Stored::open(source)?;
    let stored = py.detach(|| StoredFile::new(stored))?;
    let preview = py.detach(|| Decoder::new().preview(&stored)).raise(py)?;
    preview.map(|preview| to_array(py, preview)).transpose()
}

/// A decoder with the limits that Python gave.
pub(crate) fn limited(
    py: Python<'_>,
    threads: i64,
    max_pixels: Option<i64>,
    max_memory: Option<i64>,
) -> PyResult<Decoder> {
    let usual = Limits::default();
    let limit = |name, given: Option<i64>, usual| match given {
        Some(limit) => natural(py, name, limit),
        None => Ok(usual),
    };
    let mut limits = Limits {
        pixels: limit("max_pixels", max_pixels, usual.pixels)?,
        ..usual
    };
    // Whoever sets a limit means it, however short a file is.
    if max_pixels.is_some() {
        limits = limits.with_work(usual.work);
    }
    if max_memory.is_some() {
        limits = limits.with_memory(limit("max_memory", max_memory, usual.memory)?);
    }
    let threads = natural(py, "threads", threads)?;
    Ok(Decoder::new().threads(threads).limits(limits))
}

/// Bytes, a file of the system, or a file object, read where it is asked for.
pub(crate) struct Stored(Box<dyn ReadSeek + Send>);

trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

impl Stored {
    /// Bytes, a path, or a file object.
    pub(crate) fn open(source: &Bound<'_, PyAny>) -> PyResult<Self> {
        let stored: Box<dyn ReadSeek + Send> = if let Ok(bytes) = source.cast::<PyBytes>() {
            Box::new(Cursor::new(bytes.as_bytes().to_vec()))
        } else if source.hasattr("read")? {
            Box::new(PythonFile(source.clone().unbind()))
        } else {
            let path: PathBuf = source.extract()?;
            let file = File::open(&path).map_err(|error| named(&path, error))?;
            Box::new(file)
        };
        Ok(Self(stored))
    }
}

impl Read for Stored {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Seek for Stored {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn rect(py: Python<'_>, [left, upper, right, lower]: [i64; 4]) -> PyResult<Rect> {
    if right <= left || lower <= upper {
        let message = "a region is (left, upper, right, lower), the last two beyond the first two";
        return Err(parameter(py, message));
    }
    Ok(Rect {
        x: natural(py, "left", left)?,
        y: natural(py, "upper", upper)?,
        width: natural(py, "the width of a region", right - left)?,
        height: natural(py, "the height of a region", lower - upper)?,
    })
}

fn scale(py: Python<'_>, reduce: i64, max_side: Option<i64>) -> PyResult<Option<Scale>> {
    match (reduce, max_side) {
        (1, None) => Ok(None),
        (1, Some(side)) => Ok(Some(Scale::MaxSide(natural(py, "max_side", side)?))),
        (2, None) => Ok(Some(Scale::Half)),
        (4, None) => Ok(Some(Scale::Quarter)),
        (8, None) => Ok(Some(Scale::Eighth)),
        _ => Err(parameter(
            py,
            "reduce is 1, 2, 4 or 8, or max_side is given instead",
        )),
    }
}

/// The samples as an array that owns them.
fn to_array(py: Python<'_>, picture: Picture) -> PyResult<Bound<'_, PyAny>> {
    let (height, width) = (picture.height() as usize, picture.width() as usize);
    let channels = picture.format().channels();
    let mut shape = vec![height, width];
    if channels > 1 {
        shape.push(channels);
    }
    match picture.into_samples() {
        Samples::U8(samples) => Ok(PyArray1::from_vec(py, samples).reshape(shape)?.into_any()),
        Samples::U16(samples) => Ok(PyArray1::from_vec(py, samples).reshape(shape)?.into_any()),
    }
}
