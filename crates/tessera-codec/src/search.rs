//! Targets, and the search for the operating point that meets them.

use crate::encode::Encoded;
use crate::error::{Error, Result, TargetUnreachable};
use crate::quality::{MAX_QUANTISER, Quality};
use crate::tile::transform::weights::power_of_two;

/// What an encoder aims at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    /// A point of the quality scale, 0 to 100.
    Quality(u8),
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
        Self::Quality(Quality::default().value())
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

/// How coarsely a picture is coded: a quantiser and, in between two of them, how dear a bit is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OperatingPoint {
    /// The quantiser index.
    pub(crate) quantiser: u8,
    /// Factor on the usual price of a bit: above one files get smaller, below one pictures better.
    pub(crate) thrift: f32,
}

/// Logarithm of the factor on the price of a bit that does more than one index of the quantiser, so that neighbouring
/// quantisers overlap and no size lies between them. Half of it is the most that is used.
const THRIFT_PER_INDEX: f64 = 0.6;

/// Octaves of the price of a bit that change SSIMULACRA2 as much as one index does: 0.43, with a deviation of 0.05 from
/// photo to photo.
const LOOKS_PER_INDEX: f32 = 0.43;

impl OperatingPoint {
    /// A quantiser as it is.
    fn of(quantiser: u8) -> Self {
        Self {
            quantiser,
            thrift: 1.0,
        }
    }

    /// A point between quantisers.
    fn at(coarseness: f64) -> Self {
        let nearest = coarseness.round().clamp(0.0, f64::from(MAX_QUANTISER));
        Self {
            quantiser: nearest as u8,
            thrift: (THRIFT_PER_INDEX * (coarseness - nearest)).exp() as f32,
        }
    }

    /// A point between quantisers where a picture looks as between them.
    fn looking(coarseness: f32) -> Self {
        let nearest = coarseness.round().clamp(0.0, f32::from(MAX_QUANTISER));
        let octaves = LOOKS_PER_INDEX * (coarseness - nearest);
        Self {
            quantiser: nearest as u8,
            thrift: power_of_two((32.0 * octaves).round() as i32),
        }
    }
}

/// Encodes at a point; what a search calls again and again.
pub(crate) trait Encode: FnMut(OperatingPoint, Pass) -> Result<Encoded> {}
impl<F: FnMut(OperatingPoint, Pass) -> Result<Encoded>> Encode for F {}

impl Target {
    /// Fails if there can be no such target, whatever the picture.
    pub(crate) fn check(self) -> Result<()> {
        let message = match self {
            Self::Quality(quality) => return Quality::new(quality).map(drop),
            Self::Quantiser(index) if index > MAX_QUANTISER => {
                format!("the quantiser index is 0 to {MAX_QUANTISER}, not {index}")
            }
            Self::BitsPerPixel(bpp) if bpp <= 0.0 || !bpp.is_finite() => {
                format!("bits per pixel must be a positive number, not {bpp}")
            }
            Self::Psnr(decibels) if !decibels.is_finite() => {
                format!("a PSNR is a number of decibels, not {decibels}")
            }
            _ => return Ok(()),
        };
        Err(Error::Parameter(message))
    }
}

/// Encodes so that the target is met; `coarseness_of` tells which quantiser, and how far from it, a quality means for this
/// picture.
pub(crate) fn search(
    target: Target,
    pixels: u64,
    coarseness_of: impl Fn(Quality) -> f32,
    mut encode: impl Encode,
) -> Result<Encoded> {
    target.check()?;
    match target {
        Target::Quality(quality) => {
            let coarseness = coarseness_of(Quality::new(quality)?);
            encode(OperatingPoint::looking(coarseness), Pass::Exact)
        }
        Target::Quantiser(index) => encode(OperatingPoint::of(index), Pass::Exact),
        Target::Size(bytes) => within_size(bytes, encode),
        Target::BitsPerPixel(bpp) => within_size((bpp * pixels as f64 / 8.0) as u64, encode),
        Target::Psnr(decibels) => reaching_psnr(decibels, encode),
    }
}

/// The smallest file that scores at least so much, or hardly more; its score is what `encode` leaves in what it returns.
pub(crate) fn reaching_score(
    at_least: f64,
    tolerance: f64,
    encode: impl Encode,
) -> Result<Encoded> {
    if !at_least.is_finite() || tolerance <= 0.0 || !tolerance.is_finite() {
        let message = "a score to reach is a number, its tolerance a positive one".into();
        return Err(Error::Parameter(message));
    }
    let goal = Goal {
        margin: |encoded: &Encoded| score_of(encoded) - at_least,
        tolerance,
        slope: 3.0 * tolerance,
        smallest: false,
    };
    goal.approach(|coarseness| coarseness, encode)?
        .map_err(|finest| {
            let (asked, best) = (at_least, score_of(&finest));
            TargetUnreachable::Score { asked, best }.into()
        })
}

