//! What the generator of the conformance streams and the tests over them share.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_codec::{Picture, Samples};

/// The folder of the streams.
pub(crate) fn folder() -> PathBuf {
    let mut above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let found = above.find_map(|folder| folder.join("fixtures/conformance").canonicalize().ok());
    found.expect("the conformance streams lie in the workspace")
}

/// The folder of the streams with reference pictures.
#[allow(dead_code)] // Each user of this module has its own folder.
pub(crate) fn reference_folder() -> PathBuf {
    folder().join("references")
}

/// The folder of the lossless streams.
#[allow(dead_code)]
pub(crate) fn lossless_folder() -> PathBuf {
    folder().join("lossless")
}

/// The folder of the lossless streams that networks expect; their dictionary is that of the references.
#[allow(dead_code)]
pub(crate) fn expected_folder() -> PathBuf {
    lossless_folder().join("networks")
}

/// The folder of the packs.
#[allow(dead_code)]
pub(crate) fn packs_folder() -> PathBuf {
    folder().join("packs")
}

/// The folder of the files that must be refused.
#[allow(dead_code)]
pub(crate) fn refused_folder() -> PathBuf {
    folder().join("refused")
}

/// Name of the list of packs inside [`packs_folder`], and of files inside [`refused_folder`], that must be refused: file and
/// reason, separated by a tab.
#[allow(dead_code)]
pub(crate) const REFUSED: &str = "refused.tsv";

/// Name of the references' dictionary inside [`reference_folder`].
#[allow(dead_code)]
pub(crate) const REFERENCE_DICTIONARY: &str = "references.tsd";

/// Name of the list of streams inside [`folder`].
pub(crate) const MANIFEST: &str = "manifest.tsv";

/// A line of the manifest: tab-separated file name, hash of the decoded samples, and what the stream covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) file: String,
    pub(crate) samples: String,
    pub(crate) covers: String,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.file, self.samples, self.covers)
    }
}

impl Entry {
    /// Reads a line; `None` if it does not have three columns.
    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut columns = line.split('\t').map(str::to_owned);
        Some(Self {
            file: columns.next()?,
            samples: columns.next()?,
            covers: columns.next()?,
        })
    }
}

/// A line of the manifest of packs: tab-separated file name, name of a picture in it, and hash of its decoded samples.
#[allow(dead_code)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PackPicture {
    pub(crate) file: String,
    pub(crate) name: String,
    pub(crate) samples: String,
}

impl fmt::Display for PackPicture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\t{}\t{}", self.file, self.name, self.samples)
    }
}

/// The streams of a folder with their manifest entries.
#[allow(dead_code)]
pub(crate) fn streams_of(folder: &Path) -> Vec<(Entry, Vec<u8>)> {
    let manifest = fs::read_to_string(folder.join(MANIFEST)).expect("the manifest is there");
    let entries = manifest
        .lines()
        .map(|line| Entry::parse(line).expect("three columns"));
    entries
        .map(|entry| {
            let bytes = fs::read(folder.join(&entry.file)).expect("the stream is there");
            (entry, bytes)
        })
        .collect()
}

/// BLAKE3 of the samples row by row, channels interleaved: one byte each for 8 bits, else two, low byte first.
pub(crate) fn sample_hash(picture: &Picture) -> String {
    let bytes = match picture.samples() {
        Samples::U8(samples) => samples.clone(),
        Samples::U16(samples) => samples.iter().flat_map(|v| v.to_le_bytes()).collect(),
    };
    blake3::hash(&bytes).to_hex().to_string()
}
