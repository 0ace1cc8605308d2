//! Scaling down by area: each new pixel is the exact mean of what it covers, colours weighted by their alpha.
//!
//! Rows come and go as they are ready, so that only one row of sums is kept. Everything is integers: a side has less than
//! 2^16 pixels, so the sum over a whole picture of 16-bit colours times 16-bit alpha still fits in 64 bits.

use crate::error::{Error, Result};
use crate::picture::{Picture, PixelFormat, Samples};
use crate::rows::PictureInfo;
use tessera_patch::colour::BitDepth;

/// How much smaller a picture is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Half as wide and half as high.
    Half,
    /// A quarter of both sides.
    Quarter,
    /// An eighth of both sides.
    Eighth,
    /// Neither side longer than this, the proportions kept; pictures that are small enough stay as they are.
    MaxSide(u32),
}

impl Scale {
    /// What a picture becomes: sides are rounded, and never zero.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the longest side is to be zero.
    pub fn apply(self, from: PictureInfo) -> Result<PictureInfo> {
        let (width, height) = (u64::from(from.width()), u64::from(from.height()));
        let longest = width.max(height);
        let (part, whole) = match self {
            Self::Half => (1, 2),
            Self::Quarter => (1, 4),
            Self::Eighth => (1, 8),
            Self::MaxSide(0) => {
                let message = "the longest side of a scaled picture is at least one pixel";
                return Err(Error::Parameter(message.into()));
            }
            Self::MaxSide(side) => (u64::from(side).min(longest), longest),
        };
        let scaled = |length: u64| ((length * part + whole / 2) / whole).max(1) as u32;
        PictureInfo::new(scaled(width), scaled(height), from.format())
    }
}

/// A picture on its way to a smaller size: rows go in, rows come out, and only one row of sums is kept.
#[derive(Debug)]
pub struct Downscaler {
    from: PictureInfo,
    to: PictureInfo,
    /// Rows of the old picture seen so far.
    seen: u64,
    /// Sums of the new row in the making, weighted by the area that went in.
    sums: Vec<u64>,
}

impl Downscaler {
    /// Starts a picture of which `from` tells what will be pushed.
    ///
    /// # Errors
    /// See [`Scale::apply`].
    pub fn new(from: PictureInfo, scale: Scale) -> Result<Self> {
        let to = scale.apply(from)?;
        let sums = vec![0; to.width() as usize * from.format().channels()];
        Ok(Self {
            from,
            to,
            seen: 0,
            sums,
        })
    }

    /// What it becomes.
    pub fn info(&self) -> PictureInfo {
        self.to
    }

    /// Takes the next rows and returns those that are complete by now.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the rows do not fit the picture.
    pub fn push(&mut self, rows: &Picture) -> Result<Option<Picture>> {
        let seen = self.seen + u64::from(rows.height());
        let alike = rows.width() == self.from.width() && rows.format() == self.from.format();
        if !alike || seen > u64::from(self.from.height()) {
            let message = "the rows to scale do not fit the picture that was announced";
            return Err(Error::Parameter(message.into()));
        }
        let per_row = self.from.width() as usize * self.from.format().channels();
        let mut done = Vec::new();
        for y in 0..rows.height() as usize {
            let row = weighted(
                rows.samples(),
                y * per_row..(y + 1) * per_row,
                self.from.format(),
            );
            self.add(&self.across(&row), &mut done);
        }
        let height = done.len() / self.sums.len();
        if height == 0 {
            return Ok(None);
        }
        let samples = match self.to.format().depth {
            BitDepth::Eight => Samples::U8(done.into_iter().map(|value| value as u8).collect()),
            _ => Samples::U16(done),
        };
        let rows = Picture::new(self.to.width(), height as u32, self.to.format(), samples)?;
        Ok(Some(rows))
    }

    /// Sums of a row over the columns of the new picture.
    fn across(&self, row: &[u64]) -> Vec<u64> {
        let channels = self.from.format().channels();
        let mut sums = vec![0; self.sums.len()];
        let columns = Steps::new(self.from.width(), self.to.width());
        for (pixel, step) in row.chunks_exact(channels).zip(columns) {
            for (channel, value) in pixel.iter().enumerate() {
                sums[step.place * channels + channel] += value * step.here;
                if step.beyond > 0 {
                    sums[(step.place + 1) * channels + channel] += value * step.beyond;
                }
            }
        }
        sums
    }

    /// Adds a row that was summed across; a new row that is complete goes to `done`.
    fn add(&mut self, row: &[u64], done: &mut Vec<u16>) {
        let step = Steps::at(self.from.height(), self.to.height(), self.seen);
        let add = |sums: &mut [u64], weight: u64| {
            for (sum, value) in sums.iter_mut().zip(row) {
                *sum += value * weight;
            }
        };
        self.seen += 1;
        add(&mut self.sums, step.here);
        if step.ends {
            done.extend(means(&self.sums, self.from));
            self.sums.fill(0);
            add(&mut self.sums, step.beyond);
        }
    }
}

/// How an old pixel is shared by the new ones, along one side.
struct Step {
    /// The new pixel its start falls into.
    place: usize,
    /// How much of it lies there, and how much in the next one.
    here: u64,
    beyond: u64,
    /// Whether the new pixel ends with it.
    ends: bool,
}

/// The steps along a side of `old` pixels that becomes `new` ones: an old pixel has the length `new`, a new one `old`.
struct Steps {
    old: u32,
    new: u32,
    next: u64,
}

impl Steps {
    fn new(old: u32, new: u32) -> Self {
        Self { old, new, next: 0 }
    }