fn score_of(encoded: &Encoded) -> f64 {
    encoded.score.unwrap_or(f64::NEG_INFINITY)
}

/// The best picture whose file is not larger than `bytes`.
fn within_size(bytes: u64, encode: impl Encode) -> Result<Encoded> {
    let goal = Goal {
        margin: |encoded: &Encoded| (bytes as f64 / encoded.bytes.len() as f64).ln(),
        tolerance: 0.008,
        slope: 0.075,
        smallest: false,
    };
    let finest_first = |effort: f64| f64::from(MAX_QUANTISER) - effort;
    goal.approach(finest_first, encode)?.map_err(|coarsest| {
        let least = coarsest.bytes.len() as u64;
        let asked = bytes;
        TargetUnreachable::Size { asked, least }.into()
    })
}

/// The smallest file whose picture has at least `decibels`.
fn reaching_psnr(decibels: f64, encode: impl Encode) -> Result<Encoded> {
    let goal = Goal {
        margin: |encoded: &Encoded| encoded.psnr().unwrap_or(f64::NEG_INFINITY) - decibels,
        tolerance: 0.045,
        slope: 0.45,
        smallest: true,
    };
    goal.approach(|coarseness| coarseness, encode)?
        .map_err(|finest| {
            let best = finest.psnr().unwrap_or_default();
            let asked = decibels;
            TargetUnreachable::Psnr { asked, best }.into()
        })
}

/// What a search is after: to go as far as the margin allows.
///
/// The way is measured in indices of the quantiser, away from the end of the scale where the target is met most easily.
struct Goal<M> {
    /// How much room there is, negative when the target is missed. It falls on the way, by about `slope` per index.
    margin: M,
    /// Room that need not be used.
    tolerance: f64,
    slope: f64,
    /// Whether the smallest file is wanted of those that meet the target, not the one with the least room: graphics may take more
    /// bytes with a coarser quantiser.
    smallest: bool,
}

/// A file that meets a target.
struct Met {
    /// The less the better.
    rank: f64,
    margin: f64,
    encoded: Encoded,
}

/// The far end of the way.
const END: f64 = MAX_QUANTISER as f64;

/// Rough passes are over when they are this near, in indices; exact ones differ from them by more.
const NEAR: f64 = 0.7;
/// Points of the way this near to each other are the same.
const SAME: f64 = 0.01;
/// Most passes of either kind.
const MOST_ROUGH: usize = 6;
const MOST_EXACT: usize = 9;

impl<M: Fn(&Encoded) -> f64> Goal<M> {
    /// Finds the neighbourhood with rough passes, then the point with exact ones.
    ///
    /// What is returned was measured to meet the target; `Err` holds the result at the easy end when nothing does.
    fn approach(
        &self,
        coarseness: impl Fn(f64) -> f64,
        mut encode: impl Encode,
    ) -> Result<Result<Encoded, Encoded>> {
        let mut at = |way: f64, pass| encode(OperatingPoint::at(coarseness(way)), pass);
        let mut course = Course::new(END / 2.0, self.slope);
        for _ in 0..MOST_ROUGH {
            let excess = self.excess(&at(course.next, Pass::Rough)?);
            course.learn(excess);
            if excess.abs() < NEAR * self.slope || course.is_over() {
                break;
            }
        }
        let mut course = Course::new(course.next, course.slope);
        let mut best: Option<Met> = None;
        for pass in 1.. {
            let encoded = at(course.next, Pass::Exact)?;
            let margin = (self.margin)(&encoded);
            let at_start = course.next <= 0.0;
            course.learn(self.excess(&encoded));
            let rank = match self.smallest {
                true => encoded.bytes.len() as f64,
                false => margin,
            };
            if margin >= 0.0 && best.as_ref().is_none_or(|best| rank < best.rank) {
                best = Some(Met {
                    rank,
                    margin,
                    encoded,
                });
            } else if margin < 0.0 && at_start {
                return Ok(best.map(|best| best.encoded).ok_or(encoded));
            }
            let over = pass >= MOST_EXACT || course.is_over();
            match best {
                Some(best) if best.margin <= self.tolerance || over => {
                    return Ok(Ok(best.encoded));
                }
                _ => {}
            }
        }
        unreachable!("the easy end of the way ends every search")
    }

    /// Room beyond the middle of what is allowed.
    fn excess(&self, encoded: &Encoded) -> f64 {
        (self.margin)(encoded) - self.tolerance / 2.0
    }
}

/// Where a search has been, and where it looks next: a root between two ends that it draws together.
#[derive(Debug, Clone, Copy)]
struct Course {
    next: f64,
    /// How fast the excess falls.
    slope: f64,
    /// The farthest point with too much room and the nearest with too little, with their excess.
    room: Option<(f64, f64)>,
    lack: Option<(f64, f64)>,
    /// How often in a row the same end was moved.
    repeated: i32,
}

