//! Packs: every way to write one, and packs that every reader must refuse.

use super::support::{MANIFEST, PackPicture, REFUSED, packs_folder, sample_hash};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Cursor;
use tessera_codec::{Decoder, Encoder, Metadata, Picture, PixelFormat, Samples};
use tessera_dict::Dictionary;
use tessera_pack::{PackReader, PackWriter, predicting_dictionary};

/// Bytes of a trailer: place, length and check of the index, and a magic.
const TRAILER: usize = 20;

/// A pack by its name.
type Named = (&'static str, Vec<u8>);

/// Writes the packs, what their pictures decode to, and which must be refused.
pub(super) fn write() -> Result<()> {
    let folder = packs_folder();
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let (mut manifest, mut refused, mut total) = (String::new(), String::new(), 0);
    for (name, pack) in conforming()? {
        let file = format!("{name}.tsp");
        for picture in pictures_of(&file, &pack)? {
            manifest += &format!("{picture}\n");
        }
        total += pack.len();
        fs::write(folder.join(file), pack)?;
    }
    for (name, why, pack) in wrong()? {
        let file = format!("{name}.tsp");
        if pictures_of(&file, &pack).is_ok() {
            bail!("{name} is not refused");
        }
        refused += &format!("{file}\t{why}\n");
        total += pack.len();
        fs::write(folder.join(file), pack)?;
    }
    fs::write(folder.join(MANIFEST), manifest)?;
    fs::write(folder.join(REFUSED), refused)?;
    println!("{}: {total} bytes", folder.display());
    Ok(())
}

/// What every picture of a pack decodes to.
fn pictures_of(file: &str, pack: &[u8]) -> Result<Vec<PackPicture>> {
    let reader = PackReader::open(Cursor::new(pack.to_vec()))?;
    let mut pictures = Vec::new();
    for name in reader.names() {
        let decoded = reader.picture(name, Decoder::new())?.decode()?;
        pictures.push(PackPicture {
            file: file.into(),
            name: name.into(),
            samples: sample_hash(&decoded),
        });
    }
    Ok(pictures)
}

/// Waves that differ from picture to picture.
fn drawn(width: u32, height: u32, format: PixelFormat, seed: u32) -> Result<Picture> {
    let channels = format.channels() as u32;
    let sample = |i: u32| {
        let (pixel, channel) = (i / channels, i % channels);
        let (x, y) = (pixel % width, pixel / width);
        (x * (seed + 3) + y * (5 + channel) + x * y / 7) as u8
    };
    let samples = (0..width * height * channels).map(sample).collect();
    Ok(Picture::new(width, height, format, Samples::U8(samples))?)
}

fn encoder() -> Encoder {
    Encoder::new().effort(3).tile_log2(6)
}

fn own_dictionary() -> Result<Dictionary> {
    let edit = |parts: &mut tessera_dict::DictionaryBuilder| {
        parts.provenance = "the default one, for the conformance of packs".into();
    };
    Ok(Dictionary::builtin().edited(edit)?)
}

/// Lossy and lossless pictures, one with metadata, one of several tiles.
fn plain_files() -> Result<Vec<(&'static str, Vec<u8>)>> {
    let rgba = PixelFormat {
        alpha: true,
        ..PixelFormat::RGB8
    };
    let mut told = drawn(20, 12, PixelFormat::GRAY8, 1)?;
    told.metadata = Metadata {
        exif: Some(b"MM\0*\0\0\0\x08\0\0".to_vec()),
        ..Metadata::default()
    };
    let tiles = drawn(70, 66, PixelFormat::GRAY8, 2)?;
    let exact = drawn(16, 9, rgba, 3)?;
    let encode = |encoder: Encoder, picture: &Picture| -> Result<Vec<u8>> {
        Ok(encoder.encode(picture)?.bytes)
    };
    Ok(vec![
        ("a/told", encode(encoder(), &told)?),
        ("a/tiles", encode(encoder(), &tiles)?),
        ("exact", encode(encoder().lossless(true), &exact)?),
    ])
}

fn packed(dictionary: Option<&[u8]>, files: &[(&str, Vec<u8>)]) -> Result<Vec<u8>> {
    let mut pack = PackWriter::new(Vec::new(), dictionary)?;
    for (name, file) in files {
        pack.add(name, file)?;
    }
    Ok(pack.finish()?)
}

/// Adds a picture behind the end of a pack.
fn appended(pack: &[u8]) -> Result<Vec<u8>> {
    let mut file = Cursor::new(pack.to_vec());
    let mut writer = PackWriter::append(&mut file)?;
    let more = drawn(20, 12, PixelFormat::GRAY8, 9)?;
    writer.add("a/more", &encoder().encode(&more)?.bytes)?;
    writer.finish()?;
    Ok(file.into_inner())
}

fn conforming() -> Result<Vec<Named>> {
    let plain = packed(None, &plain_files()?)?;
    let longer = appended(&plain)?;
    let mut many = Vec::new();
    for seed in 0..24 {
        let picture = drawn(8, 8, PixelFormat::GRAY8, seed)?;
        many.push((format!("été/{seed:03}"), encoder().encode(&picture)?.bytes));
    }
    let many: Vec<(&str, Vec<u8>)> = (many.iter())
        .map(|(name, file)| (name.as_str(), file.clone()))
        .collect();
    Ok(vec![
        ("nothing", packed(None, &[])?),
        ("unfinished", longer[..longer.len() - 5].to_vec()),
        ("plain", plain),
        ("appended", longer),
        ("many", packed(None, &many)?),
        ("dictionary", learned()?),
        ("series", series()?),
        ("profiles", profiles()?),
    ])
}

/// Metadata of which some is shared: all of it, its beginning, and nothing.
fn profiles() -> Result<Vec<u8>> {
    let told = |icc: &[u8], exif: Option<&[u8]>, seed: u32| -> Result<Vec<u8>> {
        let mut picture = drawn(20, 12, PixelFormat::GRAY8, seed)?;
        picture.metadata = Metadata {
            icc: Some(icc.to_vec()),
            exif: exif.map(<[u8]>::to_vec),
            ..Metadata::default()
        };
        Ok(encoder().encode(&picture)?.bytes)
    };
    let own: &[u8] = b"MM\0*\0\0\0\x08\0\0";
    let (gray, other) = (b"a profile of gray".as_slice(), b"another one".as_slice());
    let files = [
        ("first", told(gray, None, 1)?),
        ("more", told(gray, Some(own), 2)?),
        ("other", told(other, None, 3)?),
        ("same", told(gray, None, 4)?),
    ];
    packed(None, &files)
}

/// A dictionary inside, named in full, by its start, and not at all.
fn learned() -> Result<Vec<u8>> {
    let own = own_dictionary()?;
    let difference = own.to_difference(Dictionary::builtin());
    let picture = drawn(24, 24, PixelFormat::RGB8, 4)?;
    let with = encoder().dictionary(&own);
    let files = [
        (
            "by start",
            with.clone()
                .short_dictionary_name(true)
                .encode(&picture)?
                .bytes,
        ),
        ("in full", with.encode(&picture)?.bytes),
        ("without", encoder().encode(&picture)?.bytes),
    ];
    packed(Some(&difference), &files)
}

/// Pictures that are predicted from another one, by the built-in dictionary and one inside.
fn series() -> Result<Vec<u8>> {
    let own = own_dictionary()?;
    let difference = own.to_difference(Dictionary::builtin());
    let mut pack = PackWriter::new(Vec::new(), Some(&difference))?;
    let key = encoder()
        .encode(&drawn(40, 33, PixelFormat::RGB8, 5)?)?
        .bytes;
    pack.add("key", &key)?;
    let predicting = predicting_dictionary(Some(&own), &key)?;
    let encoder = encoder().dictionary(predicting.clone());
    for (name, seed, short) in [("a", 5, true), ("z", 6, false)] {
        let picture = drawn(40, 33, PixelFormat::RGB8, seed)?;
        let file = encoder
            .clone()
            .short_dictionary_name(short)
            .encode(&picture)?;
        pack.add_predicted(name, &file.bytes, "key", &predicting)?;
    }
    Ok(pack.finish()?)
}

/// A pack whose index, stored as it is, has been changed and has the right check again.
fn with_index(pack: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Result<Vec<u8>> {
    let (rest, trailer) = pack.split_at(pack.len() - TRAILER);
    let place = trailer.first_chunk().context("a trailer has 20 bytes")?;
    let place = u64::from_le_bytes(*place);
    let (entries, index) = rest.split_at(place as usize);
    let mut index = index.to_vec();
    change(&mut index);
    let mut out = [entries, &index].concat();
    out.extend(place.to_le_bytes());
    out.extend((index.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(&index).to_le_bytes());
    out.extend(b"TSPI");
    Ok(out)
}

/// Replaces the first `from` in the index by as many bytes.
fn with_bytes(pack: &[u8], from: &[u8], to: &[u8]) -> Result<Vec<u8>> {
    let mut found = false;
    let changed = with_index(pack, |index| {
        let at = index.windows(from.len()).position(|bytes| bytes == from);
        if let Some(at) = at {
            index[at..at + to.len()].copy_from_slice(to);
            found = true;
        }
    })?;
    match found {
        true => Ok(changed),
        false => bail!("the index does not hold {from:?}"),
    }
}

/// Packs that are refused as a whole, or one of whose pictures is.
fn wrong() -> Result<Vec<(&'static str, &'static str, Vec<u8>)>> {
    let good = packed(None, &plain_files()?)?;
    let changed = |at: usize, value: u8| {
        let mut pack = good.clone();
        pack[at] = value;
        pack
    };
    let last = good.len() - 1;
    let mut swapped = learned()?;
    // The last byte of the promised identity.
    swapped[3 + 20] ^= 1;
    Ok(vec![
        ("wrong-magic", "the first byte", changed(0, 0x54)),
        ("wrong-version", "version 2", changed(2, 2)),
        ("wrong-trailer", "no index is whole", changed(last, b'J')),
        (
            "wrong-check",
            "the check of the index",
            changed(last - 4, !good[last - 4]),
        ),
        (
            "wrong-entry",
            "damage inside a picture",
            changed(40, !good[40]),
        ),
        (
            "wrong-kind",
            "an index of a reserved kind",
            with_index(&good, |index| index[0] = 2)?,
        ),
        (
            "wrong-end",
            "something behind the last key",
            with_index(&good, |index| index.push(0))?,
        ),
        (
            "wrong-key",
            "a picture predicted from itself",
            with_index(&good, |index| {
                let last = index.len() - 1;
                index[last] = 3;
            })?,
        ),
        (
            "wrong-cut",
            "an index that ends too early",
            with_index(&good, |index| index.truncate(30))?,
        ),
        (
            "wrong-way-out",
            "a name that leads out of the folder",
            with_bytes(&good, b"a/tiles", b"../iles")?,
        ),
        (
            "wrong-order",
            "names that do not rise",
            with_bytes(&good, b"exact", b"EXACT")?,
        ),
        (
            "wrong-letters",
            "a name that is not UTF-8",
            with_bytes(&good, b"exact", &[b'e', 0xFF])?,
        ),
        (
            "wrong-dictionary",
            "a dictionary that is not the promised one",
            swapped,
        ),
    ])
}
