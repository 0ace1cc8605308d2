//! Packs as a user of the library meets them: written, read at one place, appended to, cut off and damaged.

use std::io::{Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tessera_codec::{Decoder, Encoder, Metadata, Picture, PreparedDictionary, Rect};
use tessera_dict::Dictionary;
use tessera_pack::{Error, PackReader, PackWriter, is_pack, predicting_dictionary};

fn picture(seed: u32, side: u32) -> Picture {
    let sample = |i: u32| ((i % side * (seed + 3)) ^ (i / side * 5)) as u8;
    Picture::gray8(side, side, (0..side * side).map(sample).collect()).unwrap()
}

fn own_dictionary() -> Dictionary {
    let edit = |parts: &mut tessera_dict::DictionaryBuilder| parts.provenance = "ours".into();
    Dictionary::builtin().edited(edit).unwrap()
}

/// Pictures of two sizes, some with metadata, coded with a dictionary of their own.
fn files() -> Vec<(String, Vec<u8>)> {
    let encoder = Encoder::new().effort(1).dictionary(own_dictionary());
    let one = |i: u32| {
        let mut picture = picture(i, if i % 4 == 3 { 150 } else { 40 });
        if i.is_multiple_of(3) {
            picture.metadata = Metadata {
                exif: Some(vec![i as u8; 30]),
                ..Metadata::default()
            };
        }
        let encoder = encoder
            .clone()
            .tile_log2(6)
            .short_dictionary_name(i.is_multiple_of(2));
        (
            format!("set/{i:03}"),
            encoder.encode(&picture).unwrap().bytes,
        )
    };
    (0..12).map(one).collect()
}

fn pack(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let difference = own_dictionary().to_difference(Dictionary::builtin());
    let mut pack = PackWriter::new(Vec::new(), Some(&difference)).unwrap();
    for (name, file) in files {
        pack.add(name, file).unwrap();
    }
    pack.finish().unwrap()
}

#[test]
fn files_come_back_byte_for_byte() {
    let files = files();
    let bytes = pack(&files);
    assert!(is_pack(&bytes));
    let reader = PackReader::open(Cursor::new(bytes)).unwrap();
    assert_eq!((reader.len(), reader.unfinished_bytes()), (files.len(), 0));
    for (name, file) in &files {
        assert!(reader.file(name).unwrap() == *file, "{name}");
    }
    let decoder = Decoder::new().dictionary(own_dictionary());
    let whole = decoder.decode(&files[3].1).unwrap();
    let coded = reader.picture("set/003", Decoder::new()).unwrap();
    assert_eq!(coded.decode().unwrap(), whole);
    assert_eq!(coded.metadata().unwrap().exif, Some(vec![3; 30]));
    assert!(matches!(reader.file("set/9"), Err(Error::NoSuchPicture(_))));
}

#[test]
fn a_picture_takes_a_few_bytes_more_than_its_content() {
    let encoder = Encoder::new().effort(1).dictionary(own_dictionary());
    let files: Vec<(String, Vec<u8>)> = (0..300)
        .map(|i| {
            let file = encoder.encode(&picture(i % 7, 40)).unwrap().bytes;
            (format!("picture-{i:04}"), file)
        })
        .collect();
    let alone: usize = files.iter().map(|(_, file)| file.len()).sum();
    let packed = pack(&files).len();
    let dictionary = own_dictionary().to_difference(Dictionary::builtin()).len();
    // Alone a file has a header of 28 bytes; in the pack header and index together take a third of that.
    assert!(
        packed < dictionary + alone - 18 * files.len(),
        "{packed} of {alone}"
    );
}

/// Counts the bytes that are read.
struct Counting(Cursor<Vec<u8>>, Arc<AtomicU64>);

impl Read for Counting {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let read = self.0.read(out)?;
        self.1.fetch_add(read as u64, Ordering::SeqCst);
        Ok(read)
    }
}

impl Seek for Counting {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.0.seek(to)
    }
}

