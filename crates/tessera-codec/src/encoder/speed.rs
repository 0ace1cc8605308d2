//! How much is tried before a decision: the presets of the nine efforts.
//!
//! All figures here were chosen on crops of training photos, by bits at equal PSNR against time (`benches/log`). Constants
//! that belong to one estimate stand beside it.

use crate::encoder::partition::split_cost::SplitCostMargins;
use tessera_dict::Dictionary;

/// How much is tried before a decision.
#[derive(Clone, Copy, Debug)]
pub struct SpeedSettings {
    /// Ways of dividing blocks.
    pub partition: PartitionSettings,
    /// Prediction modes.
    pub prediction: PredictionSettings,
    /// Bases and levels.
    pub transform: TransformSettings,
    /// Price of a bit in squared steps.
    pub lambda: f32,
    /// Activity of the picture that blocks are compared with where they have quantiser offsets; that of the tile if it is
    /// not known.
    pub mean_activity: Option<f32>,
    /// Whether quantiser offsets are corrected by how a first, faster encoding looks.
    pub closed_loop: bool,
    /// Whether the look-ahead decides on everything, and all of the above but `chroma_candidates` and `lambda` is only
    /// for tiles that use references.
    pub single_pass: bool,
    /// The preset this is; 0 for training.
    pub effort: u8,
}

/// Which ways of dividing a block are tried.
#[derive(Clone, Copy, Debug)]
pub struct PartitionSettings {
    /// How much more than the best way a block may roughly cost whole, quartered and halved to be tried so, by size
    /// from 64 down to 8: what a trial finds pays for its time most often in small blocks.
    pub prune_ratio: [[f32; 3]; 4],
    /// Halves are tried unless quarters beat the whole block by this factor, at 1 never.
    pub halves_margin: f32,
    /// Predicted costs in place of prune ratios for luma blocks by size from 32 down to 8.
    pub split_margins: Option<[SplitCostMargins; 3]>,
    /// Bits of side information the look-ahead assumes a block to take.
    pub block_bits: f32,
    /// Whether what is unlikely to win is left out: the whole where quarters roughly cost no more, what the quarters of a
    /// block or its luma rule out.
    pub pruned: bool,
}

/// Which prediction modes are tried.
#[derive(Clone, Copy, Debug)]
pub struct PredictionSettings {
    /// Luma modes whose bases are tried.
    pub modes: usize,
    /// Chroma modes whose predictions are made, beside several taps of luma and what the look-ahead suggests.
    pub chroma_candidates: usize,
    /// Chroma modes that are coded in full.
    pub chroma_modes: usize,
}

/// Which bases are tried, and how levels are chosen.
#[derive(Clone, Copy, Debug)]
pub struct TransformSettings {
    /// Pairs of mode and basis that are coded in full, by area from 16 to 256 and more: a second try saves ten times
    /// as many bits per sample of a small patch as of a large one.
    pub options: [Options; 5],
    /// Bases of a chroma mode that are coded in full.
    pub chroma_options: usize,
    /// Luma modes that free atoms are tried with.
    pub atom_modes: usize,
}

/// How many pairs of mode and basis are coded in full.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// At most so many.
    pub count: usize,
    /// Those that roughly cost at most this much more than the best one.
    pub range: f32,
}

impl Options {
    /// `count` at all areas, with no limit but the general one.
    const fn always(count: usize) -> [Self; 5] {
        // Not infinite: times a price of zero it is zero.
        let range = f32::MAX;
        [Self { count, range }; 5]
    }

    /// So many by area, within ranges that pay for their time.
    const fn within(counts: [usize; 5]) -> [Self; 5] {
        const RANGES: [f32; 5] = [1.2, 1.15, 1.1, 1.15, 1.15];
        let mut options = Self::always(0);
        let mut area = 0;
        while area < options.len() {
            options[area] = Self {
                count: counts[area],
                range: RANGES[area],
            };
            area += 1;
        }
        options
    }
}

