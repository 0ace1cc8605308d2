//! How blocks are divided (`spec/bitstream.md`, "Partition").

use crate::simd::kernel;
use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::syntax::patch_context::log_class;
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
    /// The halves of a block split by rows or by columns, in coding order.
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

    /// Whether the block lies inside the canvas and nothing of it was drawn before; one that does not is always quartered.
    pub(crate) fn fits(self, canvas: &Canvas) -> bool {
        let inside = self.x + self.size <= canvas.width && self.y + self.size <= canvas.height;
        inside && canvas.is_free(self)
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
    code_decisions(coder, kind, SplitContexts::new(canvas, luma, block), split)
}

kernel! {
    /// Codes the decisions that a split consists of.
    fn code_decisions<C: BinaryCoder>(
        coder: &mut C,
        kind: PlaneKind,
        contexts: SplitContexts,
        split: Split,
    ) -> Split {
        const ELEMENT: Element = Element::Partition;
        if !coder.bit(kind, ELEMENT, &contexts.of(0), split != Split::None) {
            return Split::None;
        }
        if coder.bit(kind, ELEMENT, &contexts.of(1), split == Split::Quad) {
            return Split::Quad;
        }
        match coder.bit(kind, ELEMENT, &contexts.of(2), split == Split::Columns) {
            true => Split::Columns,
            false => Split::Rows,
        }
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

    #[inline(always)]
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
            question,
        )
    }
}
