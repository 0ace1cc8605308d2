//! The figures printed in the paper's Tables 1 and 2, in the units of the data.

use crate::method::Method;
use serde::Serialize;

/// Mean and standard deviation of the error per sample, as printed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Published {
    /// Mean of the samples' l2 errors.
    pub mean: f64,
    /// Their standard deviation.
    pub std: f64,
}

/// One printed table: the factor in its corner, its columns, and a row of `(mean, std)` per set.
pub(crate) struct PublishedTable {
    /// What one printed unit is in the units of the data.
    pub(crate) unit: f64,
    columns: &'static [Method],
    rows: &'static [(&'static str, &'static [(f64, f64)])],
}

impl PublishedTable {
    /// The printed figure of one set and method, if the paper has it.
    pub(crate) fn figure(&self, set: &str, method: Method) -> Option<Published> {
        let column = self.columns.iter().position(|&column| column == method)?;
        let (_, cells) = self.rows.iter().find(|(name, _)| *name == set)?;
        let (mean, std) = cells[column];
        Some(Published {
            mean: mean * self.unit,
            std: std * self.unit,
        })
    }
}

const WITH_WAVELET_A: &[Method] = &[
    Method::Online,
    Method::Ksvd,
    Method::Wavelet,
    Method::Random,
    Method::Batch,
];
const WITH_WAVELET_B: &[Method] = &[
    Method::Esvd,
    Method::Ksvd,
    Method::Wavelet,
    Method::Random,
    Method::Batch,
];
const WITHOUT_WAVELET_A: &[Method] = &[Method::Online, Method::Ksvd, Method::Random, Method::Batch];
const WITHOUT_WAVELET_B: &[Method] = &[Method::Esvd, Method::Ksvd, Method::Random, Method::Batch];

/// Table 1(a): image patches at the sparsity of K-SVD.
pub(crate) const TABLE_1A: PublishedTable = PublishedTable {
    unit: 10.0,
    columns: WITH_WAVELET_A,
    rows: &[
        (
            "barbara",
            &[(2.9, 0.8), (2.0, 1.0), (3.1, 2.5), (7.4, 5.7), (1.8, 0.4)],
        ),
        (
            "boat",
            &[(3.2, 0.6), (2.1, 0.6), (3.0, 1.9), (6.4, 5.6), (1.9, 0.3)],
        ),
        (
            "house",
            &[(2.2, 0.8), (1.7, 0.9), (3.1, 2.7), (6.8, 8.3), (1.5, 0.4)],
        ),
        (
            "lena",
            &[(2.5, 0.6), (1.8, 0.7), (2.7, 2.0), (6.1, 6.2), (1.7, 0.3)],
        ),
        (
            "peppers",
            &[(2.9, 0.6), (2.1, 0.7), (3.0, 1.8), (6.2, 6.7), (2.0, 0.3)],
        ),
    ],
};

/// Table 1(b): image patches at the sparsity of error-based K-SVD.
pub(crate) const TABLE_1B: PublishedTable = PublishedTable {
    unit: 10.0,
    columns: WITH_WAVELET_B,
    rows: &[
        (
            "barbara",
            &[(2.5, 0.4), (3.1, 1.7), (5.0, 4.1), (10.3, 8.1), (2.4, 0.6)],
        ),
        (
            "boat",
            &[(2.7, 0.3), (3.2, 1.1), (4.7, 3.3), (8.8, 7.8), (2.6, 0.4)],
        ),
        (
            "house",
            &[(2.2, 0.8), (2.7, 1.9), (5.0, 5.1), (8.6, 10.4), (2.1, 0.8)],
        ),
        (
            "lena",
            &[(2.4, 0.4), (3.0, 1.8), (5.0, 4.9), (8.3, 8.7), (2.3, 0.6)],
        ),
        (
            "peppers",
            &[(2.6, 0.3), (2.9, 1.1), (4.3, 3.4), (7.9, 8.6), (2.5, 0.5)],
        ),
    ],
};

/// Table 2(a): UCI sets at the sparsity of K-SVD.
pub(crate) const TABLE_2A: PublishedTable = PublishedTable {
    unit: 1e-3,
    columns: WITHOUT_WAVELET_A,
    rows: &[
        ("bupa", &[(22.6, 4.0), (7.2, 6.9), (51.9, 35.6), (5.8, 7.3)]),
        (
            "iris",
            &[(20.1, 0.1), (522.1, 275.9), (102.1, 46.3), (11.1, 12.4)],
        ),
        (
            "yeast",
            &[(27.8, 7.5), (8.1, 8.6), (36.2, 25.6), (7.9, 8.5)],
        ),
        (
            "glass",
            &[(20.1, 0.2), (57.6, 26.7), (68.5, 35.4), (0.9, 0.5)],
        ),
        (
            "wine",
            &[(20.1, 0.1), (64.8, 30.9), (258.1, 10.5), (1.6, 0.7)],
        ),
        (
            "ecoli",
            &[(27.7, 3.5), (8.7, 9.5), (50.4, 37.3), (2.9, 3.7)],
        ),
        (
            "cleveland",
            &[(21.3, 0.9), (173.6, 103.5), (345.6, 33.8), (8.2, 2.7)],
        ),
    ],
};

/// Table 2(b): UCI sets at the sparsity of error-based K-SVD.
pub(crate) const TABLE_2B: PublishedTable = PublishedTable {
    unit: 1e-3,
    columns: WITHOUT_WAVELET_B,
    rows: &[
        ("bupa", &[(0.8, 1.9), (7.4, 6.5), (40.7, 24.3), (0.6, 1.3)]),
        (
            "iris",
            &[(491.0, 309.7), (331.4, 287.1), (152.1, 55.4), (2.6, 4.1)],
        ),
        (
            "yeast",
            &[(2.0, 2.9), (14.5, 15.0), (37.2, 27.4), (3.1, 4.9)],
        ),
        (
            "glass",
            &[(50.7, 65.4), (45.7, 24.3), (442.3, 11.7), (3.7, 2.3)],
        ),
        (
            "wine",
            &[(80.0, 45.7), (66.4, 39.6), (797.2, 1.5), (4.8, 2.8)],
        ),
        (
            "ecoli",
            &[(1.6, 2.4), (16.7, 17.9), (41.0, 28.7), (2.5, 3.5)],
        ),
        (
            "cleveland",
            &[(172.7, 82.4), (182.7, 86.0), (334.4, 22.6), (5.1, 1.6)],
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_as_long_as_the_header() {
        for table in [TABLE_1A, TABLE_1B, TABLE_2A, TABLE_2B] {
            for (set, cells) in table.rows {
                assert_eq!(cells.len(), table.columns.len(), "{set}");
            }
        }
    }

    #[test]
    fn figures_come_in_the_units_of_the_data() {
        let lena = TABLE_1A.figure("lena", Method::Batch).unwrap();
        assert!((lena.mean - 17.0).abs() < 1e-12 && (lena.std - 3.0).abs() < 1e-12);
        let iris = TABLE_2B.figure("iris", Method::Esvd).unwrap();
        assert!((iris.mean - 0.491).abs() < 1e-12);
        assert!(TABLE_2A.figure("iris", Method::Wavelet).is_none());
    }
}
