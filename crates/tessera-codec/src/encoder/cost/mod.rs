//! What things cost: distortion in squared steps plus lambda times bits, from rough to exact.

pub(crate) mod atoms;
pub(crate) mod estimate;
pub(crate) mod levels;
pub mod reference;

use crate::encoder::forward::ForwardTransform;
use crate::encoder::rdoq::deadzone::DeadzoneTables;
use crate::tile::entropy::coder::ModelPair;
use crate::tile::entropy::mix::PlaneKind;
use atoms::AtomCosts;
use estimate::CostEstimator;
use levels::LevelCosts;
use tessera_dict::Dictionary;

/// Everything that tells what things cost, but for the adaptive models themselves.
#[derive(Debug)]
pub(crate) struct CostModel {
    /// Price of a bit in squared steps.
    pub(crate) lambda: f32,
    pub(crate) estimator: CostEstimator,
    pub(crate) levels: LevelCosts,
    pub(crate) atoms: AtomCosts,
    pub(crate) deadzone: DeadzoneTables,
}

impl CostModel {
    pub(crate) fn new(
        dictionary: &Dictionary,
        models: &ModelPair,
        forward: &ForwardTransform<'_>,
        lambda: f32,
    ) -> Self {
        Self {
            lambda,
            estimator: CostEstimator::new(dictionary, models, forward, lambda),
            levels: LevelCosts::default(),
            atoms: AtomCosts::default(),
            deadzone: DeadzoneTables::new(),
        }
    }

    /// Takes the costs of levels and atoms from the models as they are now.
    pub(crate) fn refresh_levels(&mut self, models: &ModelPair, kind: PlaneKind) {
        self.levels.refresh(models, kind, self.lambda);
        self.atoms.forget();
    }
}
