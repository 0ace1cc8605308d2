//! Picture files with random headers and payloads, right checks, and damage in front of them.

use super::random::Random;

/// How a file names its dictionary.
#[derive(Clone, Copy)]
pub(crate) enum Name<'a> {
    BuiltIn,
    Short(&'a [u8; 16]),
    Hash(&'a [u8; 16]),
}

/// What the rest of the file depends on.
struct Kind {
    format: u8,
    features: u8,
    width: usize,
    height: usize,
    tile_log2: u32,
}

const TILE_SIZE: u8 = 1;
const OFFSETS: u8 = 4;
const WEIGHTS: u8 = 8;
const LOSSLESS: u8 = 16;
const DRAWN: u8 = 32;

impl Kind {
    fn new(random: &mut Random, lossless: bool) -> Self {
        let lossy = random.pick(&[
            0,
            OFFSETS,
            WEIGHTS,
            DRAWN,
            OFFSETS | WEIGHTS,
            OFFSETS | WEIGHTS | DRAWN,
        ]);
        let several = if random.once_in(5) { TILE_SIZE } else { 0 };
        let features = several | if lossless { LOSSLESS } else { lossy };
        let alpha = if random.once_in(4) { 4 } else { 0 };
        let colour = random.below(2) as u8;
        let bits = (random.pick(&[0, 0, 1, 2, 3])) << 3;
        let long = random.pick(&[9, 40, 40, 70, 100]);
        // A few tiles are large enough for two streams.
        let (width, height) = match random.once_in(400) {
            true => (257 + random.below(20), 256),
            false if several != 0 => (20 + random.below(100), 20 + random.below(100)),
            false => (1 + random.below(long), 1 + random.below(long)),
        };
        Self {
            format: colour | alpha | bits | if features == 0 { 0 } else { 128 },
            features,
            width,
            height,
            tile_log2: if several == 0 { 10 } else { 6 },
        }
    }

    fn is_colour(&self) -> bool {
        self.format & 3 == 1
    }

    fn has_alpha(&self) -> bool {
        self.format & 4 != 0
    }

    fn tiles(&self) -> usize {
        self.width.div_ceil(1 << self.tile_log2) * self.height.div_ceil(1 << self.tile_log2)
    }
}

pub(crate) fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn crc8(bytes: &[u8]) -> u8 {
    let step = |crc: u8| {
        if crc & 128 != 0 {
            crc << 1 ^ 7
        } else {
            crc << 1
        }
    };
    bytes.iter().fold(0xFF, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| step(crc))
    })
}

fn crc32(parts: &[&[u8]]) -> [u8; 4] {
    crc32fast::hash(&parts.concat()).to_le_bytes()
}

/// A file of random content.
pub(crate) fn file(random: &mut Random, name: Name<'_>, lossless: bool) -> Vec<u8> {
    let kind = Kind::new(random, lossless);
    let mut header = header(random, &kind, name);
    if random.once_in(25) {
        damage(random, &mut header);
    }
    header.push(crc8(&header));
    let left_out = match name {
        Name::Short(identity) => &identity[4..],
        _ => &[],
    };
    let mut tiles = Vec::new();
    for number in 0..kind.tiles() {
        let mut tile = tile(random, &kind);
        let check = crc32(&[&header, left_out, &(number as u32).to_le_bytes(), &tile]);
        tile.extend(check);
        tiles.push(tile);
    }
    let mut file = header.clone();
    if tiles.len() > 1 {
        let table: Vec<u8> = tiles.iter().flat_map(|tile| varint(tile.len())).collect();
        file.extend(&table);
        file.extend(crc32(&[&header, &table]));
    }
    file.extend(tiles.concat());
    file
}

fn header(random: &mut Random, kind: &Kind, name: Name<'_>) -> Vec<u8> {
    let mut header = vec![0xD4, 0x53, 1, kind.format];
    header.extend(Some(kind.features).filter(|&features| features != 0));
    match name {
        Name::BuiltIn => header.push(if kind.features & LOSSLESS != 0 { 0 } else { 6 }),
        Name::Short(identity) => header.extend([&[254][..], &identity[..4]].concat()),
        Name::Hash(identity) => header.extend([&[255][..], identity].concat()),
    }
    header.extend(varint(kind.width - 1));
    header.extend(varint(kind.height - 1));
    if kind.features & TILE_SIZE != 0 {
        header.push(kind.tile_log2 as u8);
    }
    if kind.features & LOSSLESS != 0 {
        header.push(random.byte());
    } else {
        lossy_fields(random, kind, &mut header);
    }
    // Work for any payload here, or too little for most.
    header.push(if random.once_in(60) {
        random.byte()
    } else {
        200
    });
    header
}

fn lossy_fields(random: &mut Random, kind: &Kind, header: &mut Vec<u8>) {
    let quantiser = random.pick(&[random.0 as u8 & 127, 40, 56, 64, 72, 84]);
    let chroma_offsets = kind.is_colour() && random.once_in(3);
    header.push(quantiser | if chroma_offsets { 128 } else { 0 });
    if chroma_offsets {
        header.extend([random.byte(), random.byte() | 1]);
    }
    if kind.features & WEIGHTS != 0 {
        header.extend([random.byte() | 1, random.byte(), random.byte()]);
        if kind.is_colour() {
            header.extend([random.byte(), random.byte(), random.byte()]);
        }
    }
    if kind.has_alpha() {
        header.push(random.byte() & 127);
    }
}

/// Flips a bit of a header, but not of the magic, version or sides: those decide what memory is asked for.
fn damage(random: &mut Random, header: &mut [u8]) {
    let at = random.pick(&[3, 4, header.len() - 1, header.len() - 2]);
    header[at] ^= 1 << random.below(8);
}

fn tile(random: &mut Random, kind: &Kind) -> Vec<u8> {
    if kind.features & LOSSLESS != 0 {
        let method = random.below(4);
        let level = if method < 2 {
            random.below(3 + usize::from(method == 0))
        } else {
            0
        };
        let count = random.below(600);
        return [vec![(method | level << 2) as u8], random.bytes(count)].concat();
    }
    let colour = payload(random, kind);
    if !kind.has_alpha() {
        return colour;
    }
    let length = varint(colour.len());
    [length, colour, payload(random, kind)].concat()
}

/// A payload of random bytes; drawn blocks and two streams have lengths that are mostly right.
fn payload(random: &mut Random, kind: &Kind) -> Vec<u8> {
    let count = random.pick(&[0, 8, 60, 200, 500, 900]);
    let count = random.below(count + 1);
    let mut payload = Vec::new();
    if kind.features & DRAWN != 0 {
        let length = if random.once_in(4) {
            0
        } else {
            random.below(160)
        };
        payload.extend(varint(length + usize::from(random.once_in(30))));
        payload.extend(random.bytes(length));
    }
    if kind.width * kind.height > 65536 && kind.is_colour() {
        let length = random.below(900);
        payload.extend(varint(length));
        payload.extend(random.bytes(length));
    }
    payload.extend(random.bytes(count));
    payload
}
