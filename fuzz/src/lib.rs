//! What each fuzz target does with its bytes.
//!
//! The targets in `fuzz_targets/` only call these functions, and so does `tests/fuzz_findings.rs` with
//! every input that once failed. A body panics when a promise of `spec/security.md` is broken; garbage
//! and errors are fine. Checksums are not compared, so that the fuzzer gets past them.

use std::io::Cursor;
use std::sync::LazyLock;
use tessera_codec::internals::container::Container;
use tessera_codec::internals::stages;
use tessera_codec::internals::tile::{PlaneLayout, TileConfig, decode_tile};
use tessera_codec::{
    BitDepth, Colour, Decoder, Encoder, Fingerprint, Integrity, Limits, Picture, PixelFormat,
    PreparedDictionary, Rect, Samples, Target,
};
use tessera_dict::lossless_net::{MAX_WEIGHT, WEIGHTS};
use tessera_dict::{Dictionary, LosslessNet, LosslessNets};
use tessera_pack::PackReader;

/// Sides of the pictures that are decoded or encoded end here: more than one superblock.
const SIDE: u32 = 40;

/// Small enough that every input takes milliseconds.
fn limits() -> Limits {
    Limits {
        pixels: 1 << 14,
        tile_pixels: 1 << 13,
        metadata: 1 << 16,
        chunks: 16,
        ..Limits::default().with_memory(1 << 20).with_work(1 << 18)
    }
}

/// Range decoder: what was decoded and coded again decodes to the same bits.
pub fn range(data: &[u8]) {
    let (probabilities, stream) = data.split_at(data.len() / 2);
    let (pairs, _) = probabilities.as_chunks::<2>();
    let one = || {
        pairs
            .iter()
            .map(|pair| u16::from_le_bytes(*pair))
            .cycle()
            .take(1 << 12)
    };
    if pairs.is_empty() {
        return;
    }
    let bits = stages::range_bits(stream, one());
    let again = stages::range_bytes(&bits, one());
    assert_eq!(stages::range_bits(&again, one().take(bits.len())), bits);
}

/// Header: sizes are in range and the length lies inside the file.
pub fn header(data: &[u8]) {
    if let Ok((header, len)) = stages::header(data) {
        assert!(len <= data.len());
        assert!((1..=65535).contains(&header.width) && (1..=65535).contains(&header.height));
        assert_eq!(header.alpha_quantiser.is_some(), header.format.alpha);
        assert!(header.grid().largest() <= u64::from(header.width) * u64::from(header.height));
    }
}

/// Metadata: what is unpacked stays within the limit.
pub fn metadata(data: &[u8]) {
    let limits = limits();
    if let Ok(metadata) = stages::metadata(data, &limits) {
        let total: usize = metadata.iter().map(|(_, block)| block.len()).sum();
        assert!(total as u64 <= limits.metadata);
    }
}

/// Container: every tile and the metadata can be asked for, whatever the table says.
pub fn container(data: &[u8]) {
    let Ok(container) = Container::parse(data, &Limits::default(), Integrity::Ignored) else {
        return;
    };
    let _damage_is_fine = (
        container.metadata(),
        container.check(),
        container.check_end(),
    );
    for index in 0..container.grid().count() {
        if let Ok(payload) = container.tile(index) {
            assert!(payload.colour().len() <= container.tile_len(index));
        }
    }
}

/// Dictionary file: what is accepted can be written, read back and decoded with.
///
/// Dictionaries are large, so bytes that do not start like one are taken as changes to a valid file.
pub fn dictionary(data: &[u8]) {
    let mut file = if data.starts_with(b"TSD") {
        data.to_vec()
    } else {
        changed_dictionary(data)
    };
    mend_sections(&mut file);
    let Ok(dictionary) = Dictionary::from_bytes(&file) else {
        return;
    };
    let again = Dictionary::from_bytes(&dictionary.to_bytes()).expect("what was written is valid");
    let config = TileConfig {
        width: 24,
        height: 16,
        layout: PlaneLayout::Ycbcr444,
        quantiser: data.len() as u8 & 0x7F,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: false,
        weights: Default::default(),
        alpha: false,
        origin: (0, 0),
    };
    let payload = &data[data.len().saturating_sub(64)..];
    let [planes, others] = [dictionary, again].map(|dictionary| {
        let prepared = PreparedDictionary::new(dictionary).ok()?;
        Some(decode_tile(payload, &config, &prepared))
    });
    assert_eq!(planes, others);
}

