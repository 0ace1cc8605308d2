//! Tables 1 and 2: every method on the same samples with the same number of non-zeros.
//!
//! Part (a) lets online learning choose the sparsity and gives it to the others; part (b) lets
//! error-based K-SVD choose it. The batchwise methods get exactly the non-zeros of K-SVD
//! in (a) and of error-based K-SVD in (b). A third table takes the gain of (a) apart.

use crate::data::{DataDir, load_image, load_uci, sample_patches};
use crate::learners::Bench;
use crate::method::Method;
use crate::published::{PublishedTable, TABLE_1A, TABLE_1B, TABLE_2A, TABLE_2B};
use crate::remarks;
use crate::report::{Report, Row, Table};
use crate::watch::Watch;
use crate::{Experiment, PaperError, Settings};
use batchsvd::baseline::{gaussian, overcomplete_haar};
use batchsvd::{Budget, Dictionary, Error, SampleMatrix};
use faer::Mat;
use rand::SeedableRng;
use rand_pcg::Pcg64;

/// Width of the patches of Table 1.
pub(crate) const PATCH_SIDE: usize = 8;
/// Patches learned from, per picture.
pub(crate) const PATCHES: usize = 3_000;

/// What differs between the two tables.
pub(crate) struct Setup {
    experiment: Experiment,
    what: &'static str,
    parts: [(&'static str, &'static PublishedTable); 2],
    load: fn(&DataDir, &str, u64) -> Result<Mat<f64>, PaperError>,
    /// Number of atoms of learned and random dictionaries.
    pub(crate) atoms: usize,
    /// Penalty of online learning.
    pub(crate) lambda: f64,
    /// Error at which error-based K-SVD stops coding a sample.
    error_target: f64,
    /// Width of the tiles of which wavelets exist, if samples are tiles.
    pub(crate) tile: Option<usize>,
}

/// The constants of Table 1.
pub(crate) const TABLE_1: Setup = Setup {
    experiment: Experiment::Table1,
    what: "3,000 patches of 8x8 pixels, each without its mean; 256 atoms",
    parts: [("1a", &TABLE_1A), ("1b", &TABLE_1B)],
    load: |data, set, seed| Ok(draw_patches(data, set, seed)?.0),
    atoms: 256,
    lambda: 10.0,
    error_target: 30.0,
    tile: Some(PATCH_SIDE),
};

const TABLE_2: Setup = Setup {
    experiment: Experiment::Table2,
    what: "UCI samples of unit norm; 30 atoms",
    parts: [("2a", &TABLE_2A), ("2b", &TABLE_2B)],
    load: |data, set, _| load_uci(data, set),
    atoms: 30,
    lambda: 0.02,
    error_target: 0.01,
    tile: None,
};

/// Runs Table 1.
pub(crate) fn table1(settings: &Settings, watch: &mut dyn Watch) -> Result<Report, PaperError> {
    TABLE_1.run(settings, watch)
}

/// Runs Table 2.
pub(crate) fn table2(settings: &Settings, watch: &mut dyn Watch) -> Result<Report, PaperError> {
    let mut report = TABLE_2.run(settings, watch)?;
    report
        .remarks
        .extend(remarks::printed_ksvd(&report.tables[0]));
    Ok(report)
}

/// The training patches of a picture, and as many others that nothing is learned from.
pub(crate) fn draw_patches(
    data: &DataDir,
    set: &str,
    seed: u64,
) -> Result<(Mat<f64>, Mat<f64>), PaperError> {
    let picture = [load_image(data, set, PATCH_SIDE)?];
    let mut rng = Pcg64::seed_from_u64(seed);
    let training = sample_patches(&picture, PATCH_SIDE, PATCHES, &mut rng);
    let unseen = sample_patches(&picture, PATCH_SIDE, PATCHES, &mut rng);
    Ok((training, unseen))
}

/// The fixed dictionaries that need no learning.
pub(crate) fn fixed_dictionaries(
    setup: &Setup,
    samples: &SampleMatrix,
    seed: u64,
) -> Result<Vec<(Method, Dictionary)>, Error> {
    let wavelets = setup
        .tile
        .map(|side| Ok((Method::Wavelet, overcomplete_haar(side)?)));
    let random = gaussian(samples.dimension(), setup.atoms, seed)
        .map(|dictionary| (Method::Random, dictionary));
    wavelets.into_iter().chain([random]).collect()
}

/// The rows of the three tables, set after set.
#[derive(Default)]
struct Rows {
    parts: [Vec<Row>; 2],
    attribution: Vec<Row>,
}

impl Setup {
    fn run(&self, settings: &Settings, watch: &mut dyn Watch) -> Result<Report, PaperError> {
        let sets = settings.selection.among(self.experiment)?;
        let batches = sets
            .iter()
            .map(|set| (self.load)(&settings.data, set, settings.seed));
        let batches: Vec<Mat<f64>> = batches.collect::<Result<_, _>>()?;
        watch.begin(sets.len() * self.steps(settings.best));
        let mut rows = Rows::default();
        for (set, batch) in sets.into_iter().zip(&batches) {
            let outcome = self.run_set(set, batch, settings, watch, &mut rows);
            outcome.map_err(|source| PaperError::Learning {
                set: set.to_owned(),
                source,
            })?;
        }
        Ok(self.report(settings, rows))
    }

