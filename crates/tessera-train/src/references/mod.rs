//! Which pictures a dictionary should carry as references.
//!
//! Candidates are the mean of an aligned collection, means of groups of like pictures, and single pictures that
//! are typical of such groups. Rough costs of blocks say what each would save on other pictures; they are taken
//! greedily, the one that saves most beyond those already taken first, while they fit in the size allowed. How many of them
//! a dictionary keeps, if any, is then decided by real encodes of held-out pictures.

mod candidates;
mod gains;
mod thumbnails;
mod validation;

use crate::budget::Budget;
use crate::error::TrainError;
use crate::gallery::Gallery;
use crate::observer::{Stage, TrainObserver, go_on};
use crate::provenance::taken_by;
use candidates::Candidate;
use gains::Gains;
use std::fmt;
use tessera_dict::Dictionary;
use tessera_dict::reference::MAX_REFERENCES;

/// How references are chosen.
#[derive(Clone, Debug)]
pub struct ReferenceParams {
    /// Seed of the sampling.
    pub seed: u64,
    /// Bytes that all references together may take in the dictionary.
    pub max_bytes: usize,
    /// Pictures that will profit from them; infinitely many if size does not matter.
    pub pictures: f64,
    /// Luma quantisers at which savings count.
    pub quantisers: Vec<u8>,
    /// Time it may take: with less of it fewer candidates are looked at.
    pub budget: Budget,
}

impl Default for ReferenceParams {
    fn default() -> Self {
        Self {
            seed: 1,
            max_bytes: 256 << 10,
            pictures: f64::INFINITY,
            quantisers: vec![56, 68, 80],
            budget: Budget::default(),
        }
    }
}

/// A dictionary with the references that pay.
#[derive(Clone, Debug)]
pub struct ReferenceChoice {
    /// The start dictionary with references, and priors of how they are used; the start itself if none pays.
    pub dictionary: Dictionary,
    /// Indices of the training pictures that became references: they say nothing about what others will cost.
    pub taken: Vec<usize>,
    /// What was weighed against what.
    pub report: ReferenceReport,
}

impl ReferenceChoice {
    /// No references.
    pub fn none(start: Dictionary) -> Self {
        Self {
            dictionary: start,
            taken: Vec::new(),
            report: ReferenceReport::default(),
        }
    }
}

/// Size of the references against the bytes they save.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReferenceReport {
    /// What each reference shows, in the order of the dictionary.
    pub names: Vec<String>,
    /// Bytes they take in the dictionary.
    pub bytes: usize,
    /// Mean bytes of a held-out picture without references, over the quantisers.
    pub before: f64,
    /// The same with them, at equal error.
    pub after: f64,
}

impl ReferenceReport {
    /// What the dictionary carries, without figures: those come from whole files once everything is learned.
    pub fn summary(&self) -> String {
        if self.names.is_empty() {
            return "no reference picture pays for this collection".into();
        }
        let (count, names) = (self.names.len(), self.names.join(", "));
        format!(
            "{count} reference pictures ({names}) take {} bytes",
            self.bytes
        )
    }

    /// Bytes of a picture with its part of the references.
    fn total(&self, pictures: f64) -> f64 {
        self.after + self.bytes as f64 / pictures
    }

    /// Pictures after which the references have paid for their own size.
    pub fn pictures_to_pay(&self) -> Option<u64> {
        let saved = self.before - self.after;
        (saved > 0.0 && self.bytes > 0).then(|| (self.bytes as f64 / saved).ceil() as u64)
    }
}

impl fmt::Display for ReferenceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(pictures) = self.pictures_to_pay() else {
            return f.write_str(&self.summary());
        };
        let change = 100.0 * (self.after / self.before - 1.0);
        write!(
            f,
            "{}; a picture takes {:.0} instead of {:.0} bytes ({change:+.1} %), so \
             they pay from {pictures} pictures on",
            self.summary(),
            self.after,
            self.before,
        )
    }
}

/// Share of the held-out bits that references must save to be kept: less is as often chance as gain, and takes
/// thousands of pictures to pay.
const LEAST_GAIN: f64 = 0.01;
/// Parts of the time for finding candidates, and of what is left then for weighing them; the trials have the rest.
const SHARES: [f64; 2] = [0.35, 0.3];

