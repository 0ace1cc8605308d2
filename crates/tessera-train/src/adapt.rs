//! Bases and magnitude models of an existing dictionary fitted to a harvest.

use crate::harvest::{GroupKey, Harvest, Sample};
use crate::magnitude::Coded;
use crate::refine::{Blocks, assign, enough, refine, spectra};
use faer::Mat;
use rayon::prelude::*;
use tessera_dict::basis::{Basis, BasisSet, MAX_BASES, PlaneKind, Rotation};
use tessera_patch::Shape;

/// Patches that the magnitude model of a basis counts for.
const MODEL_PULL: f32 = 100.0;

/// Fits bases and magnitude models of both plane kinds, pulled towards `start`; orders stay, bases may be added.
pub(crate) fn adapt_bases(harvest: &Harvest, start: [&BasisSet; 2], lambda: f32) -> [BasisSet; 2] {
    let groups: Vec<(GroupKey, &[Sample])> = harvest.groups().collect();
    let adapted: Vec<(GroupKey, Vec<Basis>)> = groups
        .into_par_iter()
        .map(|(key, samples)| {
            let shape = Shape::from_index(key.shape);
            let group = start[key.kind as usize].group(shape, key.class);
            (key, adapt_group(samples, group, shape, lambda))
        })
        .collect();
    [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
        let start = start[kind as usize];
        let mut groups = start.groups().to_vec();
        for (key, bases) in adapted.iter().filter(|(key, _)| key.kind == kind) {
            let shape = Shape::from_index(key.shape);
            groups[start.group_index(shape, key.class)] = bases.clone();
        }
        start.regrouped(groups)
    })
}

fn adapt_group(samples: &[Sample], start: &[Basis], shape: Shape, lambda: f32) -> Vec<Basis> {
    let before: Blocks = start.iter().filter_map(rows_of).collect();
    let refined = refine(samples, &before, MAX_BASES - 1, lambda);
    let changed = refined.is_some();
    let blocks = refined.unwrap_or(before);
    let shown = enough(samples.iter());
    let data = spectra(&shown);
    let choice = assign(&blocks, &data, lambda);
    let basis = |index: usize| {
        let rows = index.checked_sub(1).map(|learned| &blocks[learned]);
        let members: Vec<usize> = (0..data.ncols()).filter(|&j| choice[j] == index).collect();
        // A basis that was added starts from the model of the cosine basis.
        let like = start.get(index).unwrap_or(&start[0]);
        let coded = coded(&shown, &data, &members, rows, &like.order);
        Basis {
            rotation: match rows {
                Some(rows) if changed => Some(rotation_of(rows, shape)),
                _ => like.rotation.clone(),
            },
            order: match rows {
                Some(_) => (0..data.nrows() as u16).collect(),
                None => like.order.clone(),
            },
            model: coded.refit_magnitudes(&like.model, MODEL_PULL),
            id: 0,
        }
    };
    (0..=blocks.len()).map(basis).collect()
}

/// The members' coefficients in one basis, in its order, with their surroundings.
fn coded(
    samples: &[&Sample],
    data: &Mat<f32>,
    members: &[usize],
    rows: Option<&Mat<f32>>,
    order: &[u16],
) -> Coded {
    let place = |j: usize| match rows {
        None => order[j] as usize,
        Some(_) => j,
    };
    let own = Mat::from_fn(members.len(), data.nrows(), |i, j| {
        data[(place(j), members[i])]
    });
    Coded {
        values: match rows {
            None => own,
            Some(rows) => &own * rows.transpose(),
        },
        activity: members.iter().map(|&j| samples[j].activity).collect(),
        gradient: members.iter().map(|&j| samples[j].gradient).collect(),
    }
}

fn rows_of(basis: &Basis) -> Option<Mat<f32>> {
    let rotation = basis.rotation.as_ref()?;
    let (m, rows) = (rotation.scales.len(), rotation.to_rows());
    Some(Mat::from_fn(m, m, |i, j| rows[i * m + j]))
}

fn rotation_of(rows: &Mat<f32>, shape: Shape) -> Rotation {
    let m = rows.nrows();
    let flat: Vec<f32> = (0..m * m).map(|at| rows[(at / m, at % m)]).collect();
    Rotation::from_rows(&flat, shape)
}