#[test]
fn one_picture_or_region_out_of_ten_thousand_is_read_without_the_rest() {
    const MANY: usize = 10_000;
    let encode = |picture: Picture| {
        let encoder = Encoder::new().effort(1).tile_log2(6);
        encoder.encode(&picture).unwrap().bytes
    };
    let small = encode(picture(5, 64));
    let large = encode(picture(1, 300));
    let mut writer = PackWriter::new(Vec::new(), None).unwrap();
    for i in 0..MANY {
        let file = if i == 7777 { &large } else { &small };
        writer.add(&format!("{i}"), file).unwrap();
    }
    let bytes = writer.finish().unwrap();
    let (all, read) = (bytes.len() as u64, Arc::new(AtomicU64::new(0)));
    assert!(all > 2_000_000, "{all}");
    let reader = PackReader::open(Counting(Cursor::new(bytes), read.clone())).unwrap();
    let index = read.swap(0, Ordering::SeqCst);
    assert!(index < 5 * MANY as u64, "{index} bytes of index");
    let coded = reader.picture("7777", Decoder::new()).unwrap();
    let rect = Rect {
        x: 70,
        y: 70,
        width: 20,
        height: 20,
    };
    let region = coded.decode_region(rect).unwrap();
    let alone = Decoder::new().decode_region(&large, rect).unwrap();
    assert_eq!(region, alone);
    let part = read.swap(0, Ordering::SeqCst);
    assert!(part < large.len() as u64 / 4, "{part} bytes of a region");
    let coded = reader.picture("7777", Decoder::new()).unwrap();
    assert_eq!(
        coded.decode().unwrap(),
        Decoder::new().decode(&large).unwrap()
    );
    // Checksums are compared before anything is decoded, so tiles are read twice.
    let whole = read.swap(0, Ordering::SeqCst);
    assert!(
        whole < 3 * large.len() as u64,
        "{whole} bytes of {}",
        large.len()
    );
}

#[test]
fn appending_keeps_the_old_pack_until_the_end() {
    let files = files();
    let (first, more) = files.split_at(7);
    let before = pack(first);
    let mut file = Cursor::new(before.clone());
    let mut writer = PackWriter::append(&mut file).unwrap();
    for (name, file) in more {
        writer.add(name, file).unwrap();
    }
    assert!(matches!(
        writer.add(&first[0].0, &first[0].1),
        Err(Error::Exists(_))
    ));
    writer.finish().unwrap();
    let after = file.into_inner();
    assert!(after.starts_with(&before));
    // Wherever writing is interrupted, there is the pack before or the one after.
    for cut in (before.len()..=after.len()).rev() {
        let reader = PackReader::open(Cursor::new(after[..cut].to_vec())).unwrap();
        let expected = if cut == after.len() { files.len() } else { 7 };
        assert_eq!(reader.len(), expected, "{cut}");
        assert_eq!(
            reader.unfinished_bytes() == 0,
            cut == before.len() || cut == after.len()
        );
    }
    // A broken run is written over.
    let mut broken = Cursor::new(after[..before.len() + 50].to_vec());
    let mut writer = PackWriter::append(&mut broken).unwrap();
    writer.add(&more[0].0, &more[0].1).unwrap();
    writer.finish().unwrap();
    let reader = PackReader::open(broken).unwrap();
    assert_eq!(reader.len(), 8);
    assert!(reader.file(&more[0].0).unwrap() == more[0].1);
}

