//! Damaged streams whose checksums are not compared: errors or garbage, never a panic, a hang or a huge allocation.
//!
//! More than 100,000 inputs; the damage is the same in every run. `Limits` keep every input small; what they refuse
//! counts as survived.

use crate::support::{Entry, MANIFEST, folder, sample_hash};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use tessera_codec::internals::stages;
use tessera_codec::internals::tile::{PlaneLayout, TileConfig, decode_tile};
use tessera_codec::{Decoder, Integrity, Limits, PreparedDictionary};
use tessera_dict::atoms::MAX_INDEX_BITS;
use tessera_dict::basis::Rotation;
use tessera_dict::filter::{MAX_GAIN, TAPS};
use tessera_dict::{Atoms, Basis, BasisSet, Dictionary, PlaneKind, Prior};
use tessera_patch::Shape;

/// Streams of at most this many pixels are damaged.
const PIXELS: u64 = 64 * 64;

struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn decoder() -> Decoder {
    let limits = Limits {
        pixels: PIXELS,
        tile_pixels: PIXELS,
        metadata: 1 << 16,
        chunks: 16,
        // Drawn blocks have models of a few megabytes.
        ..Limits::default().with_memory(8 << 20).with_work(1 << 18)
    };
    Decoder::new()
        .threads(1)
        .limits(limits)
        .integrity(Integrity::Ignored)
}

fn small_streams() -> Vec<(String, Vec<u8>)> {
    let manifest = fs::read_to_string(folder().join(MANIFEST)).expect("the manifest is there");
    let entries = manifest.lines().filter_map(Entry::parse);
    let read = |entry: Entry| {
        (
            entry.file.clone(),
            fs::read(folder().join(&entry.file)).unwrap(),
        )
    };
    let small = |file: &[u8]| decoder().decode(file).is_ok();
    entries.map(read).filter(|(_, file)| small(file)).collect()
}

/// Inputs per stream of each kind of random damage.
const ROUNDS: [(Kind, usize); 6] = [
    (Kind::HeaderBits, 3200),
    (Kind::Bytes, 300),
    (Kind::Ends, 150),
    (Kind::Pieces, 300),
    (Kind::Parts, 500),
    (Kind::Payloads, 200),
];

/// What is done to a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One to three bits of the header flipped.
    HeaderBits,
    /// Some bytes anywhere changed.
    Bytes,
    /// Cut or prolonged, and a bit flipped.
    Ends,
    /// Any piece copied over another, inserted again or removed.
    Pieces,
    /// Header, metadata, table and tiles exchanged, repeated or left out.
    Parts,
    /// Random bytes behind a good header.
    Payloads,
}

impl Kind {
    fn damage(self, noise: &mut Noise, file: &mut Vec<u8>, parts: &[usize]) {
        match self {
            Self::HeaderBits => (0..=noise.below(3)).for_each(|_| flip(noise, file, parts[0])),
            Self::Bytes => {
                for _ in 0..=noise.below(6) {
                    let at = noise.below(file.len());
                    file[at] = noise.below(256) as u8;
                }
            }
            Self::Ends => {
                let length = noise.below(file.len() + 16);
                file.resize(length, 0xA5);
                flip(noise, file, 4096);
            }
            Self::Pieces => move_pieces(noise, file),
            Self::Parts => move_parts(noise, file, parts),
            Self::Payloads => {
                let payload = file[parts[0]..].iter_mut();
                payload.for_each(|byte| *byte = noise.below(256) as u8);
            }
        }
    }
}

fn flip(noise: &mut Noise, file: &mut [u8], bytes: usize) {
    let at = noise.below(file.len().min(bytes).max(1));
    if let Some(byte) = file.get_mut(at) {
        *byte ^= 1 << noise.below(8);
    }
}

fn move_pieces(noise: &mut Noise, file: &mut Vec<u8>) {
    let (from, to) = (noise.below(file.len()), noise.below(file.len()));
    let length = noise.below(file.len() - from.max(to)) + 1;
    match noise.below(3) {
        0 => file.copy_within(from..from + length, to),
        1 => {
            let piece = file[from..from + length].to_vec();
            file.splice(to..to, piece);
        }
        _ => drop(file.drain(from..from + length)),
    }
}