/// Difference of a dictionary: whatever it says, there is a valid dictionary or an error.
pub fn difference(data: &[u8]) {
    let mut file = b"TSD".to_vec();
    // Version, the default dictionary as the base, some identity, the right checksum.
    file.push(tessera_dict::format::VERSION | 0x80);
    file.push(6);
    file.extend([7; 16]);
    file.extend(crc32fast::hash(data).to_le_bytes());
    file.extend(data);
    assert!(
        Dictionary::from_bytes(&file).is_err(),
        "nothing has this identity"
    );
}

/// Pack: whatever the index says, every picture can be asked for. The input is tried as a file, and as the length of an index
/// in two bytes, entries and that index, which get the magics and checks they need.
pub fn pack(data: &[u8]) {
    read_pack(data.to_vec());
    let Some((length, rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (entries, index) = rest.split_at(rest.len() - length);
    let mut file = vec![0xD4, 0x50, 1];
    file.extend(entries);
    let place = file.len() as u64;
    file.extend(index);
    file.extend(place.to_le_bytes());
    file.extend((index.len() as u32).to_le_bytes());
    file.extend(crc32fast::hash(index).to_le_bytes());
    file.extend(b"TSPI");
    read_pack(file);
}

/// Reads every picture of a pack, as far as there is one.
fn read_pack(file: Vec<u8>) {
    let all = file.len();
    let Ok(pack) = PackReader::open(Cursor::new(file)) else {
        return;
    };
    let decoder = Decoder::new()
        .threads(1)
        .limits(limits())
        .integrity(Integrity::Ignored);
    for name in pack.names() {
        assert!(!name.starts_with('/') && !name.split('/').any(|part| part == ".."));
        if let Ok(file) = pack.file(name) {
            assert!(file.len() <= all + 64);
        }
        let _damage_is_fine = pack
            .picture(name, decoder.clone())
            .map(|coded| (coded.check(), coded.metadata(), coded.decode()));
    }
}

/// The untrained dictionary with one byte changed per four of input: three of place, one of value.
fn changed_dictionary(changes: &[u8]) -> Vec<u8> {
    static BASE: LazyLock<Vec<u8>> = LazyLock::new(|| Dictionary::untrained().to_bytes());
    let mut file = BASE.clone();
    for &[a, b, c, value] in changes.as_chunks::<4>().0 {
        let place = u32::from_le_bytes([a, b, c, 0]) as usize % file.len();
        file[place] = value;
    }
    file
}

/// Makes the checksum of every section right, so that damage gets past it.
fn mend_sections(file: &mut [u8]) {
    let mut rest = file.get_mut(4..).unwrap_or_default();
    while let Some((head, tail)) = rest.split_at_mut_checked(12) {
        let len = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let Some((body, after)) = tail.split_at_mut_checked(len) else {
            return;
        };
        head[8..].copy_from_slice(&crc32fast::hash(body).to_le_bytes());
        rest = after;
    }
}

/// Partition, prediction, coefficients and filter of one tile.
pub fn tile(data: &[u8]) {
    let Some((&[width, height, quantiser, offset, layout], payload)) =
        data.split_first_chunk::<5>()
    else {
        return;
    };
    let config = TileConfig {
        width: u32::from(width) % SIDE + 1,
        height: u32::from(height) % SIDE + 1,
        layout: if layout & 1 == 0 {
            PlaneLayout::Gray
        } else {
            PlaneLayout::Ycbcr444
        },
        quantiser: quantiser & 0x7F,
        chroma_offsets: [offset as i8; 2],
        adaptive: false,
        graphics: layout & 4 != 0,
        weights: Default::default(),
        alpha: layout & 2 != 0,
        origin: (0, 0),
    };
    if let Ok(planes) = decode_tile(payload, &config, PreparedDictionary::builtin()) {
        assert_eq!(planes.len(), config.layout.planes());
        assert!(
            planes
                .iter()
                .flat_map(|plane| &plane.data)
                .all(|&sample| sample < 4096)
        );
    }
}

/// One lossless tile: sides, format, and a payload that begins with its method. Networks are at hand.
pub fn lossless(data: &[u8]) {
    let Some((&[width, height, kind], payload)) = data.split_first_chunk::<3>() else {
        return;
    };
    let format = format(kind);
    let (width, height) = (u32::from(width) % SIDE + 1, u32::from(height) % SIDE + 1);
    let samples = stages::lossless_tile(payload, (width, height), format, &NETWORKS);
    if let Ok(samples) = samples {
        let count = (width * height) as usize * format.channels();
        assert_eq!(samples.len(), count);
        assert!((0..count).all(|at| samples.get(at) <= format.depth.max_value()));
    }
}

/// Networks whose weights are all over the range.
static NETWORKS: LazyLock<LosslessNets> = LazyLock::new(|| {
    let mut state = 1u32;
    let mut weight = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16 % (MAX_WEIGHT + 1)
    };
    let mut net = || {
        let [first, second, last] = WEIGHTS.map(|count| (0..count).map(|_| weight()).collect());
        LosslessNet {
            first,
            second,
            last,
        }
    };
    [Some(net()), None, Some(net())]
});

/// Whole files: full, partial and region decodes agree with each other.
pub fn decode(data: &[u8]) {
    let decoder = Decoder::new()
        .threads(1)
        .limits(limits())
        .integrity(Integrity::Ignored);
    let partial = decoder.decode_partial(data);
    let Ok(whole) = decoder.decode(data) else {
        return;
    };
    let partial = partial.expect("what decodes wholly decodes partially");
    assert!(partial.damaged.is_empty() && partial.metadata_error.is_none());
    assert_eq!(partial.picture, whole);
    let last = Rect {
        x: whole.width() - 1,
        y: whole.height() - 1,
        width: 1,
        height: 1,
    };
    let corner = decoder
        .decode_region(data, last)
        .expect("a region of what decodes");
    let (corner, whole) = (corner.samples(), whole.samples());
    for back in 1..=corner.len() {
        assert_eq!(
            corner.get(corner.len() - back),
            whole.get(whole.len() - back)
        );
    }
}

/// Encoder and decoder: the decoder gets exactly what the encoder announced.
pub fn round_trip(data: &[u8]) {
    let Some((settings, content)) = data.split_first_chunk::<6>() else {
        return;
    };
    let mut picture = picture(settings, content);
    if settings[0] & 0x40 != 0 {
        picture.metadata.exif = Some(content.to_vec());
    }
    let encoder = Encoder::new()
        .threads(1)
        .tile_log2(6)
        .effort(settings[0] >> 4 & 3 | 1)
        .target(Target::Quantiser(settings[1] & 0x7F));
    let encoded = encoder
        .encode(&picture)
        .expect("every picture can be encoded");
    let decoder = Decoder::new().threads(1);
    let decoded = decoder
        .decode(&encoded.bytes)
        .expect("what was encoded decodes");
    assert_eq!(
        Fingerprint::of(&decoded),
        encoded.measured.unwrap().fingerprint
    );
    assert_eq!(decoded.metadata, picture.metadata);
    assert_eq!(
        (decoded.width(), decoded.height()),
        (picture.width(), picture.height())
    );
}

/// A format by the lower four bits of a byte.
fn format(byte: u8) -> PixelFormat {
    PixelFormat {
        colour: if byte & 1 == 0 {
            Colour::Gray
        } else {
            Colour::Rgb
        },
        alpha: byte & 2 != 0,
        depth: BitDepth::ALL[usize::from(byte >> 2 & 3)],
    }
}

/// A picture whose format, sides and samples come from the input; the content is repeated to fill it.
fn picture(settings: &[u8; 6], content: &[u8]) -> Picture {
    let format = format(settings[0]);
    let (width, height) = (
        u32::from(settings[2]) % SIDE + 1,
        u32::from(settings[3]) % SIDE + 1,
    );
    let count = width as usize * height as usize * format.channels();
    let content = if content.is_empty() {
        &settings[4..]
    } else {
        content
    };
    let bytes = content.iter().copied().cycle();
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(bytes.take(count).collect()),
        depth => {
            let wide = bytes.map(|byte| u16::from_le_bytes([byte, byte]) >> (16 - depth.bits()));
            Samples::U16(wide.take(count).collect())
        }
    };
    Picture::new(width, height, format, samples).expect("sizes and samples match")
}
