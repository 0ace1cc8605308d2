//! A dictionary made ready for coding.

#[cfg(feature = "encoder")]
use crate::encoder::forward::{atoms::AtomCache, rotation::RotationCache};
use crate::error::DictionaryError;
use crate::tile::intra::packed_net::PackedNets;
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use tessera_dict::Dictionary;
use tessera_patch::Plane;

/// A dictionary with everything that hangs on it alone and is made once for all tiles and pictures: its reference
/// pictures, decoded, and its bases as the encoder multiplies with them.
///
/// Encoders and decoders make one of any [`Dictionary`] they are given. Whoever codes many pictures makes it once and
/// hands it to all of them: copies share what is prepared.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{Decoder, Dictionary, Encoder, Picture, PreparedDictionary};
///
/// let dictionary = PreparedDictionary::new(Dictionary::untrained())?;
/// let encoder = Encoder::new().dictionary(dictionary.clone());
/// let decoder = Decoder::new().dictionary(dictionary);
/// let file = encoder.encode(&Picture::gray8(4, 4, vec![128; 16])?)?.bytes;
/// assert_eq!(decoder.decode(&file)?.width(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PreparedDictionary(Arc<Prepared>);

struct Prepared {
    dictionary: Dictionary,
    references: OnceLock<Result<Vec<ReferencePlanes>, BadReference>>,
    packed_nets: PackedNets,
    #[cfg(feature = "encoder")]
    rotations: RotationCache,
    #[cfg(feature = "encoder")]
    atoms: AtomCache,
}

/// The decoded planes of a reference picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReferencePlanes {
    /// One plane of a gray reference, three (Y, Cb, Cr) of one with colour.
    pub(crate) colour: Vec<Plane>,
    /// Alpha, if there is any.
    pub(crate) alpha: Option<Plane>,
}

/// A reference that is no valid picture.
#[derive(Clone, Debug)]
pub(crate) struct BadReference {
    /// Which one, from 0.
    pub(crate) index: usize,
    /// What is wrong with it.
    pub(crate) reason: String,
}

impl From<BadReference> for DictionaryError {
    fn from(BadReference { index, reason }: BadReference) -> Self {
        Self::Reference { index, reason }
    }
}

impl PreparedDictionary {
    /// The default dictionary, which every program carries, unless it was built without the feature `builtin`.
    ///
    /// # Panics
    /// As [`Dictionary::builtin`].
    pub fn builtin() -> &'static Self {
        Self::of_builtin(Dictionary::builtin())
    }

    /// The default dictionary, or `None` as long as it is not there.
    pub(crate) fn loaded_builtin() -> Option<&'static Self> {
        Dictionary::loaded_builtin().map(Self::of_builtin)
    }

    fn of_builtin(dictionary: &Dictionary) -> &'static Self {
        static BUILTIN: OnceLock<PreparedDictionary> = OnceLock::new();
        BUILTIN.get_or_init(|| dictionary.into())
    }

    /// The dictionary itself.
    pub fn dictionary(&self) -> &Dictionary {
        &self.0.dictionary
    }

    /// The planes of all references; `decode` makes them when they are first asked for.
    pub(crate) fn references_by(
        &self,
        decode: impl FnOnce(&Dictionary) -> Result<Vec<ReferencePlanes>, BadReference>,
    ) -> Result<&[ReferencePlanes], BadReference> {
        let decoded = (self.0.references).get_or_init(|| decode(&self.0.dictionary));
        match decoded {
            Ok(planes) => Ok(planes),
            Err(error) => Err(error.clone()),
        }
    }

    /// The planes of all references. There are none before somebody has had them decoded, which encoders and decoders do
    /// before they look at any tile, nor if they do not decode: files that name such a dictionary are refused.
    pub(crate) fn references(&self) -> &[ReferencePlanes] {
        match self.0.references.get() {
            Some(Ok(planes)) => planes,
            _ => &[],
        }
    }

    /// The networks that predict patches, as they are multiplied with.
    pub(crate) fn packed_nets(&self) -> &PackedNets {
        &self.0.packed_nets
    }

    /// The bases in floats.
    #[cfg(feature = "encoder")]
    pub(crate) fn rotations(&self) -> &RotationCache {
        &self.0.rotations
    }

    /// The free atoms in floats.
    #[cfg(feature = "encoder")]
    pub(crate) fn atoms(&self) -> &AtomCache {
        &self.0.atoms
    }
}

impl Deref for PreparedDictionary {
    type Target = Dictionary;

    #[inline]
    fn deref(&self) -> &Dictionary {
        &self.0.dictionary
    }
}

impl From<Dictionary> for PreparedDictionary {
    /// References are decoded when they are first needed.
    fn from(dictionary: Dictionary) -> Self {
        Self(Arc::new(Prepared {
            #[cfg(feature = "encoder")]
            rotations: RotationCache::new(&dictionary),
            #[cfg(feature = "encoder")]
            atoms: AtomCache::default(),
            dictionary,
            references: OnceLock::new(),
            packed_nets: PackedNets::default(),
        }))
    }
}

impl From<&Dictionary> for PreparedDictionary {
    fn from(dictionary: &Dictionary) -> Self {
        dictionary.clone().into()
    }
}

impl From<&Self> for PreparedDictionary {
    fn from(dictionary: &Self) -> Self {
        dictionary.clone()
    }
}

impl fmt::Debug for PreparedDictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PreparedDictionary")
            .field(&self.id())
            .finish()
    }
}
