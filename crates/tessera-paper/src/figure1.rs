//! Figure 1: dictionaries learned from photo patches and from digits, as mosaics.

use crate::data::{DataDir, load_digits, load_photos, sample_patches};
use crate::learners::{Bench, Learned};
use crate::method::Method;
use crate::remarks;
use crate::report::{Figure, Report, Row, Table};
use crate::selection::{DIGITS, PHOTOS};
use crate::watch::Watch;
use crate::{Experiment, PaperError, Settings};
use batchsvd::{Error, SampleMatrix};
use faer::Mat;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use tessera_eval::mosaic::mosaic_png;

/// What one half of the figure is learned from.
struct Half {
    set: &'static str,
    load: fn(&DataDir, &mut Pcg64) -> Result<Mat<f64>, PaperError>,
    atoms: usize,
    /// The paper's average number of non-zeros per sample.
    nonzeros_per_sample: f64,
}

/// Patches of 16x16 pixels and a square dictionary. The paper's photos show one cathedral; ours
/// are of many subjects.
const PHOTO_HALF: Half = Half {
    set: PHOTOS,
    load: |data, rng| Ok(sample_patches(&load_photos(data, 16)?, 16, 10_000, rng)),
    atoms: 256,
    nonzeros_per_sample: 2.0223,
};

const DIGIT_HALF: Half = Half {
    set: DIGITS,
    load: |data, rng| load_digits(data, 3_000, rng),
    atoms: 100,
    nonzeros_per_sample: 6.0,
};

/// The name of the picture of one set and method.
pub(crate) fn picture_name(set: &str, method: Method) -> String {
    format!("{}-{set}-{}.png", Experiment::Figure1.name(), method.name())
}

/// The methods that are drawn.
pub(crate) fn methods(best: bool) -> &'static [Method] {
    if best {
        &[Method::Batch, Method::Best]
    } else {
        &[Method::Batch]
    }
}

/// Runs the experiment.
pub(crate) fn run(settings: &Settings, watch: &mut dyn Watch) -> Result<Report, PaperError> {
    let sets = settings.selection.among(Experiment::Figure1)?;
    let halves: Vec<Half> = [PHOTO_HALF, DIGIT_HALF]
        .into_iter()
        .filter(|half| sets.contains(&half.set))
        .collect();
    let load = |half: &Half| (half.load)(&settings.data, &mut Pcg64::seed_from_u64(settings.seed));
    let batches: Vec<Mat<f64>> = halves.iter().map(load).collect::<Result<_, _>>()?;
    watch.begin(halves.len() * methods(settings.best).len());
    let (mut rows, mut figures) = (Vec::new(), Vec::new());
    for (half, batch) in halves.iter().zip(&batches) {
        let learned = half.learn(batch, settings, watch);
        let learned = learned.map_err(|source| PaperError::Learning {
            set: half.set.to_owned(),
            source,
        })?;
        for (row, learned) in learned {
            let png = mosaic_png(learned.dictionary.atoms())?;
            figures.push(Figure {
                name: picture_name(half.set, row.method),
                png,
            });
            rows.push(row);
        }
    }
    Ok(report(settings, rows, figures))
}

impl Half {
    fn learn(
        &self,
        batch: &Mat<f64>,
        settings: &Settings,
        watch: &mut dyn Watch,
    ) -> Result<Vec<(Row, Learned)>, Error> {
        let samples = SampleMatrix::new(batch.as_ref())?;
        let nonzeros = (self.nonzeros_per_sample * samples.count() as f64).round() as usize;
        let mut bench = Bench::new(self.set, &samples, self.atoms, settings.seed, watch);
        let mut outcomes = Vec::new();
        for &method in methods(settings.best) {
            let learned = if method == Method::Best {
                bench.best(nonzeros)?
            } else {
                bench.batch(nonzeros)?
            };
            outcomes.push((bench.row(method, &learned)?, learned));
        }
        Ok(outcomes)
    }
}

fn report(settings: &Settings, rows: Vec<Row>, figures: Vec<Figure>) -> Report {
    let table = Table {
        id: "figure1",
        title: "dictionaries of the mosaics: 256 atoms of 16x16 pixels from photos, 100 atoms of 28x28 from digits".to_owned(),
        unit: 1.0,
        rows,
    };
    Report {
        name: Experiment::Figure1.name(),
        seed: settings.seed,
        tables: vec![table],
        remarks: vec![remarks::recipe(settings.best)],
        figures,
    }
}
