//! Dictionaries that are not learned.

use crate::{Dictionary, Error};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::f64::consts::TAU;

/// Widest tile for which a Haar dictionary is built; it grows with the fourth power of the width.
const MAX_SIDE: usize = 32;

/// The overcomplete separable Haar dictionary of `side` x `side` tiles.
///
/// Its atoms are all products of two one-dimensional Haar functions, each at every cyclic
/// shift: the constant, and per dyadic scale the step up and down of that width. For 8 x 8 tiles
/// these are 1 + 4 + 8 + 8 = 21 functions and 441 atoms, the dictionary with which the K-SVD
/// literature compares. (At the widest scale half of the shifts are left out, being the
/// negatives of the others.)
///
/// # Errors
/// [`Error::Parameter`] unless `side` is a power of two from 2 to 32.
pub fn overcomplete_haar(side: usize) -> Result<Dictionary, Error> {
    if !side.is_power_of_two() || !(2..=MAX_SIDE).contains(&side) {
        let reason = format!("must be a power of two from 2 to {MAX_SIDE}, not {side}");
        return Err(Error::parameter("side", reason));
    }
    let lines = shifted_haar(side);
    let atoms = Mat::from_fn(side * side, lines.len() * lines.len(), |place, atom| {
        let (vertical, horizontal) = (&lines[atom / lines.len()], &lines[atom % lines.len()]);
        vertical[place / side] * horizontal[place % side]
    });
    Dictionary::new(atoms.as_ref())
}

/// The constant and all distinct cyclic shifts of the Haar steps of every width, not normalised.
fn shifted_haar(length: usize) -> Vec<Vec<f64>> {
    let mut lines = vec![vec![1.0; length]];
    let widths = std::iter::successors(Some(length), |&width| Some(width / 2));
    for width in widths.take_while(|&width| width >= 2) {
        let shifts = if width == length { length / 2 } else { length };
        lines.extend((0..shifts).map(|shift| haar_step(length, width, shift)));
    }
    lines
}

/// +1 over the first half of `width` places from `shift` on, -1 over the second, cyclically.
fn haar_step(length: usize, width: usize, shift: usize) -> Vec<f64> {
    let mut line = vec![0.0; length];
    for offset in 0..width {
        line[(shift + offset) % length] = if offset < width / 2 { 1.0 } else { -1.0 };
    }
    line
}

/// `atoms` random directions: normalised vectors of independent Gaussian values.
///
/// # Errors
/// [`Error::Empty`] if a size is zero.
pub fn gaussian(dimension: usize, atoms: usize, seed: u64) -> Result<Dictionary, Error> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let values = Mat::from_fn(dimension, atoms, |_, _| normal(&mut rng));
    Dictionary::new(values.as_ref())
}

/// A standard normal value (Box and Muller).
fn normal(rng: &mut Pcg64) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn haar_has_441_different_atoms_for_tiles_of_eight() {
        let dictionary = overcomplete_haar(8).unwrap();
        assert_eq!((dictionary.dimension(), dictionary.count()), (64, 441));
        let atoms = dictionary.atoms();
        let gram = atoms.transpose() * atoms;
        for row in 0..441 {
            assert!((gram[(row, row)] - 1.0).abs() < 1e-12);
            assert!(
                (0..row).all(|column| gram[(row, column)].abs() < 1.0 - 1e-9),
                "atom {row} is doubled"
            );
        }
    }

    #[test]
    fn haar_refuses_other_sides() {
        for side in [0, 1, 6, 64] {
            assert!(overcomplete_haar(side).is_err());
        }
    }

    #[test]
    fn gaussian_atoms_are_unit_and_reproducible() {
        let dictionary = gaussian(20, 500, 3).unwrap();
        assert_eq!(dictionary, gaussian(20, 500, 3).unwrap());
        assert_ne!(dictionary, gaussian(20, 500, 4).unwrap());
        // Directions are spread evenly: the average of a squared entry is 1 / dimension.
        let first: f64 = (0..500)
            .map(|atom| dictionary.atoms()[(0, atom)].powi(2))
            .sum();
        assert!((first / 500.0 - 0.05).abs() < 0.01, "{first}");
    }

    #[test]
    fn gaussian_refuses_empty_sizes() {
        assert!(gaussian(0, 3, 1).is_err() && gaussian(3, 0, 1).is_err());
    }
}
