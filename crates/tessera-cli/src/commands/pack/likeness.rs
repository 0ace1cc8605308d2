//! Which pictures look alike, and from which of them the others are best predicted.

use tessera_codec::{Picture, Scale};

/// Side of the small pictures that are compared.
const SIDE: u32 = 32;
/// Half the side of the square whose mean contrast an edge is compared with.
const AROUND: usize = 2;
/// Squared contrast, of the whole range, that noise leaves anywhere.
const NOISE: f32 = 4e-5;
/// Pictures are alike from this correlation on. In series of faces that only the light tells apart nine of ten pairs have
/// 0.67 and more, of faces of different people nineteen of twenty have 0.57 and less.
const ALIKE: f32 = 0.5;
/// A picture becomes a key if others are so much more like it, all together, than like what they were predicted from.
const WORTH_A_KEY: f32 = 0.3;

/// What is compared of a picture: where its edges are and which way they run, whatever the light.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
    /// Only pictures of the same size and channels are compared.
    kind: (u32, u32, usize),
    /// Of length one.
    edges: Vec<f32>,
}

impl Look {
    /// How small a picture is looked at.
    pub(super) const SCALE: Scale = Scale::MaxSide(SIDE);

    /// Of a picture of these sides, given at [`Self::SCALE`].
    pub(super) fn new((width, height): (u32, u32), small: &Picture) -> Self {
        let channels = small.format().channels();
        let (columns, rows) = (small.width() as usize, small.height() as usize);
        let brightness = brightness(small);
        let at = |x: usize, y: usize| brightness[y * columns + x];
        let mut slopes = vec![[0.0; 2]; columns * rows];
        for y in 1..rows.saturating_sub(1) {
            for x in 1..columns.saturating_sub(1) {
                slopes[y * columns + x] =
                    [at(x + 1, y) - at(x - 1, y), at(x, y + 1) - at(x, y - 1)];
            }
        }
        let mut edges = Vec::with_capacity(2 * slopes.len());
        for y in 0..rows {
            for x in 0..columns {
                let contrast = mean_energy(&slopes, (columns, rows), (x, y)) + NOISE;
                edges.extend(slopes[y * columns + x].map(|slope| slope / contrast.sqrt()));
            }
        }
        let length = edges.iter().map(|edge| edge * edge).sum::<f32>().sqrt();
        if length > 0.0 {
            edges.iter_mut().for_each(|edge| *edge /= length);
        }
        Self {
            kind: (width, height, channels),
            edges,
        }
    }

    /// Correlation with another picture; nothing if they cannot be compared.
    fn likeness(&self, other: &Self) -> f32 {
        if self.kind != other.kind {
            return 0.0;
        }
        let products = self.edges.iter().zip(&other.edges).map(|(a, b)| a * b);
        products.sum()
    }
}

/// Mean of the colour channels of every pixel, in parts of the range.
fn brightness(picture: &Picture) -> Vec<f32> {
    let format = picture.format();
    let (all, colours) = (format.channels(), format.colour_channels());
    let range = (1u32 << (8 * format.bytes_per_sample())) as f32;
    let pixel = |at: usize| -> f32 {
        let samples = (0..colours).map(|channel| picture.samples().get(all * at + channel));
        samples.map(f32::from).sum::<f32>() / (colours as f32 * range)
    };
    (0..picture.pixels() as usize).map(pixel).collect()
}

fn mean_energy(
    slopes: &[[f32; 2]],
    (columns, rows): (usize, usize),
    (x, y): (usize, usize),
) -> f32 {
    let across = x.saturating_sub(AROUND)..(x + AROUND + 1).min(columns);
    let (mut sum, mut count) = (0.0, 0.0);
    for y in y.saturating_sub(AROUND)..(y + AROUND + 1).min(rows) {
        for [right, down] in &slopes[y * columns..][across.clone()] {
            sum += right * right + down * down;
            count += 1.0;
        }
    }
    sum / count
}

/// For every picture the number of the one it is best predicted from, if there is one like it. Those that others are
/// predicted from stand by themselves.
pub(super) fn keys(looks: &[Option<Look>]) -> Vec<Option<usize>> {
    let likeness: Vec<Vec<f32>> = looks.iter().map(|one| likenesses(one, looks)).collect();
    let mut is_key = vec![false; looks.len()];
    // How much each is like its key.
    let mut best = vec![ALIKE; looks.len()];
    loop {
        // A key is not predicted itself any more.
        let gain = |one: usize| -> f32 {
            let others = (0..looks.len()).filter(|&other| other != one && !is_key[other]);
            let more = others.map(|other| (likeness[one][other] - best[other]).max(0.0));
            more.sum::<f32>() - (best[one] - ALIKE)
        };
        let gains = (0..looks.len()).filter(|&one| !is_key[one]);
        let most = gains
            .map(|one| (gain(one), one))
            .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
        let Some((_, key)) = most.filter(|(gain, _)| *gain > WORTH_A_KEY) else {
            break;
        };
        is_key[key] = true;
        for (best, &like) in best.iter_mut().zip(&likeness[key]) {
            *best = best.max(like);
        }
    }
    let keys = || (0..looks.len()).filter(|&one| is_key[one]);
    let nearest = |one: usize| {
        let near = keys().filter(|&key| likeness[key][one] > ALIKE);
        let best = near.max_by(|&a, &b| likeness[a][one].total_cmp(&likeness[b][one]));
        best.filter(|_| !is_key[one])
    };
    (0..looks.len()).map(nearest).collect()
}

/// How much all pictures are like one.
fn likenesses(one: &Option<Look>, all: &[Option<Look>]) -> Vec<f32> {
    let like = |other: &Option<Look>| match (one, other) {
        (Some(one), Some(other)) => one.likeness(other),
        _ => 0.0,
    };
    all.iter().map(like).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern under some light.
    fn picture(pattern: u32, light: u32) -> Option<Look> {
        let sample = |i: u32| {
            let (x, y) = (i % SIDE, i / SIDE);
            let edges = ((x * x * (pattern + 2) + 7 * y * (pattern + 1)) / 60) % 2;
            (40 + 3 * light + edges * (30 + light * x / 16)) as u8
        };
        let samples = (0..SIDE * SIDE).map(sample).collect();
        let picture = Picture::gray8(SIDE, SIDE, samples).unwrap();
        Some(Look::new((SIDE, SIDE), &picture))
    }

    #[test]
    fn series_are_found_whatever_the_light() {
        let mut looks: Vec<Option<Look>> = (0..3)
            .flat_map(|pattern| (0..4).map(move |light| picture(pattern, 9 * light)))
            .collect();
        looks.push(None);
        let keys = keys(&looks);
        for series in 0..3 {
            let members = 4 * series..4 * series + 4;
            let alone: Vec<usize> = members.clone().filter(|&at| keys[at].is_none()).collect();
            assert_eq!(alone.len(), 1, "{keys:?}");
            let others = members.filter(|&at| at != alone[0]);
            assert!(
                others.into_iter().all(|at| keys[at] == Some(alone[0])),
                "{keys:?}"
            );
        }
        assert_eq!(keys[12], None);
    }

    #[test]
    fn other_sizes_are_other_kinds() {
        let look = picture(1, 1).unwrap();
        let other = Look {
            kind: (SIDE, SIDE, 3),
            ..look.clone()
        };
        assert!(look.likeness(&look) > 0.99);
        assert_eq!(look.likeness(&other), 0.0);
        assert_eq!(keys(&[Some(look), Some(other)]), [None, None]);
    }
}
