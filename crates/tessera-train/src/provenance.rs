//! What a dictionary says about its origin, and what a resumed run reads back from it.

use crate::error::TrainError;
use crate::gallery::Gallery;
use tessera_dict::Dictionary;

/// What a run was made from; the same for all its checkpoints.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    head: String,
    note: String,
}

impl Origin {
    /// # Errors
    /// If a picture cannot be read.
    pub(crate) fn new(
        training: &Gallery,
        start: &Dictionary,
        seed: u64,
        taken: &[usize],
        note: &str,
    ) -> Result<Self, TrainError> {
        let mut head = format!(
            "trained by: tessera-train {}\nstart: {}\nseed: {seed}\npictures: {}\npictures hash: {}\n",
            env!("CARGO_PKG_VERSION"),
            start.id(),
            training.len(),
            training.hash()?,
        );
        if !taken.is_empty() {
            let list: Vec<String> = taken.iter().map(usize::to_string).collect();
            head += &format!("{TAKEN}{}\n", list.join(" "));
        }
        Ok(Self {
            head,
            note: note.to_string(),
        })
    }

    /// The provenance of a dictionary of this origin.
    pub(crate) fn describe(&self, history: &History) -> String {
        format!("{}{}{}", self.head, history.line(), self.note)
    }

    /// The rounds behind a checkpoint.
    ///
    /// # Errors
    /// [`TrainError::OtherRun`] if the checkpoint is of another origin.
    pub(crate) fn history_of(&self, checkpoint: &Dictionary) -> Result<History, TrainError> {
        let rest = checkpoint.provenance().strip_prefix(&self.head);
        rest.and_then(History::read).ok_or(TrainError::OtherRun)
    }
}

/// The pictures of the whole training set that became references, as a dictionary's provenance tells them.
pub(crate) fn taken_by(dictionary: &Dictionary) -> Vec<usize> {
    let lines = dictionary.provenance().lines();
    let list = lines.filter_map(|line| line.strip_prefix(TAKEN)).next();
    let numbers = list.unwrap_or_default().split_whitespace();
    numbers.filter_map(|number| number.parse().ok()).collect()
}

const TAKEN: &str = "references are the pictures: ";

/// How the held-out pictures liked the proposals of every round, in hundredths of a percent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History(Vec<[i32; 2]>);

const TRACE: &str = "trace: ";

impl History {
    pub(crate) fn rounds(&self) -> usize {
        self.0.len()
    }

    /// Adds a round: changes with priors alone, and with bases.
    pub(crate) fn add(&mut self, tuned: f64, based: f64) {
        let hundredths = |change: f64| (10_000.0 * change).round() as i32;
        self.0.push([hundredths(tuned), hundredths(based)]);
    }

    fn line(&self) -> String {
        let rounds: Vec<String> = (self.0.iter())
            .map(|[tuned, based]| format!("{tuned}/{based}"))
            .collect();
        format!("{TRACE}{}\n", rounds.join(" "))
    }

    fn read(text: &str) -> Option<Self> {
        let line = text.lines().next()?.strip_prefix(TRACE)?;
        let round = |pair: &str| {
            let (tuned, based) = pair.split_once('/')?;
            Some([tuned.parse().ok()?, based.parse().ok()?])
        };
        let rounds = line.split_whitespace().map(round);
        rounds.collect::<Option<Vec<_>>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_survives_the_text() {
        let mut history = History::default();
        history.add(-0.0123, 0.004);
        history.add(-0.02, -0.0599);
        assert_eq!(history.line(), "trace: -123/40 -200/-599\n");
        assert_eq!(History::read(&history.line()), Some(history));
        assert_eq!(History::read("seed: 1"), None);
    }
}
