//! The bitstream below the tile header, written once for readers and writers (`spec/bitstream.md`, "Syntax").

pub(crate) mod patch_context;

use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::intra::{HORIZONTAL, MEAN, MODES, PLANAR, VERTICAL};
use crate::tile::syntax::patch_context::{
    CoefficientState, Expected, PatchContext, UNARY_LIMIT, log_class,
};
use tessera_dict::layout::Element;
use tessera_patch::Shape;
use tessera_patch::shape::MIN_SIDE;

/// How a square block is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    None,
    Quad,
    /// Upper and lower half.
    Rows,
    /// Left and right half.
    Columns,
}

/// Place of a square block in its plane group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) size: usize,
}

impl Block {
    /// The parts of a split, in coding order; empty for [`Split::None`] and [`Split::Quad`].
    pub(crate) fn halves(self, split: Split) -> [(usize, usize, Shape); 2] {
        let Self { x, y, size } = self;
        let half = size / 2;
        let (second, width, height) = match split {
            Split::Rows => ((x, y + half), size, half),
            _ => ((x + half, y), half, size),
        };
        let shape = Shape::new(width, height).expect("half of a block is a shape");
        [(x, y, shape), (second.0, second.1, shape)]
    }

    /// The four quarters, in coding order.
    pub(crate) fn quarters(self) -> [Self; 4] {
        let half = self.size / 2;
        [0, 1, 2, 3].map(|i| Self {
            x: self.x + (i & 1) * half,
            y: self.y + (i >> 1) * half,
            size: half,
        })
    }

    /// Whether the block lies inside the canvas; one that does not is always quartered.
    pub(crate) fn fits(self, canvas: &Canvas) -> bool {
        self.x + self.size <= canvas.width && self.y + self.size <= canvas.height
    }
}

/// Codes how `block` is split. `luma` is the luma canvas when `canvas` is the chroma one.
pub(crate) fn code_split<C: BinaryCoder>(
    coder: &mut C,
    kind: PlaneKind,
    canvas: &Canvas,
    luma: Option<&Canvas>,
    block: Block,
    split: Split,
) -> Split {
    if !block.fits(canvas) {
        return Split::Quad;
    }
    if block.size == MIN_SIDE {
        return Split::None;
    }
    let contexts = SplitContexts::new(canvas, luma, block);
    let mut ask =
        |decision: u32, bit: bool| coder.bit(kind, Element::Partition, &contexts.of(decision), bit);
    if !ask(0, split != Split::None) {
        return Split::None;
    }
    if ask(1, split == Split::Quad) {
        return Split::Quad;
    }
    if ask(2, split == Split::Columns) {
        Split::Columns
    } else {
        Split::Rows
    }
}

/// Bits of [`Split::None`], [`Split::Quad`], [`Split::Rows`] and [`Split::Columns`].
#[cfg(feature = "encoder")]
pub(crate) fn split_costs(
    models: &crate::tile::entropy::coder::ModelPair,
    kind: PlaneKind,
    canvas: &Canvas,
    luma: Option<&Canvas>,
    block: Block,
) -> [f32; 4] {
    if block.size == MIN_SIDE {
        return [0.0; 4];
    }
    let contexts = SplitContexts::new(canvas, luma, block);
    let cost = |decision| {
        crate::tile::entropy::coder::costs(models, kind, Element::Partition, &contexts.of(decision))
    };
    let [whole, divided] = cost(0);
    let [halves, quarters] = cost(1);
    let [rows, columns] = cost(2);
    [
        whole,
        divided + quarters,
        divided + halves + rows,
        divided + halves + columns,
    ]
}

/// Surroundings of a block as far as they bear on its split.
struct SplitContexts {
    size: u32,
    /// Height to the left, width above, then width to the left and height above (or luma's at the centre).
    sides: [u32; 4],
    activity: u32,
}

impl SplitContexts {
    fn new(canvas: &Canvas, luma: Option<&Canvas>, block: Block) -> Self {
        const UNKNOWN: u32 = 5;
        let (x, y) = (block.x as isize, block.y as isize);
        let sides = |cell: Option<&crate::tile::canvas::CellInfo>| {
            cell.map_or([UNKNOWN; 2], |c| {
                [u32::from(c.log_width) - 2, u32::from(c.log_height) - 2]
            })
        };
        let (left, above) = (sides(canvas.cell(x - 1, y)), sides(canvas.cell(x, y - 1)));
        let half = (block.size / 2) as isize;
        let others = match luma {
            Some(luma) => sides(luma.cell(x + half, y + half)),
            None => [left[0], above[1]],
        };
        let activity = canvas.activity(0, block.x, block.y, block.size, block.size);
        Self {
            size: block.size.trailing_zeros() - 3,
            sides: [left[1], above[0], others[0], others[1]],
            activity: log_class(activity, 8, 3, 8, 12),
        }
    }

