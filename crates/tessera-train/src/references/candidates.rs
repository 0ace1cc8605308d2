//! Pictures that might become references: means, and typical pictures.

use super::ReferenceParams;
use super::thumbnails::{Group, Kind, Thumbnail, groups, thumbnails};
use crate::budget::Budget;
use crate::error::TrainError;
use crate::gallery::Gallery;
use rand::RngExt;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::{BitDepth, Encoder, Picture, Samples, Target};
use tessera_dict::Reference;

/// Most pictures that are looked at; of larger galleries a sample.
const SAMPLE: usize = 400;
/// Groups whose most typical pictures are candidates.
const EXEMPLARS: usize = 28;
/// Groups whose means are candidates, beside the mean of all.
const MEANS: usize = 3;
/// Fewer pictures than this have no mean worth carrying.
const FEWEST_FOR_MEAN: usize = 4;
/// Larger pictures are not carried: they would take the place of all others in memory.
const MAX_PIXELS: u64 = 1 << 22;
/// Quantisers of the coded references, finest first: the first that fits into a quarter of the size allowed.
const QUANTISERS: [u8; 3] = [44, 52, 60];

/// A picture that might become a reference, coded as one.
#[derive(Debug)]
pub(super) struct Candidate {
    /// What it shows, for people.
    pub(super) name: String,
    /// The training picture it is, unless it is a mean.
    pub(super) source: Option<usize>,
    pub(super) reference: Reference,
}

/// Candidates made side by side before time is looked at.
const BATCH: usize = 4;

/// All candidates of a gallery, or those that there is time for, the most promising first.
pub(super) fn find(
    gallery: &Gallery,
    params: &ReferenceParams,
    budget: Budget,
    go_on: &mut dyn FnMut() -> Result<(), TrainError>,
) -> Result<Vec<Candidate>, TrainError> {
    let all = thumbnails(gallery, &sample(gallery.len(), params.seed))?;
    let typical = groups(&all.iter().collect::<Vec<_>>(), EXEMPLARS);
    let mut wanted: Vec<Wanted> = mean_groups(&all).into_iter().map(Wanted::Mean).collect();
    let typical = typical.iter().map(|group| group.members[0]);
    wanted.extend(typical.map(Wanted::Picture));
    let mut found = Vec::new();
    for batch in wanted.chunks(BATCH) {
        go_on()?;
        if budget.is_over() {
            break;
        }
        let made = batch
            .par_iter()
            .map(|wanted| wanted.make(gallery, params.max_bytes));
        let made: Vec<Option<Candidate>> = made.collect::<Result<_, TrainError>>()?;
        found.extend(made.into_iter().flatten());
    }
    Ok(found)
}

/// All indices below `count`, or a random sample of them, ascending.
fn sample(count: usize, seed: u64) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..count).collect();
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    while indices.len() > SAMPLE {
        let gone = random.random_range(0..indices.len());
        indices.swap_remove(gone);
    }
    indices.sort_unstable();
    indices
}

/// The pictures of the most frequent size and format, all together and in groups.
fn mean_groups(all: &[Thumbnail]) -> Vec<Group> {
    let mut kinds: Vec<(Kind, usize)> = Vec::new();
    for thumbnail in all {
        match kinds.iter_mut().find(|(kind, _)| *kind == thumbnail.kind) {
            Some((_, count)) => *count += 1,
            None => kinds.push((thumbnail.kind, 1)),
        }
    }
    let Some(&(kind, _)) = kinds.iter().max_by_key(|(_, count)| *count) else {
        return Vec::new();
    };
    let same: Vec<&Thumbnail> = all.iter().filter(|t| t.kind == kind).collect();
    let mut found = groups(&same, 1);
    found.extend(groups(&same, MEANS));
    found.retain(|group| group.members.len() >= FEWEST_FOR_MEAN);
    found
}

enum Wanted {
    Mean(Group),
    Picture(usize),
}

impl Wanted {
    /// The coded candidate; `None` if it is too large to be carried.
    fn make(&self, gallery: &Gallery, max_bytes: usize) -> Result<Option<Candidate>, TrainError> {
        let (name, source, picture) = match self {
            Self::Mean(group) => {
                let name = format!("mean of {}", group.members.len());
                (name, None, mean(gallery, group)?)
            }
            Self::Picture(index) => {
                let file = gallery.files()[*index].file_name().unwrap_or_default();
                let name = file.to_string_lossy().into_owned();
                (name, Some(*index), load(gallery, *index)?)
            }
        };
        let reference = coded(&picture, max_bytes);
        Ok(reference.map(|reference| Candidate {
            name,
            source,
            reference,
        }))
    }
}

fn load(gallery: &Gallery, index: usize) -> Result<Picture, TrainError> {
    let mut picture = gallery.load(index)?;
    picture.metadata = Default::default();
    Ok(picture)
}

/// The mean of pictures of one size and format.
fn mean(gallery: &Gallery, group: &Group) -> Result<Picture, TrainError> {
    let first = load(gallery, group.members[0])?;
    let mut sums = vec![0u32; first.samples().len()];
    for &index in &group.members {
        let picture = load(gallery, index)?;
        for (at, sum) in sums.iter_mut().enumerate() {
            *sum += u32::from(picture.samples().get(at));
        }
    }
    let count = group.members.len() as u32;
    let means = sums.iter().map(|sum| (sum + count / 2) / count);
    let samples = match first.format().depth {
        BitDepth::Eight => Samples::U8(means.map(|v| v as u8).collect()),
        _ => Samples::U16(means.map(|v| v as u16).collect()),
    };
    let picture = Picture::new(first.width(), first.height(), first.format(), samples);
    picture.map_err(|error| gallery.unusable(group.members[0], &error))
}

/// A picture coded as a reference, as finely as the size allowed makes sensible.
fn coded(picture: &Picture, max_bytes: usize) -> Option<Reference> {
    let side = |pixels: u32| u16::try_from(pixels).ok();
    let (width, height) = (side(picture.width())?, side(picture.height())?);
    if picture.pixels() > MAX_PIXELS {
        return None;
    }
    let streams = QUANTISERS.iter().filter_map(|&quantiser| {
        let encoder = Encoder::new().threads(1);
        let encoded = encoder.target(Target::Quantiser(quantiser)).encode(picture);
        Some(encoded.ok()?.bytes)
    });
    let mut last = None;
    for stream in streams {
        let fits = stream.len() <= max_bytes / 4;
        last = Some(stream);
        if fits {
            break;
        }
    }
    let stream = last.filter(|stream| stream.len() <= max_bytes)?;
    Some(Reference::new(width, height, stream))
}
