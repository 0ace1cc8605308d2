//! `bitstream.md`, "Signs".

use super::Tile;
use super::canvas::Leaf;
use super::elements::log_class;
use super::folding::Folding;
use super::patch::Content;
use super::reconstruction::edge;

/// Cells of the decision whether a sign was foretold right.
pub(super) const CLASSES: usize = 21;

/// Where they start.
pub(super) const STARTS: [i32; CLASSES] = [
    514, 515, 520, 524, 528, 532, 540, 550, 564, 582, 604, 632, 662, 692, 722, 752, 780, 804, 826,
    846, 864,
];

/// Signs behind these are even bits.
const FORETOLD: usize = 32;

/// A sample of a side of a patch.
struct Sample {
    gap: i64,
    weight: i64,
    /// Whether it is of the first column, and which one.
    column: bool,
    index: usize,
}

/// The sides of a patch.
struct Sides {
    samples: Vec<Sample>,
    d: i64,
    mean_weight: i64,
}

impl Tile<'_> {
    /// Gives every level of a patch its sign.
    pub(super) fn signs(
        &mut self,
        (kind, component): (usize, usize),
        leaf: &Leaf,
        prediction: &[i32],
        content: &Content<'_>,
        levels: &mut [i64],
    ) {
        let mut sides = self.sides((kind, component), leaf, prediction);
        let value = |level: i64| i64::from(content.value(level)).min(1 << 17);
        let mut unknown: i64 = levels.iter().map(|&level| value(level).pow(2)).sum();
        let coded: Vec<usize> = (0..levels.len()).filter(|&i| levels[i] != 0).collect();
        for (count, i) in coded.into_iter().enumerate() {
            let negative = match &mut sides {
                Some(sides) if count < FORETOLD => {
                    let v = value(levels[i]);
                    unknown -= v.pow(2);
                    let mut unit = vec![0; levels.len()];
                    unit[i] = 4096;
                    let edge = sides.edge_of(&content.plain_spectrum(&unit), content.folding);
                    let (class, foretold) =
                        sides.foretell(&edge, v, unknown / leaf.shape.area() as i64);
                    let negative = self.decide_sign(kind, class) == foretold;
                    sides.learn(&edge, if negative { -v } else { v });
                    negative
                }
                _ => self.even(kind),
            };
            if negative {
                levels[i] = -levels[i];
            }
        }
    }

    /// The sides of a patch, unless it has none.
    fn sides(
        &self,
        (kind, component): (usize, usize),
        leaf: &Leaf,
        prediction: &[i32],
    ) -> Option<Sides> {
        let Leaf { x, y, shape, .. } = *leaf;
        let plane = &self.canvases[kind].planes[component];
        let step = self.step(kind, component, x, y, shape.w, shape.h);
        let p = |x: usize, y: usize| i64::from(prediction[y * shape.w + x]);
        let s = |x: usize, y: usize| i64::from(plane.get(x, y));
        let mut lines = Vec::new();
        if y > 0 {
            lines.extend((0..shape.w).map(|i| {
                let decoded = [1, 2, 3].map(|away| s(x + i, y - away));
                (decoded, [p(i, 0), p(i, 1)], false, i)
            }));
        }
        if x > 0 {
            lines.extend((0..shape.h).map(|i| {
                let decoded = [1, 2, 3].map(|away| s(x - away, y + i));
                (decoded, [p(0, i), p(1, i)], true, i)
            }));
        }
        let n = lines.len() as i64;
        if n == 0 {
            return None;
        }
        let rough: i64 = lines.iter().map(|([a, b, _], ..)| (a - b).pow(2)).sum();
        let d = (((step * step) >> 16) + rough / n).clamp(1, (1 << 22) - 1);
        let sample =
            |([a, b, c], [p0, p1], column, index): ([i64; 3], [i64; 2], bool, usize)| Sample {
                gap: 9 * (a - p0) + 10 * (a - b) - 5 * (b - c) - 3 * (p0 - p1),
                weight: (d << 10) / (d + 2 * ((a - b).pow(2) + (b - c).pow(2))),
                column,
                index,
            };
        let samples: Vec<Sample> = lines.into_iter().map(sample).collect();
        let weights: i64 = samples.iter().map(|sample| sample.weight).sum();
        Some(Sides {
            samples,
            d,
            mean_weight: weights / n,
        })
    }

    /// Whether what is foretold is right.
    fn decide_sign(&mut self, kind: usize, class: usize) -> bool {
        let own = kind.min(self.coders.len() - 1);
        self.models[kind].decide_sign(&mut self.coders[own], class)
    }
}

impl Sides {
    /// The edge of a coefficient with that spectrum, sample by sample.
    fn edge_of(&self, spectrum: &[i32], folding: Folding) -> Vec<i64> {
        let lines = edge(spectrum, folding.shape);
        let line = |sample: &Sample| &lines[usize::from(sample.column != folding.transposed)];
        let samples = self.samples.iter();
        samples
            .map(|sample| i64::from(line(sample)[sample.index]))
            .collect()
    }

    /// The class of the decision, and whether the level is foretold to be negative.
    fn foretell(&self, edge: &[i64], v: i64, unknown: i64) -> (usize, bool) {
        let products = self.samples.iter().zip(edge);
        let product = |(sample, edge): (&Sample, &i64)| {
            ((sample.gap * sample.weight) >> 10) * scaled(v, *edge)
        };
        let sum: i64 = products.map(product).sum();
        let d = self.d + ((10 * unknown * self.mean_weight) >> 10);
        let odds = (sum.abs() * 320 / d).min((1 << 24) - 1);
        (log_class(odds, 8, 4, 7, 20), sum < 0)
    }

    /// Takes in a coefficient.
    fn learn(&mut self, edge: &[i64], v: i64) {
        for (sample, edge) in self.samples.iter_mut().zip(edge) {
            let known = 16 * scaled(v, *edge);
            sample.gap = (sample.gap - known).clamp(-(1 << 20), 1 << 20);
        }
    }
}

/// The edge of a coefficient of v.
fn scaled(v: i64, edge: i64) -> i64 {
    (v * edge + 2048) >> 12
}