    fn of(&self, decision: u32) -> Contexts {
        let question = decision | self.size << 2;
        let [left, above, third, fourth] = self.sides;
        let own = self.size + 1;
        let smaller = u32::from(left < own) | u32::from(above < own) << 1;
        Contexts::new(
            [
                (question * 6 + left) * 6 + above,
                question | self.activity << 4,
                (((question * 6 + left) * 6 + above) * 6 + third) * 6 + fourth,
                question | smaller << 4 | self.activity << 6,
            ],
            [question, self.activity],
        )
    }
}

/// Number of mode candidates.
const CANDIDATES: usize = 6;
/// Stands for a neighbour that does not exist.
const NO_MODE: usize = MODES;

/// Luma mode of a patch as seen from its neighbours.
#[derive(Debug)]
pub(crate) struct ModeContexts {
    candidates: Vec<usize>,
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
        let mut candidates = Vec::with_capacity(CANDIDATES);
        let mut add = |mode: usize| {
            if mode < MODES && !candidates.contains(&mode) && candidates.len() < CANDIDATES {
                candidates.push(mode);
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
            left: left as u32,
            above: above as u32,
            shape: shape.index() as u32,
        }
    }

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
            [i, 0],
        )
    }

    fn node(&self, node: u32) -> Contexts {
        Contexts::new(
            [
                node,
                node | self.shape << 6,
                node | (self.left / 3) << 6 | (self.above / 3) << 10,
            ],
            [node, 0],
        )
    }

    /// Codes the mode: a walk along the candidates, else six bits.
    pub(crate) fn code<C: BinaryCoder>(&self, coder: &mut C, mode: usize) -> usize {
        for (index, &candidate) in self.candidates.iter().enumerate() {
            if coder.bit(
                PlaneKind::Luma,
                Element::Mode,
                &self.candidate(index),
                candidate == mode,
            ) {
                return candidate;
            }
        }
        let coded = code_tree(
            6,
            mode as u32,
            #[inline(always)]
            |node, bit| coder.bit(PlaneKind::Luma, Element::ModeTree, &self.node(node), bit),
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
        for (index, &mode) in self.candidates.iter().enumerate() {
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

/// Codes `bits` bits of `value`, highest first, each with the node reached so far as context.
#[inline(always)]
fn code_tree(bits: u32, value: u32, mut bit: impl FnMut(u32, bool) -> bool) -> u32 {
    let mut node = 1;
    for i in (0..bits).rev() {
        node = node << 1 | u32::from(bit(node, value >> i & 1 == 1));
    }
    node - (1 << bits)
}

/// Chroma modes in the order they are asked for.
pub(crate) const CHROMA_MODES: usize = 6;
/// Chroma predicted linearly from luma.
pub(crate) const FROM_LUMA: usize = 0;

/// The luma-style mode behind a chroma mode index (except [`FROM_LUMA`]).
pub(crate) fn chroma_base_mode(index: usize, luma_mode: usize) -> usize {
    const LIST: [usize; 4] = [PLANAR, MEAN, VERTICAL, HORIZONTAL];
    match index {
        0 | 1 => luma_mode,
        _ if LIST[index - 2] == luma_mode => MODES - 1,
        _ => LIST[index - 2],
    }
}

/// Codes the index of the chroma mode.
pub(crate) fn code_chroma_mode<C: BinaryCoder>(
    coder: &mut C,
    canvas: &Canvas,
    x: usize,
    y: usize,
    shape: Shape,
    luma_mode: usize,
    index: usize,
) -> usize {
    let neighbour = |dx: isize, dy: isize| {
        let cell = canvas.cell(x as isize + dx, y as isize + dy);
        cell.map_or(7, |cell| u32::from(cell.mode))
    };
    let (left, above) = (neighbour(-1, 0), neighbour(0, -1));
    let group = shape.size_group() as u32;
    for i in 0..CHROMA_MODES as u32 - 1 {
        let contexts = Contexts::new(
            [
                i | left << 3 | above << 6,
                i | group << 3,
                i | (luma_mode.min(2) as u32) << 3 | group << 5,
            ],
            [i, 0],
        );
        if coder.bit(
            PlaneKind::Chroma,
            Element::ChromaMode,
            &contexts,
            index == i as usize,
        ) {
            return i as usize;
        }
    }
    CHROMA_MODES - 1
}

/// Codes whether the patch carries coefficients.
#[inline(always)]
pub(crate) fn code_coded<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    neighbours: [u32; 2],
    coded: bool,
) -> bool {
    let contexts = patch_context::coded(patch, neighbours[0], neighbours[1]);
    coder.bit(patch.kind, Element::Coded, &contexts, coded)
}

/// Codes which of `count` bases the patch uses.
#[inline(always)]
pub(crate) fn code_basis<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    count: usize,
    choice: u32,
) -> u32 {
    for i in 0..count.saturating_sub(1) as u32 {
        if !coder.bit(
            patch.kind,
            Element::Basis,
            &patch_context::basis(patch, i),
            choice > i,
        ) {
            return i;
        }
    }
    count.saturating_sub(1) as u32
}

/// Class of a last position, number of extra bits, and their value.
#[inline(always)]
pub(crate) fn last_class(last: usize) -> (u32, u32, u32) {
    let v = last as u32 + 1;
    let log = 31 - v.leading_zeros();
    if log < 2 {
        return (v - 1, 0, 0);
    }
    let half = v >> (log - 1) & 1;
    (
        3 + 2 * (log - 2) + half,
        log - 1,
        v & ((1 << (log - 1)) - 1),
    )
}

/// Codes the last coded position, below `limit`.
#[inline(always)]
pub(crate) fn code_last<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    limit: usize,
    last: usize,
) -> usize {
    let (class, _, rest) = last_class(last);
    let class = code_tree(
        5,
        class,
        #[inline(always)]
        |node, bit| {
            coder.bit(
                patch.kind,
                Element::Last,
                &patch_context::last_position(patch, node),
                bit,
            )
        },
    );
    if class < 3 {
        return (class as usize).min(limit - 1);
    }
    let extra = (class - 3) / 2 + 1;
    let mut value = 2 | (class - 3) & 1;
    for i in (0..extra).rev() {
        let bit = rest >> i & 1 == 1;
        let bit = if i + 1 == extra {
            coder.bit(
                patch.kind,
                Element::Last,
                &patch_context::last_position(patch, 32 + class),
                bit,
            )
        } else {
            coder.raw(bit)
        };
        value = value << 1 | u32::from(bit);
    }
    (value as usize - 1).min(limit - 1)
}

