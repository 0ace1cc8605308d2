//! Prediction modes of luma and chroma (`spec/bitstream.md`, "Modes").

use super::code_tree;
use crate::simd::kernel;
use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::intra::{HORIZONTAL, MEAN, MODES, PLANAR, VERTICAL};
use tessera_dict::layout::Element;
use tessera_patch::Shape;

/// Number of mode candidates.
const CANDIDATES: usize = 6;
/// Stands for a neighbour that does not exist.
const NO_MODE: usize = MODES;

/// Luma mode of a patch as seen from its neighbours.
#[derive(Debug)]
pub(crate) struct ModeContexts {
    candidates: [usize; CANDIDATES],
    count: usize,
    left: u32,
    above: u32,
    shape: u32,
}

impl ModeContexts {
    pub(crate) fn new(canvas: &Canvas, x: usize, y: usize, shape: Shape) -> Self {
        let mode = |x: usize, y: usize, dx: isize, dy: isize| {
            let cell = canvas.cell(x as isize + dx, y as isize + dy);
            cell.map_or(NO_MODE, |cell| cell.mode as usize)
        };
        let left = mode(x, y + shape.height() - 1, -1, 0);
        let above = mode(x + shape.width() - 1, y, 0, -1);
        let (mut candidates, mut count) = ([NO_MODE; CANDIDATES], 0);
        let mut add = |mode: usize| {
            if mode < MODES && !candidates.contains(&mode) && count < CANDIDATES {
                candidates[count] = mode;
                count += 1;
            }
        };
        [left, above, PLANAR, MEAN].into_iter().for_each(&mut add);
        for neighbour in [left, above] {
            if (2..MODES).contains(&neighbour) {
                add(if neighbour == MODES - 1 {
                    neighbour - 1
                } else {
                    neighbour + 1
                });
                add(if neighbour == 2 { 3 } else { neighbour - 1 });
            }
        }
        add(VERTICAL);
        add(HORIZONTAL);
        Self {
            candidates,
            count,
            left: left as u32,
            above: above as u32,
            shape: shape.index() as u32,
        }
    }

    #[inline(always)]
    fn candidate(&self, index: usize) -> Contexts {
        let i = index as u32;
        let equal = u32::from(self.left == self.above);
        let kinds = self.left.min(2) | self.above.min(2) << 2;
        Contexts::new(
            [
                i | equal << 3 | kinds << 4 | self.shape << 8,
                i | self.left << 3 | self.above << 9,
                i | self.shape << 3 | (self.candidates[index] as u32) << 7,
            ],
            i,
        )
    }

    #[inline(always)]
    fn node(&self, node: u32) -> Contexts {
        Contexts::new(
            [
                node,
                node | self.shape << 6,
                node | (self.left / 3) << 6 | (self.above / 3) << 10,
            ],
            node,
        )
    }
}

kernel! {
    /// Codes a luma mode: a walk along the candidates, else six bits.
    pub(crate) fn code_luma_mode<C: BinaryCoder>(
        coder: &mut C,
        contexts: &ModeContexts,
        mode: usize,
    ) -> usize {
        const KIND: PlaneKind = PlaneKind::Luma;
        for (index, &candidate) in contexts.candidates[..contexts.count].iter().enumerate() {
            let is_it = candidate == mode;
            if coder.bit(KIND, Element::Mode, &contexts.candidate(index), is_it) {
                return candidate;
            }
        }
        let coded = code_tree(
            6,
            mode as u32,
            #[inline(always)]
            |node, bit| coder.bit(KIND, Element::ModeTree, &contexts.node(node), bit),
        );
        (coded as usize).min(MODES - 1)
    }
}

