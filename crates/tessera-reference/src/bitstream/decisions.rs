//! `bitstream.md`, "Adaptive decisions".

use super::elements::Element;
use super::logistic::{squash, stretch};
use crate::dictionary::Priors;
use crate::range_coder::RangeCoder;

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// Probability of a one, 22 bits.
    q: i32,
    count: u8,
}

impl Cell {
    /// `dictionary.md`, "Starting probabilities".
    fn new((odds, count): (i8, u8)) -> Self {
        Self {
            q: squash(64 * i32::from(odds)) << 6,
            count,
        }
    }

    fn learn(&mut self, bit: bool) {
        let count = i64::from(self.count);
        let rate = if count <= 248 {
            655_360 / (10 * count + 16)
        } else {
            262
        };
        let target = if bit { (1 << 22) - 1 } else { 0 };
        self.q += (((i64::from(target) - i64::from(self.q)) * rate) >> 16) as i32;
        self.count = self.count.saturating_add(1);
    }
}

#[derive(Debug, Clone)]
struct Model {
    element: Element,
    tables: Vec<Vec<Cell>>,
    vectors: Vec<[i32; 4]>,
}

/// The adaptive models of a kind.
#[derive(Debug, Clone)]
pub(super) struct Models(Vec<Model>);

impl Models {
    pub(super) fn new(priors: &Priors) -> Self {
        let model = |element: &crate::dictionary::ElementPriors| Model {
            element: element.element,
            tables: element
                .tables
                .iter()
                .map(|t| t.iter().map(|&c| Cell::new(c)).collect())
                .collect(),
            vectors: element
                .vectors
                .iter()
                .map(|v| v.map(|weight| 4 * i32::from(weight)))
                .collect(),
        };
        Self(priors.elements.iter().map(model).collect())
    }

    /// Reads a decision of an element that has one input table.
    pub(super) fn decide_alone(
        &mut self,
        coder: &mut RangeCoder<'_>,
        element: Element,
        cell: usize,
    ) -> bool {
        let cell = &mut self.model(element).tables[0][cell];
        let bit = coder.decode((cell.q >> 6 | 1) as u32);
        cell.learn(bit);
        bit
    }

    /// Reads a decision of an element that has several, with one cell of each and a weight vector.
    pub(super) fn decide(
        &mut self,
        coder: &mut RangeCoder<'_>,
        element: Element,
        cells: &[usize],
        vector: usize,
    ) -> bool {
        let Model {
            tables, vectors, ..
        } = self.model(element);
        let mut st = [0; 4];
        for ((st, table), &cell) in st.iter_mut().zip(&*tables).zip(cells) {
            *st = stretch((table[cell].q >> 10) as usize);
        }
        let weights = &mut vectors[vector];
        let sum: i32 = weights.iter().zip(st).map(|(weight, st)| weight * st).sum();
        let p = squash(sum >> 12);
        let bit = coder.decode(p as u32);
        for (table, &cell) in tables.iter_mut().zip(cells) {
            table[cell].learn(bit);
        }
        let e = 65536 * i32::from(bit) - p;
        for (weight, st) in weights.iter_mut().zip(st) {
            let moved = *weight + ((((e * st) >> 2) * 10 + 131_072) >> 18);
            *weight = moved.clamp(-131_071, 131_071);
        }
        bit
    }

    fn model(&mut self, element: Element) -> &mut Model {
        let found = self.0.iter_mut().find(|model| model.element == element);
        // The dictionary has tables for every element that the syntax asks of it.
        found.expect("the tables of the element")
    }
}
