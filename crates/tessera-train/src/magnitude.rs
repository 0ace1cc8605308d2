//! Coefficient order and the model that predicts magnitudes, fitted to quantised samples.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use tessera_dict::basis::MagnitudeModel;

/// Coefficients of many patches in one basis, with their surroundings. One row per patch.
#[derive(Debug)]
pub(crate) struct Coded {
    pub(crate) values: Mat<f32>,
    pub(crate) activity: Vec<f32>,
    pub(crate) gradient: Vec<f32>,
}

/// Above this size (in steps) a coefficient is counted as used.
const USED: f32 = 0.8;
/// Below this size a coefficient is quantised to zero.
const DEAD_ZONE: f32 = 0.66;
/// Rounding offset of larger ones.
const ROUNDING: f32 = 0.42;
/// Magnitudes are clipped here before they predict others.
const CLIP: f32 = 12.0;
const ITERATIONS: usize = 120;

impl Coded {
    /// Columns by falling frequency of use.
    pub(crate) fn order(&self) -> Vec<usize> {
        let score = |j: usize| -> f32 {
            let column = self.values.col(j);
            column
                .iter()
                .map(|v| if v.abs() > USED { 1.0 } else { 0.0 } + 1e-3 * v.abs())
                .sum()
        };
        let scores: Vec<f32> = (0..self.values.ncols()).map(score).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order
    }

    /// The same patches with columns in another order.
    pub(crate) fn permuted(&self, order: &[usize]) -> Self {
        Self {
            values: Mat::from_fn(self.values.nrows(), order.len(), |i, j| {
                self.values[(i, order[j])]
            }),
            activity: self.activity.clone(),
            gradient: self.gradient.clone(),
        }
    }

    /// Non-negative least squares of every magnitude on the later ones and the surroundings.
    pub(crate) fn fit_magnitudes(&self) -> MagnitudeModel {
        let (gram, target) = self.normal_equations();
        let m = self.values.ncols();
        to_model(&multiplicative_descent(&gram, &target, first_factors(m)), m)
    }

    /// The same, pulled towards a model that counts for `pull` patches.
    pub(crate) fn refit_magnitudes(&self, start: &MagnitudeModel, pull: f32) -> MagnitudeModel {
        let (mut gram, mut target) = self.normal_equations();
        let m = self.values.ncols();
        let start = from_model(start, m);
        let weight = pull / self.values.nrows().max(1) as f32;
        for i in 0..m + 3 {
            gram[(i, i)] += weight;
            for j in 0..m {
                target[(i, j)] += weight * start[(i, j)];
            }
        }
        let first = Mat::from_fn(m + 3, m, |i, j| match i {
            i if i < m && i <= j => 0.0,
            _ => start[(i, j)].max(1e-3),
        });
        to_model(&multiplicative_descent(&gram, &target, first), m)
    }

    fn normal_equations(&self) -> (Mat<f32>, Mat<f32>) {
        let (n, m) = (self.values.nrows(), self.values.ncols());
        let levels = Mat::from_fn(n, m, |i, j| quantise(self.values[(i, j)]));
        let features = self.features(&levels);
        let weights: Vec<f32> = (0..n).map(|i| row_weight(&levels, i)).collect();
        let weighted = Mat::from_fn(n, m + 3, |i, j| features[(i, j)] * weights[i] / n as f32);
        let mut gram = Mat::zeros(m + 3, m + 3);
        let mut target = Mat::zeros(m + 3, m);
        matmul(
            &mut gram,
            Accum::Replace,
            weighted.transpose(),
            &features,
            1.0,
            Par::Seq,
        );
        matmul(
            &mut target,
            Accum::Replace,
            weighted.transpose(),
            &levels,
            1.0,
            Par::Seq,
        );
        for j in 0..m + 3 {
            gram[(j, j)] += 2e-4;
        }
        (gram, target)
    }

    fn features(&self, levels: &Mat<f32>) -> Mat<f32> {
        let m = levels.ncols();
        Mat::from_fn(levels.nrows(), m + 3, |i, j| match j.checked_sub(m) {
            None => levels[(i, j)].min(CLIP),
            Some(0) => self.activity[i],
            Some(1) => self.gradient[i],
            Some(_) => 1.0,
        })
    }
}

fn quantise(value: f32) -> f32 {
    let size = value.abs();
    if size < DEAD_ZONE {
        0.0
    } else {
        (size + ROUNDING).floor()
    }
}

/// Sparse patches count more: there a wrong prediction costs most bits.
fn row_weight(levels: &Mat<f32>, row: usize) -> f32 {
    let mean = levels.row(row).iter().sum::<f32>() / levels.ncols() as f32;
    1.0 / (0.15 + mean)
}

/// Minimises over factors >= 0, those of coefficient i on j only for i > j.
fn multiplicative_descent(gram: &Mat<f32>, target: &Mat<f32>, first: Mat<f32>) -> Mat<f32> {
    let m = first.ncols();
    let mut factors = first;
    let mut product = Mat::zeros(m + 3, m);
    for _ in 0..ITERATIONS {
        matmul(&mut product, Accum::Replace, gram, &factors, 1.0, Par::Seq);
        for j in 0..m {
            for i in 0..m + 3 {
                factors[(i, j)] *= target[(i, j)] / (product[(i, j)] + 1e-7);
            }
        }
    }
    factors
}

fn first_factors(m: usize) -> Mat<f32> {
    Mat::from_fn(m + 3, m, |i, j| match i {
        i if i == m + 2 => 0.05,
        i if i >= m || i > j => 0.01,
        _ => 0.0,
    })
}

/// The factors a model stands for.
fn from_model(model: &MagnitudeModel, m: usize) -> Mat<f32> {
    Mat::from_fn(m + 3, m, |i, j| match i.checked_sub(m) {
        None if i > j => f32::from(model.row(i)[j]) / 256.0,
        None => 0.0,
        Some(0) => f32::from(model.activity[j]) / 4096.0,
        Some(1) => f32::from(model.gradient[j]) / 4096.0,
        Some(_) => f32::from(model.base[j]) / 4096.0,
    })
}

fn to_model(factors: &Mat<f32>, m: usize) -> MagnitudeModel {
    let fixed = |row: usize| {
        let value = |j| (factors[(row, j)] * 4096.0).round().clamp(0.0, 65535.0) as u16;
        (0..m).map(value).collect()
    };
    let mut weights = Vec::with_capacity(m * (m - 1) / 2);
    for i in 0..m {
        weights.extend((0..i).map(|j| (factors[(i, j)] * 256.0).round().clamp(0.0, 255.0) as u8));
    }
    MagnitudeModel {
        base: fixed(m + 2),
        activity: fixed(m),
        gradient: fixed(m + 1),
        weights: weights.into(),
    }
}
