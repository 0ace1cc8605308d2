//! Free atoms learned by `batchsvd` from what predictions leave at low rates, under one budget of non-zeros for all patches
//! of a shape.

use crate::harvest::{Harvest, Sample};
use batchsvd::{BatchSvdParams, Error, Fit, Inter, SampleMatrix};
use faer::Mat;
use tessera_dict::atoms::{AtomSet, CLASSES};
use tessera_dict::basis::{PlaneKind, Rotation};
use tessera_dict::layout::{Element, first_cell};
use tessera_dict::prior::PriorCell;
use tessera_dict::{Atoms, DictionaryBuilder, transfer::transfer};
use tessera_patch::Shape;

/// Quantisers of the rates at which an atom is worth its index.
pub(crate) const QUANTISERS: [u8; 5] = [72, 77, 82, 87, 92];

/// Patches of a shape that are learned from at most; more take time and change little.
const ENOUGH: usize = 130_000;
/// Patches that every atom must have for itself: fewer are learned by heart.
const PATCHES_PER_ATOM: usize = 40;
/// Frequencies above so many steps are worth a level.
const PEAK: f32 = 0.9;
/// Patches with more of them are left to the bases.
const MOST_PEAKS: usize = 8;
/// Share of all pairs of atoms that exchange their patches in an iteration.
const PAIRS: f64 = 0.02;

/// How many uses in the code of the batch an index counts for as one that an encoder chose.
const USES_PER_CHOICE: f64 = 4.0;
/// Largest confidence in such odds.
const MOST_SURE: f64 = 30.0;

/// Learned atoms, and how often patches of each mode class use which.
#[derive(Default)]
pub(crate) struct LearnedAtoms {
    atoms: Atoms,
    uses: Vec<Uses>,
}

/// Uses of the atoms of a set, by mode class.
type Uses = [Vec<u32>; CLASSES];

/// Most atoms of a shape.
fn most_atoms(shape: Shape) -> usize {
    match shape.area() {
        16 => 128,
        32 | 128 => 512,
        _ => 1024,
    }
}

/// Learns the atoms of all shapes that have patches enough.
///
/// # Errors
/// If the patches of a shape cannot be learned from.
pub(crate) fn learn_atoms(harvest: &Harvest, seed: u64) -> Result<LearnedAtoms, Error> {
    let (mut sets, mut uses) = (Vec::new(), Vec::new());
    for shape in Atoms::shapes() {
        let groups = harvest.groups();
        let own = groups
            .filter(|(key, _)| key.kind == PlaneKind::Luma && key.shape == shape.index())
            .flat_map(|(key, samples)| samples.iter().map(move |sample| (key.class, sample)))
            .filter(|(_, sample)| few_peaks(sample));
        let own: Vec<(usize, &Sample)> = own.collect();
        if let Some((set, used)) = learn_set(shape, &own, seed)? {
            sets.push(set);
            uses.push(used);
        }
    }
    let atoms = Atoms::new(sets).expect("every shape has one set of a size that fits");
    Ok(LearnedAtoms { atoms, uses })
}

/// Whether one atom could be all there is to code: it takes the place of two or three levels, hardly ever of more.
fn few_peaks(sample: &Sample) -> bool {
    let peaks = sample.spectrum().filter(|value| value.abs() > PEAK);
    peaks.count() <= MOST_PEAKS
}

fn learn_set(
    shape: Shape,
    samples: &[(usize, &Sample)],
    seed: u64,
) -> Result<Option<(Rotation, Uses)>, Error> {
    let step = samples.len().div_ceil(ENOUGH).max(1);
    let used: Vec<(usize, &Sample)> = samples.iter().step_by(step).copied().collect();
    let affordable = (used.len() / PATCHES_PER_ATOM).checked_ilog2().unwrap_or(0);
    let count = most_atoms(shape).min(1 << affordable);
    if count < shape.area() {
        return Ok(None);
    }
    let mut data = Mat::<f64>::zeros(shape.area(), used.len());
    for (j, (_, sample)) in used.iter().enumerate() {
        for (i, value) in sample.spectrum().enumerate() {
            data[(i, j)] = value.into();
        }
    }
    let params = BatchSvdParams {
        inner_steps: 1,
        inter: Inter::WhenSlow(0.05),
        inter_share: PAIRS,
        seed,
        ..BatchSvdParams::large(count, used.len())
    };
    let fit = params.check()?.fit(&SampleMatrix::new(data.as_ref())?)?;
    let order = by_use(&fit);
    let classes = used.iter().map(|&(class, _)| class);
    Ok(Some((
        ordered(shape, &fit, &order),
        uses(&fit, &order, classes),
    )))
}