fn move_parts(noise: &mut Noise, file: &mut Vec<u8>, ends: &[usize]) {
    let starts = std::iter::once(&0).chain(ends);
    let mut parts: Vec<&[u8]> = starts.zip(ends).map(|(&a, &b)| &file[a..b]).collect();
    for _ in 0..=noise.below(2) {
        let (a, b) = (noise.below(parts.len()), noise.below(parts.len()));
        match noise.below(4) {
            0 => parts.swap(a, b),
            1 => parts.insert(a, parts[b]),
            2 => parts[a] = parts[b],
            _ if parts.len() > 1 => drop(parts.remove(a)),
            _ => {}
        }
    }
    *file = parts.concat();
}

/// Where header, metadata, table and each tile of a good stream end.
fn part_ends(file: &[u8]) -> Vec<usize> {
    let container = decoder().parse(file).expect("the stream is good");
    let (header, header_len) = stages::header(file).expect("the stream is good");
    let tiles: Vec<usize> = (0..container.grid().count())
        .map(|index| container.tile_len(index))
        .collect();
    let table_end = file.len() - tiles.iter().sum::<usize>();
    let preview_end = header_len + header.preview_len;
    let metadata_end = preview_end + header.metadata_len;
    let mut ends = vec![header_len, preview_end, metadata_end, table_end];
    for tile in tiles {
        ends.push(ends[ends.len() - 1] + tile);
    }
    ends.dedup();
    ends
}

/// Decodes one input; it may fail, but not in any other way.
fn survive(decoder: &Decoder, file: &[u8], describe: impl Fn() -> String) {
    let outcome = catch_unwind(AssertUnwindSafe(|| decoder.decode(file)));
    let Ok(outcome) = outcome else {
        panic!("{}: {file:02x?}", describe());
    };
    if let Ok(picture) = outcome {
        assert!(picture.pixels() <= PIXELS && sample_hash(&picture).len() == 64);
    }
}

/// Decodes randomly damaged versions of every small stream.
fn survive_random(kind: Kind) {
    survive_generation(kind, 0);
}

/// The same with other damage in every generation; returns how many inputs there were.
fn survive_generation(kind: Kind, generation: u64) -> usize {
    let (number, (_, rounds)) = ROUNDS
        .iter()
        .enumerate()
        .find(|(_, (listed, _))| *listed == kind)
        .expect("every kind is listed");
    let decoder = decoder();
    let streams = small_streams();
    for (at, (name, original)) in streams.iter().enumerate() {
        let mut noise = Noise(generation << 40 | (number as u64 + 1) << 32 | at as u64);
        let ends = part_ends(original);
        for round in 0..*rounds {
            let mut file = original.clone();
            kind.damage(&mut noise, &mut file, &ends);
            survive(&decoder, &file, || {
                format!("{name}, generation {generation}, round {round}")
            });
        }
    }
    streams.len() * rounds
}

#[test]
fn there_are_enough_inputs() {
    let streams = small_streams();
    assert!(streams.len() > 10, "most streams are small");
    let each: usize = ROUNDS.iter().map(|(_, rounds)| rounds).sum();
    let lengths: usize = streams.iter().map(|(_, file)| file.len()).sum();
    let bits: usize = streams.iter().map(|(_, file)| 8 * part_ends(file)[0]).sum();
    let inputs = each * streams.len() + lengths + bits;
    assert!(inputs >= 100_000, "{inputs}");
}

#[test]
fn each_bit_of_the_headers_flipped() {
    let decoder = decoder();
    for (name, original) in small_streams() {
        for bit in 0..8 * part_ends(&original)[0] {
            let mut file = original.clone();
            file[bit / 8] ^= 1 << (bit % 8);
            survive(&decoder, &file, || format!("{name}, bit {bit}"));
        }
    }
}

#[test]
fn truncated_at_every_length() {
    let decoder = decoder();
    for (name, original) in small_streams() {
        for length in 0..original.len() {
            survive(&decoder, &original[..length], || {
                format!("{name}, {length} bytes")
            });
        }
    }
}

#[test]
fn flipped_bits_in_headers() {
    survive_random(Kind::HeaderBits);
}

#[test]
fn changed_bytes_anywhere() {
    survive_random(Kind::Bytes);
}

#[test]
fn truncated_and_prolonged() {
    survive_random(Kind::Ends);
}

