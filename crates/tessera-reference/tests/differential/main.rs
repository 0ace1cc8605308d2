//! The reference decoder and the fast one agree on every file, in samples and in what they refuse.
//!
//! Every string of bytes is a payload, so random bytes reach every corner of the format that their dictionary makes
//! likely; random dictionaries make other corners likely.

mod dictionaries;
mod files;
mod random;
mod selection;

use files::Name;
use random::Random;
use std::path::PathBuf;
use tessera_codec::{Decoder, Samples};
use tessera_reference::{Dictionary, Shelf};

/// Both decoders with the same dictionaries.
struct Pair {
    reference: Shelf,
    fast: Decoder,
    /// Of the dictionary that is not built in.
    identity: Option<[u8; 16]>,
}

fn read(path: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Pair {
    fn built_in() -> Self {
        let file = read("crates/tessera-dict/assets/default.tsd");
        Self {
            reference: Shelf::new(Dictionary::built_in(&file).expect("it is valid")),
            fast: Decoder::new(),
            identity: None,
        }
    }

    /// With one dictionary more; `None` if both refuse it.
    fn with(&self, file: &[u8]) -> Option<Self> {
        let reference = Dictionary::read(file, &self.reference);
        let fast = tessera_dict::Dictionary::from_bytes(file);
        assert_eq!(
            reference.is_ok(),
            fast.is_ok(),
            "only one refuses the dictionary: {:?} {:?}",
            reference.err(),
            fast.err()
        );
        let (reference, fast) = (reference.ok()?, fast.ok()?);
        Some(Self {
            identity: Some(*reference.identity()),
            reference: self.reference.with(reference),
            fast: Decoder::new().dictionary(fast),
        })
    }

    /// Why the decoders disagree on a file; else whether they decode it.
    fn compare(&self, file: &[u8]) -> Result<bool, String> {
        match (
            tessera_reference::decode(file, &self.reference),
            self.fast.decode(file),
        ) {
            (Err(_), Err(_)) => Ok(false),
            (Ok(_), Err(error)) => Err(format!("only the fast one refuses: {error}")),
            (Err(error), Ok(_)) => Err(format!("only the reference refuses: {error}")),
            (Ok(reference), Ok(fast)) => {
                let samples: Vec<u16> = match fast.samples() {
                    Samples::U8(samples) => samples.iter().map(|&sample| sample.into()).collect(),
                    Samples::U16(samples) => samples.clone(),
                };
                match reference
                    .samples
                    .iter()
                    .zip(&samples)
                    .position(|(a, b)| a != b)
                {
                    _ if samples.len() != reference.samples.len() => Err("other sizes".to_owned()),
                    Some(at) => Err(format!("sample {at} of {} differs", samples.len())),
                    None => Ok(true),
                }
            }
        }
    }
}

/// Compares both decoders on random files, and counts those that decode.
fn compare(seed: u64, count: usize, per_dictionary: usize) -> usize {
    let built_in = Pair::built_in();
    let like = read("fixtures/conformance/references/references.tsd");
    let mut other = built_in.with(&like);
    let mut decoded = 0;
    for number in 0..count {
        let mut random = Random(seed ^ (number as u64) << 20);
        if number % per_dictionary == per_dictionary - 1 {
            other = built_in.with(&dictionaries::dictionary(&mut random, &like));
        }
        let pair = other
            .as_ref()
            .filter(|_| random.once_in(2))
            .unwrap_or(&built_in);
        let name = match &pair.identity {
            None => Name::BuiltIn,
            Some(identity) if random.once_in(4) => Name::Short(identity),
            Some(identity) => Name::Hash(identity),
        };
        let lossless = random.once_in(4);
        let file = files::file(&mut random, name, lossless);
        match pair.compare(&file) {
            Ok(is_picture) => decoded += usize::from(is_picture),
            Err(why) => {
                let path = std::env::temp_dir().join(format!("differential-{seed}-{number}.tsr"));
                std::fs::write(&path, &file).unwrap();
                panic!("seed {seed}, file {number} ({}): {why}", path.display());
            }
        }
    }
    decoded
}

#[test]
fn decoders_agree_on_some_files() {
    let decoded = compare(1, 300, 100);
    assert!(decoded > 100, "only {decoded} are pictures");
}

/// `TESSERA_SEED=7 TESSERA_STREAMS=100000 cargo test --release -p tessera-reference --test differential -- --ignored`
#[test]
#[ignore = "hours"]
fn decoders_agree_on_many_files() {
    let number = |name: &str, otherwise: u64| match std::env::var(name) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => otherwise,
    };
    let (seed, count) = (
        number("TESSERA_SEED", 1),
        number("TESSERA_STREAMS", 100_000),
    );
    let decoded = compare(seed, count as usize, 500);
    println!("{count} files agree, {decoded} of them are pictures");
    assert!(decoded > count as usize / 3);
}

#[test]
fn fast_decoder_conforms_on_random_streams() {
    let folder = "fixtures/conformance/random";
    let pair = Pair::built_in()
        .with(&read(&format!("{folder}/random.tsd")))
        .expect("it is valid");
    let manifest = String::from_utf8(read(&format!("{folder}/manifest.tsv"))).unwrap();
    let files = manifest
        .lines()
        .map(|line| line.split('\t').next().unwrap());
    for file in files {
        assert_eq!(
            pair.compare(&read(&format!("{folder}/{file}"))),
            Ok(true),
            "{file}"
        );
    }
}

#[test]
fn random_streams_are_those_of_their_seeds() {
    let folder = "fixtures/conformance/random";
    let dictionary = read(&format!("{folder}/random.tsd"));
    let like = read("fixtures/conformance/references/references.tsd");
    assert!(dictionary == selection::dictionary(&like));
    let identity = std::array::from_fn(|i| tessera_reference::hash(&dictionary)[i]);
    for (seed, _) in selection::FILES {
        assert!(selection::file(seed, &identity) == read(&format!("{folder}/random-{seed}.tsr")));
    }
}
