//! BLAKE3 as its authors define it: the unkeyed hash of 32 bytes.

const IV: [u32; 8] = [
    0x6A09_E667,
    0xBB67_AE85,
    0x3C6E_F372,
    0xA54F_F53A,
    0x510E_527F,
    0x9B05_688C,
    0x1F83_D9AB,
    0x5BE0_CD19,
];
const PERMUTATION: [usize; 16] = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const CHUNK_START: u32 = 1;
const CHUNK_END: u32 = 2;
const PARENT: u32 = 4;
const ROOT: u32 = 8;

/// The BLAKE3 hash of some bytes.
pub fn hash(bytes: &[u8]) -> [u8; 32] {
    let words = subtree(bytes, 0, ROOT);
    let mut hash = [0; 32];
    for (out, word) in hash.chunks_exact_mut(4).zip(words) {
        out.copy_from_slice(&word.to_le_bytes());
    }
    hash
}

/// The chaining value of a subtree whose first chunk has this number.
fn subtree(bytes: &[u8], first: u64, root: u32) -> [u32; 8] {
    if bytes.len() <= 1024 {
        return chunk(bytes, first, root);
    }
    let whole = (bytes.len() - 1) / 1024;
    let left = 1usize << whole.ilog2();
    let (before, behind) = bytes.split_at(left * 1024);
    let mut block = [0; 16];
    block[..8].copy_from_slice(&subtree(before, first, 0));
    block[8..].copy_from_slice(&subtree(behind, first + left as u64, 0));
    compress(&IV, &block, 0, 64, PARENT | root)
}

fn chunk(bytes: &[u8], number: u64, root: u32) -> [u32; 8] {
    let blocks: Vec<&[u8]> = if bytes.is_empty() {
        vec![bytes]
    } else {
        bytes.chunks(64).collect()
    };
    let mut value = IV;
    for (i, block) in blocks.iter().enumerate() {
        let start = if i == 0 { CHUNK_START } else { 0 };
        let end = if i + 1 == blocks.len() {
            CHUNK_END | root
        } else {
            0
        };
        value = compress(
            &value,
            &words(block),
            number,
            block.len() as u32,
            start | end,
        );
    }
    value
}

fn words(block: &[u8]) -> [u32; 16] {
    let mut words = [0; 16];
    for (i, &byte) in block.iter().enumerate() {
        words[i / 4] |= u32::from(byte) << (8 * (i % 4));
    }
    words
}

fn compress(
    value: &[u32; 8],
    block: &[u32; 16],
    counter: u64,
    length: u32,
    flags: u32,
) -> [u32; 8] {
    let mut state = [0; 16];
    state[..8].copy_from_slice(value);
    state[8..12].copy_from_slice(&IV[..4]);
    state[12..].copy_from_slice(&[counter as u32, (counter >> 32) as u32, length, flags]);
    let mut message = *block;
    for _ in 0..7 {
        round(&mut state, &message);
        message = PERMUTATION.map(|i| message[i]);
    }
    std::array::from_fn(|i| state[i] ^ state[i + 8])
}

fn round(state: &mut [u32; 16], m: &[u32; 16]) {
    for i in 0..4 {
        mix(state, [i, i + 4, i + 8, i + 12], m[2 * i], m[2 * i + 1]);
    }
    for i in 0..4 {
        let diagonal = [i, (i + 1) % 4 + 4, (i + 2) % 4 + 8, (i + 3) % 4 + 12];
        mix(state, diagonal, m[2 * i + 8], m[2 * i + 9]);
    }
}

fn mix(s: &mut [u32; 16], [a, b, c, d]: [usize; 4], x: u32, y: u32) {
    for (word, turns) in [(x, [16, 12]), (y, [8, 7])] {
        s[a] = s[a].wrapping_add(s[b]).wrapping_add(word);
        s[d] = (s[d] ^ s[a]).rotate_right(turns[0]);
        s[c] = s[c].wrapping_add(s[d]);
        s[b] = (s[b] ^ s[c]).rotate_right(turns[1]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn hashes_are_those_of_the_authors() {
        assert_eq!(&hex(&hash(b""))[..16], "af1349b9f5f9a1a6");
        let long: Vec<u8> = (0..2049u32).map(|i| (i % 251) as u8).collect();
        assert_eq!(&hex(&hash(&long))[..16], "5f4d72f40d7a5f82");
    }
}