#[test]
fn pieces_swapped_and_repeated() {
    survive_random(Kind::Pieces);
}

#[test]
fn parts_swapped_and_repeated() {
    survive_random(Kind::Parts);
}

#[test]
fn random_payloads_behind_good_headers() {
    survive_random(Kind::Payloads);
}

#[test]
#[ignore = "takes minutes"]
fn a_million_damaged_inputs() {
    let mut inputs = 0;
    let mut generation = 0;
    while inputs < 1_000_000 {
        // Those of the ordinary tests are the first.
        generation += 1;
        for (kind, _) in ROUNDS {
            inputs += survive_generation(kind, generation);
        }
    }
}

/// The default dictionary with every number that a file may set freely at its limit.
fn extreme_dictionary() -> Dictionary {
    let mut dictionary = Dictionary::builtin().to_builder();
    dictionary.luma = extreme_bases(&dictionary.luma);
    dictionary.chroma = extreme_bases(&dictionary.chroma);
    dictionary.luma_prior = Prior::untrained(dictionary.luma.totals());
    for prior in [&mut dictionary.luma_prior, &mut dictionary.chroma_prior] {
        let cells = prior.cells.iter_mut().enumerate();
        cells.for_each(|(at, cell)| cell.log_odds = if at % 3 == 0 { -128 } else { 127 });
        for (at, weight) in prior.weights.iter_mut().flatten().enumerate() {
            *weight = if at % 5 == 0 {
                -(1 << 17)
            } else {
                (1 << 17) - 4
            };
        }
    }
    for filter in [&mut dictionary.luma_filter, &mut dictionary.chroma_filter] {
        let largest = (MAX_GAIN as usize / TAPS) as i16;
        filter
            .bands
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|weight| *weight = largest);
    }
    dictionary.shrinkage = [[255; 3]; 2];
    dictionary.build().expect("extremes are allowed")
}

fn extreme_bases(bases: &BasisSet) -> BasisSet {
    let groups = extreme_groups(bases);
    match bases.kind() {
        PlaneKind::Luma => bases.regrouped(groups).with_atoms(extreme_atoms()),
        PlaneKind::Chroma => bases.regrouped(groups),
    }
}

/// The largest sets that are allowed, of the largest numbers.
fn extreme_atoms() -> Atoms {
    let set = |shape: Shape| Rotation {
        shape,
        scales: vec![u16::MAX; 1 << MAX_INDEX_BITS],
        entries: vec![i8::MIN as u8; shape.area() << MAX_INDEX_BITS].into(),
    };
    Atoms::new(Atoms::shapes().map(set)).expect("extremes are allowed")
}

fn extreme_groups(bases: &BasisSet) -> Vec<Vec<Basis>> {
    let mut groups = bases.groups().to_vec();
    for basis in groups.iter_mut().flatten() {
        let model = &mut basis.model;
        for factors in [&mut model.base, &mut model.activity, &mut model.gradient] {
            factors.fill(u16::MAX);
        }
        model.weights.to_mut().fill(u8::MAX);
        if let Some(rotation) = &mut basis.rotation {
            rotation.scales.fill(u16::MAX);
            rotation.entries.to_mut().fill(i8::MIN as u8);
        }
    }
    groups
}

#[test]
fn extreme_dictionaries_overflow_nothing() {
    let dictionary = PreparedDictionary::from(extreme_dictionary());
    let mut noise = Noise(6);
    for round in 0..60 {
        let data: Vec<u8> = (0..4000).map(|_| noise.below(256) as u8).collect();
        let config = TileConfig {
            width: 40,
            height: 24,
            layout: PlaneLayout::Ycbcr444,
            quantiser: [0, 60, 127][round % 3],
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            origin: (0, 0),
            alpha: false,
        };
        if let Ok(planes) = decode_tile(&data, &config, &dictionary) {
            assert!(
                planes
                    .iter()
                    .flat_map(|plane| &plane.data)
                    .all(|&v| v < 4096)
            );
        }
    }
}

#[test]
fn filters_that_would_overflow_are_refused() {
    let edited =
        Dictionary::builtin().edited(|parts| parts.luma_filter.bands[0][0] = [i16::MIN; TAPS]);
    assert!(edited.is_err());
}
