//! The atoms of a dictionary as a matrix of samples.

use crate::dictionaries;
use crate::exit::Usage;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use faer::Mat;
use std::f64::consts::PI;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use tessera_dict::basis::Rotation;
use tessera_dict::{Dictionary, PlaneKind};
use tessera_patch::Shape;

/// Which atoms of a `.tsd` file are meant.
#[derive(Debug, Args)]
pub(super) struct AtomArgs {
    /// Width and height of the patches whose bases are meant; mosaics need equal sides.
    #[arg(long, value_name = "WxH", default_value = "8x8", value_parser = parse_shape)]
    shape: Shape,
    /// Class of prediction modes: 0 is flat, higher ones are directions.
    #[arg(long, default_value_t = 0)]
    class: usize,
    /// Bases of chroma planes instead of luma.
    #[arg(long)]
    chroma: bool,
    /// The free atoms of the shape, which luma of all classes shares, instead of bases.
    #[arg(long, conflicts_with_all = ["chroma", "class"])]
    free: bool,
}

fn parse_shape(text: &str) -> Result<Shape, String> {
    let sides = text.split_once('x');
    let sides = sides.and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    sides
        .and_then(|(width, height)| Shape::new(width, height))
        .ok_or_else(|| "a shape is 4x4 to 64x64 in powers of two, sides at most 2:1".into())
}

impl AtomArgs {
    /// The atoms, one per column: of a NumPy matrix as they are, of a dictionary the learned bases of one group.
    pub(super) fn load(&self, spec: &Path) -> Result<Mat<f64>> {
        if spec.extension().is_some_and(|ending| ending == "npy") {
            return read_npy(spec).with_context(|| format!("cannot read {}", spec.display()));
        }
        self.of(&dictionaries::load(spec)?)
    }

    fn of(&self, dictionary: &Dictionary) -> Result<Mat<f64>> {
        if self.free {
            return self.free_atoms(dictionary);
        }
        let (kind, bases) = match self.chroma {
            false => (PlaneKind::Luma, dictionary.luma()),
            true => (PlaneKind::Chroma, dictionary.chroma()),
        };
        let classes = kind.classes(self.shape);
        if self.class >= classes {
            bail!(Usage(format!(
                "patches of this shape have the classes 0 to {}",
                classes - 1
            )));
        }
        let group = bases.group(self.shape, self.class);
        let learned: Vec<Mat<f64>> = (group.iter())
            .filter_map(|basis| basis.rotation.as_ref().map(samples_of))
            .collect();
        let first = learned.first().ok_or_else(|| {
            anyhow!("this dictionary has no learned basis for this shape and class")
        })?;
        let (rows, each) = (first.nrows(), first.ncols());
        Ok(Mat::from_fn(rows, each * learned.len(), |i, j| {
            learned[j / each][(i, j % each)]
        }))
    }

    fn free_atoms(&self, dictionary: &Dictionary) -> Result<Mat<f64>> {
        let sets = dictionary.luma().atoms();
        let set = sets.get(self.shape).ok_or_else(|| {
            let shapes: Vec<String> = (sets.sets())
                .map(|set| format!("{}x{}", set.shape.width(), set.shape.height()))
                .collect();
            match shapes.is_empty() {
                true => anyhow!("this dictionary has no free atoms"),
                false => anyhow!(
                    "this dictionary has no free atoms of this shape, but of {}",
                    shapes.join(", ")
                ),
            }
        })?;
        Ok(samples_of(set.atoms))
    }
}

/// Atoms as patches, one per column.
fn samples_of(atoms: &Rotation) -> Mat<f64> {
    let (shape, rows) = (atoms.shape, atoms.to_rows());
    let m = shape.rotated();
    let spectra = Mat::from_fn(m, atoms.scales.len(), |i, j| f64::from(rows[j * m + i]));
    let scan = shape.scan();
    let (w, h) = (shape.width(), shape.height());
    let cosine = |n: usize, frequency: usize, place: usize| {
        let norm = if frequency == 0 { 1.0 } else { 2.0 };
        let phase = PI * frequency as f64 * (2 * place + 1) as f64 / (2 * n) as f64;
        (norm / n as f64).sqrt() * phase.cos()
    };
    let waves = Mat::from_fn(w * h, m, |sample, i| {
        let raster = scan[i] as usize;
        cosine(w, raster % w, sample % w) * cosine(h, raster / w, sample / w)
    });
    waves * spectra
}

fn read_npy(path: &Path) -> Result<Mat<f64>> {
    let file = BufReader::new(File::open(path)?);
    Ok(batchsvd::npy::read_mat(file)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn atoms_are_orthonormal_patches() {
        let args = AtomArgs {
            shape: Shape::new(8, 8).unwrap(),
            class: 0,
            chroma: false,
            free: false,
        };
        let atoms = args.of(Dictionary::builtin()).unwrap();
        assert_eq!(atoms.nrows(), 64);
        assert_eq!(atoms.ncols() % 64, 0);
        let product =
            |a: usize, b: usize| -> f64 { (0..64).map(|i| atoms[(i, a)] * atoms[(i, b)]).sum() };
        // Atoms are stored in eight bits.
        assert!((product(3, 3) - 1.0).abs() < 0.02);
        assert!(product(3, 9).abs() < 0.02);
    }

    #[test]
    fn shapes_are_checked() {
        assert!(parse_shape("16x8").is_ok());
        for text in ["9x9", "8", "4x16", "x", "128x128"] {
            assert!(parse_shape(text).is_err(), "{text}");
        }
    }
}
