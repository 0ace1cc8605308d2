//! Learns the union of orthonormal bases of every group from a harvest.

use crate::harvest::{GroupKey, Harvest, Sample};
use crate::magnitude::Coded;
use crate::union::learn_union;
use faer::Mat;
use rayon::prelude::*;
use tessera_dict::basis::{Basis, BasisSet, MAX_BASES, PlaneKind, Rotation};
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Fewer patches than this per dimension and the cosine basis stays alone.
const PATCHES_PER_DIMENSION: usize = 12;

/// How many learned bases a group of this shape can have beside the cosine basis.
fn learned_bases(key: GroupKey, samples: usize) -> usize {
    let shape = Shape::from_index(key.shape);
    let m = shape.rotated();
    if shape.width() == SUPERBLOCK || shape.height() == SUPERBLOCK {
        return 0;
    }
    let most = match (key.kind, m) {
        (PlaneKind::Luma, 0..=128) => MAX_BASES - 1,
        (PlaneKind::Luma, _) => 1,
        (PlaneKind::Chroma, 0..=128) => 2,
        (PlaneKind::Chroma, _) => 1,
    };
    most.min(samples / (PATCHES_PER_DIMENSION * m))
}

/// Learns the bases of both plane kinds; groups without patches keep what `start` has.
///
/// # Errors
/// If a group's samples cannot be learned from.
pub(crate) fn learn_bases(
    harvest: &Harvest,
    start: [&BasisSet; 2],
    lambda: f32,
) -> Result<[BasisSet; 2], batchsvd::Error> {
    let groups: Vec<(GroupKey, &[Sample])> = harvest.groups().collect();
    let learned: Vec<(GroupKey, Vec<Basis>)> = groups
        .into_par_iter()
        .map(|(key, samples)| Ok((key, learn_group(key, samples, lambda)?)))
        .collect::<Result<_, batchsvd::Error>>()?;
    Ok([PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
        let start = start[kind as usize];
        let group = |(shape, class): (Shape, usize)| {
            let key = GroupKey {
                kind,
                shape: shape.index(),
                class,
            };
            match learned.iter().find(|(own, _)| *own == key) {
                Some((_, bases)) if !bases.is_empty() => bases.clone(),
                _ => start.group(shape, class).to_vec(),
            }
        };
        start.regrouped(BasisSet::keys(kind).map(group).collect())
    }))
}

/// Fewest patches an order and a magnitude model are fitted to.
const FEWEST: usize = 200;

fn learn_group(
    key: GroupKey,
    samples: &[Sample],
    lambda: f32,
) -> Result<Vec<Basis>, batchsvd::Error> {
    let shape = Shape::from_index(key.shape);
    let m = shape.rotated();
    if samples.len() < FEWEST.max(2 * m) {
        return Ok(Vec::new());
    }
    let mut data = Mat::<f32>::zeros(m, samples.len());
    for (j, sample) in samples.iter().enumerate() {
        for (i, value) in sample.spectrum().enumerate() {
            data[(i, j)] = value;
        }
    }
    let union = learn_union(&data, learned_bases(key, samples.len()), lambda)?;
    let mut bases = Vec::new();
    for (block, rows) in std::iter::once(None)
        .chain(union.blocks.iter().map(Some))
        .enumerate()
    {
        let mut members: Vec<usize> = (0..samples.len())
            .filter(|&j| union.assignment[j] == block)
            .collect();
        if members.len() < FEWEST.max(2 * m) {
            members = (0..samples.len()).collect();
        }
        bases.push(make_basis(shape, &data, samples, &members, rows));
    }
    Ok(bases)
}

/// Order and magnitude model of one basis from the patches that chose it.
fn make_basis(
    shape: Shape,
    data: &Mat<f32>,
    samples: &[Sample],
    members: &[usize],
    rows: Option<&Mat<f32>>,
) -> Basis {
    let m = data.nrows();
    let own = Mat::from_fn(members.len(), m, |i, j| data[(j, members[i])]);
    let values = match rows {
        None => own,
        Some(rows) => &own * rows.transpose(),
    };
    let coded = Coded {
        values,
        activity: members.iter().map(|&j| samples[j].activity).collect(),
        gradient: members.iter().map(|&j| samples[j].gradient).collect(),
    };
    let order = coded.order();
    let model = coded.permuted(&order).fit_magnitudes();
    let rotation = rows.map(|rows| {
        let flat: Vec<f32> = order
            .iter()
            .flat_map(|&i| (0..m).map(move |j| rows[(i, j)]))
            .collect();
        Rotation::from_rows(&flat, shape)
    });
    let order = match rotation {
        None => order.iter().map(|&j| j as u16).collect(),
        Some(_) => (0..m as u16).collect(),
    };
    Basis {
        rotation,
        order,
        model,
        id: 0,
    }
}
