//! The random files that are conformance streams: each notices a misreading that no other stream does.

use super::dictionaries;
use super::files::{self, Name};
use super::random::Random;

const DICTIONARY: u64 = 9;

/// Seeds of the files, and the misreadings that each notices.
pub(crate) const FILES: [(u64, &str); 14] = [
    (
        0,
        "network: Cr by the index of Cb; ChromaReference: left and above exchanged; the index of chroma wraps",
    ),
    (8, "network: the step keeps its last bits"),
    (
        18,
        "learned: the place of the tile is left out; network: o is not limited; weights: the high part rounds towards zero",
    ),
    (27, "network: R has 16 bits"),
    (
        36,
        "coefficients are not limited to 2^22; rotation: the product with the scale is modulo 2^32",
    ),
    (54, "magnitude: a prefix of 21"),
    (115, "drawn: samples may have more than 12 bits"),
    (140, "a payload may end seven bytes too early"),
    (164, "palette: numbers beyond wrap"),
    (303, "offsets: the sign is told at the end of the range"),
    (692, "filter: a ratio of 1.7 is a direction"),
    (911, "fast: lengths end at 16"),
    (
        912,
        "lossless network: sums of errors are not less unit; lossless network: no activity",
    ),
    (1335, "palette: sets end at 127"),
];

/// The dictionary of those that are not coded with the built-in one.
pub(crate) fn dictionary(like: &[u8]) -> Vec<u8> {
    dictionaries::dictionary(&mut Random(DICTIONARY), like)
}

/// The file of a seed; `identity` is that of the dictionary.
pub(crate) fn file(seed: u64, identity: &[u8; 16]) -> Vec<u8> {
    let mut random = Random(seed);
    let name = match random.once_in(4) {
        true => Name::BuiltIn,
        false if random.once_in(4) => Name::Short(identity),
        false => Name::Hash(identity),
    };
    let lossless = random.once_in(6);
    files::file(&mut random, name, lossless)
}