/// The same ratios at all sizes, but tighter for large blocks whole: the look-ahead flatters them, for it predicts
/// them from originals.
const fn even_prune_ratio([whole, quarters, halves]: [f32; 3]) -> [[f32; 3]; 4] {
    const SHARES: [f32; 4] = [0.75, 0.85, 1.0, 1.0];
    let mut ratios = [[0.0, quarters, halves]; 4];
    let mut size = 0;
    while size < ratios.len() {
        ratios[size][0] = (whole * SHARES[size]).max(1.0);
        size += 1;
    }
    ratios
}

/// By size from 64 down to 8. Halves of the largest blocks are not even looked at.
const PRUNE_RATIOS: [[f32; 3]; 4] = [
    [1.125, 1.15, 0.0],
    [1.275, 1.15, 1.1],
    [1.5, 1.0, 1.2],
    [1.5, 1.15, 1.3],
];

/// A share below which nothing is tried.
const NEVER: f32 = -1.0;

/// What pays for its time, by size from 32 down to 8.
const MARGINS: [SplitCostMargins; 3] = [
    SplitCostMargins::new(0.02, 0.1, NEVER),
    SplitCostMargins::new(0.02, 0.1, 0.0),
    SplitCostMargins::new(0.02, 0.05, 0.0),
];
/// Without halves, which take most of it.
const MARGINS_UNHALVED: [SplitCostMargins; 3] = [SplitCostMargins::new(0.0, 0.05, NEVER); 3];
/// With nearly all that can win.
const MARGINS_WIDE: [SplitCostMargins; 3] = [SplitCostMargins::new(0.2, 0.3, 0.1); 3];

/// What dictionaries are learned with, and what the others are variations of.
const EXHAUSTIVE: SpeedSettings = SpeedSettings {
    partition: PartitionSettings {
        prune_ratio: even_prune_ratio([1.5, 1.25, 1.2]),
        halves_margin: 1.08,
        split_margins: None,
        block_bits: 5.0,
        pruned: false,
    },
    prediction: PredictionSettings {
        modes: 2,
        chroma_candidates: 3,
        chroma_modes: 1,
    },
    transform: TransformSettings {
        options: Options::always(3),
        chroma_options: 1,
        atom_modes: 8,
    },
    lambda: 0.096,
    mean_activity: None,
    closed_loop: false,
    single_pass: false,
    effort: 0,
};

/// What is tried at each point of the scale from 1 (fast) to 9 (smallest files).
const PRESETS: [SpeedSettings; 9] = [
    SpeedSettings {
        single_pass: true,
        ..without_atoms(wide(1, 1, [2, 1, 1], 1.0, [1.0, 1.0, 1.0]))
    },
    without_atoms(narrow(2, [2, 2, 2, 1, 1], 1.0, MARGINS_UNHALVED)),
    narrow(3, [3; 5], 1.0, MARGINS_UNHALVED),
    narrow(3, [3; 5], 1.02, MARGINS),
    narrow(4, [5; 5], 1.05, MARGINS),
    // Nearly as much as the larger ones, by the rules of the smaller ones.
    with_chroma(narrow(5, [8; 5], 1.2, MARGINS_WIDE), [6, 2, 2]),
    in_closed_loop(wide(5, 8, [6, 2, 2], 1.2, [3.0, 1.5, 1.6])),
    in_closed_loop(wide(6, 12, [6, 4, 3], 1.5, [10.0, 2.0, 2.5])),
    in_closed_loop(wide(8, 20, [6, 6, 4], 2.0, [100.0, 4.0, 10.0])),
];

/// Tries all that the look-ahead does not rule out.
const fn wide(
    modes: usize,
    options: usize,
    chroma: [usize; 3],
    halves_margin: f32,
    prune_ratio: [f32; 3],
) -> SpeedSettings {
    let mut settings = with_chroma(SpeedSettings::for_training(modes, options), chroma);
    settings.partition.halves_margin = halves_margin;
    settings.partition.prune_ratio = even_prune_ratio(prune_ratio);
    settings
}

/// Tries no free atoms.
const fn without_atoms(mut settings: SpeedSettings) -> SpeedSettings {
    settings.transform.atom_modes = 0;
    settings
}

/// Looks at a first encoding.
const fn in_closed_loop(mut settings: SpeedSettings) -> SpeedSettings {
    settings.closed_loop = true;
    settings
}

