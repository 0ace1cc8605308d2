//! The prediction itself: samples of a reference, corrected by what the border shows.

use crate::tile::canvas::Canvas;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{Border, PLANAR, Predictor, SAMPLE_MAX};
use crate::tile::reference::{Correction, ReferenceUse, References, Shift};
use crate::tile::state::Site;
use tessera_patch::{Plane, Shape};

/// Fractional bits of a contrast.
const SCALE_BITS: u32 = 12;
/// Variance (of 12-bit samples) that a border needs before its contrast is believed.
const NOISE: i64 = 512;

/// A patch predicted from a reference.
#[derive(Debug)]
pub(crate) struct ReferencePrediction {
    pub(crate) samples: Vec<i32>,
    /// What the decoded border differs from the reference's; the entropy coder asks for its gradient.
    pub(crate) border: Border,
}

impl References<'_> {
    /// The border of a patch as the reference shows it, with `canvas` deciding what is decoded.
    ///
    /// # Panics
    /// If the reference does not have the plane of `site`; no chroma leaf uses a gray reference.
    pub(crate) fn border(&self, canvas: &Canvas, site: &Site, shift: Shift) -> Border {
        let plane = self.plane_of(site, shift);
        canvas.border_from(site.x, site.y, site.shape, |x, y| {
            let (x, y) = self.place(shift, x, y);
            clamped(plane, x, y)
        })
    }

    /// Predicts a patch whose decoded border is `border`.
    pub(crate) fn predict(
        &self,
        canvas: &Canvas,
        site: &Site,
        border: &Border,
        used: ReferenceUse,
    ) -> ReferencePrediction {
        let own = self.border(canvas, site, used.shift);
        let scale = match used.correction {
            Correction::Scaled => fit_contrast(&own, border, site.shape),
            Correction::Plain | Correction::Smooth => 1 << SCALE_BITS,
        };
        let difference = border.minus(&own, |sample| scaled(sample, scale));
        let mut samples = self.patch(site, used.shift);
        if used.correction == Correction::Plain {
            return ReferencePrediction {
                samples,
                border: difference,
            };
        }
        let surface = Predictor::new(difference, site.shape);
        let mut correction = vec![0; samples.len()];
        surface.predict(PLANAR, &mut correction);
        for (sample, correction) in samples.iter_mut().zip(correction) {
            *sample = (scaled(*sample, scale) + correction).clamp(0, SAMPLE_MAX);
        }
        ReferencePrediction {
            samples,
            border: surface.raw,
        }
    }

    /// The samples of a patch in a reference.
    pub(crate) fn patch(&self, site: &Site, shift: Shift) -> Vec<i32> {
        let plane = self.plane_of(site, shift);
        let (w, h) = (site.shape.width(), site.shape.height());
        let (x, y) = self.place(shift, site.x as isize, site.y as isize);
        let mut samples = vec![0; w * h];
        for (row, out) in samples.chunks_exact_mut(w).enumerate() {
            copy_row(plane, x, y + row as isize, out);
        }
        samples
    }

    fn plane_of(&self, site: &Site, shift: Shift) -> &Plane {
        let index = match site.kind {
            PlaneKind::Luma => 0,
            PlaneKind::Chroma => 1 + site.component,
        };
        let plane = self.plane(shift.reference, index);
        plane.expect("chroma leaves use references with colour only")
    }
}

/// A sample; outside the plane that of the nearest place inside.
fn clamped(plane: &Plane, x: isize, y: isize) -> u16 {
    let x = x.clamp(0, plane.width as isize - 1) as usize;
    let y = y.clamp(0, plane.height as isize - 1) as usize;
    plane.data[y * plane.width + x]
}

/// A run of samples from (x, y) to the right, by the rule of [`clamped`].
pub(crate) fn copy_row(plane: &Plane, x: isize, y: isize, out: &mut [i32]) {
    if x >= 0 && x as usize + out.len() <= plane.width {
        let y = y.clamp(0, plane.height as isize - 1) as usize;
        let row = &plane.data[y * plane.width + x as usize..][..out.len()];
        for (to, &from) in out.iter_mut().zip(row) {
            *to = i32::from(from);
        }
    } else {
        for (i, to) in out.iter_mut().enumerate() {
            *to = i32::from(clamped(plane, x + i as isize, y));
        }
    }
}

fn scaled(sample: i32, scale: i32) -> i32 {
    (sample * scale + (1 << (SCALE_BITS - 1))) >> SCALE_BITS
}

/// Slope of the least-squares line from the reference's border to the decoded one, drawn towards one.
fn fit_contrast(reference: &Border, decoded: &Border, shape: Shape) -> i32 {
    let (w, h) = (shape.width(), shape.height());
    let top = reference.top[1..=w].iter().zip(&decoded.top[1..=w]);
    let pairs = top.chain(reference.left[1..=h].iter().zip(&decoded.left[1..=h]));
    let n = (w + h) as i64;
    let (mut sum_r, mut sum_d, mut sum_rr, mut sum_rd) = (0i64, 0i64, 0i64, 0i64);
    for (&r, &d) in pairs {
        let (r, d) = (i64::from(r), i64::from(d));
        sum_r += r;
        sum_d += d;
        sum_rr += r * r;
        sum_rd += r * d;
    }
    let doubt = n * n * NOISE;
    let (common, own) = (n * sum_rd - sum_r * sum_d, n * sum_rr - sum_r * sum_r);
    let slope = ((common + doubt) << SCALE_BITS) / (own + doubt);
    slope.clamp(0, 4 << SCALE_BITS) as i32
}
