//! Progress bars: drawn on terminals only, silent in pipes and logs.
//!
//! A command whose work is one learning run hands a [`PhaseBar`] to `batchsvd`; one made of many
//! steps (the paper's experiments) uses a [`StepBar`].

use crate::verbosity;
use batchsvd::{Observer, Progress};
use indicatif::{ProgressBar, ProgressStyle};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tessera_paper::{Method, Watch};
use tessera_train::{Stage, TrainObserver};

const STEPS: &str = "{bar:30} {pos}/{len} {wide_msg} {elapsed}";
const PHASES: &str = "{spinner} {wide_msg} {elapsed}";
const PIXELS: &str = "{bar:30} {percent} % {msg} {elapsed}";
const REDRAW: Duration = Duration::from_millis(200);

/// A line that tells the phase and the objective of one learning run.
#[derive(Debug)]
pub struct PhaseBar(ProgressBar);

impl PhaseBar {
    /// Shows nothing before the first phase has ended.
    pub fn new() -> Self {
        Self(drawn(ProgressBar::no_length(), PHASES))
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Default for PhaseBar {
    fn default() -> Self {
        Self::new()
    }
}

impl Observer for PhaseBar {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0.set_message(describe(progress));
        ControlFlow::Continue(())
    }
}

/// A bar over the steps of an experiment, with the phase of the current step beside it.
#[derive(Debug)]
pub struct StepBar {
    bar: ProgressBar,
    step: String,
    begun: u64,
}

impl StepBar {
    /// An empty bar; the experiment tells the number of steps.
    pub fn new() -> Self {
        Self {
            bar: drawn(ProgressBar::no_length(), STEPS),
            step: String::new(),
            begun: 0,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for StepBar {
    fn default() -> Self {
        Self::new()
    }
}

impl Watch for StepBar {
    fn begin(&mut self, steps: usize) {
        self.bar.set_length(steps as u64);
    }

    fn step(&mut self, set: &str, method: Method) {
        self.bar.set_position(self.begun);
        self.begun += 1;
        self.step = format!("{set}: {}", method.label());
        self.bar.set_message(self.step.clone());
    }

    fn progress(&mut self, progress: &Progress) {
        self.bar
            .set_message(format!("{}, {}", self.step, describe(progress)));
    }
}

/// A bar over the pictures of each stage of a training, with the best gain on held-out pictures so far.
#[derive(Debug)]
pub struct StageBar {
    bar: ProgressBar,
    best: Option<f64>,
}

impl StageBar {
    /// An empty bar.
    pub fn new() -> Self {
        Self {
            bar: drawn(ProgressBar::no_length(), STEPS),
            best: None,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Default for StageBar {
    fn default() -> Self {
        Self::new()
    }
}

impl TrainObserver for StageBar {
    fn progress(&mut self, stage: Stage, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        let stage = match stage {
            Stage::References => "choosing reference pictures",
            Stage::Harvest => "collecting patches",
            Stage::Bases => "learning bases",
            Stage::Atoms => "learning free atoms",
            Stage::Filter => "learning the filter",
            Stage::Priors => "adapting the models",
            Stage::Prediction => "learning to predict patches",
            Stage::Network => "learning the network behind the filter",
            Stage::Validation => "checking on held-out pictures",
        };
        self.bar.set_message(match self.best {
            Some(best) => format!("{stage}; held-out bits so far {:+.1} %", 100.0 * best),
            None => stage.to_owned(),
        });
    }

    fn validated(&mut self, change: f64) {
        self.best = Some(self.best.map_or(change, |best| best.min(change)));
    }
}

/// A bar over the pixels of one picture, drawn for large ones only.
pub(crate) struct PixelBar(ProgressBar);

/// Pictures below this are done before a bar could be read.
const LARGE: u64 = 2_000_000;

impl PixelBar {
    /// A bar for a picture of so many pixels.
    pub(crate) fn new(what: &'static str, pixels: u64, wanted: bool) -> Self {
        let bar = match wanted && pixels >= LARGE {
            true => drawn(ProgressBar::new(pixels), PIXELS),
            false => ProgressBar::hidden(),
        };
        bar.set_message(what);
        Self(bar)
    }

    /// To be called with the pixels of every tile that is done. A search for a target goes over the picture again and
    /// again; each pass is a bar of its own.
    pub(crate) fn on_tile(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.0.clone();
        let passes = AtomicU64::new(1);
        move |pixels| {
            if Some(bar.position()) >= bar.length() {
                let pass = passes.fetch_add(1, Ordering::Relaxed) + 1;
                bar.set_position(0);
                bar.set_message(format!("pass {pass}"));
            }
            bar.inc(pixels);
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// A line that tells what is being waited for.
pub(crate) fn waiting(what: &'static str) -> ProgressBar {
    let bar = drawn(ProgressBar::no_length(), PHASES);
    bar.set_message(what);
    bar
}

fn drawn(bar: ProgressBar, template: &str) -> ProgressBar {
    if verbosity::quiet() {
        return ProgressBar::hidden();
    }
    // A template that does not parse would only cost the decoration.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    if !bar.is_hidden() {
        bar.enable_steady_tick(REDRAW);
    }
    bar
}

fn describe(progress: &Progress) -> String {
    let Progress {
        phase,
        iteration,
        objective,
        ..
    } = progress;
    format!("{phase:?} {}, objective {objective:.6e}", iteration + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use batchsvd::Phase;

    #[test]
    fn descriptions_count_from_one() {
        let progress = Progress {
            phase: Phase::Inner,
            iteration: 0,
            objective: 12.5,
            nonzeros: 3,
        };
        assert_eq!(describe(&progress), "Inner 1, objective 1.250000e1");
    }

    #[test]
    fn templates_parse() {
        for template in [STEPS, PHASES, PIXELS] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
    }

    #[test]
    fn pixels_of_a_picture_are_counted_pass_by_pass() {
        let bar = PixelBar(ProgressBar::hidden());
        bar.0.set_length(30);
        let hear = bar.on_tile();
        [10, 10, 10].into_iter().for_each(&hear);
        assert_eq!(bar.0.position(), 30);
        hear(10);
        assert_eq!((bar.0.position(), bar.0.message().as_str()), (10, "pass 2"));
    }

    #[test]
    fn steps_are_counted_when_the_next_begins() {
        let mut bar = StepBar::new();
        bar.begin(3);
        bar.step("lena", Method::Online);
        assert_eq!(bar.bar.position(), 0);
        bar.step("lena", Method::Ksvd);
        assert_eq!((bar.bar.position(), bar.bar.length()), (1, Some(3)));
    }
}
