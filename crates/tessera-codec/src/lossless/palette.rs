//! Tiles of few colours: the list of them, and colours by their number in it (`spec/lossless.md`, "Palette").

use super::cell::Cell;
use super::coder::Coder;
use super::colours::Colour;
use super::mixer::Mixer;
use super::numbers::Numbers;
use super::template::{Near, hash_of};
#[cfg(feature = "encoder")]
use crate::tile::entropy::coder::code_lengths;

/// Most colours of a palette.
pub(super) const MAX_COLOURS: usize = 4096;
const INPUTS: usize = 4;
/// Log2 of the cells of every opinion.
const CELL_BITS: u32 = 16;
/// Sets of weights: one for each of the first nodes of the tree.
const SETS: usize = 256;
const MIXING_RATE: u32 = 11;
const CELL_LIMIT: u32 = 250;

/// What samples of a colour of a palette, but for its first, are told as differences from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PaletteOrder {
    /// The sample before them in the same colour: all are light.
    AlongColours,
    /// The same sample of the colour before, half of the range before the first: the others are chroma.
    AlongPalette,
}

/// Codes the sorted colours of a palette; the first sample as what it has more than that of the colour before, the
/// others as differences. `None` if a reader found what is no palette.
pub(super) fn code_palette(
    coder: &mut impl Coder,
    colours: &[Colour],
    (channels, depth): (usize, u32),
    order: PaletteOrder,
) -> Option<Vec<Colour>> {
    let mut numbers = Numbers::new(3);
    let count = numbers.code(coder, 0, colours.len().wrapping_sub(1) as u32) as usize + 1;
    if count > MAX_COLOURS {
        return None;
    }
    let max = (1u32 << depth) - 1;
    let mut palette: Vec<Colour> = Vec::with_capacity(count);
    let half = 1 << (depth - 1);
    let mut last = [0, half, half, half];
    for i in 0..count {
        let wanted = colours.get(i).copied().unwrap_or(0);
        let mut colour = 0;
        for channel in 0..channels {
            let sample = (wanted >> (16 * (channels - 1 - channel))) as u32 & 0xFFFF;
            let value = if channel == 0 {
                last[0] + numbers.code(coder, 1, sample.wrapping_sub(last[0]))
            } else {
                // Modulo the range, as a signed number folded to a positive one.
                let range = max + 1;
                let before = match order {
                    PaletteOrder::AlongColours => last[channel - 1],
                    PaletteOrder::AlongPalette => last[channel],
                };
                let difference = sample.wrapping_sub(before) & max;
                let folded = fold(difference, range);
                let folded = numbers.code(coder, 2, folded);
                before.wrapping_add(unfold(folded, range)) & max
            };
            if value > max {
                return None;
            }
            last[channel] = value;
            colour = colour << 16 | Colour::from(value);
        }
        palette.push(colour);
    }
    Some(palette)
}

/// 0, -1, 1, -2, ... as 0, 1, 2, 3, ..., of a difference modulo `range`.
fn fold(difference: u32, range: u32) -> u32 {
    if difference < range / 2 {
        2 * difference
    } else {
        2 * (range - difference) - 1
    }
}

fn unfold(folded: u32, range: u32) -> u32 {
    if folded.is_multiple_of(2) {
        folded / 2
    } else {
        range.wrapping_sub(folded / 2 + 1)
    }
}

/// Adapts to which number follows which colours.
#[derive(Debug)]
pub(super) struct IndexModel {
    cells: [Vec<Cell>; INPUTS],
    mixer: Mixer<INPUTS>,
    bits: u32,
}

impl IndexModel {
    /// For a palette of so many colours.
    pub(super) fn new(colours: usize) -> Self {
        Self {
            cells: std::array::from_fn(|_| vec![Cell::EVEN; 1 << CELL_BITS]),
            mixer: Mixer::new(SETS, (1 << 16) * 4 / 10, MIXING_RATE),
            bits: colours.next_power_of_two().ilog2(),
        }
    }

    /// Codes a number, the highest bit first.
    #[inline(always)]
    pub(super) fn code(&mut self, coder: &mut impl Coder, near: &Near, number: usize) -> usize {
        let mut node = 1;
        for bit in (0..self.bits).rev() {
            let (at, opinions) = self.opinions(near, node);
            let set = node.min(SETS - 1);
            let mixed = self.mixer.mix(set, &opinions);
            let one = coder.code(number >> bit & 1 != 0, mixed.one);
            self.mixer.update(set, &opinions, mixed.one, one);
            for (cells, at) in self.cells.iter_mut().zip(at) {
                cells[at].update(one, CELL_LIMIT);
            }
            node = 2 * node + usize::from(one);
        }
        node - (1 << self.bits)
    }

    /// Where the cells of a node are, and what they say.
    #[inline(always)]
    fn opinions(&self, near: &Near, node: usize) -> ([usize; INPUTS], [i32; INPUTS]) {
        let [west, north, ..] = near.colours;
        let hashes = [
            hash_of([0, 0, node as u64]),
            hash_of([1, west, node as u64]),
            hash_of([2, north, node as u64]),
            hash_of([west, north, node as u64]),
        ];
        let (mut at, mut opinions) = ([0; INPUTS], [0; INPUTS]);
        for (i, hash) in hashes.iter().enumerate() {
            at[i] = (hash >> (64 - CELL_BITS)) as usize;
            opinions[i] = self.cells[i][at[i]].opinion();
        }
        (at, opinions)
    }

    /// Bits that a number would take.
    #[cfg(feature = "encoder")]
    pub(super) fn bits(&self, near: &Near, number: usize) -> f32 {
        let (mut node, mut bits) = (1, 0.0);
        for bit in (0..self.bits).rev() {
            let (_, opinions) = self.opinions(near, node);
            let one = self.mixer.mix(node.min(SETS - 1), &opinions).one;
            let wanted = number >> bit & 1;
            bits += code_lengths(one)[wanted];
            node = 2 * node + wanted;
        }
        bits
    }
}