/// Tries what pays for its time, with so many options by area.
const fn narrow(
    modes: usize,
    options: [usize; 5],
    halves_margin: f32,
    split_margins: [SplitCostMargins; 3],
) -> SpeedSettings {
    let mut settings = SpeedSettings::for_training(modes, 1);
    settings.partition = PartitionSettings {
        prune_ratio: PRUNE_RATIOS,
        halves_margin,
        split_margins: Some(split_margins),
        block_bits: 8.0,
        pruned: true,
    };
    // Taps of luma leave nothing for the planar mode to win.
    settings.prediction.chroma_candidates = 2;
    settings.transform.options = Options::within(options);
    settings
}

/// With so many chroma modes predicted and coded in full, and so many bases of each.
const fn with_chroma(
    mut settings: SpeedSettings,
    [candidates, modes, options]: [usize; 3],
) -> SpeedSettings {
    settings.prediction.chroma_candidates = candidates;
    settings.prediction.chroma_modes = modes;
    settings.transform.chroma_options = options;
    settings
}

impl SpeedSettings {
    /// The preset of an effort from 1 to 9; what lies beyond counts as the nearest.
    pub fn preset(effort: u8) -> Self {
        let effort = effort.clamp(1, 9);
        Self {
            effort,
            ..PRESETS[usize::from(effort) - 1]
        }
    }

    /// The searches that tiles with graphics are coded by: for time's sake every other preset, up to this one or the next. Each
    /// effort has those of all lower ones. What belongs to the picture is as here.
    pub(crate) fn rivals(self) -> impl Iterator<Item = Self> {
        let count = usize::from(self.effort / 2 + self.effort.min(1));
        let presets = (1..=9).step_by(2).take(count).map(move |effort| Self {
            lambda: self.lambda,
            mean_activity: self.mean_activity,
            closed_loop: self.closed_loop,
            ..Self::preset(effort)
        });
        let own = (self.effort == 0).then_some(self);
        own.into_iter().chain(presets)
    }

    /// What dictionaries are learned with. It does not follow the scale, so that a change of it does not change what is
    /// learned.
    pub const fn for_training(modes: usize, options: usize) -> Self {
        let mut settings = EXHAUSTIVE;
        settings.prediction.modes = modes;
        settings.transform.options = Options::always(options);
        settings
    }

    /// What is tried with a dictionary: networks bring two more modes that often come first, and rough costs tell less
    /// about what they leave. Training keeps to its own search.
    pub(crate) fn with(mut self, dictionary: &Dictionary) -> Self {
        const NETWORK_RANGE: f32 = 1.3;
        const NETWORK_HALVES: f32 = 1.2;
        const NETWORK_HALVES_MARGIN: f32 = 1.08;
        let partition = &mut self.partition;
        if dictionary.patch_nets().is_none() || !partition.pruned {
            return self;
        }
        for [_, _, halves] in &mut partition.prune_ratio {
            let looked_at = *halves > 0.0;
            if looked_at {
                *halves = halves.max(NETWORK_HALVES);
            }
        }
        partition.halves_margin = partition.halves_margin.max(NETWORK_HALVES_MARGIN);
        partition.split_margins = None;
        self.prediction.modes += 2;

        for options in &mut self.transform.options {
            options.count = 3 * options.count + 2;
            options.range = options.range.max(NETWORK_RANGE);
        }
        self
    }
}

impl PartitionSettings {
    /// Whether blocks of a level (from 64 down) are ever halved.
    pub(crate) fn tries_halves(&self, level: usize) -> bool {
        let margins = self.split_margins.as_ref();
        match margins.zip(level.checked_sub(1)) {
            Some((margins, size)) => margins[size].halves >= 0.0,
            // With no margin halves are never tried.
            None => self.prune_ratio[level][2] > 0.0 && self.halves_margin > 1.0,
        }
    }
}

impl TransformSettings {
    /// The options of a patch of this area.
    pub(crate) fn options_of(&self, area: usize) -> Options {
        let class = (area / 16).ilog2() as usize;
        self.options[class.min(self.options.len() - 1)]
    }
}

impl Default for SpeedSettings {
    fn default() -> Self {
        Self::preset(5)
    }
}