#[test]
fn what_does_not_belong_is_refused() {
    let mut plain = PackWriter::new(Vec::new(), None).unwrap();
    let (name, learned) = &files()[0];
    assert!(matches!(
        plain.add(name, learned),
        Err(Error::OtherDictionary(_))
    ));
    let file = tessera_codec::encode(&picture(1, 40), 50).unwrap();
    assert!(matches!(plain.add("../up", &file), Err(Error::BadName(_))));
    assert!(matches!(
        plain.add("a", b"no picture"),
        Err(Error::Codec(_))
    ));
    let mut damaged = file.clone();
    *damaged.last_mut().unwrap() ^= 1;
    assert!(matches!(plain.add("a", &damaged), Err(Error::Codec(_))));
    assert!(matches!(
        PackReader::open(Cursor::new(file)),
        Err(Error::NotAPack)
    ));
    let newer = PackReader::open(Cursor::new(vec![0xD4, 0x50, 2]));
    assert!(matches!(newer, Err(Error::UnsupportedVersion(2))));
    assert!(matches!(
        PackReader::open(Cursor::new(vec![])),
        Err(Error::NotAPack)
    ));
}

#[test]
fn a_flipped_bit_is_noticed_by_whoever_meets_it() {
    let files = files();
    let good = pack(&files);
    for at in (0..good.len()).step_by(37) {
        let mut bytes = good.clone();
        bytes[at] ^= 4;
        let Ok(reader) = PackReader::open(Cursor::new(bytes)) else {
            continue;
        };
        let decoded = files.iter().map(|(name, _)| {
            let coded = reader.picture(name, Decoder::new())?;
            coded.check()?;
            coded.metadata()?;
            Ok(())
        });
        let damaged = decoded
            .filter(|result: &Result<(), Error>| result.is_err())
            .count();
        assert!(damaged > 0, "byte {at}");
    }
}

/// Pictures that are alike, coded one by itself and the others with what it makes of a dictionary.
fn series(own: Option<&Dictionary>) -> (Vec<u8>, PreparedDictionary, Vec<Vec<u8>>) {
    let like = |light: u32| {
        let sample = |i: u32| (((i % 96 * 7) ^ (i / 96 * 5)) % 101 + light) as u8;
        Picture::gray8(96, 96, (0..96 * 96).map(sample).collect()).unwrap()
    };
    let key = Encoder::new().quality(60).encode(&like(0)).unwrap().bytes;
    let dictionary = predicting_dictionary(own, &key).unwrap();
    let encoder = Encoder::new().quality(60).dictionary(dictionary.clone());
    let short = encoder.clone().short_dictionary_name(true);
    let others = [encoder.encode(&like(20)), short.encode(&like(50))];
    let others = others.map(|coded| coded.unwrap().bytes).to_vec();
    (key, dictionary, others)
}

fn series_pack(own: Option<&Dictionary>) -> Vec<u8> {
    let (key, dictionary, others) = series(own);
    let file = own.map(|own| own.to_difference(Dictionary::builtin()));
    let mut pack = PackWriter::new(Vec::new(), file.as_deref()).unwrap();
    pack.add("b/key", &key).unwrap();
    for (name, file) in ["a", "c"].iter().zip(&others) {
        pack.add_predicted(name, file, "b/key", &dictionary)
            .unwrap();
    }
    pack.finish().unwrap()
}

#[test]
fn pictures_of_a_series_are_predicted_from_one_of_them() {
    let learned = own_dictionary();
    for own in [None, Some(&learned)] {
        let (key, dictionary, others) = series(own);
        assert!(2 * others[1].len() < key.len(), "{}", others[1].len());
        let reader = PackReader::open(Cursor::new(series_pack(own))).unwrap();
        let keys: Vec<_> = reader.entries().map(|entry| entry.key).collect();
        assert_eq!(keys, [Some("b/key"), None, Some("b/key")]);
        assert!(reader.file("b/key").unwrap() == key);
        for (name, file) in ["a", "c"].iter().zip(&others) {
            assert!(reader.file(name).unwrap() == *file);
            let decoded = reader.picture(name, Decoder::new()).unwrap().decode();
            let expected = Decoder::new()
                .dictionary(dictionary.clone())
                .decode(&file[..]);
            assert_eq!(decoded.unwrap().samples(), expected.unwrap().samples());
        }
        let (file, whole) = (reader.file("c").unwrap(), Decoder::new());
        assert!(whole.decode(&file[..]).is_err(), "the key is needed");
    }
}

