//! Sections are stored with their runs of zeros packed (`spec/dictionary.md`).

use crate::error::Error;
use std::cmp::Ordering;

/// Largest size of an unpacked section; the default dictionary's largest takes a quarter of it.
pub(crate) const MAX_SECTION: usize = 1 << 24;

const TOO_LONG: Error = Error::Corrupt("a section is longer than it says");

/// Replaces every run of zeros by a zero and the run's length minus one (at most 255).
pub(crate) fn pack_zeros(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len() + 4);
    out.extend((body.len() as u32).to_le_bytes());
    let mut rest = body;
    while let Some(literal) = rest.iter().position(|&byte| byte == 0) {
        out.extend_from_slice(&rest[..literal]);
        let zeros = rest[literal..].iter().take_while(|&&byte| byte == 0);
        let run = zeros.take(256).count();
        out.extend([0, (run - 1) as u8]);
        rest = &rest[literal + run..];
    }
    out.extend_from_slice(rest);
    out
}

/// Undoes [`pack_zeros`].
pub(crate) fn unpack_zeros(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let (length, mut packed) = packed.split_first_chunk::<4>().ok_or(Error::Truncated)?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_SECTION {
        return Err(Error::Corrupt("a section is too large"));
    }
    let mut body = vec![0; length];
    let (mut from, mut at) = (0, 0);
    while let (Some(next), Some(to)) = (packed[from..].first_chunk(), body[at..].first_chunk_mut())
    {
        let (literal, zeros) = unpack_word(next, to);
        from += literal + 2 * usize::from(zeros > 0);
        at += literal + zeros;
        if at > length {
            return Err(TOO_LONG);
        }
    }
    packed = &packed[from..];
    while let [byte, rest @ ..] = packed {
        *body.get_mut(at).ok_or(TOO_LONG)? = *byte;
        at += 1;
        packed = rest;
        if *byte == 0 {
            let (more, rest) = rest.split_first().ok_or(Error::Truncated)?;
            at += usize::from(*more);
            packed = rest;
        }
    }
    match at.cmp(&length) {
        Ordering::Less => Err(Error::Truncated),
        Ordering::Equal => Ok(body),
        Ordering::Greater => Err(TOO_LONG),
    }
}

/// Bytes that are unpacked at once: runs between zeros are about this long.
const WORD: usize = 8;

/// Unpacks what stands before the first zero, up to a word of it, to memory that is zero; returns its length and that of
/// the run of zeros behind it.
fn unpack_word(packed: &[u8; WORD + 1], to: &mut [u8; WORD]) -> (usize, usize) {
    let [word @ .., _] = *packed;
    let word = u64::from_le_bytes(word);
    // The lowest bit set here is the highest one of the first byte that is zero.
    let marks = word.wrapping_sub(u64::from_le_bytes([1; WORD])) & !word;
    let marks = marks & u64::from_le_bytes([0x80; WORD]);
    let literal = marks.trailing_zeros() as usize / 8;
    let mask = u64::MAX.checked_shr(64 - 8 * literal as u32).unwrap_or(0);
    *to = (word & mask).to_le_bytes();
    let zeros = packed
        .get(literal + 1)
        .map_or(0, |&more| usize::from(more) + 1);
    (literal, zeros)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bodies whose literals and runs of zeros have all lengths around a word, and whose ends fall anywhere.
    fn bodies() -> impl Iterator<Item = Vec<u8>> {
        (0..40)
            .flat_map(|start| (0..20).map(move |literal| (start, literal)))
            .map(|(start, literal)| {
                let mut body = vec![7; start];
                for zeros in [1, 2, 9, 255, 256, 257, 600, literal] {
                    body.extend(vec![0; zeros]);
                    body.extend(vec![9; literal]);
                }
                body
            })
    }

    #[test]
    fn what_is_packed_comes_back() {
        for body in bodies() {
            assert_eq!(unpack_zeros(&pack_zeros(&body)).unwrap(), body);
        }
    }

    #[test]
    fn a_body_of_another_length_than_it_says_is_refused() {
        for body in bodies() {
            let packed = pack_zeros(&body);
            for length in [body.len() - 1, body.len() + 1] {
                let mut lying = packed.clone();
                lying[..4].copy_from_slice(&(length as u32).to_le_bytes());
                assert!(unpack_zeros(&lying).is_err());
            }
            assert!(unpack_zeros(&packed[..packed.len() - 1]).is_err());
        }
    }
}
