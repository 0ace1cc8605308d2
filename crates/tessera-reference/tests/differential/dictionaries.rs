//! Dictionaries that nobody learned: one of the conformance files with its numbers replaced by random ones.

use super::random::Random;

const MAGIC: usize = 4;

/// The sections of a dictionary file, unpacked.
fn sections(file: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let mut sections = Vec::new();
    let mut rest = &file[MAGIC..];
    while !rest.is_empty() {
        let tag = rest[..4].try_into().unwrap();
        let length = u32::from_le_bytes(rest[4..8].try_into().unwrap()) as usize;
        sections.push((tag, unpack(&rest[12..12 + length])));
        rest = &rest[12 + length..];
    }
    sections
}

fn unpack(packed: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut bytes = packed[4..].iter();
    while let Some(&byte) = bytes.next() {
        let zeros = if byte == 0 {
            usize::from(*bytes.next().unwrap())
        } else {
            0
        };
        body.extend(vec![byte; zeros + 1]);
    }
    body
}

fn pack(body: &[u8]) -> Vec<u8> {
    let mut packed = (body.len() as u32).to_le_bytes().to_vec();
    let mut rest = body;
    while let Some(&first) = rest.first() {
        let run = rest.iter().take(256).take_while(|&&byte| byte == 0).count();
        packed.push(first);
        packed.extend((run > 0).then(|| (run - 1) as u8));
        rest = &rest[run.max(1)..];
    }
    packed
}

/// A dictionary like the one given, but for its numbers.
pub(crate) fn dictionary(random: &mut Random, like: &[u8]) -> Vec<u8> {
    let mut file = like[..MAGIC].to_vec();
    for (tag, mut body) in sections(like) {
        change(random, &tag, &mut body);
        let packed = pack(&body);
        file.extend(tag);
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend(crc32fast::hash(&packed).to_le_bytes());
        file.extend(packed);
    }
    file
}

fn change(random: &mut Random, tag: &[u8; 4], body: &mut [u8]) {
    match tag {
        // A part of the cells, and the vectors, which come last.
        b"PRIL" | b"PRIC" => {
            let (cells, vectors) = body.split_at_mut(body.len() - 1600);
            let some = random.pick(&[1, 16, 16, 64]);
            for byte in cells {
                if random.once_in(some) {
                    *byte = random.byte();
                }
            }
            vectors.iter_mut().for_each(|byte| *byte = random.byte());
        }
        b"RECO" => body.iter_mut().for_each(|byte| *byte = random.byte()),
        // Twelve weights of a class add up to at most 131072.
        b"FILL" | b"FILC" => numbers(random, body, 10_000, 1),
        // Flags and extents stand between weights; in front of them the file stays as it is.
        b"NETS" => {
            bytes(&mut Random(random.0), &mut body[5..]);
            // As many draws as weights of 16 bits took here once: the streams were selected with what these leave for the
            // sections behind.
            for _ in 0..64 * 48 + 32 * 65 + 33 {
                if random.once_in(2) {
                    random.next();
                }
            }
        }
        b"NETP" => numbers(random, &mut body[5..5 + 2 * 64 * 39], 2000, 2),
        b"NETL" => numbers(
            random,
            &mut body[1..1 + 2 * (64 * 64 + 16 * 65 + 34)],
            8000,
            2,
        ),
        b"ATOM" => body[1..]
            .iter_mut()
            .take(2 * 16 + 16 * 16)
            .for_each(|byte| *byte = random.byte()),
        // Among types, orders, scales and entries: what breaks a rule must be refused by both.
        b"BASL" | b"BASC" => {
            for _ in 0..random.pick(&[0, 1, 2, 3000]) {
                let at = random.below(body.len());
                body[at] = random.byte();
            }
        }
        _ => {}
    }
}

/// Puts i16 within limits, one of `times`.
fn numbers(random: &mut Random, body: &mut [u8], limit: i64, times: usize) {
    for number in body.chunks_exact_mut(2) {
        if random.once_in(times) {
            let value = (random.next() % (2 * limit as u64 + 1)) as i64 - limit;
            number.copy_from_slice(&(value as i16).to_le_bytes());
        }
    }
}

/// Puts weights of one network behind the filter: the positive ones of a unit add up to at most 255, and the negative ones.
fn bytes(random: &mut Random, mut body: &mut [u8]) {
    for (units, stride) in [(64, 56), (32, 65), (4, 33)] {
        let (layer, rest) = body.split_at_mut(units * stride);
        body = rest;
        for unit in layer.chunks_exact_mut(stride) {
            let mut left = [255; 2];
            for weight in unit {
                let negative = random.once_in(2);
                let left = &mut left[usize::from(negative)];
                let magnitude = ((random.next() % 40) as i64).min(*left);
                *left -= magnitude;
                let value = if negative { -magnitude } else { magnitude };
                *weight = value as i8 as u8;
            }
        }
    }
}
