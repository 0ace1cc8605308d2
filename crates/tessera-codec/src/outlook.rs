//! A look at a picture that tells whether a lossless file may be the smaller one.

use crate::error::Result;
use crate::picture::{Picture, Samples};
use crate::rows::{RowSource, for_each_band};

/// Every so many rows one is looked at.
const ROW_STRIDE: u32 = 8;
/// Share of pixels equal to a neighbour from which on a picture may be graphics, whose lossless size nobody can guess.
const GRAPHICS: f64 = 0.2;
/// Photos with a smooth ground have as many, but most of their other pixels are within this part of the range of what
/// their neighbours say; those of drawings are not.
const GENTLE: i32 = 32;
/// How much smaller than the estimate a lossless photo may turn out.
const SLACK: f64 = 0.6;
/// Bits of a pixel that is like a neighbour.
const FLAT_BITS: f64 = 0.05;

/// What a look over some rows says.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Outlook {
    pixels: u64,
    /// Pixels like the one on their left or above.
    flat: u64,
    /// Other pixels that are near what their neighbours say.
    gentle: u64,
    /// Estimate for the pixels that were looked at.
    bits: f64,
    all_pixels: u64,
}

impl Outlook {
    /// Looks at rows of a source, which is read in bands of `unit` rows.
    pub(crate) fn of(source: &mut dyn RowSource, unit: u32) -> Result<Self> {
        let mut outlook = Self {
            all_pixels: source.info().pixels(),
            ..Self::default()
        };
        for_each_band(source, unit, |band, _| {
            match band.samples() {
                Samples::U8(samples) => outlook.add(band, samples),
                Samples::U16(samples) => outlook.add(band, samples),
            }
            Ok(())
        })?;
        Ok(outlook)
    }

    fn add<S: Copy + PartialEq + Into<i32>>(&mut self, band: &Picture, samples: &[S]) {
        let channels = band.format().channels();
        let stride = band.width() as usize * channels;
        let near = i32::from(band.format().depth.max_value()) / GENTLE;
        for y in (1..band.height()).step_by(ROW_STRIDE as usize) {
            let start = y as usize * stride;
            let (above, row) = samples[start - stride..start + stride].split_at(stride);
            for x in (channels..stride).step_by(channels) {
                let pixel = &row[x..x + channels];
                let west = &row[x - channels..x];
                let north = &above[x..x + channels];
                self.pixels += 1;
                if pixel == west || pixel == north {
                    self.flat += 1;
                    self.bits += FLAT_BITS;
                    continue;
                }
                let corner = &above[x - channels..x];
                let mut farthest = 0;
                for channel in 0..channels {
                    let [here, w, n, nw] = [pixel, west, north, corner].map(|p| p[channel].into());
                    let predicted = (w + n - nw).clamp(w.min(n), w.max(n));
                    let away = (here - predicted).abs();
                    farthest = farthest.max(away);
                    self.bits += f64::from(1 + 2 * away).log2() + 0.5;
                }
                self.gentle += u64::from(farthest <= near);
            }
        }
    }

    /// Whether a lossless file may have no more than so many bytes.
    pub(crate) fn may_fit(&self, bytes: u64) -> bool {
        let many_flat = self.flat as f64 >= GRAPHICS * self.pixels as f64;
        let harsh = 2 * self.gentle < self.pixels - self.flat;
        // A photo inside a screenshot is gentle, what is around it is flat.
        if many_flat && harsh || 2 * self.flat >= self.pixels {
            return true;
        }
        let bits = self.bits / self.pixels as f64 * self.all_pixels as f64;
        bytes as f64 * 8.0 >= SLACK * bits
    }
}