/// Chooses references among the pictures of `gallery` (and their means) for a dictionary; `held_out` decides.
///
/// Without a budget the result depends on the arguments alone, not on the number of threads.
///
/// # Errors
/// [`TrainError::Picture`] if a picture can no longer be read, [`TrainError::Stopped`] if the observer asks to stop
/// before there is a choice.
pub fn choose_references(
    gallery: &Gallery,
    held_out: &Gallery,
    start: &Dictionary,
    params: &ReferenceParams,
    observer: &mut dyn TrainObserver,
) -> Result<ReferenceChoice, TrainError> {
    let nothing = ReferenceChoice::none(start.clone());
    if gallery.len() < 2 || held_out.is_empty() || params.max_bytes == 0 {
        return Ok(nothing);
    }
    let mut done = |step: usize| {
        observer.progress(Stage::References, step, STEPS);
        go_on(observer)
    };
    done(0)?;
    let [for_candidates, for_weighing] = SHARES;
    let own = params.budget.share(for_candidates);
    let candidates = candidates::find(gallery, params, own, &mut || done(0))?;
    done(1)?;
    let own = params.budget.share(for_weighing);
    let gains = Gains::measure(gallery, &candidates, start, params, own, &mut || done(1))?;
    done(2)?;
    let ranked = gains.greedy(&candidates, params.max_bytes);
    if ranked.is_empty() {
        return Ok(nothing);
    }
    let validator = validation::Validator::new(gallery, held_out, start, params)?;
    let mut best = nothing;
    best.report.before = validator.before();
    best.report.after = best.report.before * (1.0 - LEAST_GAIN);
    for (step, count) in counts(ranked.len()).into_iter().enumerate() {
        if !validator.has_time_for_a_trial(&params.budget) {
            break;
        }
        let chosen: Vec<&Candidate> = ranked[..count].iter().map(|&i| &candidates[i]).collect();
        let tried = validator.trial(&chosen)?;
        if tried.report.total(params.pictures) < best.report.total(params.pictures) {
            best = tried;
        }
        match done(3 + step) {
            Err(TrainError::Stopped) if !best.dictionary.references().is_empty() => break,
            other => other?,
        }
    }
    Ok(best)
}

/// The choice behind a checkpoint, without looking for it again.
///
/// # Errors
/// [`TrainError::Picture`] if a picture can no longer be read, [`TrainError::OtherRun`] if the checkpoint names
/// pictures that this gallery does not have.
pub fn references_of(
    checkpoint: &Dictionary,
    gallery: &Gallery,
    start: &Dictionary,
) -> Result<ReferenceChoice, TrainError> {
    let taken = taken_by(checkpoint);
    if taken.iter().any(|&index| index >= gallery.len()) {
        return Err(TrainError::OtherRun);
    }
    let dictionary = if checkpoint.references().is_empty() {
        start.clone()
    } else {
        let references = checkpoint.references().to_vec();
        let dictionary = start.edited(|parts| parts.references = references)?;
        validation::learn_priors(gallery, &dictionary, &taken)?
    };
    Ok(ReferenceChoice {
        dictionary,
        taken,
        report: ReferenceReport::default(),
    })
}

/// Steps that progress counts: two of preparation and one per number of references tried.
const STEPS: usize = 2 + MAX_REFERENCES.ilog2() as usize + 1;

/// Numbers of references to try: powers of two, and all.
fn counts(all: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = (0..)
        .map(|power| 1 << power)
        .take_while(|&count| count < all)
        .collect();
    if all > 0 {
        counts.push(all);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_count_is_tried_once() {
        assert_eq!(counts(0), [0; 0]);
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(4), [1, 2, 4]);
        assert_eq!(counts(11), [1, 2, 4, 8, 11]);
        assert!(counts(MAX_REFERENCES).len() + 2 <= STEPS);
    }

    #[test]
    fn the_report_weighs_size_against_savings() {
        let mut report = ReferenceReport {
            names: vec!["a".into()],
            bytes: 1000,
            before: 100.0,
            after: 60.0,
        };
        assert_eq!(report.pictures_to_pay(), Some(25));
        assert!(report.to_string().contains("-40.0 %"));
        report.after = 100.0;
        assert_eq!(report.pictures_to_pay(), None);
    }
}
