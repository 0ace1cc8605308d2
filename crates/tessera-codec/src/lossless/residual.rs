//! A sample as binary decisions around its prediction (`spec/lossless.md`, "Samples").

/// Fractional bits of predictions and of the errors that contexts are made of.
pub(super) const FRACTION: u32 = 4;
/// Decisions that have cells of their own: the sign, then above and below for every bucket.
pub(super) const NODES: usize = 32;
/// Contexts of the bits inside a bucket.
pub(super) const LOW_CONTEXTS: usize = 18 * 8;
/// Buckets of the same size; then each is twice as large as the one before.
const EQUAL_BUCKETS: usize = 4;

/// Where the decisions of one sample go.
pub(super) trait Decisions {
    /// A decision with full context.
    fn node(&mut self, node: usize, bit: bool) -> bool;
    /// A bit inside a bucket.
    fn low(&mut self, context: usize, bit: bool) -> bool;
}

/// What is known of a sample before it is coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// The prediction, 0 to `max` with [`FRACTION`] more bits.
    pub(super) prediction: i32,
    /// Log2 of the first buckets' size.
    pub(super) scale: u32,
    /// The largest value a sample can have.
    pub(super) max: i32,
}

impl Expected {
    /// Codes a value from 0 to `max`.
    #[inline(always)]
    pub(super) fn code(&self, decisions: &mut impl Decisions, value: u16) -> u16 {
        let value = i32::from(value);
        let above = (self.prediction >> FRACTION) + 1;
        let up = decisions.node(0, value >= above);
        let magnitude = if up { value - above } else { above - 1 - value };
        let magnitude = self.code_magnitude(decisions, up, magnitude as u32) as i32;
        let value = if up {
            above + magnitude
        } else {
            above - 1 - magnitude
        };
        value.clamp(0, self.max) as u16
    }

    #[inline(always)]
    fn code_magnitude(&self, decisions: &mut impl Decisions, up: bool, magnitude: u32) -> u32 {
        let (mut start, mut size, mut bucket) = (0, self.scale, 0);
        while start <= self.max as u32 {
            let node = 1 + usize::from(up) + 2 * bucket.min(NODES / 2 - 2);
            if !decisions.node(node, magnitude >= start + (1 << size)) {
                break;
            }
            start += 1 << size;
            bucket += 1;
            size += u32::from(bucket >= EQUAL_BUCKETS);
        }
        let inside = magnitude.wrapping_sub(start);
        let mut rest = 0;
        for bit in (0..size).rev() {
            let place = match size - bit {
                1 => bucket.min(3),
                2 => 4,
                _ => 5,
            };
            let context = (size as usize * 8 + place) % LOW_CONTEXTS;
            let one = decisions.low(context, inside >> bit & 1 != 0);
            rest |= u32::from(one) << bit;
        }
        start + rest
    }
}

/// Log2 of the size of buckets that suits errors of this mean, which has [`FRACTION`] fractional bits.
#[inline(always)]
pub(super) fn scale_of(mean_error: u32) -> u32 {
    let reach = (mean_error * 3) >> (2 + FRACTION);
    reach.checked_ilog2().unwrap_or(0)
}

/// Twice the log2 of `value` + 1, rounded down.
#[inline(always)]
pub(super) fn half_octaves(value: u32) -> u32 {
    let value = value + 1;
    let log = value.ilog2();
    2 * log + ((value << 1 >> log) & 1)
}

/// Four times the log2 of `value` / 4 + 1, rounded down.
#[inline(always)]
pub(super) fn quarter_octaves(value: u32) -> u32 {
    let value = value + 4;
    let log = value.ilog2();
    4 * (log - 2) + ((value << 2 >> log) & 3)
}

/// Levels of [`signed_level`].
pub(super) const SIGNED_LEVELS: usize = 11;

/// A difference with [`FRACTION`] fractional bits in octaves, 0 to 10 with 5 in the middle.
#[inline(always)]
pub(super) fn signed_level(difference: i32) -> usize {
    let size = (u32::BITS - (difference.unsigned_abs() >> 2).leading_zeros()).min(5) as usize;
    if difference < 0 { 5 - size } else { 5 + size }
}