    /// How many methods run on one set, over both parts and the attribution.
    fn steps(&self, best: bool) -> usize {
        11 + 2 * usize::from(self.tile.is_some()) + 2 * usize::from(best)
    }

    fn run_set(
        &self,
        set: &'static str,
        batch: &Mat<f64>,
        settings: &Settings,
        watch: &mut dyn Watch,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        let samples = SampleMatrix::new(batch.as_ref())?;
        let mut run = SetRun {
            setup: self,
            fixed: fixed_dictionaries(self, &samples, settings.seed)?,
            bench: Bench::new(set, &samples, self.atoms, settings.seed, watch),
            best: settings.best,
        };
        let (columns, stages) = run.at_the_sparsity_of_online()?;
        rows.parts[0].extend(columns);
        rows.attribution.extend(stages);
        rows.parts[1].extend(run.at_the_sparsity_of_esvd()?);
        Ok(())
    }

    fn report(&self, settings: &Settings, rows: Rows) -> Report {
        let explain = ["against K-SVD", "against error-based K-SVD"];
        let mut tables = Vec::new();
        for (((id, published), rows), against) in
            self.parts.into_iter().zip(rows.parts).zip(explain)
        {
            tables.push(Table {
                id,
                title: format!("{}; {against}", self.what),
                unit: published.unit,
                rows: rows.into_iter().map(|row| row.beside(published)).collect(),
            });
        }
        let attribution = Table {
            id: "attribution",
            title: "where the gain over K-SVD comes from".to_owned(),
            unit: tables[0].unit,
            rows: rows.attribution,
        };
        let remarks = vec![
            remarks::recipe(settings.best),
            remarks::attribution(&attribution),
        ];
        tables.push(attribution);
        Report {
            name: self.experiment.name(),
            seed: settings.seed,
            tables,
            remarks,
            figures: Vec::new(),
        }
    }
}

/// Everything needed to fill one set's rows.
struct SetRun<'a> {
    setup: &'a Setup,
    fixed: Vec<(Method, Dictionary)>,
    bench: Bench<'a>,
    best: bool,
}

impl SetRun<'_> {
    /// Part (a), and the stages between K-SVD and BatchSVD.
    fn at_the_sparsity_of_online(&mut self) -> Result<(Vec<Row>, Vec<Row>), Error> {
        let online = self.bench.online(self.setup.lambda)?;
        let k = online.atoms_per_sample();
        let ksvd = self.bench.ksvd(Method::Ksvd, Budget::PerSample(k))?;
        let mut rows = vec![
            self.bench.row(Method::Online, &online)?,
            self.bench.row(Method::Ksvd, &ksvd)?,
        ];
        rows.extend(self.fixed_rows(k)?);
        let nonzeros = ksvd.code.nonzeros();
        let recoded = self.bench.code(
            Method::KsvdRecoded,
            &ksvd.dictionary,
            Budget::Batch(nonzeros),
        )?;
        let start = self.bench.start(nonzeros)?;
        let switched = self.bench.row_switching(nonzeros)?;
        let batch = self.bench.batch(nonzeros)?;
        rows.push(self.bench.row(Method::Batch, &batch)?);
        rows.extend(self.best_row(nonzeros)?);
        let stages = [
            (Method::Ksvd, ksvd),
            (Method::KsvdRecoded, recoded),
            (Method::Start, start),
            (Method::RowSwitching, switched),
            (Method::Batch, batch),
        ];
        let stages = stages
            .iter()
            .map(|(method, learned)| self.bench.row(*method, learned));
        Ok((rows, stages.collect::<Result<_, _>>()?))
    }

    /// Part (b).
    fn at_the_sparsity_of_esvd(&mut self) -> Result<Vec<Row>, Error> {
        let esvd = self
            .bench
            .ksvd(Method::Esvd, Budget::Error(self.setup.error_target))?;
        let k = esvd.atoms_per_sample();
        let ksvd = self.bench.ksvd(Method::Ksvd, Budget::PerSample(k))?;
        let mut rows = vec![
            self.bench.row(Method::Esvd, &esvd)?,
            self.bench.row(Method::Ksvd, &ksvd)?,
        ];
        rows.extend(self.fixed_rows(k)?);
        let nonzeros = esvd.code.nonzeros();
        let batch = self.bench.batch(nonzeros)?;
        rows.push(self.bench.row(Method::Batch, &batch)?);
        rows.extend(self.best_row(nonzeros)?);
        Ok(rows)
    }

    fn fixed_rows(&mut self, k: usize) -> Result<Vec<Row>, Error> {
        let mut rows = Vec::new();
        for (method, dictionary) in &self.fixed {
            let coded = self.bench.code(*method, dictionary, Budget::PerSample(k))?;
            rows.push(self.bench.row(*method, &coded)?);
        }
        Ok(rows)
    }

    fn best_row(&mut self, nonzeros: usize) -> Result<Option<Row>, Error> {
        if !self.best {
            return Ok(None);
        }
        let best = self.bench.best(nonzeros)?;
        self.bench.row(Method::Best, &best).map(Some)
    }
}
