//! `README.md`, "Notation of all pages".

/// The number of bits of `v`.
pub(crate) fn bits(v: u64) -> u32 {
    u64::BITS - v.leading_zeros()
}

/// The logarithm of a power of two.
pub(crate) fn log2(v: usize) -> usize {
    v.trailing_zeros() as usize
}
