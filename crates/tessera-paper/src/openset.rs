//! Coding patches that were not learned from.
//!
//! Every dictionary is learned from one half of a picture's random patches and codes the other
//! half with the same number of non-zeros. The first table gives each method its own coder: OMP
//! with the same count for every patch, or one budget for the batch. The second gives all of
//! them the batchwise coder, so that what is left is the dictionary.

use crate::comparison::{TABLE_1, draw_patches, fixed_dictionaries};
use crate::learners::Bench;
use crate::method::Method;
use crate::remarks;
use crate::report::{Report, Row, Table};
use crate::watch::Watch;
use crate::{Experiment, PaperError, Settings};
use batchsvd::{Budget, Dictionary, Error, SampleMatrix};
use faer::Mat;

/// The rows of the two tables.
#[derive(Default)]
struct Rows {
    own: Vec<Row>,
    batchwise: Vec<Row>,
}

/// Runs the experiment.
pub(crate) fn run(settings: &Settings, watch: &mut dyn Watch) -> Result<Report, PaperError> {
    let sets = settings.selection.among(Experiment::OpenSet)?;
    let batches = sets
        .iter()
        .map(|set| draw_patches(&settings.data, set, settings.seed));
    let batches: Vec<(Mat<f64>, Mat<f64>)> = batches.collect::<Result<_, _>>()?;
    watch.begin(sets.len() * steps(settings.best));
    let mut rows = Rows::default();
    for (set, (training, unseen)) in sets.into_iter().zip(&batches) {
        let outcome = run_set(set, training, unseen, settings, watch, &mut rows);
        outcome.map_err(|source| PaperError::Learning {
            set: set.to_owned(),
            source,
        })?;
    }
    Ok(report(settings, rows))
}

/// Learning with online learning, K-SVD and BatchSVD, then coding five dictionaries twice.
fn steps(best: bool) -> usize {
    3 + 2 * 5 + 3 * usize::from(best)
}

fn run_set(
    set: &'static str,
    training: &Mat<f64>,
    unseen: &Mat<f64>,
    settings: &Settings,
    watch: &mut dyn Watch,
    rows: &mut Rows,
) -> Result<(), Error> {
    let (training, unseen) = (
        SampleMatrix::new(training.as_ref())?,
        SampleMatrix::new(unseen.as_ref())?,
    );
    let (k, dictionaries) = learn(set, &training, settings, watch)?;
    let mut bench = Bench::new(set, &unseen, TABLE_1.atoms, settings.seed, watch);
    let batch = Budget::Batch(k * unseen.count());
    for (method, dictionary) in &dictionaries {
        let own = match method {
            Method::Best => bench.code_best(dictionary, k * unseen.count())?,
            Method::Batch => bench.code(*method, dictionary, batch)?,
            _ => bench.code(*method, dictionary, Budget::PerSample(k))?,
        };
        rows.own.push(bench.row(*method, &own)?);
        let batchwise = bench.code(*method, dictionary, batch)?;
        rows.batchwise.push(bench.row(*method, &batchwise)?);
    }
    Ok(())
}

/// All dictionaries, and the sparsity they are compared at.
fn learn(
    set: &'static str,
    training: &SampleMatrix,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<(usize, Vec<(Method, Dictionary)>), Error> {
    let mut bench = Bench::new(set, training, TABLE_1.atoms, settings.seed, watch);
    let online = bench.online(TABLE_1.lambda)?;
    let k = online.atoms_per_sample();
    let ksvd = bench.ksvd(Method::Ksvd, Budget::PerSample(k))?;
    let nonzeros = ksvd.code.nonzeros();
    let mut dictionaries = vec![
        (Method::Online, online.dictionary),
        (Method::Ksvd, ksvd.dictionary),
    ];
    dictionaries.extend(fixed_dictionaries(&TABLE_1, training, settings.seed)?);
    dictionaries.push((Method::Batch, bench.batch(nonzeros)?.dictionary));
    if settings.best {
        dictionaries.push((Method::Best, bench.best(nonzeros)?.dictionary));
    }
    Ok((k, dictionaries))
}

fn report(settings: &Settings, rows: Rows) -> Report {
    let table = |id, title: &str, rows| Table {
        id,
        title: title.to_owned(),
        unit: 10.0,
        rows,
    };
    let own = table(
        "openset",
        "3,000 unseen patches, every method with its own coder",
        rows.own,
    );
    let batchwise = table(
        "openset-block",
        "the same patches, every dictionary coded with Block OMP",
        rows.batchwise,
    );
    let remarks = vec![
        remarks::recipe(settings.best),
        remarks::open_set(&own, &batchwise),
    ];
    Report {
        name: Experiment::OpenSet.name(),
        seed: settings.seed,
        tables: vec![own, batchwise],
        remarks,
        figures: Vec::new(),
    }
}
