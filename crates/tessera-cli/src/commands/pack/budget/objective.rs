//! What one budget for all pictures lowers.

use super::choice::Coded;

/// What counts as an error.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::commands::pack) enum Objective {
    /// The squared error of all samples of all pictures.
    #[default]
    Total,
    /// The mean of the pictures' PSNRs: a decibel counts the same in each.
    Mean,
}

/// The mean squared error below which nothing counts any more, 60 dB: a picture without loss is no reason to spoil others.
const LEAST: f64 = 1e-6;
/// How many times the squared error grows where bytes are halved, about.
const PER_HALVING: f64 = 2.6;

impl Objective {
    /// What a picture adds with a squared error in squares of the whole range.
    pub(super) fn error(self, squared: f64, samples: u64) -> f64 {
        match self {
            Self::Total => squared,
            Self::Mean => (squared / samples.max(1) as f64).max(LEAST).log10(),
        }
    }

    /// What pictures may add up to, if they have so many decibels.
    pub(super) fn most(self, decibels: f64, pictures: usize, samples: f64) -> f64 {
        match self {
            Self::Total => samples * 10f64.powf(-decibels / 10.0),
            Self::Mean => pictures as f64 * -decibels / 10.0,
        }
    }

    /// The decibels of pictures.
    pub(in crate::commands::pack) fn decibels<'c>(
        self,
        coded: impl Iterator<Item = &'c Coded>,
    ) -> f64 {
        let (mut error, mut pictures, mut samples) = (0.0, 0.0, 0.0);
        for own in coded {
            error += self.error(own.squared, own.samples);
            samples += own.samples as f64;
            pictures += 1.0;
        }
        match self {
            Self::Total => -10.0 * (error / samples).log10(),
            Self::Mean => -10.0 * error / pictures,
        }
    }

    /// What an error of so many pictures grows to where their bytes are halved so often.
    pub(super) fn after(self, error: f64, pictures: usize, halvings: f64) -> f64 {
        match self {
            Self::Total => error * PER_HALVING.powf(halvings),
            Self::Mean => error + pictures as f64 * halvings * PER_HALVING.log10(),
        }
    }

    /// How far from the quantiser that suits all of them pictures are coded, to choose from. Where decibels count the same, the
    /// right quantiser follows the error of a picture, which differs more than what a byte lowers of it.
    pub(super) fn around(self) -> &'static [i32] {
        match self {
            Self::Total => &[-3, -1, 0, 3],
            Self::Mean => &[-12, -9, -6, -3, -1, 0, 3, 6, 9],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_add_up_to_decibels() {
        let (samples, squared) = (200, 0.02);
        for objective in [Objective::Total, Objective::Mean] {
            let two = 2.0 * objective.error(squared, samples);
            assert!((two - objective.most(40.0, 2, 400.0)).abs() < 1e-9);
            assert!(objective.after(two, 2, 1.0) > two && objective.after(two, 2, -1.0) < two);
            let coded = Coded {
                squared,
                samples,
                ..Coded::default()
            };
            let decibels = objective.decibels([&coded, &coded].into_iter());
            assert!((decibels - 40.0).abs() < 1e-9);
        }
        assert_eq!(Objective::Mean.error(0.0, 9), -6.0, "no loss is 60 dB");
    }
}
