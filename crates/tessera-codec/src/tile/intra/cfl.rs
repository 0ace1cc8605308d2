//! Chroma predicted from luma (`spec/bitstream.md`, "Chroma from luma").

use crate::simd::kernel;
use crate::tile::canvas::{Canvas, PlaneBuffer};
use crate::tile::intra::{Border, SAMPLE_MAX};
use crate::tile::state::Site;
use std::slice::Chunks;

/// Keeps the slope small where luma hardly changes.
const NOISE: i64 = 64;

/// Least-squares line from luma to chroma along the border of a chroma patch, applied to the luma patch.
pub(crate) fn predict_from_luma(
    luma: &PlaneBuffer,
    chroma: &Canvas,
    site: &Site,
    border: &Border,
    out: &mut [i32],
) {
    let (w, h) = (site.shape.width(), site.shape.height());
    // Luma samples at the places of the chroma border, with the chroma canvas deciding what exists.
    let guide = chroma.border_of(luma, site.x, site.y, site.shape);
    let pairs = || {
        let top = guide.top[1..=w].iter().zip(&border.top[1..=w]);
        top.chain(guide.left[1..=h].iter().zip(&border.left[1..=h]))
    };
    let n = (w + h) as i64;
    let (mut sum_l, mut sum_c, mut sum_ll, mut sum_lc) = (0i64, 0i64, 0i64, 0i64);
    for (&l, &c) in pairs() {
        let (l, c) = (i64::from(l), i64::from(c));
        sum_l += l;
        sum_c += c;
        sum_ll += l * l;
        sum_lc += l * c;
    }
    let variance = n * sum_ll - sum_l * sum_l + n * n * NOISE;
    let slope = ((n * sum_lc - sum_l * sum_c) * 4096 / variance).clamp(-16384, 16384) as i32;
    let (mean_l, mean_c) = (((sum_l + n / 2) / n) as i32, ((sum_c + n / 2) / n) as i32);
    let line = Line {
        slope,
        means: [mean_l, mean_c],
    };
    let rows = luma.data[site.y * luma.stride + site.x..].chunks(luma.stride);
    match w {
        4 => follow_line::<4>(line, rows, out),
        8 => follow_line::<8>(line, rows, out),
        16 => follow_line::<16>(line, rows, out),
        32 => follow_line::<32>(line, rows, out),
        _ => follow_line::<64>(line, rows, out),
    }
}

/// A line from luma to chroma through a point.
#[derive(Clone, Copy)]
struct Line {
    /// 12 fractional bits.
    slope: i32,
    /// Of luma and chroma.
    means: [i32; 2],
}

kernel! {
    /// Chroma of a patch of `W` columns, from rows of luma that begin with its own.
    fn follow_line<const W: usize>(line: Line, luma: Chunks<'_, u16>, out: &mut [i32]) {
        let [mean_l, mean_c] = line.means;
        for (row, values) in luma.zip(out.as_chunks_mut::<W>().0) {
            let row: &[u16; W] = row.first_chunk().expect("patches lie on the canvas");
            for x in 0..W {
                let moved = (line.slope * (i32::from(row[x]) - mean_l) + 2048) >> 12;
                values[x] = (mean_c + moved).clamp(0, SAMPLE_MAX);
            }
        }
    }
}