    fn at(old: u32, new: u32, index: u64) -> Step {
        let (old, new) = (u64::from(old), u64::from(new));
        let start = index * new;
        let place = start / old;
        let here = new.min((place + 1) * old - start);
        Step {
            place: place as usize,
            here,
            beyond: new - here,
            ends: start + new >= (place + 1) * old,
        }
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        self.next += 1;
        Some(Self::at(self.old, self.new, self.next - 1))
    }
}

/// The samples of a row, colours times their alpha.
fn weighted(samples: &Samples, row: std::ops::Range<usize>, format: PixelFormat) -> Vec<u64> {
    let mut values: Vec<u64> = match samples {
        Samples::U8(samples) => samples[row].iter().map(|&v| u64::from(v)).collect(),
        Samples::U16(samples) => samples[row].iter().map(|&v| u64::from(v)).collect(),
    };
    if format.alpha {
        for pixel in values.chunks_exact_mut(format.channels()) {
            if let Some((alpha, colours)) = pixel.split_last_mut() {
                colours.iter_mut().for_each(|colour| *colour *= *alpha);
            }
        }
    }
    values
}

/// The samples of a complete row. Where nothing is to be seen, colours are black.
fn means(sums: &[u64], from: PictureInfo) -> impl Iterator<Item = u16> {
    let format = from.format();
    let area = from.pixels();
    let mean = |sum: u64, weight: u64| ((sum + weight / 2) / weight.max(1)) as u16;
    sums.chunks_exact(format.channels()).flat_map(move |pixel| {
        let weight = match pixel.last() {
            Some(alpha) if format.alpha => *alpha,
            _ => area,
        };
        let colours = format.colour_channels();
        let of = move |(channel, &sum): (usize, &u64)| match channel < colours {
            true => mean(sum, weight),
            false => mean(sum, area),
        };
        pixel.iter().enumerate().map(of)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Colour;

    fn shrunk(picture: &Picture, longest: u32) -> Picture {
        let scale = Scale::MaxSide(longest);
        let mut scaler = Downscaler::new(PictureInfo::from(picture), scale).unwrap();
        scaler.push(picture).unwrap().unwrap()
    }

    #[test]
    fn halves_are_means_of_four() {
        let picture = Picture::gray8(4, 2, vec![10, 20, 0, 0, 30, 41, 0, 255]).unwrap();
        let half = shrunk(&picture, 2);
        assert_eq!((half.width(), half.height()), (2, 1));
        assert_eq!(half.samples(), &Samples::U8(vec![25, 64]));
    }

    #[test]
    fn sides_are_rounded_and_never_zero() {
        let info = PictureInfo::new(1001, 3, PixelFormat::GRAY8).unwrap();
        let sides = |scale: Scale| {
            let to = scale.apply(info).unwrap();
            (to.width(), to.height())
        };
        assert_eq!(sides(Scale::Half), (501, 2));
        assert_eq!(sides(Scale::Quarter), (250, 1));
        assert_eq!(sides(Scale::Eighth), (125, 1));
        assert_eq!(sides(Scale::MaxSide(100)), (100, 1));
        assert!(Scale::MaxSide(0).apply(info).is_err());
    }

    #[test]
    fn uneven_sizes_share_pixels() {
        let third = shrunk(&Picture::gray8(3, 1, vec![0, 90, 180]).unwrap(), 2);
        // 0 and half of 90; half of 90 and 180.
        assert_eq!(third.samples(), &Samples::U8(vec![30, 150]));
    }

    #[test]
    fn one_value_stays_and_the_largest_picture_does_not_overflow() {
        let format = PixelFormat {
            colour: Colour::Gray,
            alpha: true,
            depth: BitDepth::Sixteen,
        };
        let info = PictureInfo::new(65535, 65535, format).unwrap();
        let mut scaler = Downscaler::new(info, Scale::MaxSide(1)).unwrap();
        let row = Samples::U16(vec![u16::MAX; 2 * 65535]);
        let row = weighted(&row, 0..2 * 65535, format);
        let across = scaler.across(&row);
        // All rows but the last at once.
        scaler.sums = across.iter().map(|sum| sum * 65534).collect();
        scaler.seen = 65534;
        let mut done = Vec::new();
        scaler.add(&across, &mut done);
        assert_eq!(done, [u16::MAX; 2]);
    }

    #[test]
    fn what_cannot_be_seen_does_not_colour_the_rest() {
        let format = PixelFormat {
            alpha: true,
            ..PixelFormat::RGB8
        };
        let samples = vec![200, 100, 50, 255, 0, 255, 0, 0];
        let picture = Picture::new(2, 1, format, Samples::U8(samples)).unwrap();
        let one = shrunk(&picture, 1);
        assert_eq!(one.samples(), &Samples::U8(vec![200, 100, 50, 128]));
    }

    #[test]
    fn rows_may_come_in_any_portions() {
        let samples: Vec<u8> = (0..13 * 11).map(|i| (i * 37 % 251) as u8).collect();
        let picture = Picture::gray8(13, 11, samples.clone()).unwrap();
        let whole = shrunk(&picture, 7);
        assert_eq!((whole.width(), whole.height()), (7, 6));
        let mut scaler = Downscaler::new(PictureInfo::from(&picture), Scale::MaxSide(7)).unwrap();
        let mut found = Vec::new();
        for row in samples.chunks(13) {
            let row = Picture::gray8(13, 1, row.to_vec()).unwrap();
            if let Some(Samples::U8(rows)) = scaler.push(&row).unwrap().map(Picture::into_samples) {
                found.extend(rows);
            }
        }
        assert_eq!(whole.samples(), &Samples::U8(found));
        assert!(scaler.push(&picture).is_err(), "more rows than announced");
        assert_eq!(shrunk(&picture, 13), picture);
        assert_eq!(shrunk(&picture, 99), picture);
    }
}
