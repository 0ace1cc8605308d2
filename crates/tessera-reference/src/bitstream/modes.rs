//! `bitstream.md`, "Modes".

use super::Tile;
use super::elements::Element;
use super::shapes::Shape;

pub(super) const PLANAR: usize = 0;
pub(super) const MEAN: usize = 1;
const HORIZONTAL: usize = 10;
const VERTICAL: usize = 26;
const LAST: usize = 34;
const ABSENT: usize = 35;
/// The index of a chroma leaf that is predicted from luma.
pub(super) const FROM_LUMA: usize = 0;
/// The index of a chroma leaf that is predicted from a reference, as its neighbours see it.
pub(super) const FROM_REFERENCE: usize = 6;
const ABSENT_INDEX: usize = 7;

impl Tile<'_> {
    pub(super) fn luma_mode(&mut self, x: usize, y: usize, shape: Shape) -> usize {
        let (xi, yi) = (x as i64, y as i64);
        let mode = |x, y| self.canvases[0].cell(x, y).map_or(ABSENT, |leaf| leaf.mode);
        let l = mode(xi - 1, yi + shape.h as i64 - 1);
        let a = mode(xi + shape.w as i64 - 1, yi - 1);
        let index = shape.index();
        for (i, c) in candidates(l, a).into_iter().enumerate() {
            let cells = [
                i | usize::from(l == a) << 3 | l.min(2) << 4 | a.min(2) << 6 | index << 8,
                i | l << 3 | a << 9,
                i | index << 3 | c << 7,
            ];
            if self.decide(0, Element::Mode, &cells, i) {
                return c;
            }
        }
        let mut node = 1;
        for _ in 0..6 {
            let cells = [node, node | index << 6, node | (l / 3) << 6 | (a / 3) << 10];
            node = 2 * node + usize::from(self.decide(0, Element::ModeTree, &cells, node));
        }
        (node - 64).min(LAST)
    }

    /// The index of a chroma leaf; `luma_mode` is that of luma in its middle.
    pub(super) fn chroma_mode(
        &mut self,
        x: usize,
        y: usize,
        shape: Shape,
        luma_mode: usize,
    ) -> usize {
        let chosen = |i: &usize| self.chroma_decision(*i, x, y, shape, luma_mode);
        (0..5).find(chosen).unwrap_or(5)
    }

    /// Whether a leaf of index 0 is predicted with taps.
    pub(super) fn has_taps(&mut self, x: usize, y: usize, shape: Shape, luma_mode: usize) -> bool {
        self.chroma_decision(5, x, y, shape, luma_mode)
    }

    fn chroma_decision(
        &mut self,
        i: usize,
        x: usize,
        y: usize,
        shape: Shape,
        luma_mode: usize,
    ) -> bool {
        let (xi, yi) = (x as i64, y as i64);
        let index = |x, y| {
            self.canvases[1]
                .cell(x, y)
                .map_or(ABSENT_INDEX, |leaf| leaf.mode)
        };
        let (l, a, g) = (index(xi - 1, yi), index(xi, yi - 1), shape.size_group());
        let cells = [
            i | l << 3 | a << 6,
            i | g << 3,
            i | luma_mode.min(2) << 3 | g << 5,
        ];
        self.decide(1, Element::ChromaMode, &cells, i)
    }
}

/// The modes that are asked for one by one.
fn candidates(l: usize, a: usize) -> Vec<usize> {
    let beside = |mode: usize| match mode {
        2 => vec![3, 3],
        LAST => vec![33, 33],
        3..LAST => vec![mode + 1, mode - 1],
        _ => Vec::new(),
    };
    let mut list = Vec::new();
    let all = [
        vec![l, a, PLANAR, MEAN],
        beside(l),
        beside(a),
        vec![VERTICAL, HORIZONTAL],
    ];
    for mode in all.into_iter().flatten() {
        if mode < ABSENT && !list.contains(&mode) && list.len() < 6 {
            list.push(mode);
        }
    }
    list
}

/// The luma mode that an index of chroma from 1 to 5 stands for.
pub(super) fn mode_of_index(index: usize, luma_mode: usize) -> usize {
    let mode = match index {
        1 => return luma_mode,
        2 => PLANAR,
        3 => MEAN,
        4 => VERTICAL,
        _ => HORIZONTAL,
    };
    if mode == luma_mode { LAST } else { mode }
}