#[test]
fn a_series_can_be_appended_to() {
    let (_, dictionary, others) = series(None);
    let mut file = Cursor::new(series_pack(None));
    let mut pack = PackWriter::append(&mut file).unwrap();
    pack.add_predicted("d", &others[0], "b/key", &dictionary)
        .unwrap();
    pack.finish().unwrap();
    let reader = PackReader::open(file).unwrap();
    let keys: Vec<_> = reader.entries().map(|entry| entry.key.is_some()).collect();
    assert_eq!(keys, [true, false, true, true]);
    assert!(reader.file("d").unwrap() == others[0]);
}

#[test]
fn keys_stand_by_themselves() {
    let (key, dictionary, others) = series(None);
    let mut pack = PackWriter::new(Vec::new(), None).unwrap();
    let missing = pack.add_predicted("a", &others[0], "key", &dictionary);
    assert!(matches!(missing, Err(Error::BadKey(_))));
    pack.add("key", &key).unwrap();
    pack.add_predicted("a", &others[0], "key", &dictionary)
        .unwrap();
    let chain = pack.add_predicted("b", &others[1], "a", &dictionary);
    assert!(matches!(chain, Err(Error::BadKey(_))));
    let picture = picture(1, 40);
    let lossless = Encoder::new().lossless(true).encode(&picture).unwrap();
    assert!(predicting_dictionary(None, &lossless.bytes).is_err());
    let own = Encoder::new().dictionary(own_dictionary());
    let learned = own.encode(&picture).unwrap().bytes;
    assert!(predicting_dictionary(None, &learned).is_err());
}

#[test]
fn a_damaged_key_is_told_by_all_that_need_it() {
    let mut bytes = series_pack(None);
    let place = {
        let reader = PackReader::open(Cursor::new(bytes.clone())).unwrap();
        let key = reader.entries().nth(1).unwrap();
        key.place.end as usize - 9
    };
    bytes[place] ^= 4;
    let reader = PackReader::open(Cursor::new(bytes)).unwrap();
    for name in ["a", "c"] {
        assert!(reader.picture(name, Decoder::new()).is_err());
    }
    let key = reader.picture("b/key", Decoder::new()).unwrap();
    assert!(key.decode().is_err());
}

#[test]
fn metadata_that_pictures_have_alike_is_stored_once() {
    // Nothing that could be packed by itself.
    let noise = |i: u64| (i * i + 77).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let profile: Vec<u8> = (0..3000).map(|i| noise(i) as u8).collect();
    let encode = |i: u32| {
        let mut picture = picture(i, 40);
        picture.metadata = Metadata {
            icc: Some(profile.clone()),
            // Every other picture tells something of its own.
            exif: i.is_multiple_of(2).then(|| vec![i as u8; 9 + i as usize]),
            ..Metadata::default()
        };
        let file = Encoder::new().effort(1).encode(&picture).unwrap().bytes;
        (format!("{i:02}"), file)
    };
    let files: Vec<(String, Vec<u8>)> = (0..20).map(encode).collect();
    let (first, later) = files.split_at(15);
    let mut pack = Cursor::new(pack(first));
    let mut writer = PackWriter::append(&mut pack).unwrap();
    for (name, file) in later {
        writer.add(name, file).unwrap();
    }
    writer.finish().unwrap();
    let pack = pack.into_inner();
    let alone: usize = files.iter().map(|(_, file)| file.len()).sum();
    assert!(
        pack.len() + 17 * profile.len() < alone,
        "{} of {alone}",
        pack.len()
    );
    let reader = PackReader::open(Cursor::new(pack)).unwrap();
    for (name, file) in &files {
        assert!(reader.file(name).unwrap() == *file, "{name}");
        let coded = reader.picture(name, Decoder::new()).unwrap();
        assert_eq!(coded.metadata().unwrap().icc.as_ref(), Some(&profile));
        assert_eq!(coded.decode().unwrap().width(), 40);
    }
}
