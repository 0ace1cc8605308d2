//! Files that every reader must refuse, each for one reason, with right checksums unless a wrong one is the reason.

use super::support::{REFUSED, refused_folder};
use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::read::DeflateEncoder;
use std::fs;
use std::io::Read;
use tessera_codec::{Decoder, Encoder, Picture, PixelFormat, Samples};

/// Writes the files and why each is refused.
pub(super) fn write() -> Result<()> {
    let folder = refused_folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (mut list, mut total) = (String::new(), 0);
    let wrongs = [headers(), metadata()?, previews()?, tiles()];
    for Wrong(name, why, says, bytes) in wrongs.into_iter().flatten() {
        let Err(error) = Decoder::new().decode(&bytes) else {
            bail!("{name} is not refused");
        };
        let said = error.to_string();
        ensure!(said.contains(says), "{name} is refused otherwise: {said}");
        list += &format!("{name}.tsr\t{why}\n");
        total += bytes.len();
        fs::write(folder.join(format!("{name}.tsr")), bytes)?;
    }
    fs::write(folder.join(REFUSED), list)?;
    println!("{}: {total} bytes", folder.display());
    Ok(())
}

/// Name of a file, the rule it breaks, what our decoder says of it, and its bytes.
struct Wrong(&'static str, &'static str, &'static str, Vec<u8>);

/// A file of one tile on its way to be wrong.
#[derive(Clone)]
struct File {
    /// Up to the check.
    header: Vec<u8>,
    front: Vec<u8>,
    tile: Vec<u8>,
}

/// Places in the header of [`File::plain`].
const VERSION: usize = 2;
const FORMAT: usize = 3;
const DICTIONARY: usize = 4;

impl File {
    /// The file of `spec/container.md`, "A file, byte by byte".
    fn plain() -> Self {
        Self {
            header: vec![0xD4, 0x53, 1, 0, 6, 2, 0, 40, 0],
            front: Vec::new(),
            tile: vec![0xFF, 0xFF],
        }
    }

    /// The same with a byte of features; `more` stands between quantiser and work, or behind the work.
    fn with_features(features: u8, before_work: &[u8], behind_work: &[u8]) -> Self {
        let mut file = Self::plain();
        file.header[FORMAT] |= 0x80;
        file.header.insert(FORMAT + 1, features);
        let work = file.header.len() - 1;
        file.header.splice(work..work, before_work.iter().copied());
        file.header.extend(behind_work);
        file
    }

    /// The same with a byte changed.
    fn changed(mut self, at: usize, value: u8) -> Self {
        self.header[at] = value;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut file = self.header.clone();
        file.push(crc8(&file));
        let check = crc32(&[&file, &[0; 4], &self.tile]);
        [&file[..], &self.front, &self.tile, &check].concat()
    }
}

fn crc8(bytes: &[u8]) -> u8 {
    let step = |crc: u8| (crc << 1) ^ if crc & 0x80 != 0 { 7 } else { 0 };
    let add = |crc: u8, byte: &u8| (0..8).fold(crc ^ byte, |crc, _| step(crc));
    bytes.iter().fold(0xFF, add)
}

fn crc32(parts: &[&[u8]]) -> [u8; 4] {
    crc32fast::hash(&parts.concat()).to_le_bytes()
}

fn headers() -> Vec<Wrong> {
    let plain = File::plain;
    let wrong = |name, why, says, file: File| Wrong(name, why, says, file.bytes());
    let mut long_side = plain();
    long_side.header.splice(5..6, [0xFF, 0xFF, 3]);
    let mut long_form = plain();
    long_form.header.splice(5..6, [0x82, 0]);
    let mut above = plain();
    above.header.splice(5..6, [&[0x80; 9][..], &[2]].concat());
    let mut check = plain().bytes();
    check[plain().header.len()] ^= 1;
    let mut gray_offsets = plain();
    gray_offsets.header.splice(7..8, [0x80 | 40, 1, 1]);
    let mut no_offsets = plain().changed(FORMAT, 1);
    no_offsets.header.splice(7..8, [0x80 | 40, 0, 0]);
    let mut alpha = plain().changed(FORMAT, 4);
    alpha.header.insert(8, 128);
    // A payload of a byte, and one of alpha.
    alpha.tile.insert(0, 1);
    let lossless =
        |features: u8| File::with_features(features, &[], &[]).changed(DICTIONARY + 1, 0);
    let tile = |log2: u8| {
        let mut file = File::with_features(1, &[], &[]);
        file.header.insert(8, log2);
        file
    };
    vec![
        wrong(
            "magic",
            "the first byte is another",
            "not a Tessera",
            plain().changed(0, 0xD5),
        ),
        wrong(
            "version-0",
            "version 0",
            "version 0",
            plain().changed(VERSION, 0),
        ),
        wrong(
            "version-2",
            "version 2",
            "version 2",
            plain().changed(VERSION, 2),
        ),
        wrong(
            "colour-2",
            "a reserved colour transform",
            "colour",
            plain().changed(FORMAT, 2),
        ),
        wrong(
            "colour-3",
            "a reserved colour transform",
            "colour",
            plain().changed(FORMAT, 3),
        ),
        wrong(
            "format-bit-5",
            "a reserved bit of the format",
            "reserved",
            plain().changed(FORMAT, 0x20),
        ),
        wrong(
            "format-bit-6",
            "a reserved bit of the format",
            "reserved",
            plain().changed(FORMAT, 0x40),
        ),
        wrong(
            "features-0",
            "a features byte of zero",
            "empty features",
            File::with_features(0, &[], &[]),
        ),
        wrong(
            "features-bit-7",
            "a reserved feature",
            "reserved feature",
            File::with_features(0x80, &[], &[]),
        ),
        wrong(
            "dictionary-7",
            "a built-in dictionary that does not exist",
            "number 7",
            plain().changed(DICTIONARY, 7),
        ),
        wrong(
            "lossless-dictionary",
            "a lossless picture and a built-in dictionary that does not exist",
            "number 7",
            lossless(0x10).changed(DICTIONARY + 1, 7),
        ),
        wrong(
            "lossless-adaptive",
            "quantiser offsets in a lossless picture",
            "lossy",
            lossless(0x14),
        ),
        wrong(
            "lossless-weights",
            "weights in a lossless picture",
            "lossy",
            lossless(0x18),
        ),
        wrong(
            "lossless-drawn",
            "drawn blocks in a lossless picture",
            "lossy",
            lossless(0x30),
        ),
        wrong("side", "a width of 65536", "side", long_side),
        wrong(
            "number-form",
            "a number that is not in its shortest form",
            "shortest",
            long_form,
        ),
        wrong("number-range", "a number of 2^64", "too large", above),
        wrong("tile-5", "tiles of 32 pixels", "tile size", tile(5)),
        wrong("tile-16", "tiles of 65536 pixels", "tile size", tile(16)),
        wrong(
            "offsets-gray",
            "chroma offsets of a gray picture",
            "without chroma",
            gray_offsets,
        ),
        wrong(
            "offsets-zero",
            "chroma offsets of zero",
            "offsets of zero",
            no_offsets,
        ),
        wrong(
            "weights-zero",
            "weights that change nothing",
            "weights of one",
            File::with_features(8, &[0; 3], &[]),
        ),
        wrong(
            "alpha-quantiser",
            "a reserved alpha quantiser",
            "alpha quantiser",
            alpha,
        ),
        wrong(
            "preview-0",
            "a preview of no bytes",
            "preview of no",
            File::with_features(0x40, &[], &[0]),
        ),
        wrong(
            "preview-65536",
            "a preview of 65536 bytes",
            "too many",
            File::with_features(0x40, &[], &[0x80, 0x80, 4]),
        ),
        wrong(
            "metadata-0",
            "metadata of no bytes",
            "empty metadata",
            File::with_features(2, &[], &[0]),
        ),
        wrong(
            "metadata-long",
            "metadata that reaches beyond the file",
            "ends inside",
            File::with_features(2, &[], &[100]),
        ),
        Wrong(
            "header-check",
            "the check of the header",
            "checksum of the header",
            check,
        ),
    ]
}

/// A chunk of metadata with its check.
fn chunk(kind: u8, content: &[u8]) -> Vec<u8> {
    let check = crc32(&[&[kind], content]);
    [&[kind, content.len() as u8], content, &check].concat()
}

fn with_metadata(section: &[u8]) -> Vec<u8> {
    let mut file = File::with_features(2, &[], &[section.len() as u8]);
    file.front = section.to_vec();
    file.bytes()
}

fn metadata() -> Result<Vec<Wrong>> {
    const DEFLATED: u8 = 0x80;
    let right = chunk(1, b"MM\0*\0\0\0\x08\0\0");
    Decoder::new()
        .decode(&with_metadata(&right))
        .context("metadata that is right")?;
    let skipped = with_metadata(&chunk(63, b"later"));
    Decoder::new()
        .decode(&skipped)
        .context("a chunk to be skipped")?;
    let mut packed = Vec::new();
    DeflateEncoder::new(&b"words, words, words, words"[..], Compression::best())
        .read_to_end(&mut packed)?;
    let longer = [&packed[..], &[0]].concat();
    let twice = |kind| [chunk(kind, b"one"), chunk(kind, b"two")].concat();
    let mut check = chunk(63, b"later");
    *check.last_mut().context("a check")? ^= 1;
    let (cut, open) = (&right[..right.len() - 1], &packed[..packed.len() - 1]);
    let wrong = |name, why, says, section: &[u8]| Wrong(name, why, says, with_metadata(section));
    Ok(vec![
        wrong(
            "chunk-twice",
            "two chunks of a known kind",
            "twice",
            &twice(2),
        ),
        wrong(
            "chunk-unknown-twice",
            "two chunks of an unknown kind",
            "twice",
            &twice(63),
        ),
        wrong(
            "chunk-64",
            "an unknown kind that a reader must know",
            "must know",
            &chunk(64, b"later"),
        ),
        wrong(
            "chunk-127",
            "an unknown kind that a reader must know",
            "must know",
            &chunk(127, b"later"),
        ),
        wrong(
            "chunk-cut",
            "a chunk that is longer than the section",
            "ends inside",
            cut,
        ),
        wrong(
            "chunk-check",
            "the check of a chunk that is skipped",
            "checksum of the metadata",
            &check,
        ),
        wrong(
            "deflate-broken",
            "a DEFLATE stream with a reserved block type",
            "unpacked",
            &chunk(2 | DEFLATED, &[7, 1, 2, 3]),
        ),
        wrong(
            "deflate-open",
            "a DEFLATE stream that does not end",
            "does not end",
            &chunk(2 | DEFLATED, open),
        ),
        wrong(
            "deflate-longer",
            "bytes behind a DEFLATE stream",
            "goes on",
            &chunk(2 | DEFLATED, &longer),
        ),
        wrong(
            "points-length",
            "code points of three bytes",
            "four bytes",
            &chunk(3, &[9, 16, 0]),
        ),
        wrong(
            "points-matrix",
            "code points with a matrix",
            "matrix",
            &chunk(3, &[9, 16, 9, 1]),
        ),
        wrong(
            "points-range",
            "code points with a range of 2",
            "range",
            &chunk(3, &[9, 16, 0, 2]),
        ),
        wrong(
            "map-orientation",
            "a gain map with an orientation of 9",
            "gain map",
            &chunk(4, &[9, 0xFF, 0xD8]),
        ),
        wrong(
            "map-empty",
            "a gain map without a picture",
            "gain map",
            &chunk(4, &[1]),
        ),
    ])
}

fn with_preview(preview: &[u8]) -> Vec<u8> {
    let (low, high) = (preview.len() as u8 | 0x80, (preview.len() >> 7) as u8);
    let mut file = File::with_features(0x40, &[], &[low, high]);
    file.front = preview.to_vec();
    file.bytes()
}

fn previews() -> Result<Vec<Wrong>> {
    let encode =
        |encoder: &Encoder, (width, height): (u32, u32), format: PixelFormat| -> Result<Vec<u8>> {
            let len = (width * height) as usize * format.channels();
            let samples = (0..len).map(|i| (i * i / 7) as u8).collect();
            let picture = Picture::new(width, height, format, Samples::U8(samples))?;
            Ok(encoder.encode(&picture)?.bytes)
        };
    let encoder = Encoder::new().effort(1).quality(90);
    let gray = PixelFormat::GRAY8;
    let right = encode(&encoder, (40, 30), gray)?;
    ensure!(right.len() >= 128, "the length takes two bytes");
    Decoder::new()
        .decode(&with_preview(&right))
        .context("a preview that is right")?;
    let alpha = PixelFormat {
        alpha: true,
        ..gray
    };
    let mut damaged = right.clone();
    *damaged.last_mut().context("a check")? ^= 1;
    let tiled = encode(&encoder.clone().tile_log2(6), (70, 20), gray)?;
    let wrong = |name, why, says, preview: &[u8]| Wrong(name, why, says, with_preview(preview));
    Ok(vec![
        wrong(
            "preview-side",
            "a preview of 257 columns",
            "more than 256",
            &encode(&encoder, (257, 9), gray)?,
        ),
        wrong(
            "preview-colour",
            "a preview in colour of a gray picture",
            "other channels",
            &encode(&encoder, (20, 20), PixelFormat::RGB8)?,
        ),
        wrong(
            "preview-alpha",
            "a preview with alpha of a picture without",
            "other channels",
            &encode(&encoder, (20, 20), alpha)?,
        ),
        wrong(
            "preview-tiles",
            "a preview of two tiles",
            "several tiles",
            &tiled,
        ),
        wrong(
            "preview-nested",
            "a preview with a preview",
            "of its own",
            &with_preview(&right),
        ),
        wrong(
            "preview-check",
            "a preview with a wrong check",
            "checksum of the preview",
            &damaged,
        ),
        wrong(
            "preview-none",
            "a preview that is no file",
            "preview",
            &[7; 200],
        ),
    ])
}

/// A file of two tiles, both lengths given.
fn two_tiles(lengths: [u8; 2], tiles: [&[u8]; 2]) -> Vec<u8> {
    let mut header = vec![0xD4, 0x53, 1, 0x80, 1, 6, 64, 0, 6, 40, 0];
    header.push(crc8(&header));
    let mut file = header.clone();
    file.extend(lengths);
    file.extend(crc32(&[&header, &lengths]));
    for (number, tile) in [0u32, 1].into_iter().zip(tiles) {
        file.extend(tile);
        file.extend(crc32(&[&header, &number.to_le_bytes(), tile]));
    }
    file
}

fn tiles() -> Vec<Wrong> {
    let one = File::plain().bytes();
    let changed = |mut file: Vec<u8>, at: usize| {
        file[at] ^= 1;
        file
    };
    let two = two_tiles([6, 6], [&[1, 2], &[3, 4]]);
    let start = two.len() - 12;
    let mut swapped = two.clone();
    swapped[start..].rotate_left(6);
    let mut work = File::plain();
    work.tile.resize(16, 0);
    vec![
        Wrong(
            "tile-check",
            "the check of a tile",
            "checksum of a tile",
            changed(one.clone(), one.len() - 6),
        ),
        Wrong(
            "tile-short",
            "a file that ends inside the check of its tile",
            "ends inside",
            File::plain().bytes()[..13].to_vec(),
        ),
        Wrong(
            "tile-swapped",
            "tiles in each other's place",
            "checksum of a tile",
            swapped,
        ),
        Wrong(
            "tile-cut",
            "the last tile is cut",
            "ends inside",
            two[..two.len() - 1].to_vec(),
        ),
        Wrong(
            "tile-behind",
            "a byte behind the last tile",
            "after the last tile",
            [&two[..], &[0]].concat(),
        ),
        Wrong(
            "table-check",
            "the check of the table",
            "tile table",
            changed(two.clone(), start - 1),
        ),
        Wrong(
            "table-length",
            "a tile of three bytes",
            "tile length",
            two_tiles([3, 6], [&[1, 2], &[3, 4]]),
        ),
        Wrong(
            "work",
            "more work than the header states",
            "work",
            work.bytes(),
        ),
    ]
}
