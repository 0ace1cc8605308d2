//! Small copies of pictures, and groups of pictures that look alike.

use crate::error::TrainError;
use crate::gallery::Gallery;
use rayon::prelude::*;
use tessera_codec::{Picture, PixelFormat};

/// Side of a thumbnail.
const SIDE: usize = 16;

/// Width, height and format: only pictures that agree in these can be averaged.
pub(super) type Kind = (u32, u32, PixelFormat);

/// A picture at a glance.
#[derive(Clone, Debug)]
pub(super) struct Thumbnail {
    /// Index in the gallery.
    pub(super) index: usize,
    pub(super) kind: Kind,
    /// Means of luma (or the first channel) over a grid.
    means: Vec<f32>,
}

impl Thumbnail {
    fn new(index: usize, picture: &Picture) -> Self {
        let (width, height) = (picture.width() as usize, picture.height() as usize);
        let channels = picture.format().channels();
        let colours = picture.format().colour_channels();
        let peak = f32::from(picture.format().depth.max_value());
        let mut sums = vec![(0.0f32, 0.0f32); SIDE * SIDE];
        for y in 0..height {
            for x in 0..width {
                let first = (y * width + x) * channels;
                let colour = (0..colours).map(|c| f32::from(picture.samples().get(first + c)));
                let (sum, count) = &mut sums[y * SIDE / height * SIDE + x * SIDE / width];
                *sum += colour.sum::<f32>() / (colours as f32 * peak);
                *count += 1.0;
            }
        }
        let means = sums.iter().map(|(sum, count)| sum / count.max(1.0));
        Self {
            index,
            kind: (picture.width(), picture.height(), picture.format()),
            means: means.collect(),
        }
    }

    fn distance(&self, means: &[f32]) -> f32 {
        let pairs = self.means.iter().zip(means);
        pairs.map(|(a, b)| (a - b).powi(2)).sum()
    }
}

/// Thumbnails of the pictures with these indices.
pub(super) fn thumbnails(
    gallery: &Gallery,
    indices: &[usize],
) -> Result<Vec<Thumbnail>, TrainError> {
    let made = indices.par_iter().map(|&index| {
        let picture = gallery.load(index)?;
        Ok(Thumbnail::new(index, &picture))
    });
    made.collect()
}

/// Pictures that look alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Indices in the gallery; the first is the most typical one.
    pub(super) members: Vec<usize>,
}

/// Divides pictures into at most `count` groups by k-means, the largest group first.
pub(super) fn groups(all: &[&Thumbnail], count: usize) -> Vec<Group> {
    const ROUNDS: usize = 12;
    let mut centres = spread(all, count);
    let mut nearest = vec![0; all.len()];
    for _ in 0..ROUNDS {
        for (own, thumbnail) in nearest.iter_mut().zip(all) {
            let distances = centres.iter().map(|centre| thumbnail.distance(centre));
            let best = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
            *own = best.map_or(0, |(centre, _)| centre);
        }
        for (at, centre) in centres.iter_mut().enumerate() {
            let members = all.iter().zip(&nearest).filter(|(_, own)| **own == at);
            if let Some(mean) = mean_of(members.map(|(thumbnail, _)| *thumbnail)) {
                *centre = mean;
            }
        }
    }
    let group = |at: usize| {
        let own = all.iter().zip(&nearest).filter(|(_, own)| **own == at);
        let mut members: Vec<&Thumbnail> = own.map(|(thumbnail, _)| *thumbnail).collect();
        members.sort_by(|a, b| {
            a.distance(&centres[at])
                .total_cmp(&b.distance(&centres[at]))
        });
        Group {
            members: members.iter().map(|thumbnail| thumbnail.index).collect(),
        }
    };
    let mut groups: Vec<Group> = (0..centres.len()).map(group).collect();
    groups.retain(|group| !group.members.is_empty());
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// Starting centres: each the thumbnail farthest from those before it.
fn spread(all: &[&Thumbnail], count: usize) -> Vec<Vec<f32>> {
    let Some(mean) = mean_of(all.iter().copied()) else {
        return Vec::new();
    };
    let typical = all
        .iter()
        .min_by(|a, b| a.distance(&mean).total_cmp(&b.distance(&mean)));
    let mut centres: Vec<Vec<f32>> = typical.iter().map(|first| first.means.clone()).collect();
    let mut distances: Vec<f32> = all.iter().map(|t| t.distance(&centres[0])).collect();
    while centres.len() < count.min(all.len()) {
        let farthest = distances
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(at, _)| at);
        let centre = all[farthest].means.clone();
        for (distance, thumbnail) in distances.iter_mut().zip(all) {
            *distance = distance.min(thumbnail.distance(&centre));
        }
        centres.push(centre);
    }
    centres
}

fn mean_of<'t>(thumbnails: impl Iterator<Item = &'t Thumbnail>) -> Option<Vec<f32>> {
    let mut sum = vec![0.0; SIDE * SIDE];
    let mut count = 0.0;
    for thumbnail in thumbnails {
        for (sum, mean) in sum.iter_mut().zip(&thumbnail.means) {
            *sum += mean;
        }
        count += 1.0;
    }
    (count > 0.0).then(|| sum.iter().map(|sum| sum / count).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(index: usize, value: u8) -> Thumbnail {
        let picture = Picture::gray8(20, 20, vec![value; 400]).unwrap();
        Thumbnail::new(index, &picture)
    }

    #[test]
    fn like_pictures_share_a_group() {
        let values = [10, 12, 200, 11, 205, 13];
        let all: Vec<Thumbnail> = values
            .iter()
            .enumerate()
            .map(|(i, &v)| flat(i, v))
            .collect();
        let all: Vec<&Thumbnail> = all.iter().collect();
        let groups = groups(&all, 2);
        let members: Vec<Vec<usize>> = groups
            .iter()
            .map(|group| {
                let mut members = group.members.clone();
                members.sort_unstable();
                members
            })
            .collect();
        assert_eq!(members, [vec![0, 1, 3, 5], vec![2, 4]]);
    }
}
