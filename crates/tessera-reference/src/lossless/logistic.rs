//! `lossless.md`, "Logistic arithmetic".

use std::sync::OnceLock;

/// S[0..48]; S[-i] = 65536 - S[i].
const S: [i32; 49] = [
    32768, 36843, 40793, 44511, 47911, 50941, 53581, 55834, 57724, 59287, 60565, 61598, 62428,
    63090, 63615, 64030, 64357, 64614, 64816, 64974, 65097, 65194, 65269, 65328, 65374, 65410,
    65438, 65459, 65476, 65489, 65500, 65508, 65514, 65519, 65523, 65526, 65528, 65530, 65531,
    65532, 65533, 65534, 65534, 65534, 65535, 65535, 65535, 65535, 65535,
];

/// A log-odds with 12 fractional bits as a probability of 16 bits.
pub(super) fn squash(v: i32) -> i32 {
    let v = v.clamp(-49151, 49151) + 49152;
    let (i, f) = ((v >> 10) - 48, v & 1023);
    let at = |i: i32| match i {
        0.. => S[i as usize],
        _ => 65536 - S[-i as usize],
    };
    at(i) + (((at(i + 1) - at(i)) * f + 512) >> 10)
}

/// The inverse with 8 fractional bits, of a probability of 12 bits.
pub(super) fn stretch(p: i32) -> i32 {
    static TABLE: OnceLock<Vec<i32>> = OnceLock::new();
    let invert = |p: i32| {
        (-2047..2047)
            .find(|s| squash(16 * s) >= 16 * p + 8)
            .unwrap_or(2047)
    };
    TABLE.get_or_init(|| (0..4096).map(invert).collect())[p as usize]
}
