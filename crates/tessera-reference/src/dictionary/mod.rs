//! `dictionary.md`: what sender and receiver share.

mod atoms;
mod bases;
mod difference;
mod file;
mod networks;
mod priors;
mod references;

pub(crate) use atoms::AtomSet;
pub(crate) use bases::{Basis, Transform, group_index};
pub(crate) use networks::{FilterNetwork, Network, PatchNetworks, patch_sizes};
pub(crate) use priors::{ElementPriors, Priors};
pub(crate) use references::Reference;

use crate::blake3;
use crate::container::{self, DictionaryName, Header, Planes};
use crate::error::{Result, ensure, refuse};
use crate::plane::Plane;
use std::sync::Arc;

/// The number of the built-in dictionary.
const BUILT_IN: u8 = 6;
/// The most pixels of a tile of a reference.
const MAX_TILE: usize = 1 << 20;

/// What the sections of a file say.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    /// Groups of bases of luma and of chroma.
    pub(crate) bases: [Vec<Vec<Basis>>; 2],
    /// The sets of the seven shapes that may have some.
    pub(crate) atoms: Option<Vec<AtomSet>>,
    pub(crate) priors: [Priors; 2],
    /// `filter[band][class][k]` of luma and of chroma.
    pub(crate) filters: [Vec<i16>; 2],
    /// Reconstruction points, three of luma and three of chroma.
    pub(crate) points: [[u8; 3]; 2],
    pub(crate) networks: [Option<FilterNetwork>; 2],
    pub(crate) patch_networks: Option<PatchNetworks>,
    /// Of the three colour planes.
    pub(crate) lossless_networks: [Option<Network>; 3],
    pub(crate) references: Vec<Reference>,
    pub(crate) provenance: Vec<u8>,
}

/// A dictionary, checked and ready for use.
pub struct Dictionary {
    identity: [u8; 16],
    pub(crate) content: Content,
    pictures: Vec<Planes>,
}

impl Dictionary {
    /// Reads the built-in dictionary.
    ///
    /// # Errors
    /// If the file is no valid dictionary, or a difference.
    pub fn built_in(file: &[u8]) -> Result<Self> {
        let content = file::read(file)?;
        ensure(
            content.references.is_empty(),
            "the built-in dictionary has references",
        )?;
        Ok(Self {
            identity: identity_of(file),
            content,
            pictures: Vec::new(),
        })
    }

    /// Reads a full dictionary, or a difference from one on the shelf.
    ///
    /// # Errors
    /// If the file is no valid dictionary, or what it is based on is not there.
    pub fn read(file: &[u8], shelf: &Shelf) -> Result<Self> {
        let full = match difference::is_difference(file) {
            true => difference::full_file(file, shelf)?,
            false => file.to_vec(),
        };
        Self::from_content(file::read(&full)?, identity_of(&full), shelf)
    }

    /// This dictionary with a file added to its references as the last: `pack.md`, "Predicted pictures".
    pub(crate) fn with_reference(&self, reference: Reference, shelf: &Shelf) -> Result<Self> {
        let mut content = self.content.clone();
        content.add_reference(reference);
        let full = file::write(&content);
        // Read again, so that the limits of references are those of any dictionary.
        Self::from_content(file::read(&full)?, identity_of(&full), shelf)
    }

    fn from_content(content: Content, identity: [u8; 16], shelf: &Shelf) -> Result<Self> {
        let decode = |reference: &Reference| decode_reference(reference, shelf);
        let pictures = content
            .references
            .iter()
            .map(decode)
            .collect::<Result<_>>()?;
        Ok(Self {
            identity,
            content,
            pictures,
        })
    }

    /// "Identity": the first bytes of the hash of the full file.
    pub fn identity(&self) -> &[u8; 16] {
        &self.identity
    }

    /// The planes of the references that a payload can use, reference by reference.
    pub(crate) fn reference_planes(&self, alpha: bool) -> Vec<Vec<&Plane>> {
        let pictures = self.pictures.iter();
        match alpha {
            true => pictures
                .filter_map(|p| p.alpha.as_ref())
                .map(|plane| vec![plane])
                .collect(),
            false => pictures.map(|p| p.colour.iter().collect()).collect(),
        }
    }
}

fn identity_of(file: &[u8]) -> [u8; 16] {
    let hash = blake3::hash(file);
    std::array::from_fn(|i| hash[i])
}

/// "References": the planes of 12 bits that the tiles of the stream decode to.
fn decode_reference(reference: &Reference, shelf: &Shelf) -> Result<Planes> {
    let header = Header::read(&reference.stream)?;
    let built_in = match &header.dictionary {
        DictionaryName::BuiltIn(number) => *number == BUILT_IN,
        DictionaryName::Hash(identity) => *identity == shelf.built_in.identity,
        DictionaryName::Short(_) => false,
    };
    ensure(
        built_in && !header.lossless,
        "a reference names another dictionary than the built-in one",
    )?;
    let size = [header.width, header.height];
    ensure(
        size == reference.size.map(usize::from),
        "a reference has another size than its entry",
    )?;
    let pixels = header.tile_side.min(header.width) * header.tile_side.min(header.height);
    ensure(
        pixels <= MAX_TILE,
        "a tile of a reference has too many pixels",
    )?;
    container::decode_planes(&reference.stream, &header, &shelf.built_in)
}

/// The dictionaries that a receiver has.
#[derive(Clone)]
pub struct Shelf {
    built_in: Arc<Dictionary>,
    others: Vec<Arc<Dictionary>>,
}

impl Shelf {
    /// A shelf with the built-in dictionary.
    pub fn new(built_in: Dictionary) -> Self {
        Self {
            built_in: Arc::new(built_in),
            others: Vec::new(),
        }
    }

    /// This shelf with one dictionary more.
    pub fn with(&self, dictionary: Dictionary) -> Self {
        let mut shelf = self.clone();
        shelf.others.push(Arc::new(dictionary));
        shelf
    }

    pub(crate) fn default_dictionary(&self) -> &Dictionary {
        &self.built_in
    }

    /// The dictionary of this name.
    pub(crate) fn find(&self, name: &DictionaryName) -> Result<&Dictionary> {
        let all = std::iter::once(&self.built_in)
            .chain(&self.others)
            .map(|dictionary| &**dictionary);
        let mut found: Vec<&Dictionary> = match name {
            DictionaryName::BuiltIn(BUILT_IN) => return Ok(&self.built_in),
            DictionaryName::BuiltIn(number) => {
                return refuse(format!("the built-in dictionary {number} is not known"));
            }
            // A short name never stands for a built-in dictionary.
            DictionaryName::Short(start) => all
                .skip(1)
                .filter(|d| d.identity.starts_with(start))
                .collect(),
            DictionaryName::Hash(identity) => all.filter(|d| d.identity == *identity).collect(),
        };
        found.dedup_by_key(|dictionary| dictionary.identity);
        match found[..] {
            [one] => Ok(one),
            [] => refuse("the dictionary of the picture is not there"),
            _ => refuse("several dictionaries have the short name of the picture's"),
        }
    }
}
