//! Learns a dictionary from the columns of a `.npy` matrix and prints the error and the time.
//!
//! ```text
//! learn SAMPLES.npy ATOMS BUDGET [paper|best|large] [--unseen OTHER.npy] [--threads N]
//!       [--seed N] [--dictionary OUT.npy] [--given DICTIONARY.npy] [--trace]
//! ```
//!
//! With `--given` nothing is learned: the samples are coded over that dictionary by Block OLS.
//!
//! The last line is `objective mean-error standard-deviation non-zeros cpu-seconds wall-seconds`.

use batchsvd::{
    Alternate, BatchSvdParams, Budget, Dictionary, Progress, Rule, SampleMatrix, SparseCode, Start,
    code, npy,
};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::ops::ControlFlow;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let [path, atoms, budget] = arguments.get(..3).ok_or("see the head of this file")? else {
        unreachable!("three were taken");
    };
    let (atoms, budget) = (atoms.parse()?, budget.parse()?);
    let preset = arguments.get(3).map_or("best", String::as_str);
    let mut params = match preset {
        "paper" => BatchSvdParams::paper(atoms, budget),
        "large" => BatchSvdParams::large(atoms, budget),
        _ => BatchSvdParams::best(atoms, budget),
    };
    if let Some(path) = option("--given") {
        let atoms = npy::read_mat(BufReader::new(File::open(path)?))?;
        params.start = Start::Given(Dictionary::new(atoms.as_ref())?);
        params.alternate = Alternate {
            rule: Rule::Ols,
            iterations: 0,
        };
        params.iterations = 0;
    }
    params.seed = option("--seed").map_or(Ok(0), |seed| seed.parse())?;
    if let Some(threads) = option("--threads") {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads.parse()?);
        builder.build_global()?;
    }
    let samples = read(path)?;
    let (cpu, start) = (cpu_seconds(), Instant::now());
    let traced = arguments.iter().any(|argument| argument == "--trace");
    let mut observer = |progress: &Progress| {
        if traced {
            let seconds = cpu_seconds() - cpu;
            println!(
                "{seconds:8.2} {:?} {} {:.6e}",
                progress.phase, progress.iteration, progress.objective
            );
        }
        ControlFlow::Continue(())
    };
    let fit = params.check()?.fit_observed(&samples, &mut observer)?;
    let (cpu, wall) = (cpu_seconds() - cpu, start.elapsed().as_secs_f64());
    if let Some(path) = option("--dictionary") {
        let file = BufWriter::new(File::create(path)?);
        npy::write_mat(fit.dictionary.atoms(), file)?;
    }
    if let Some(path) = option("--unseen") {
        let unseen = read(&path)?;
        let share = budget * unseen.count() / samples.count();
        let coded = code(&fit.dictionary, &unseen, Budget::Batch(share), Rule::Ols)?;
        let (mean, deviation) = error(&fit.dictionary, &unseen, &coded)?;
        println!("unseen {mean:.4} {deviation:.4} {}", coded.nonzeros());
    }
    let (mean, deviation) = error(&fit.dictionary, &samples, &fit.code)?;
    let nonzeros = fit.code.nonzeros();
    println!(
        "{:.6e} {mean:.4} {deviation:.4} {nonzeros} {cpu:.3} {wall:.3}",
        fit.objective
    );
    Ok(())
}

fn read(path: &str) -> Result<SampleMatrix> {
    let matrix = npy::read_mat(BufReader::new(File::open(path)?))?;
    Ok(SampleMatrix::new(matrix.as_ref())?)
}

/// Mean and standard deviation of the samples' errors.
fn error(dictionary: &Dictionary, samples: &SampleMatrix, code: &SparseCode) -> Result<(f64, f64)> {
    let errors = dictionary.errors(samples, code)?;
    let count = errors.len() as f64;
    let mean = errors.iter().sum::<f64>() / count;
    let variance = errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / count;
    Ok((mean, variance.sqrt()))
}

/// Processor time of this process so far, from `/proc`; zero where there is none.
fn cpu_seconds() -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / TICKS_PER_SECOND
}