/// Codes levels from last to first; the last one is not zero.
#[inline(always)]
pub(crate) fn code_levels<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    levels: &mut [i32],
) {
    let last = levels.len() - 1;
    let mut expected = Expected::default();
    let mut state = CoefficientState::new(patch, last, &mut expected);
    for position in (0..=last).rev() {
        let level = levels[position];
        let significant = position == last || {
            let contexts = state.significance(patch, position);
            coder.bit(patch.kind, Element::Significance, &contexts, level != 0)
        };
        let mut magnitude = 0;
        if significant {
            magnitude = code_magnitude(coder, patch, &state, position, level.unsigned_abs());
        }
        let negative = significant && coder.raw(level < 0);
        levels[position] = if negative {
            -(magnitude as i32)
        } else {
            magnitude as i32
        };
        state.push(patch, position, magnitude);
    }
}

/// Largest magnitude a level can have.
const MAX_MAGNITUDE: u32 = 1 << 20;

#[inline(always)]
fn code_magnitude<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    state: &CoefficientState<'_>,
    position: usize,
    magnitude: u32,
) -> u32 {
    for level in 0..UNARY_LIMIT {
        let contexts = state.magnitude(patch, position, level);
        if !coder.bit(
            patch.kind,
            Element::Magnitude,
            &contexts,
            magnitude > level + 1,
        ) {
            return level + 1;
        }
    }
    UNARY_LIMIT + code_exp_golomb(coder, magnitude.saturating_sub(UNARY_LIMIT))
}

/// Codes a positive number: its bit length in unary, then its lower bits.
#[inline(always)]
fn code_exp_golomb<C: BinaryCoder>(coder: &mut C, value: u32) -> u32 {
    let wanted = 32 - value.max(1).leading_zeros();
    let mut length = 1;
    while length < 20 && coder.raw(length < wanted) {
        length += 1;
    }
    let mut result = 1;
    for i in (0..length - 1).rev() {
        result = result << 1 | u32::from(coder.raw(value >> i & 1 == 1));
    }
    result.min(MAX_MAGNITUDE)
}
