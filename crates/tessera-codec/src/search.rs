//! Targets, and the search for the quantiser that meets them.

use crate::encode::Encoded;
use crate::error::{Error, Result};
use crate::quality::{MAX_QUANTISER, Quality};

/// What an encoder aims at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// A point of the quality scale.
    Quality(Quality),
    /// A quantiser index (0 to 127), for experiments.
    Quantiser(u8),
    /// The best picture in at most so many bytes, everything included.
    Size(u64),
    /// The best picture in at most so many bits per pixel, everything included.
    BitsPerPixel(f64),
    /// The smallest file with at least this PSNR over all colour samples, in decibels.
    Psnr(f64),
}

impl Default for Target {
    fn default() -> Self {
        Self::Quality(Quality::default())
    }
}

/// Calls `encode` with the quantiser that meets the target.
///
/// Size and distortion fall and rise with the quantiser except for noise of a fraction of a
/// percent, so bisection finds the crossing in eight passes. What is returned always meets the
/// target, because it was measured.
pub(crate) fn search(
    target: Target,
    pixels: u64,
    encode: impl Fn(u8) -> Result<Encoded>,
) -> Result<Encoded> {
    match target {
        Target::Quality(quality) => encode(quality.quantiser()),
        Target::Quantiser(index) if index <= MAX_QUANTISER => encode(index),
        Target::Quantiser(index) => Err(Error::Parameter(format!(
            "the quantiser index is 0 to {MAX_QUANTISER}, not {index}"
        ))),
        Target::Size(bytes) => within_size(bytes, encode),
        Target::BitsPerPixel(bpp) if bpp > 0.0 && bpp.is_finite() => {
            within_size((bpp * pixels as f64 / 8.0) as u64, encode)
        }
        Target::BitsPerPixel(bpp) => Err(Error::Parameter(format!(
            "bits per pixel must be a positive number, not {bpp}"
        ))),
        Target::Psnr(decibels) => reaching_psnr(decibels, encode),
    }
}

/// The finest quantiser whose file is not larger than `bytes`.
fn within_size(bytes: u64, encode: impl Fn(u8) -> Result<Encoded>) -> Result<Encoded> {
    let fits = |encoded: &Encoded| encoded.bytes.len() as u64 <= bytes;
    let coarsest = encode(MAX_QUANTISER)?;
    if !fits(&coarsest) {
        return Err(Error::Parameter(format!(
            "the file cannot be made smaller than {} bytes, {bytes} were asked for; allow more, \
             scale the picture down or drop its metadata",
            coarsest.bytes.len()
        )));
    }
    bisect(coarsest, -1, encode, fits)
}

/// The coarsest quantiser whose picture has at least `decibels`.
fn reaching_psnr(decibels: f64, encode: impl Fn(u8) -> Result<Encoded>) -> Result<Encoded> {
    let reaches = |encoded: &Encoded| encoded.distortion.psnr() >= decibels;
    let finest = encode(0)?;
    if !reaches(&finest) {
        return Err(Error::Parameter(format!(
            "{decibels} dB cannot be reached; the best for this picture is {:.2} dB",
            finest.distortion.psnr()
        )));
    }
    bisect(finest, i16::from(MAX_QUANTISER) + 1, encode, reaches)
}

/// Moves from a quantiser that meets the target towards `beyond`, which is taken not to meet it,
/// until the two are neighbours; returns the last one that met it.
fn bisect(
    mut best: Encoded,
    mut beyond: i16,
    encode: impl Fn(u8) -> Result<Encoded>,
    meets: impl Fn(&Encoded) -> bool,
) -> Result<Encoded> {
    while (i16::from(best.quantiser) - beyond).abs() > 1 {
        let middle = (i16::from(best.quantiser) + beyond) / 2;
        let encoded = encode(middle as u8)?;
        if meets(&encoded) {
            best = encoded;
        } else {
            beyond = middle;
        }
    }
    Ok(best)
}
