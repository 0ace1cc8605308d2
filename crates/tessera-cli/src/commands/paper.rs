//! `tessera paper`: the experiments of the BatchSVD paper, its figures beside ours.

use crate::exit::Usage;
use crate::files::{check_output, print_report, write_output};
use crate::progress::StepBar;
use crate::threads::with_threads;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tessera_paper::{DataDir, Experiment, Report, Selection, Settings};

/// Reproduces the tables and the figure of "A Batchwise Monotone Algorithm for Dictionary Learning".
#[derive(Debug, Args)]
pub struct PaperArgs {
    /// What to reproduce.
    #[arg(value_enum)]
    experiment: ExperimentName,
    /// Folder of the data: its root, or the one folder the experiment needs.
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Only this test picture (table1, openset).
    #[arg(long, value_name = "NAME", conflicts_with = "set")]
    image: Option<String>,
    /// Only this set (any experiment; sets are named as their data files).
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Seed of everything random.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Adds a column with our best pipeline.
    #[arg(long)]
    best: bool,
    /// Writes the figures as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the report as Markdown and the pictures as PNG into this folder.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Overwrites existing files.
    #[arg(long)]
    force: bool,
    /// Number of threads; the results do not depend on it.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

/// The experiments by the names they have on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExperimentName {
    /// Table 1: patches of five pictures.
    Table1,
    /// Table 2: seven UCI sets.
    Table2,
    /// Coding of patches that were not learned from.
    Openset,
    /// Figure 1: learned atoms of photos and digits as mosaics.
    Figure1,
}

impl From<ExperimentName> for Experiment {
    fn from(name: ExperimentName) -> Self {
        match name {
            ExperimentName::Table1 => Self::Table1,
            ExperimentName::Table2 => Self::Table2,
            ExperimentName::Openset => Self::OpenSet,
            ExperimentName::Figure1 => Self::Figure1,
        }
    }
}

impl PaperArgs {
    fn selection(&self) -> Selection {
        match (&self.image, &self.set) {
            (Some(name), _) => Selection::Image(name.clone()),
            (None, Some(name)) => Selection::Set(name.clone()),
            (None, None) => Selection::All,
        }
    }

    /// Refuses impossible outputs before minutes of work.
    fn check_outputs(&self, experiment: Experiment, settings: &Settings) -> Result<()> {
        if matches!(experiment, Experiment::Figure1) && self.output.is_none() {
            let reason = "figure1 draws pictures: name a folder for them with -o DIR";
            bail!(Usage(reason.to_owned()));
        }
        if let Some(path) = &self.json {
            check_output(path, self.force)?;
        }
        if let Some(folder) = &self.output {
            let names = experiment.file_names(settings)?;
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder {}", folder.display()))?;
            names
                .iter()
                .try_for_each(|name| check_output(&folder.join(name), self.force))?;
        }
        Ok(())
    }

    fn write(&self, report: &Report) -> Result<()> {
        if let Some(path) = &self.json {
            let text = serde_json::to_string_pretty(&report.to_json())? + "\n";
            write_output(path, text.as_bytes(), self.force)?;
        }
        if let Some(folder) = &self.output {
            for figure in &report.figures {
                write_output(&folder.join(&figure.name), &figure.png, self.force)?;
            }
            let markdown = report.to_markdown();
            write_output(
                &folder.join(report.file_name()),
                markdown.as_bytes(),
                self.force,
            )?;
        }
        Ok(())
    }
}

/// Runs the command.
///
/// # Errors
/// If the data is missing or damaged, an output exists already, or a set is unknown.
pub fn run(args: &PaperArgs) -> Result<()> {
    let experiment = Experiment::from(args.experiment);
    let settings = Settings {
        data: DataDir::new(&args.data),
        selection: args.selection(),
        seed: args.seed,
        best: args.best,
    };
    args.check_outputs(experiment, &settings)?;
    let mut bar = StepBar::new();
    let report = with_threads(args.threads, || {
        Ok(tessera_paper::run(experiment, &settings, &mut bar)?)
    })?;
    bar.finish();
    args.write(&report)?;
    print_report(&report.to_terminal())?;
    Ok(())
}
