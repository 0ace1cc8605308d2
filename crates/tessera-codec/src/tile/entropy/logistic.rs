//! Integer logistic function and its inverse (`spec/bitstream.md`, section "Logistic arithmetic").

/// Fractional bits of a log-odds that enters the mixer.
pub(crate) const STRETCH_BITS: u32 = 8;
/// Fractional bits of a log-odds that leaves the mixer.
pub(crate) const LOGIT_BITS: u32 = 10;
/// Largest log-odds that leaves the mixer: just below 8.
pub(crate) const LOGIT_MAX: i32 = (8 << LOGIT_BITS) - 1;

/// 2^16 / (1 + e^-x) for x = -8, -7.75, ..., 8, rounded.
const SQUASH: [i32; 65] = [
    22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921,
    2446, 3108, 3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
    36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090,
    63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438,
    65459, 65476, 65489, 65500, 65508, 65514,
];

/// Probability of a one, 16 bits, from a log-odds with [`LOGIT_BITS`] fractional bits.
#[inline]
pub(crate) const fn squash(logit: i32) -> u32 {
    let bounded = if logit > LOGIT_MAX {
        LOGIT_MAX
    } else if logit < -LOGIT_MAX {
        -LOGIT_MAX
    } else {
        logit
    };
    let x = bounded + (8 << LOGIT_BITS);
    let (start, rise) = PIECES[(x >> 8) as usize % PIECES.len()];
    (start + ((rise * (x & 255) + 128) >> 8)) as u32
}

/// Start and rise of every straight piece of [`squash`].
static PIECES: [(i32, i32); 64] = {
    let mut pieces = [(0, 0); 64];
    let mut index = 0;
    while index < 64 {
        pieces[index] = (SQUASH[index], SQUASH[index + 1] - SQUASH[index]);
        index += 1;
    }
    pieces
};

/// For every 12-bit probability the smallest log-odds ([`STRETCH_BITS`] fractional bits) whose squash
/// reaches the centre of that probability's range.
pub(crate) static STRETCH: [i16; 4096] = {
    let mut table = [0; 4096];
    let mut logit = -LOGIT_MAX >> 2;
    let mut index = 0;
    while index < 4096 {
        let centre = (index * 16 + 8) as u32;
        while logit < LOGIT_MAX >> 2 && squash(logit << 2) < centre {
            logit += 1;
        }
        table[index] = logit as i16;
        index += 1;
    }
    table
};