impl Course {
    fn new(next: f64, slope: f64) -> Self {
        Self {
            next,
            slope,
            room: None,
            lack: None,
            repeated: 0,
        }
    }

    /// Takes in the excess at the point that was looked at and chooses the next one.
    fn learn(&mut self, excess: f64) {
        let here = (self.next, excess);
        let end = match excess >= 0.0 {
            true => &mut self.room,
            false => &mut self.lack,
        };
        self.repeated = match end.replace(here) {
            Some(_) => self.repeated + 1,
            None => 0,
        };
        let next = match (self.room, self.lack) {
            (Some(room), Some(lack)) => self.between(room, lack),
            // With one end only, ever larger steps find the other one.
            _ => here.0 + excess / self.slope * 2f64.powi(self.repeated),
        };
        self.next = next.clamp(0.0, END);
    }

    /// By the straight line between both ends, or halfway if that has moved the same end twice.
    fn between(&mut self, room: (f64, f64), lack: (f64, f64)) -> f64 {
        let (width, fall) = (lack.0 - room.0, room.1 - lack.1);
        let share = room.1 / fall;
        if width <= 0.0 || !share.is_finite() || self.repeated >= 2 {
            self.repeated = 0;
            return f64::midpoint(room.0, lack.0);
        }
        self.slope = fall / width;
        room.0 + width * share.clamp(0.05, 0.95)
    }

    /// True when there is nothing between the ends, or no way on.
    fn is_over(&self) -> bool {
        let met = |end: Option<(f64, f64)>, point: f64| {
            end.is_some_and(|(place, _)| (place - point).abs() < SAME)
        };
        met(self.room, self.next) || met(self.lack, self.next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Files as large as real ones would be, with steps, noise and a slope of their own; how often it was called.
    fn file(size: f64, slope: f64, calls: &Cell<usize>) -> impl Encode {
        move |point: OperatingPoint, pass| {
            calls.set(calls.get() + 1);
            let coarse = f64::from(point.quantiser) + f64::from(point.thrift).ln() / 0.45;
            let noise = 1.0 + 0.001 * (coarse * 997.0).sin();
            let rough = if pass == Pass::Rough { 1.12 } else { 1.0 };
            let bytes = 30.0 + size * rough * noise * (-slope * coarse).exp();
            Ok(Encoded {
                bytes: vec![0; bytes as usize],
                quantiser: point.quantiser,
                tune: Default::default(),
                measured: None,
                score: None,
                lossless: None,
            })
        }
    }

    #[test]
    fn sizes_are_met_closely_from_below() {
        let large = [77_777, 200_000, 1_000_000];
        let small = [2_000, 20_000];
        let all = [0.03, 0.075, 0.12].map(|slope| large.map(|target| (slope, target)));
        let steep = [0.075, 0.12].map(|slope| small.map(|target| (slope, target)));
        for &(slope, target) in all.as_flattened().iter().chain(steep.as_flattened()) {
            let calls = Cell::new(0);
            let found = within_size(target, file(3e6, slope, &calls)).unwrap();
            let share = found.bytes.len() as f64 / target as f64;
            assert!((0.99..=1.0).contains(&share), "{target}, {slope}: {share}");
            assert!(
                calls.get() <= 9,
                "{target}, {slope}: {} passes",
                calls.get()
            );
        }
    }

    #[test]
    fn what_cannot_be_met_is_told_and_what_is_easy_is_best() {
        let calls = Cell::new(0);
        let small = within_size(20, file(3e6, 0.075, &calls)).unwrap_err();
        let Error::TargetUnreachable(TargetUnreachable::Size { asked, least }) = small else {
            panic!("{small}");
        };
        assert!(asked == 20 && least > 20, "{least}");
        let large = within_size(1 << 30, file(3e6, 0.075, &calls)).unwrap();
        assert_eq!(large.quantiser, 0);
        let nothing = Target::Psnr(f64::NAN);
        assert!(search(nothing, 1, |_| 0.0, file(3e6, 0.075, &calls)).is_err());
    }

    #[test]
    fn whole_indices_are_coded_as_ever() {
        let points = [0.0, 59.0, 127.0].map(OperatingPoint::at);
        let seen = [0.0, 59.0, 127.0].map(OperatingPoint::looking);
        assert_eq!(points, seen);
        assert!(points.iter().all(|point| point.thrift == 1.0), "{points:?}");
        let between = OperatingPoint::looking(58.75);
        assert!(between.quantiser == 59 && (0.85..1.0).contains(&between.thrift));
        assert!(OperatingPoint::at(59.4).thrift > 1.0 && OperatingPoint::at(58.6).quantiser == 59);
    }
}
