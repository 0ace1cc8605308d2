//! What files of at most a megabyte can make a reader use with the default limits: memory by a counting allocator, and
//! processor time. One test runs at a time, because the allocator counts for the whole process.

#![allow(unsafe_code, reason = "an allocator that counts")]

use cpu_time::ProcessTime;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Cursor;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tessera_codec::internals::container::{self, Header, TileData, WorkBound};
use tessera_codec::{
    BitDepth, Colour, Decoder, DictId, Dictionary, Encoder, Metadata, MetadataKind, Picture,
    PixelFormat, PreparedDictionary, Scale,
};
use tessera_dict::Reference;
use tessera_pack::{PackReader, PackWriter};

const MEGABYTE: usize = 1_000_000;
const MOST_MEMORY: usize = 300 * MEGABYTE;
const MOST_TIME: Duration = Duration::from_secs(10);

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn taken(bytes: usize) {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    PEAK.fetch_max(now, Ordering::Relaxed);
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        taken(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may both be there while the content moves.
        taken(size);
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs a reader on a hostile input and holds it to the limits.
fn measure<T>(what: &str, read: impl FnOnce() -> T) {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = ProcessTime::now();
    drop(read());
    let (time, memory) = (start.elapsed(), PEAK.load(Ordering::Relaxed) - before);
    println!("{what}: {} MB, {time:.1?}", memory / MEGABYTE);
    assert!(memory < MOST_MEMORY, "{what}: {memory} bytes");
    assert!(time < MOST_TIME, "{what}: {time:?}");
}

fn header(format: PixelFormat, (width, height): (u32, u32), tile_log2: u8) -> Header {
    Header {
        format,
        dictionary: Dictionary::builtin().id(),
        width,
        height,
        tile_log2,
        quantiser: 20,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: false,
        weights: Default::default(),
        alpha_quantiser: format.alpha.then_some(20),
        lossless: None,
        tile_work: WorkBound::from_byte(255),
        preview_len: 0,
        metadata_len: 0,
    }
}

/// Bytes that look like a payload: all alike, or random.
fn payload(kind: u8, len: usize) -> Vec<u8> {
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    };
    match kind {
        0 => vec![0; len],
        1 => vec![0xFF; len],
        _ => (0..len).map(|_| random()).collect(),
    }
}

/// A megabyte of payload, shared by all tiles.
fn file(header: &Header, kind: u8, first: Option<u8>) -> Vec<u8> {
    let count = header.grid().count();
    let len = (MEGABYTE / count).saturating_sub(40).max(1);
    let mut colour = payload(kind, len);
    if let Some(first) = first {
        colour[0] = first;
    }
    let alpha = (header.format.alpha && header.lossless.is_none()).then(|| payload(kind, len / 2));
    if alpha.is_some() {
        colour.truncate(len / 2);
    }
    let tile = TileData { colour, alpha };
    container::write(header.clone(), &Metadata::default(), &vec![tile; count])
}

const RGBA: PixelFormat = PixelFormat {
    colour: Colour::Rgb,
    alpha: true,
    depth: BitDepth::Eight,
};

/// Sides and tiles: the largest, near the limits, and one tile; all of them, or a few.
fn shapes(all: bool) -> Vec<((u32, u32), u8)> {
    let few = vec![
        ((65535, 65535), 15),
        ((8192, 5120), 10),
        ((4096, 4096), 12),
        ((1024, 1024), 10),
    ];
    let more = vec![
        ((16384, 16384), 10),
        ((16384, 4096), 10),
        ((2048, 2048), 11),
        ((4096, 4096), 6),
    ];
    match all {
        true => [few, more].concat(),
        false => few,
    }
}

fn read_in_every_way(what: &str, file: &[u8]) {
    measure(what, || {
        let decoder = Decoder::new();
        drop(decoder.decode(file));
        drop(decoder.preview(file));
    });
    measure(&format!("{what}, partly"), || {
        drop(Decoder::new().decode_partial(&file[..file.len() * 9 / 10]));
    });
    measure(&format!("{what}, scaled"), || {
        drop(Decoder::new().decode_scaled(file, Scale::MaxSide(100)));
    });
}

#[test]
fn a_megabyte_costs_less_than_300_megabytes_and_ten_seconds() {
    hold(false);
}

/// Minutes.
#[test]
#[ignore = "takes minutes"]
fn a_megabyte_in_every_shape_costs_less_than_300_megabytes_and_ten_seconds() {
    hold(true);
}

fn hold(all: bool) {
    // What every program has once.
    PreparedDictionary::new(Dictionary::builtin().clone()).unwrap();
    lossy_tiles(all);
    lossless_tiles(all);
    bombs_of_metadata();
    previews(all);
    packs();
    dictionaries();
}

fn lossy_tiles(all: bool) {
    for format in [PixelFormat::GRAY8, RGBA] {
        for (sides, tile_log2) in shapes(all) {
            for (kind, graphics) in [(0, false), (1, false), (2, false), (2, true)] {
                let mut header = header(format, sides, tile_log2);
                header.graphics = graphics;
                let what = format!(
                    "{sides:?}, tiles of 2^{tile_log2}, {} channels, payload {kind}, drawn {graphics}",
                    format.channels()
                );
                read_in_every_way(&what, &file(&header, kind, None));
            }
        }
    }
}

fn lossless_tiles(all: bool) {
    for format in [PixelFormat::GRAY8, RGBA] {
        for (sides, tile_log2) in shapes(all) {
            for method in (0..12).filter(|method| all || matches!(method, 3 | 8 | 9)) {
                let mut header = header(format, sides, tile_log2);
                header.dictionary = DictId::Builtin(0);
                (header.quantiser, header.lossless) = (0, Some(0));
                header.alpha_quantiser = format.alpha.then_some(0);
                let what = format!(
                    "{sides:?}, lossless method {method}, {} channels",
                    format.channels()
                );
                measure(&what, || {
                    Decoder::new().decode(&file(&header, 2, Some(method)))
                });
            }
        }
    }
}

fn bombs_of_metadata() {
    let mut picture = Picture::gray8(1, 1, vec![0]).unwrap();
    for size in [50 << 20, 200 << 20] {
        for kind in [MetadataKind::Icc, MetadataKind::Exif, MetadataKind::Xmp] {
            picture.metadata = Metadata::default();
            picture.metadata.set(kind, Some(vec![0; size])).unwrap();
            let file = Encoder::new().effort(1).encode(&picture).unwrap().bytes;
            assert!(file.len() < MEGABYTE);
            read_in_every_way(&format!("{} of {size} bytes", kind.name()), &file);
        }
    }
}

fn previews(all: bool) {
    for (sides, tile_log2) in shapes(all) {
        let mut nested = header(PixelFormat::GRAY8, sides, tile_log2);
        nested.tile_work = WorkBound::from_byte(255);
        let tile = TileData {
            colour: payload(2, 30_000 / nested.grid().count().min(1000)),
            alpha: None,
        };
        let tiles = vec![tile; nested.grid().count()];
        let nested = container::write(nested, &Metadata::default(), &tiles);
        let outer = header(PixelFormat::GRAY8, (300, 300), 10);
        let tile = TileData {
            colour: payload(2, 1000),
            alpha: None,
        };
        let nested = &nested[..nested.len().min(65535)];
        let file = container::write_with_preview(outer, nested, &[tile]);
        read_in_every_way(&format!("a preview of {sides:?}"), &file);
    }
}

fn packs() {
    let hostile = file(&header(RGBA, (4096, 4096), 10), 2, None);
    let mut writer = PackWriter::new(Cursor::new(Vec::new()), None).unwrap();
    writer.add("hostile", &hostile).unwrap();
    let pack = writer.finish().unwrap().into_inner();
    measure("a pack", || {
        let reader = PackReader::open(Cursor::new(pack.clone())).unwrap();
        reader
            .picture("hostile", Decoder::new())
            .map(|coded| coded.decode().is_ok())
    });
    for at in (pack.len() - 60..pack.len()).step_by(2) {
        let mut damaged = pack.clone();
        damaged[at] = 0xFF;
        measure("a pack with a changed index", || {
            PackReader::open(Cursor::new(damaged)).is_ok()
        });
    }
}

fn dictionaries() {
    // As many and as large references as there may be, of few bytes each.
    let flat = Picture::rgb8(4096, 256, vec![100; 4096 * 256 * 3]).unwrap();
    let stream = Encoder::new().effort(1).encode(&flat).unwrap().bytes;
    let reference = Reference::new(4096, 256, stream);
    let full = Dictionary::builtin()
        .edited(|parts| parts.references = vec![reference; 16])
        .unwrap();
    let picture = Picture::rgb8(900, 900, vec![100; 900 * 900 * 3]).unwrap();
    let coded = Encoder::new()
        .effort(1)
        .dictionary(full.clone())
        .encode(&picture);
    let coded = coded.unwrap().bytes;
    let bytes = full.to_bytes();
    measure("a dictionary full of references", || {
        let dictionary = Dictionary::from_bytes(&bytes).unwrap();
        Decoder::new()
            .dictionary(dictionary)
            .decode(&coded)
            .unwrap()
    });
    // Sections of zeros.
    let mut bomb = b"TSD".to_vec();
    bomb.push(bytes[3]);
    for tag in [
        b"BASL", b"BASC", b"PRIL", b"PRIC", b"FILL", b"REFS", b"NETS", b"PROV",
    ] {
        let mut body = (1u32 << 24).to_le_bytes().to_vec();
        body.extend([0, 255].repeat((1 << 24) / 256));
        bomb.extend(tag);
        bomb.extend((body.len() as u32).to_le_bytes());
        bomb.extend(crc32fast::hash(&body).to_le_bytes());
        bomb.extend(body);
    }
    measure("a dictionary of zeros", || {
        Dictionary::from_bytes(&bomb).is_ok()
    });
}
