//! Which sets an experiment has, and which of them the user wants.

use crate::{Experiment, PaperError};

/// The pictures of Table 1.
const IMAGES: &[&str] = &["barbara", "boat", "house", "lena", "peppers"];
/// The UCI sets of Table 2 in the paper's order, named as their files.
const UCI: &[&str] = &[
    "bupa",
    "iris",
    "yeast",
    "glass",
    "wine",
    "ecoli",
    "cleveland",
];
/// The photos of Figure 1, named as their folder.
pub(crate) const PHOTOS: &str = "train";
/// The digits of Figure 1, named as their folder.
pub(crate) const DIGITS: &str = "mnist";
const FIGURES: &[&str] = &[PHOTOS, DIGITS];
/// What the paper calls sets whose files are called otherwise.
const ALIASES: &[(&str, &str)] = &[("liver", "bupa"), ("heart", "cleveland"), ("lenna", "lena")];

/// The user's choice among an experiment's sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// Every set.
    All,
    /// One picture, for experiments on pictures.
    Image(String),
    /// One set of any kind.
    Set(String),
}

impl Selection {
    /// The chosen sets of an experiment.
    pub(crate) fn among(&self, experiment: Experiment) -> Result<Vec<&'static str>, PaperError> {
        let known = sets_of(experiment);
        let (option, name) = match self {
            Self::All => return Ok(known.to_vec()),
            Self::Image(name) if known != IMAGES => {
                return Err(PaperError::NotAnImage {
                    experiment,
                    name: name.clone(),
                });
            }
            Self::Image(name) => ("image", name),
            Self::Set(name) => ("set", name),
        };
        let file = ALIASES
            .iter()
            .find(|(alias, _)| alias == name)
            .map_or(name.as_str(), |(_, file)| file);
        let found = known.iter().find(|&&set| set == file);
        let unknown = || PaperError::UnknownSet {
            option,
            name: name.clone(),
            known: known.join(", "),
        };
        found.map(|&set| vec![set]).ok_or_else(unknown)
    }
}

fn sets_of(experiment: Experiment) -> &'static [&'static str] {
    match experiment {
        Experiment::Table1 | Experiment::OpenSet => IMAGES,
        Experiment::Table2 => UCI,
        Experiment::Figure1 => FIGURES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_paper_lead_to_files() {
        let liver = Selection::Set("liver".into());
        assert_eq!(liver.among(Experiment::Table2).unwrap(), ["bupa"]);
        assert_eq!(
            Selection::Image("lena".into())
                .among(Experiment::Table1)
                .unwrap(),
            ["lena"]
        );
        assert_eq!(Selection::All.among(Experiment::Table2).unwrap().len(), 7);
    }

    #[test]
    fn unknown_names_list_the_known_ones() {
        let message = Selection::Set("lena".into())
            .among(Experiment::Table2)
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("'lena'") && message.contains("cleveland"),
            "{message}"
        );
        let message = Selection::Image("iris".into())
            .among(Experiment::Table2)
            .unwrap_err()
            .to_string();
        assert!(message.contains("--set"), "{message}");
    }
}
