//! `bitstream.md`, "Learned prediction".

use super::Tile;
use super::borders::Border;
use super::prediction::{mean, planar};
use super::reconstruction::inverse_cosine;
use super::shapes::Shape;
use crate::dictionary::{Network, PatchNetworks, patch_sizes};

const BIAS: i32 = 512;

impl Tile<'_> {
    /// The prediction of a network for mode 0 or 1, if the dictionary has one for the shape.
    pub(super) fn learned(
        &self,
        mode: usize,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Option<Vec<i32>> {
        let patches = self.payload.dictionary.content.patch_networks.as_ref()?;
        let network = patches.networks[shape.index()]
            .as_ref()
            .filter(|_| mode <= 1)?;
        let inputs = self.learned_inputs(patches, border, x, y, shape);
        let residual = inverse_cosine(&spectrum(network, &inputs, mode, shape), shape);
        let planar = planar(border, shape).into_iter().zip(residual);
        Some(
            planar
                .map(|(p, r)| p.wrapping_add(r).clamp(0, 4095))
                .collect(),
        )
    }

    fn learned_inputs(
        &self,
        patches: &PatchNetworks,
        border: &Border,
        x0: usize,
        y0: usize,
        shape: Shape,
    ) -> Vec<i32> {
        let Shape { w, h } = shape;
        let [_, _, a, b] = patch_sizes(shape);
        let level = mean(border, shape);
        let plane = &self.canvases[0].planes[0];
        let (top, left) = (&border.top, &border.left);
        let second_row: Vec<i32> = match y0 {
            0 => top[1..=w].to_vec(),
            _ => (x0..x0 + w).map(|x| plane.get(x, y0 - 2)).collect(),
        };
        let second_column: Vec<i32> = match x0 {
            0 => left[1..=h].to_vec(),
            _ => (y0..y0 + h).map(|y| plane.get(x0 - 2, y)).collect(),
        };
        let mut t = Vec::new();
        t.extend(means(&top[1..=w], a, level));
        t.extend(means(&second_row, a, level));
        t.extend(means(&top[w + 1..=w + h], 4, level));
        t.extend(means(&left[1..=h], b, level));
        t.extend(means(&second_column, b, level));
        t.extend(means(&left[h + 1..=w + h], 4, level));
        for (dx, dy) in [(2, 2), (1, 2), (2, 1), (1, 1)] {
            let inside = x0 > 0 && y0 > 0;
            t.push(
                if inside {
                    plane.get(x0 - dx, y0 - dy)
                } else {
                    border.corner()
                } - level,
            );
        }
        t.push((level - 2048) >> 1);
        t.push(32 * (self.payload.indices[0] - 68));
        let [px, py] = self.payload.place;
        t.extend(place(px + (x0 + w / 2) as i64, patches.extent[0]));
        t.extend(place(py + (y0 + h / 2) as i64, patches.extent[1]));
        t.push(BIAS);
        t
    }
}

/// Means of `count` runs of a line, less the level.
fn means(line: &[i32], count: usize, level: i32) -> Vec<i32> {
    let r = (line.len() / count) as i32;
    let mean = |run: &[i32]| (2 * run.iter().sum::<i32>() + r) / (2 * r) - level;
    line.chunks(r as usize).map(mean).collect()
}

/// Where the patch lies between the edges of the extent, as four waves.
fn place(at: i64, extent: u16) -> [i32; 4] {
    let p = (1024 * at / i64::from(extent)).min(1023) as i32;
    let wave = |k: i32| (k * p % 2048).min(2047 - k * p % 2048) - 512;
    [1, 2, 3, 4].map(wave)
}

fn spectrum(network: &Network, t: &[i32], mode: usize, shape: Shape) -> Vec<i32> {
    let [_, m, a, b] = patch_sizes(shape);
    let unit = |sum: i32| ((sum + 512) >> 10).clamp(0, 4095);
    let mut u: Vec<i32> = sums(&network.a, t).map(unit).collect();
    u.push(BIAS);
    let mut v: Vec<i32> = sums(&network.b, &u).map(unit).collect();
    v.push(BIAS);
    let z = 13 - (shape.log2_area() >> 1);
    let outputs = &network.c[mode * a * b * (m + 1)..];
    let mut spectrum = vec![0; shape.area()];
    for (i, sum) in sums(outputs, &v).take(a * b).enumerate() {
        spectrum[i / a * shape.w + i % a] = (sum + (1 << (z - 1))) >> z;
    }
    spectrum
}

/// The products of the rows of a matrix with a vector.
pub(crate) fn sums<'a>(
    matrix: &'a [i16],
    vector: &'a [i32],
) -> impl Iterator<Item = i32> + use<'a> {
    let product = move |row: &[i16]| row.iter().zip(vector).map(|(&a, b)| i32::from(a) * b).sum();
    matrix.chunks_exact(vector.len()).map(product)
}
