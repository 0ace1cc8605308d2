//! How a picture will look at a quantiser, guessed before it is encoded, so that a quality means the same to the eye in
//! every picture.
//!
//! Blocks from all over the picture are made smaller by several factors, transformed and quantised as the tile coder
//! would. How much of their structure is lost tells within a point or two what SSIMULACRA2 will say of the decoded
//! picture (`cargo xtask quality-scale` fits that).

mod looks;
mod photos;

pub(crate) use looks::{CELL, LOOKS};

use crate::encoder::masking::{PictureActivity, log2};
use crate::quality::{MAX_QUANTISER, Quality, Tune, segment};
use looks::Samples;
use photos::PHOTOS;
use tessera_patch::Plane;

/// So many cells tell enough of any picture.
const ENOUGH: usize = 128;

/// The visible loss that a quality stands for, joined by straight lines in its logarithm; a little less than 55, 35, 20
/// and 10 at the points that are promised, as means over pictures are above what most have.
const VISIBLE_LOSS: [(u8, f32); 6] = [
    (0, 123.0),
    (25, 54.0),
    (50, 34.5),
    (75, 19.7),
    (90, 9.7),
    (100, 4.0),
];

/// Indices a picture may be away from the usual quantiser of a quality, and the qualities at either end of the scale over
/// which that shrinks to nothing.
const FARTHEST: f32 = 12.0;
const ENDS: f32 = 25.0;

/// What a look over a picture tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Appearance {
    pub(crate) activity: PictureActivity,
    samples: Samples,
}

/// Every how many cells, along both axes, a picture of this size is looked at.
pub(crate) fn cell_stride(width: u32, height: u32) -> usize {
    let cells = (width as usize).div_ceil(CELL) * (height as usize).div_ceil(CELL);
    let mut stride = 1;
    while stride * stride * ENOUGH < cells {
        stride += 1;
    }
    stride
}

impl Appearance {
    /// Takes in a cell: its planes, luma first.
    pub(crate) fn add(&mut self, planes: &[Plane]) {
        let luma = &planes[0];
        self.activity.add(&luma.data, luma.width);
        self.samples.add(planes);
    }

    /// How coarse a quantiser may be, fractions of its index included, for this picture to look as good as the quality
    /// says; never coarser than for a lower one.
    pub(crate) fn coarseness(&self, quality: Quality) -> f32 {
        let usual = f32::from(quality.quantiser(Tune::Visual));
        let Some(mean) = self.activity.mean().filter(|_| !self.samples.is_empty()) else {
            return usual;
        };
        let curve = self.visible_losses(mean);
        let up_to_it = (0..=quality.value()).filter_map(|value| Quality::new(value).ok());
        let coarsenesses = up_to_it.map(|quality| self.coarseness_on(&curve, quality));
        coarsenesses.fold(f32::from(MAX_QUANTISER), f32::min)
    }

    /// Where the picture's curve meets a quality, not too far from where others do.
    fn coarseness_on(&self, curve: &[(f32, f32)], quality: Quality) -> f32 {
        let usual = f32::from(quality.quantiser(Tune::Visual));
        let value = f32::from(quality.value());
        let room = FARTHEST * (value.min(100.0 - value) / ENDS).min(1.0);
        // Nothing here was learned from text and line art.
        let photographic = 1.0 - self.activity.drawn_share().min(1.0);
        let away = meeting(curve, visible_loss(quality)) - usual;
        let found = usual + photographic * away.clamp(-room, room);
        found.clamp(0.0, f32::from(MAX_QUANTISER))
    }

    /// Quantisers and the logarithm of the visible loss there, both rising.
    fn visible_losses(&self, mean: f32) -> [(f32, f32); PHOTOS.len()] {
        let mut highest = f32::NEG_INFINITY;
        PHOTOS.each_ref().map(|photos| {
            let losses = self.samples.losses(photos.quantiser, mean);
            highest = photos.visible_loss(losses).max(highest + 0.02);
            (f32::from(photos.quantiser), highest)
        })
    }

    /// What the looks lose at every quantiser of the table, for those who fit it.
    pub(crate) fn measures(&self) -> Vec<(u8, [Option<f32>; LOOKS])> {
        let mean = self.activity.mean().unwrap_or_default();
        let losses = |quantiser| (quantiser, self.samples.losses(quantiser, mean));
        PHOTOS
            .iter()
            .map(|photos| losses(photos.quantiser))
            .collect()
    }
}

/// Logarithm of the visible loss that a quality stands for.
fn visible_loss(quality: Quality) -> f32 {
    let quality = quality.value();
    let [(q0, from), (q1, to)] = segment(&VISIBLE_LOSS, quality);
    let way = f32::from(quality - q0) / f32::from(q1 - q0);
    log2(from) + way * (log2(to) - log2(from))
}

/// Where a rising curve, drawn on beyond its ends, has a value.
fn meeting(curve: &[(f32, f32)], value: f32) -> f32 {
    let upper = curve
        .partition_point(|&(_, at)| at < value)
        .clamp(1, curve.len() - 1);
    let ((x0, y0), (x1, y1)) = (curve[upper - 1], curve[upper]);
    x0 + (x1 - x0) * (value - y0) / (y1 - y0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at a picture of 128x128.
    fn appearance(sample: impl Fn(usize, usize) -> u16) -> Appearance {
        let mut appearance = Appearance::default();
        for cell in 0..4 {
            let (x, y) = (cell % 2 * CELL, cell / 2 * CELL);
            let data = (0..CELL * CELL).map(|at| sample(x + at % CELL, y + at / CELL));
            let plane = Plane {
                width: CELL,
                height: CELL,
                data: data.collect(),
            };
            appearance.add(&[plane]);
        }
        appearance
    }

    fn coarseness(appearance: &Appearance, quality: u8) -> f32 {
        appearance.coarseness(Quality::new(quality).unwrap())
    }

    #[test]
    fn pictures_that_lose_more_get_a_finer_quantiser() {
        let clear =
            appearance(|x, y| (2000.0 + 1500.0 * (x as f32 / 9.0 + y as f32 / 17.0).sin()) as u16);
        let faint = appearance(|x, y| 2000 + ((x * 7919 + y * 104_729) % 97) as u16 * 2);
        assert!(coarseness(&faint, 50) < coarseness(&clear, 50));
        assert_eq!(
            coarseness(&faint, 100),
            f32::from(Quality::new(100).unwrap().quantiser(Tune::Visual))
        );
    }

    #[test]
    fn more_quality_is_never_coarser() {
        let picture = appearance(|x, y| 1000 + ((x * x + 3 * y * y) / 11 % 1500) as u16);
        let found: Vec<f32> = (0..=100)
            .map(|quality| coarseness(&picture, quality))
            .collect();
        assert!(found.is_sorted_by(|a, b| a >= b), "{found:?}");
    }

    #[test]
    fn nothing_seen_changes_nothing() {
        let usual = Quality::new(40).unwrap();
        let tiny = Appearance::default();
        assert_eq!(
            tiny.coarseness(usual),
            f32::from(usual.quantiser(Tune::Visual))
        );
    }

    #[test]
    fn large_pictures_are_looked_at_in_places() {
        assert_eq!(cell_stride(768, 512), 1);
        let stride = cell_stride(6000, 4000);
        assert_eq!(stride, 7);
        let looked_at = 94usize.div_ceil(stride) * 63usize.div_ceil(stride);
        assert!((ENOUGH / 2..2 * ENOUGH).contains(&looked_at), "{looked_at}");
    }
}
