//! `bitstream.md`, "Logistic arithmetic".

use std::sync::OnceLock;

const S: [i32; 65] = [
    22, 28, 36, 47, 60, 77, 98, 126, 162, 208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921,
    2446, 3108, 3938, 4971, 6249, 7812, 9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768,
    36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090,
    63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438,
    65459, 65476, 65489, 65500, 65508, 65514,
];

/// A log-odds with 10 fractional bits as a probability of 16 bits.
pub(crate) fn squash(t: i32) -> i32 {
    let x = t.clamp(-8191, 8191) + 8192;
    let (i, r) = ((x >> 8) as usize, x & 255);
    S[i] + (((S[i + 1] - S[i]) * r + 128) >> 8)
}

/// The inverse with 8 fractional bits, of a probability of 12 bits.
pub(crate) fn stretch(i: usize) -> i32 {
    static TABLE: OnceLock<Vec<i32>> = OnceLock::new();
    TABLE.get_or_init(|| (0..4096).map(invert).collect())[i]
}

fn invert(i: i32) -> i32 {
    let reaches = |s: &i32| squash(4 * s) >= 16 * i + 8;
    (-2048..2047).find(reaches).unwrap_or(2047)
}
