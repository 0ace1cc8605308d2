//! Models that adapt to one crop after the other until they know a collection.

use crate::closed_loop::ClosedLoopCoder;
use crate::error::TrainError;
use crate::gallery::Task;
use rayon::prelude::*;
use tessera_codec::internals::encoder::training::{CarriedModels, TrainingTile};
use tessera_dict::{Dictionary, PlaneKind, Prior};

/// Independent runs of the models, each over its part of the crops; fixed, so that threads do not matter.
pub(crate) const CHAINS: usize = 4;

/// Runs of the models side by side; what they end with, merged, are priors.
#[derive(Debug)]
pub(crate) struct ModelChains(Vec<CarriedModels>);

impl ModelChains {
    /// All start from the priors of `dictionary`.
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        Self(vec![CarriedModels::new(dictionary); CHAINS])
    }

    /// Codes up to [`CHAINS`] crops, one in each chain; results in the order of the tasks.
    pub(crate) fn code(
        &mut self,
        coder: &ClosedLoopCoder<'_>,
        tasks: &[Task],
    ) -> Result<Vec<TrainingTile>, TrainError> {
        debug_assert!(tasks.len() <= CHAINS, "a chain codes one crop at a time");
        let chains = self.0.par_iter_mut().zip(tasks);
        let tiles = chains.map(|(models, task)| Ok(coder.code(task, models, None)?.tile));
        tiles.collect()
    }

    /// The priors of luma and chroma that all chains together arrived at.
    pub(crate) fn priors(&self) -> [Prior; 2] {
        let ends: Vec<[Prior; 2]> = self.0.iter().map(CarriedModels::priors).collect();
        [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
            let own: Vec<Prior> = ends
                .iter()
                .map(|pair| pair[kind as usize].clone())
                .collect();
            Prior::merged(&own)
        })
    }
}