#[cfg(feature = "encoder")]
impl ModeContexts {
    /// The modes of the patches to the left and above.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = usize> {
        [self.left, self.above]
            .into_iter()
            .map(|mode| mode as usize)
            .filter(|&mode| mode < MODES)
    }

    /// Bits of every mode; those outside the candidates are taken as equally likely.
    pub(crate) fn costs(&self, models: &crate::tile::entropy::coder::ModelPair) -> [f32; MODES] {
        const TREE_BITS: f32 = 5.0;
        let mut so_far = 0.0;
        let mut all = [0.0; MODES];
        let mut listed = [false; MODES];
        for (index, &mode) in self.candidates[..self.count].iter().enumerate() {
            let [no, yes] = crate::tile::entropy::coder::costs(
                models,
                PlaneKind::Luma,
                Element::Mode,
                &self.candidate(index),
            );
            all[mode] = so_far + yes;
            listed[mode] = true;
            so_far += no;
        }
        for (bits, _) in all.iter_mut().zip(listed).filter(|(_, listed)| !listed) {
            *bits = so_far + TREE_BITS;
        }
        all
    }
}

/// Chroma modes in the order they are asked for.
pub(crate) const CHROMA_MODES: usize = 6;
/// Chroma predicted linearly from luma.
pub(crate) const FROM_LUMA: usize = 0;
/// Chroma predicted from several taps of luma: index 0 too, told apart by a decision of its own.
pub(crate) const FROM_LUMA_TAPS: usize = 8;

/// The luma-style mode behind a chroma mode index (except [`FROM_LUMA`] and [`FROM_LUMA_TAPS`]).
pub(crate) fn chroma_base_mode(index: usize, luma_mode: usize) -> usize {
    const LIST: [usize; 4] = [PLANAR, MEAN, VERTICAL, HORIZONTAL];
    match index {
        0 | 1 => luma_mode,
        _ if LIST[index - 2] == luma_mode => MODES - 1,
        _ => LIST[index - 2],
    }
}

/// The index of a chroma mode as its first decisions and its neighbours see it.
#[inline(always)]
fn chroma_index(mode: usize) -> usize {
    match mode {
        FROM_LUMA_TAPS => FROM_LUMA,
        index => index,
    }
}

/// Codes the chroma mode.
pub(crate) fn code_chroma_mode<C: BinaryCoder>(
    coder: &mut C,
    canvas: &Canvas,
    x: usize,
    y: usize,
    shape: Shape,
    luma_mode: usize,
    mode: usize,
) -> usize {
    let neighbour = |dx: isize, dy: isize| {
        let cell = canvas.cell(x as isize + dx, y as isize + dy);
        cell.map_or(7, |cell| chroma_index(cell.mode.into()) as u32)
    };
    let (left, above) = (neighbour(-1, 0), neighbour(0, -1));
    let group = shape.size_group() as u32;
    let cells = [
        left << 3 | above << 6,
        group << 3,
        (luma_mode.min(2) as u32) << 3 | group << 5,
    ];
    code_chroma_decisions(coder, cells, mode)
}

kernel! {
    /// Codes a chroma mode in cells of this kind.
    fn code_chroma_decisions<C: BinaryCoder>(coder: &mut C, cells: [u32; 3], mode: usize) -> usize {
        const LAST: usize = CHROMA_MODES - 1;
        let mut index = 0;
        while index < LAST && !decide_chroma(coder, cells, index, index == chroma_index(mode)) {
            index += 1;
        }
        if index == FROM_LUMA && decide_chroma(coder, cells, LAST, mode == FROM_LUMA_TAPS) {
            return FROM_LUMA_TAPS;
        }
        index
    }
}

/// Codes one decision about a chroma mode.
#[inline(always)]
fn decide_chroma<C: BinaryCoder>(
    coder: &mut C,
    cells: [u32; 3],
    question: usize,
    bit: bool,
) -> bool {
    let i = question as u32;
    let contexts = Contexts::new(cells.map(|cell| i | cell), i);
    coder.bit(PlaneKind::Chroma, Element::ChromaMode, &contexts, bit)
}
