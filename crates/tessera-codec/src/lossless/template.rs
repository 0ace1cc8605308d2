//! The neighbourhood of a pixel and its hashes (`spec/lossless.md`, "Template").

use super::colours::Colour;

/// Pixels of the template.
pub(super) const SIZE: usize = 24;
/// Hashes of its first pixels.
pub(super) const HASHES: usize = 6;
/// How many of the first pixels each hash covers.
const COVERED: [usize; HASHES] = [2, 4, 6, 9, 12, 18];
/// Columns to the left and right, and rows above, that the template reaches.
pub(super) const REACH: usize = 4;

/// The pixels as (columns to the left, rows up), the nearest first.
const PIXELS: [(isize, isize); SIZE] = [
    (1, 0),
    (0, 1),
    (1, 1),
    (-1, 1),
    (2, 0),
    (0, 2),
    (-1, 2),
    (2, 1),
    (-2, 1),
    (1, 2),
    (3, 0),
    (0, 3),
    (-2, 2),
    (2, 2),
    (-3, 1),
    (3, 1),
    (-1, 3),
    (1, 3),
    (4, 0),
    (-3, 2),
    (3, 2),
    (-2, 3),
    (2, 3),
    (-4, 1),
];

const FIRST_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
const SECOND_FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
const COLOUR_FACTOR: u64 = 0x2545_F491_4F6C_DD1D;
const START: u64 = 0x1234;

/// A step of a hash, modulo 2^64.
#[inline(always)]
fn stir(hash: u64, value: u64) -> u64 {
    (hash ^ value).wrapping_mul(FIRST_FACTOR).rotate_left(29)
}

/// The last step, after which the upper bits are good.
#[inline(always)]
fn finish(hash: u64) -> u64 {
    hash.wrapping_mul(SECOND_FACTOR)
}

/// Colours around a pixel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near {
    pub(super) colours: [Colour; SIZE],
    pub(super) hashes: [u64; HASHES],
}

impl Near {
    /// Looks around `at` of a canvas with rows of `stride` pixels.
    #[inline(always)]
    pub(super) fn new(canvas: &[Colour], stride: usize, at: usize) -> Self {
        let mut near = Self {
            colours: [0; SIZE],
            hashes: [0; HASHES],
        };
        let mut hash = START;
        let mut next = 0;
        for (i, &(left, up)) in PIXELS.iter().enumerate() {
            let back = up * stride as isize + left;
            near.colours[i] = canvas[at.wrapping_add_signed(-back)];
            if next < HASHES {
                hash = stir(hash, near.colours[i]);
                if i + 1 == COVERED[next] {
                    near.hashes[next] = finish(hash);
                    next += 1;
                }
            }
        }
        near
    }

    /// Which pixels have a colour, the first of the template in the lowest bit.
    #[inline(always)]
    pub(super) fn pattern(&self, colour: Colour) -> u64 {
        let mut pattern = 0;
        for (i, &near) in self.colours.iter().enumerate() {
            pattern |= u64::from(near == colour) << i;
        }
        pattern
    }

    /// How many of four pairs of neighbours differ.
    #[inline(always)]
    pub(super) fn changes(&self) -> usize {
        let pairs = [(0, 1), (1, 2), (1, 3), (0, 4)];
        let mut changes = 0;
        for (a, b) in pairs {
            changes += usize::from(self.colours[a] != self.colours[b]);
        }
        changes
    }
}

/// Hashes of `values`, for contexts of palette indices.
#[inline(always)]
pub(super) fn hash_of(values: [u64; 3]) -> u64 {
    finish(stir(stir(stir(START, values[0]), values[1]), values[2]))
}

/// Hashes of decisions about candidates: five of the neighbourhood with the colour, one of the pattern.
#[inline(always)]
pub(super) fn decision_hashes(
    near: &Near,
    colour: Colour,
    kind: usize,
    pattern: u64,
) -> [u64; HASHES] {
    let salt = stir(
        colour.wrapping_mul(COLOUR_FACTOR),
        kind.min(2) as u64 + (kind as u64 & 4),
    );
    let mut hashes = [0; HASHES];
    for (to, which) in hashes.iter_mut().zip([0, 1, 3, 4, 5]) {
        *to = finish(stir(near.hashes[which], salt));
    }
    hashes[HASHES - 1] = finish(stir(pattern, kind as u64));
    hashes
}
