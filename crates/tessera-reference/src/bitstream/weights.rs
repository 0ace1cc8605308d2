//! `bitstream.md`, "Weights".

use super::shapes::Shape;

const T: [i32; 32] = [
    4096, 4186, 4277, 4371, 4467, 4565, 4664, 4767, 4871, 4978, 5087, 5198, 5312, 5428, 5547, 5668,
    5793, 5919, 6049, 6182, 6317, 6455, 6597, 6741, 6889, 7039, 7194, 7351, 7512, 7677, 7845, 8017,
];

/// The weight of a frequency, 12 fractional bits.
pub(super) fn weight(curve: [i8; 3], u: usize, v: usize, shape: Shape) -> i32 {
    let [a, b, c] = curve.map(i32::from);
    let (across, down) = (64 * u / shape.w, 64 * v / shape.h);
    let f = ((across * across + down * down) << 8).isqrt() as i32;
    let e = match f {
        0..256 => a + (-a * f + 128).div_euclid(256),
        256..512 => (b * (f - 256) + 128).div_euclid(256),
        _ => b + ((c - b) * (f - 512) + 256).div_euclid(512),
    };
    let e = e.clamp(-96, 96);
    let mantissa = T[e.rem_euclid(32) as usize];
    match e.div_euclid(32) {
        up @ 0.. => mantissa << up,
        down => mantissa >> -down,
    }
}
