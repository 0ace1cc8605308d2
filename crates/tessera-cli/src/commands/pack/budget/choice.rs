//! Which of its encodes every picture gets.

use std::collections::BTreeMap;
use std::iter;
use std::ops::Add;

/// One way to code a picture.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// What the budget lowers, squared error in squares of the whole range or its logarithm.
    pub(super) error: f64,
    pub(super) coded: Coded,
}

/// A picture as it goes into the pack.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::commands::pack) struct Coded {
    pub(in crate::commands::pack) file: Vec<u8>,
    pub(in crate::commands::pack) lossless: bool,
    /// Squared error in squares of the whole range, and the samples that it is of.
    pub(in crate::commands::pack) squared: f64,
    pub(in crate::commands::pack) samples: u64,
}

impl Trial {
    pub(super) fn bytes(&self) -> f64 {
        self.coded.file.len() as f64
    }
}

/// Encodes of all pictures by quantiser.
pub(super) type Sets = BTreeMap<i32, Vec<Trial>>;

/// In place of a quantiser for files without loss, which are finer than all others.
pub(super) const LOSSLESS: i32 = -1;

/// What a choice for every picture adds up to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Sum {
    pub(super) bytes: f64,
    pub(super) error: f64,
}

impl Add for Sum {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            error: self.error + other.error,
        }
    }
}

impl iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), Add::add)
    }
}

impl<'a> iter::Sum<&'a Trial> for Sum {
    fn sum<I: Iterator<Item = &'a Trial>>(trials: I) -> Self {
        let one = |trial: &Trial| Self {
            bytes: trial.bytes(),
            error: trial.error,
        };
        trials.map(one).sum()
    }
}

pub(super) fn sum(sets: &Sets, choice: &[i32]) -> Sum {
    let chosen = choice.iter().enumerate();
    chosen.map(|(at, quantiser)| &sets[quantiser][at]).sum()
}

/// The encodes that were chosen.
pub(super) fn take(mut sets: Sets, choice: &[i32]) -> Vec<Coded> {
    let mut take = |(at, quantiser): (usize, &i32)| {
        let set = sets.get_mut(quantiser)?;
        Some(std::mem::take(&mut set[at].coded))
    };
    choice.iter().enumerate().filter_map(&mut take).collect()
}

/// Prices of a byte, from bytes that cost nothing to bytes that nothing is worth.
pub(super) fn prices() -> impl DoubleEndedIterator<Item = f64> {
    (0..1200).map(|step| 10f64.powf(-12.0 + f64::from(step) / 100.0))
}

/// For every picture the quantiser at which error and price of the bytes are least.
pub(super) fn pick(sets: &Sets, price: f64) -> Vec<i32> {
    let count = sets.values().next().map_or(0, Vec::len);
    let cost = |at: usize, quantiser: i32| {
        let trial = &sets[&quantiser][at];
        trial.error + price * trial.bytes()
    };
    let cheapest = |at: usize| {
        let quantisers = sets.keys().copied();
        quantisers.min_by(|&a, &b| cost(at, a).total_cmp(&cost(at, b)))
    };
    (0..count).filter_map(cheapest).collect()
}

/// The choice of the lowest price that fits, and finer pictures where what is left of the room allows it, those first that
/// gain most for their bytes.
pub(super) fn cheapest_that_fits(sets: &Sets, fits: &impl Fn(Sum) -> bool) -> Option<Vec<i32>> {
    let mut choice = prices()
        .map(|price| pick(sets, price))
        .find(|choice| fits(sum(sets, choice)))?;
    let mut whole = sum(sets, &choice);
    let steps = finer_steps(sets, &choice);
    let mut moved = vec![false; choice.len()];
    for (_, at, quantiser) in steps {
        let (from, to) = (&sets[&choice[at]][at], &sets[&quantiser][at]);
        let next = Sum {
            bytes: whole.bytes + to.bytes() - from.bytes(),
            error: whole.error + to.error - from.error,
        };
        if !moved[at] && fits(next) {
            moved[at] = true;
            choice[at] = quantiser;
            whole = next;
        }
    }
    Some(choice)
}

/// Every way to make a picture finer than it was chosen: what it gains for a byte, which picture, and its quantiser; the best first.
fn finer_steps(sets: &Sets, choice: &[i32]) -> Vec<(f64, usize, i32)> {
    let mut steps: Vec<(f64, usize, i32)> = Vec::new();
    for (at, &own) in choice.iter().enumerate() {
        let from = &sets[&own][at];
        for (&quantiser, set) in sets.range(..own) {
            let (gain, cost) = (from.error - set[at].error, set[at].bytes() - from.bytes());
            if gain > 0.0 && cost > 0.0 {
                steps.push((gain / cost, at, quantiser));
            }
        }
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    steps
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A picture whose error falls by `gain` from one quantiser to the next finer one.
    pub(in crate::commands::pack::budget) fn set(bytes: [usize; 2], error: [f64; 2]) -> Vec<Trial> {
        let trial = |at: usize| Trial {
            error: error[at],
            coded: Coded {
                file: vec![at as u8; bytes[at]],
                lossless: false,
                squared: error[at],
                samples: 100,
            },
        };
        vec![trial(0), trial(1)]
    }

    pub(in crate::commands::pack::budget) fn sets() -> Sets {
        // The second picture gains four times as much from its finer encode.
        let coarse = set([100, 100], [10.0, 40.0]);
        let fine = set([200, 200], [5.0, 20.0]);
        Sets::from([(60, fine), (70, coarse)])
    }

    #[test]
    fn bytes_go_where_they_lower_the_error_most() {
        let within = |room: f64| move |sum: Sum| sum.bytes <= room;
        assert_eq!(
            cheapest_that_fits(&sets(), &within(400.0)),
            Some(vec![60, 60])
        );
        assert_eq!(
            cheapest_that_fits(&sets(), &within(300.0)),
            Some(vec![70, 60])
        );
        assert_eq!(
            cheapest_that_fits(&sets(), &within(299.0)),
            Some(vec![70, 70])
        );
        assert_eq!(cheapest_that_fits(&sets(), &within(199.0)), None);
        let taken = take(sets(), &[70, 60]);
        let files: Vec<Vec<u8>> = taken.into_iter().map(|coded| coded.file).collect();
        assert_eq!(files, [vec![0; 100], vec![1; 200]]);
    }

    #[test]
    fn a_lossless_picture_has_no_error_at_its_bytes() {
        let mut sets = sets();
        // The first picture could be lossless for ten bytes more than its fine encode, the second could not.
        let exact = set([210, 200], [0.0, 20.0]);
        sets.insert(LOSSLESS, exact);
        let within = |room: f64| move |sum: Sum| sum.bytes <= room;
        let choice = cheapest_that_fits(&sets, &within(410.0)).unwrap();
        assert_eq!(
            sum(&sets, &choice),
            Sum {
                bytes: 410.0,
                error: 20.0
            }
        );
        assert_eq!(choice[0], LOSSLESS);
        assert_eq!(
            cheapest_that_fits(&sets, &within(300.0)),
            Some(vec![70, LOSSLESS]),
            "as long as it pays"
        );
    }
}
