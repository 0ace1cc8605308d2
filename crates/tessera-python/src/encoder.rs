//! Arrays and picture files to Tessera files.

use crate::dictionary::Dictionary;
use crate::errors::{Raise, natural, parameter};
use crate::interrupt::interruptible;
use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tessera_codec::image_io::{EXTENSIONS, ReadOptions, open_picture_with};
use tessera_codec::{
    BitDepth, Cicp, Colour, Metadata, Picture, PixelFormat, Samples, Target, Tune,
};

/// An encoder and its settings.
#[pyclass(frozen, module = "tessera._native")]
pub(crate) struct Encoder(tessera_codec::Encoder);

#[pymethods]
impl Encoder {
    #[new]
    #[pyo3(signature = (*, quality = None, target_size = None, target_psnr = None, effort = 5, tune = "visual",
                        threads = 0, dictionary = None, keep_alpha = false, strip = false, preview = false,
                        lossless = false))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn new(
        py: Python<'_>,
        quality: Option<i64>,
        target_size: Option<i64>,
        target_psnr: Option<f64>,
        effort: i64,
        tune: &str,
        threads: i64,
        dictionary: Option<&Dictionary>,
        keep_alpha: bool,
        strip: bool,
        preview: bool,
        lossless: bool,
    ) -> PyResult<Self> {
        if lossless && (quality.is_some() || target_size.is_some() || target_psnr.is_some()) {
            let message = "a lossless file has no quality, target_size or target_psnr";
            return Err(parameter(py, message));
        }
        let mut encoder = tessera_codec::Encoder::new()
            .target(target(py, quality, target_size, target_psnr)?)
            .effort(natural(py, "effort", effort)?)
            .tune(parse_tune(py, tune)?)
            .threads(natural(py, "threads", threads)?)
            .keep_opaque_alpha(keep_alpha)
            .strip_metadata(strip)
            .preview(preview)
            .lossless(lossless)
            .measure_distortion(false);
        if let Some(dictionary) = dictionary {
            encoder = encoder.dictionary(&dictionary.0);
        }
        encoder.check().raise(py)?;
        Ok(Self(encoder))
    }

    /// Encodes a contiguous array of `height x width` or `height x width x channels` samples.
    #[pyo3(signature = (array, *, depth = None, exif = None, icc_profile = None, xmp = None, cicp = None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        array: &Bound<'py, PyAny>,
        depth: Option<u8>,
        exif: Option<Vec<u8>>,
        icc_profile: Option<Vec<u8>>,
        xmp: Option<Vec<u8>>,
        cicp: Option<(u8, u8, bool)>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut picture = picture(py, array, depth)?;
        picture.metadata = Metadata {
            icc: icc_profile,
            exif,
            xmp,
            cicp: cicp.map(|(primaries, transfer, full)| Cicp::new(primaries, transfer, full)),
            gain_map: None,
        };
        let encoded = interruptible(py, |token| self.0.clone().cancel(token).encode(&picture))?;
        Ok(PyBytes::new(py, &encoded.raise(py)?.bytes))
    }

    /// Encodes a picture file in any known format; also returns what its reader has to say.
    #[pyo3(signature = (file, *, page = None))]
    fn encode_file<'py>(
        &self,
        py: Python<'py>,
        file: &[u8],
        page: Option<u32>,
    ) -> PyResult<(Bound<'py, PyBytes>, Vec<String>)> {
        let (encoded, warnings) = interruptible(py, |token| {
            let mut opened = open_picture_with(file, ReadOptions { page })?;
            let encoder = self.0.clone().cancel(token);
            let encoded = encoder.encode_rows(&mut *opened.source)?;
            Ok::<_, tessera_codec::image_io::ReadImageError>((encoded, opened.warnings))
        })?
        .raise(py)?;
        Ok((PyBytes::new(py, &encoded.bytes), warnings))
    }
}

/// Endings of the names of files that can be encoded.
#[pyfunction]
pub(crate) fn extensions() -> Vec<&'static str> {
    EXTENSIONS.to_vec()
}

fn target(
    py: Python<'_>,
    quality: Option<i64>,
    size: Option<i64>,
    psnr: Option<f64>,
) -> PyResult<Target> {
    match (quality, size, psnr) {
        (None, None, None) => Ok(Target::default()),
        (Some(quality), None, None) => Ok(Target::Quality(natural(py, "quality", quality)?)),
        (None, Some(bytes), None) => Ok(Target::Size(natural(py, "target_size", bytes)?)),
        (None, None, Some(decibels)) => Ok(Target::Psnr(decibels)),
        _ => Err(parameter(
            py,
            "give one of quality, target_size and target_psnr",
        )),
    }
}

fn parse_tune(py: Python<'_>, tune: &str) -> PyResult<Tune> {
    match tune {
        "visual" => Ok(Tune::Visual),
        "psnr" => Ok(Tune::Psnr),
        other => Err(parameter(
            py,
            format!("tune is 'visual' or 'psnr', not {other:?}"),
        )),
    }
}

/// The samples of an array as a picture.
pub(crate) fn picture(
    py: Python<'_>,
    array: &Bound<'_, PyAny>,
    depth: Option<u8>,
) -> PyResult<Picture> {
    let (shape, samples) = samples(py, array)?;
    let (height, width, channels) = match shape[..] {
        [height, width] => (height, width, 1),
        [height, width, channels @ 1..=4] => (height, width, channels),
        _ => {
            let message = format!(
                "an array of shape {shape:?} is no picture; it is height x width, or height x width x 1 to 4 channels"
            );
            return Err(parameter(py, message));
        }
    };
    let format = PixelFormat {
        colour: if channels < 3 {
            Colour::Gray
        } else {
            Colour::Rgb
        },
        alpha: channels % 2 == 0,
        depth: bit_depth(py, &samples, depth)?,
    };
    let side = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Picture::new(side(width), side(height), format, samples).raise(py)
}

fn samples(py: Python<'_>, array: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Samples)> {
    if let Ok(bytes) = array.extract::<PyReadonlyArrayDyn<'_, u8>>() {
        return Ok((
            bytes.shape().to_vec(),
            Samples::U8(bytes.as_slice()?.to_vec()),
        ));
    }
    if let Ok(words) = array.extract::<PyReadonlyArrayDyn<'_, u16>>() {
        return Ok((
            words.shape().to_vec(),
            Samples::U16(words.as_slice()?.to_vec()),
        ));
    }
    Err(parameter(py, "the array must be of uint8 or uint16"))
}

fn bit_depth(py: Python<'_>, samples: &Samples, depth: Option<u8>) -> PyResult<BitDepth> {
    match (samples, depth) {
        (Samples::U8(_), None | Some(8)) => Ok(BitDepth::Eight),
        (Samples::U16(_), Some(10)) => Ok(BitDepth::Ten),
        (Samples::U16(_), Some(12)) => Ok(BitDepth::Twelve),
        (Samples::U16(_), None | Some(16)) => Ok(BitDepth::Sixteen),
        (_, Some(depth)) => Err(parameter(
            py,
            format!(
                "no array of this type has {depth} bits per sample: uint8 has 8, uint16 has 10, 12 or 16"
            ),
        )),
    }
}
