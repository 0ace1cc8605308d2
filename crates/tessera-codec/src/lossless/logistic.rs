//! Probabilities and log-odds in integers (`spec/lossless.md`, "Logistic arithmetic").

/// Fractional bits of a log-odds that enters a mixer.
pub(super) const STRETCH_BITS: u32 = 8;
/// Fractional bits of a log-odds that leaves a mixer.
pub(super) const LOGIT_BITS: u32 = 12;
/// Largest log-odds that leaves a mixer: just below 12.
const LOGIT_MAX: i32 = (12 << LOGIT_BITS) - 1;
/// Largest log-odds that enters a mixer.
pub(super) const STRETCH_MAX: i32 = (8 << STRETCH_BITS) - 1;

/// 2^16 / (1 + e^-x) for x = 0, 0.25, ..., 12, rounded.
const SQUASH: [i32; 49] = [
    32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428,
    63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410,
    65438, 65459, 65476, 65489, 65500, 65508, 65514, 65519, 65523, 65526, 65528, 65530, 65531,
    65532, 65533, 65534, 65534, 65534, 65535, 65535, 65535, 65535, 65535,
];

/// Start and rise of every straight piece of [`squash`], from -12 up.
static PIECES: [(i32, i32); 96] = {
    let mut pieces = [(0, 0); 96];
    let mut index = 0;
    while index < 48 {
        let rise = SQUASH[index + 1] - SQUASH[index];
        pieces[48 + index] = (SQUASH[index], rise);
        pieces[47 - index] = (65536 - SQUASH[index + 1], rise);
        index += 1;
    }
    pieces
};

/// Probability of a one, 16 bits, never 0 or 2^16, from a log-odds with [`LOGIT_BITS`] fractional bits.
#[inline(always)]
pub(super) const fn squash(logit: i32) -> u32 {
    let bounded = if logit > LOGIT_MAX {
        LOGIT_MAX
    } else if logit < -LOGIT_MAX {
        -LOGIT_MAX
    } else {
        logit
    };
    let x = bounded + (12 << LOGIT_BITS);
    let (start, rise) = PIECES[(x >> 10) as usize % PIECES.len()];
    (start + ((rise * (x & 1023) + 512) >> 10)) as u32
}

/// For every 12-bit probability the smallest log-odds ([`STRETCH_BITS`] fractional bits) whose squash reaches the centre
/// of that probability's range.
static STRETCH: [i16; 4096] = {
    let mut table = [0; 4096];
    let mut logit = -STRETCH_MAX;
    let mut index = 0;
    while index < 4096 {
        let centre = (index * 16 + 8) as u32;
        while logit < STRETCH_MAX && squash(logit << (LOGIT_BITS - STRETCH_BITS)) < centre {
            logit += 1;
        }
        table[index] = logit as i16;
        index += 1;
    }
    table
};

/// Log-odds of a 12-bit probability.
#[inline(always)]
pub(super) fn stretch(p: u32) -> i32 {
    i32::from(STRETCH[p as usize % STRETCH.len()])
}