/// The numbers of the atoms, those that most patches use first.
fn by_use(fit: &Fit) -> Vec<usize> {
    let uses = fit.code.uses();
    let mut order: Vec<usize> = (0..uses.len()).collect();
    order.sort_by_key(|&atom| (std::cmp::Reverse(uses[atom]), atom));
    order
}

fn ordered(shape: Shape, fit: &Fit, order: &[usize]) -> Rotation {
    let atoms = fit.dictionary.atoms();
    let rows: Vec<f32> = order
        .iter()
        .flat_map(|&atom| atoms.col(atom).iter().map(|&value| value as f32))
        .collect();
    Rotation::from_rows(&rows, shape)
}

/// How often an atom is the largest of a patch.
fn uses(fit: &Fit, order: &[usize], classes: impl Iterator<Item = usize>) -> Uses {
    let mut place = vec![0; order.len()];
    for (at, &atom) in order.iter().enumerate() {
        place[atom] = at;
    }
    let mut uses = [const { Vec::new() }; CLASSES].map(|_: Vec<u32>| vec![0; order.len()]);
    for (sample, class) in classes.enumerate() {
        let largest = (fit.code.entries(sample)).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        if let Some((atom, _)) = largest {
            uses[class][place[atom]] += 1;
        }
    }
    uses
}

/// Puts atoms in the place of those that are there.
pub(crate) fn replace(parts: &mut DictionaryBuilder, learned: LearnedAtoms) {
    let luma = parts.luma.clone().with_atoms(learned.atoms);
    parts.luma_prior = transfer(&parts.luma_prior, &parts.luma, &luma);
    parts.luma = luma;
    let first = first_cell(Element::AtomIndex, parts.luma.totals());
    let sets = Atoms::shapes().filter_map(|shape| parts.luma.atoms().get(shape));
    for (set, uses) in sets.zip(&learned.uses) {
        for (class, uses) in uses.iter().enumerate() {
            start_odds(&mut parts.luma_prior.cells[first..], set, class, uses);
        }
    }
}

/// Starts the tree of indices with the odds that the uses of atoms have.
fn start_odds(cells: &mut [PriorCell], set: AtomSet<'_>, class: usize, uses: &[u32]) {
    let mut below = vec![0.0; uses.len()];
    below.extend(uses.iter().map(|&uses| f64::from(uses) / USES_PER_CHOICE));
    for node in (1..uses.len()).rev() {
        let [zeros, ones] = [below[2 * node], below[2 * node + 1]];
        below[node] = zeros + ones;
        let odds = 16.0 * ((ones + 0.4) / (zeros + 0.4)).ln();
        cells[set.cell(class as u32, node as u32) as usize] = PriorCell {
            log_odds: odds.round().clamp(-127.0, 127.0) as i8,
            count: below[node].min(MOST_SURE) as u8,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_dict::Dictionary;

    #[test]
    fn odds_follow_the_uses() {
        let shape = Shape::new(4, 4).unwrap();
        let rows = [vec![1.0; 16], vec![0.5; 16], vec![-0.5; 16], vec![0.1; 16]].concat();
        let atoms = Atoms::new([Rotation::from_rows(&rows, shape)]).unwrap();
        let mut uses = [const { Vec::new() }; CLASSES].map(|_: Vec<u32>| vec![0; 4]);
        uses[2] = vec![400, 100, 40, 0];
        let learned = LearnedAtoms {
            atoms,
            uses: vec![uses],
        };
        let mut parts = Dictionary::builder();
        replace(&mut parts, learned);
        let first = first_cell(Element::AtomIndex, parts.luma.totals());
        let set = parts.luma.atoms().get(shape).unwrap();
        let cell = |class, node| parts.luma_prior.cells[first + set.cell(class, node) as usize];
        assert_eq!(cell(0, 1).count, 0);
        assert!(cell(2, 1).log_odds < -30 && cell(2, 1).count == 30);
        assert!(cell(2, 2).log_odds < -15 && cell(2, 3).count == 10);
        assert!(parts.build().is_ok());
    }
}
