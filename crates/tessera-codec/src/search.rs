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

/// How carefully a picture is encoded during a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// As fast as possible, to find the neighbourhood.
    Rough,
    /// As asked for; only such a result is returned.
    Exact,
}

/// Encodes with a quantiser; what a search calls again and again.
pub(crate) trait Encode: FnMut(u8, Pass) -> Result<Encoded> {}
impl<F: FnMut(u8, Pass) -> Result<Encoded>> Encode for F {}

/// Encodes so that the target is met.
pub(crate) fn search(target: Target, pixels: u64, mut encode: impl Encode) -> Result<Encoded> {
    match target {
        Target::Quality(quality) => encode(quality.quantiser(), Pass::Exact),
        Target::Quantiser(index) if index <= MAX_QUANTISER => encode(index, Pass::Exact),
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
fn within_size(bytes: u64, encode: impl Encode) -> Result<Encoded> {
    let fits = |encoded: &Encoded| encoded.bytes.len() as u64 <= bytes;
    best_that_meets(Direction::Finer, encode, fits)?.map_err(|coarsest| {
        Error::Parameter(format!(
            "the file cannot be made smaller than {} bytes, {bytes} were asked for; allow more, \
             scale the picture down or drop its metadata",
            coarsest.bytes.len()
        ))
    })
}

/// The coarsest quantiser whose picture has at least `decibels`.
fn reaching_psnr(decibels: f64, encode: impl Encode) -> Result<Encoded> {
    let reaches = |encoded: &Encoded| encoded.psnr() >= Some(decibels);
    best_that_meets(Direction::Coarser, encode, reaches)?.map_err(|finest| {
        Error::Parameter(format!(
            "{decibels} dB cannot be reached; the best for this picture is {:.2} dB",
            finest.psnr().unwrap_or_default()
        ))
    })
}

/// Where the quantiser moves as long as the target is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Finer,
    Coarser,
}

impl Direction {
    fn step(self, index: u8) -> Option<u8> {
        match self {
            Self::Finer => index.checked_sub(1),
            Self::Coarser => Some(index + 1).filter(|index| *index <= MAX_QUANTISER),
        }
    }

    fn reversed(self) -> Self {
        match self {
            Self::Finer => Self::Coarser,
            Self::Coarser => Self::Finer,
        }
    }
}

/// Finds the neighbourhood by bisection over rough passes, then walks with exact ones.
///
/// Size and distortion fall and rise with the quantiser except for noise of a fraction of a
/// percent, and rough passes differ from exact ones by an index or two, so the walk is short.
/// What is returned was measured to meet the target, and the next quantiser in the direction
/// was measured not to. `Err` holds the nearest miss when none meets it.
fn best_that_meets(
    direction: Direction,
    mut encode: impl Encode,
    meets: impl Fn(&Encoded) -> bool,
) -> Result<Result<Encoded, Encoded>> {
    let start = bisect(direction, |index| Ok(meets(&encode(index, Pass::Rough)?)))?;
    let first = encode(start, Pass::Exact)?;
    if meets(&first) {
        return walk(first, direction, encode, |encoded| !meets(encoded)).map(|(best, _)| Ok(best));
    }
    let (miss, hit) = walk(first, direction.reversed(), encode, meets)?;
    Ok(hit.ok_or(miss))
}

/// Walks until `stop` holds or the scale ends; returns the last result before that and the one
/// that stopped it.
fn walk(
    mut last: Encoded,
    direction: Direction,
    mut encode: impl Encode,
    stop: impl Fn(&Encoded) -> bool,
) -> Result<(Encoded, Option<Encoded>)> {
    while let Some(index) = direction.step(last.quantiser) {
        let next = encode(index, Pass::Exact)?;
        if stop(&next) {
            return Ok((last, Some(next)));
        }
        last = next;
    }
    Ok((last, None))
}

/// The last index in `direction` that meets the target, or the safe end of the scale when none
/// does.
fn bisect(direction: Direction, mut meets: impl FnMut(u8) -> Result<bool>) -> Result<u8> {
    let (mut safe, mut beyond) = match direction {
        Direction::Finer => (i16::from(MAX_QUANTISER), -1),
        Direction::Coarser => (0, i16::from(MAX_QUANTISER) + 1),
    };
    while (safe - beyond).abs() > 1 {
        let middle = (safe + beyond) / 2;
        if meets(middle as u8)? {
            safe = middle;
        } else {
            beyond = middle;
        }
    }
    Ok(safe as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_every_crossing() {
        for crossing in 0..=MAX_QUANTISER {
            let finer = bisect(Direction::Finer, |index| Ok(index >= crossing)).unwrap();
            let coarser = bisect(Direction::Coarser, |index| Ok(index <= crossing)).unwrap();
            assert_eq!((finer, coarser), (crossing, crossing));
        }
        assert_eq!(bisect(Direction::Finer, |_| Ok(false)).unwrap(), 127);
        assert_eq!(bisect(Direction::Coarser, |_| Ok(false)).unwrap(), 0);
    }
}
