//! The experiments of "A Batchwise Monotone Algorithm for Dictionary Learning", run again.
//!
//! Each experiment loads its data, runs every method of the paper's table on it, and returns a
//! [`Report`] with the paper's figure beside ours. Figures are the mean and standard deviation
//! of the samples' l2 errors. Everything random follows one seed, and the number of threads
//! changes nothing.

mod comparison;
mod data;
mod error;
mod figure1;
mod grid;
mod learners;
mod method;
mod openset;
mod published;
mod remarks;
mod report;
mod selection;
mod watch;

pub use data::DataDir;
pub use error::PaperError;
pub use method::Method;
pub use published::Published;
pub use report::{Figure, Report, Row, Table};
pub use selection::Selection;
pub use watch::Watch;

/// What can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Tables 1(a) and 1(b): patches of five pictures.
    Table1,
    /// Tables 2(a) and 2(b): seven UCI sets.
    Table2,
    /// Coding patches that were not learned from.
    OpenSet,
    /// Mosaics of learned dictionaries.
    Figure1,
}

/// How an experiment is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where the data lies.
    pub data: DataDir,
    /// Which of the experiment's sets to run.
    pub selection: Selection,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether our best pipeline is run beside the paper's methods.
    pub best: bool,
}

impl Experiment {
    /// The name, which is also the stem of the report's file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table1",
            Self::Table2 => "table2",
            Self::OpenSet => "openset",
            Self::Figure1 => "figure1",
        }
    }

    /// The names of the files a run with these settings leaves in its output folder.
    ///
    /// # Errors
    /// If the selection names a set the experiment does not have.
    pub fn file_names(self, settings: &Settings) -> Result<Vec<String>, PaperError> {
        let sets = settings.selection.among(self)?;
        let mut names = vec![format!("{}.md", self.name())];
        if self == Self::Figure1 {
            for set in sets {
                let methods = figure1::methods(settings.best).iter();
                names.extend(methods.map(|&method| figure1::picture_name(set, method)));
            }
        }
        Ok(names)
    }
}

/// Runs an experiment.
///
/// # Errors
/// If data is missing or damaged, or the selection names a set that does not exist.
pub fn run(
    experiment: Experiment,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Result<Report, PaperError> {
    match experiment {
        Experiment::Table1 => comparison::table1(settings, watch),
        Experiment::Table2 => comparison::table2(settings, watch),
        Experiment::OpenSet => openset::run(settings, watch),
        Experiment::Figure1 => figure1::run(settings, watch),
    }
}
