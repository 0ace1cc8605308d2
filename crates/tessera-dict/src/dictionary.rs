//! The dictionary itself, immutable, and the builder that makes one.

use crate::basis::{BasisSet, PlaneKind};
use crate::error::Error;
use crate::filter::FilterSet;
use crate::identity::DictId;
use crate::lossless_net::LosslessNets;
use crate::net::Nets;
use crate::patch_net::PatchNets;
use crate::prior::Prior;
use crate::reference::Reference;
use crate::{difference, format, identity, layout};
use std::sync::Arc;

/// Everything sender and receiver must both hold to understand a picture.
///
/// A dictionary never changes: its identity is written into every file it codes, and another content under the same
/// name would turn those files into garbage. [`Dictionary::to_builder`] gives a copy that can be edited and that
/// becomes a dictionary with a name of its own. Clones share their content and cost nothing.
#[derive(Clone, Debug)]
pub struct Dictionary {
    content: Arc<DictionaryBuilder>,
    identity: DictId,
}

/// The parts of a dictionary to be.
///
/// ```
/// use tessera_dict::Dictionary;
///
/// let mut edited = Dictionary::builtin().to_builder();
/// edited.provenance += "shrinkage switched off\n";
/// edited.shrinkage = [[0; 3]; 2];
/// let edited = edited.build()?;
/// assert_ne!(edited.id(), Dictionary::builtin().id());
/// # Ok::<(), tessera_dict::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct DictionaryBuilder {
    /// Bases of luma (and gray, and alpha) planes.
    pub luma: BasisSet,
    /// Bases of chroma planes.
    pub chroma: BasisSet,
    /// Starting probabilities of luma planes; they must fit the bases.
    pub luma_prior: Prior,
    /// Starting probabilities of chroma planes; they must fit the bases.
    pub chroma_prior: Prior,
    /// Filters of luma planes.
    pub luma_filter: FilterSet,
    /// Filters of chroma planes.
    pub chroma_filter: FilterSet,
    /// Networks that restore luma and chroma behind the filters.
    pub nets: Nets,
    /// Networks that predict luma patches.
    pub patch_nets: Option<PatchNets>,
    /// Networks that expect samples of lossless pictures.
    pub lossless_nets: LosslessNets,
    /// Reconstruction points of luma and chroma: how far below its level a coefficient of magnitude 1, 2,
    /// and 3 or more is expected to lie, in 1/256 step.
    pub shrinkage: [[u8; 3]; 2],
    /// Pictures that patches may be predicted from; their sizes keep to the limits of [`mod@crate::reference`].
    pub references: Vec<Reference>,
    /// Where the dictionary comes from: training set, seed, trace, licences. Human-readable.
    pub provenance: String,
}

impl DictionaryBuilder {
    /// Checks the parts and names the dictionary by its content.
    ///
    /// The dictionary holds what its file will hold: probabilities are rounded to the precision they are stored with,
    /// so whoever reads the file back codes exactly as the one who built it. The parts of a built-in dictionary give
    /// that dictionary again, number included.
    ///
    /// # Errors
    /// If the parts do not fit each other or leave the limits of the format.
    pub fn build(self) -> Result<Dictionary, Error> {
        self.check_priors()?;
        let file = format::write(&self);
        let content = format::read(&file).map_err(|error| match error {
            Error::Corrupt(what) => Error::Unfit(what),
            error => error,
        })?;
        Ok(Dictionary {
            content: Arc::new(content),
            identity: identity::of_content(&file),
        })
    }

    /// The writer takes the priors' sizes from the bases.
    fn check_priors(&self) -> Result<(), Error> {
        let pairs = [
            (PlaneKind::Luma, &self.luma, &self.luma_prior),
            (PlaneKind::Chroma, &self.chroma, &self.chroma_prior),
        ];
        for (kind, bases, prior) in pairs {
            if bases.kind() != kind {
                return Err(Error::Unfit("bases of luma and chroma are mixed up"));
            }
            let (cells, weights) = layout::totals(bases.totals());
            if (prior.cells.len(), prior.weights.len()) != (cells, weights) {
                return Err(Error::Unfit("the priors do not fit the bases"));
            }
        }
        Ok(())
    }

    /// Cosine bases and flat priors.
    fn untrained() -> Self {
        let (luma, chroma) = (
            BasisSet::untrained(PlaneKind::Luma),
            BasisSet::untrained(PlaneKind::Chroma),
        );
        let (luma_prior, chroma_prior) = (
            Prior::untrained(luma.totals()),
            Prior::untrained(chroma.totals()),
        );
        Self {
            luma,
            chroma,
            luma_prior,
            chroma_prior,
            luma_filter: FilterSet::neutral(),
            chroma_filter: FilterSet::neutral(),
            nets: [None, None],
            patch_nets: None,
            lossless_nets: [const { None }; 3],
            shrinkage: [[8, 5, 5]; 2],
            references: Vec::new(),
            provenance: String::new(),
        }
    }
}

impl Dictionary {
    /// Starts from cosine bases and flat priors.
    pub fn builder() -> DictionaryBuilder {
        DictionaryBuilder::untrained()
    }

    /// A copy to edit; what [`DictionaryBuilder::build`] makes of it goes by its own name.
    pub fn to_builder(&self) -> DictionaryBuilder {
        DictionaryBuilder::clone(&self.content)
    }

    /// A copy with something changed, under a name of its own.
    ///
    /// # Errors
    /// See [`DictionaryBuilder::build`].
    pub fn edited(&self, edit: impl FnOnce(&mut DictionaryBuilder)) -> Result<Self, Error> {
        let mut builder = self.to_builder();
        edit(&mut builder);
        builder.build()
    }

    /// Cosine bases and flat priors: what training starts from.
    pub fn untrained() -> Self {
        Self::carried(DictionaryBuilder::untrained(), identity::UNTRAINED)
    }

    /// Reads a dictionary file, full or a difference from the built-in dictionary, and validates all of it.
    ///
    /// # Errors
    /// If the bytes are no dictionary of this version, or contradict themselves.
    pub fn from_bytes(data: &[u8]) -> Result<Self, Error> {
        Self::from_bytes_with(data, &|_| None)
    }

    /// The same for a difference from any dictionary that `bases` has.
    ///
    /// # Errors
    /// See [`Self::from_bytes`]; [`Error::MissingBase`] if `bases` does not have the base of a difference.
    pub fn from_bytes_with(
        data: &[u8],
        bases: &dyn Fn(DictId) -> Option<Self>,
    ) -> Result<Self, Error> {
        let (content, identity) = match difference::is_difference(data) {
            true => difference::read(data, bases)?,
            false => (format::read(data)?, DictId::of(data)),
        };
        Ok(Self {
            content: Arc::new(content),
            identity,
        })
    }

    /// A dictionary that every program carries, by its number.
    pub(crate) fn carried(content: DictionaryBuilder, number: u8) -> Self {
        Self {
            content: Arc::new(content),
            identity: DictId::Builtin(number),
        }
    }

    /// The dictionary as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        format::write(&self.content)
    }

    /// The dictionary as a file that says how it differs from `base`; whoever reads it needs that too.
    ///
    /// ```
    /// use tessera_dict::Dictionary;
    ///
    /// let base = Dictionary::builtin();
    /// let own = base.edited(|parts| parts.shrinkage[0][0] ^= 1)?;
    /// let small = own.to_difference(base);
    /// assert!(small.len() < own.to_bytes().len() / 100);
    /// assert_eq!(Dictionary::from_bytes(&small)?.id(), own.id());
    /// # Ok::<(), tessera_dict::Error>(())
    /// ```
    pub fn to_difference(&self, base: &Self) -> Vec<u8> {
        difference::write(&self.content, &base.content, base.id())
    }

    /// The parts.
    pub(crate) fn content(&self) -> &DictionaryBuilder {
        &self.content
    }

    /// The name by which files refer to this dictionary.
    #[inline]
    pub fn id(&self) -> DictId {
        self.identity
    }

    /// Bases of luma (and gray, and alpha) planes.
    #[inline]
    pub fn luma(&self) -> &BasisSet {
        &self.content.luma
    }

    /// Bases of chroma planes.
    #[inline]
    pub fn chroma(&self) -> &BasisSet {
        &self.content.chroma
    }

    /// Starting probabilities of luma planes.
    #[inline]
    pub fn luma_prior(&self) -> &Prior {
        &self.content.luma_prior
    }

    /// Starting probabilities of chroma planes.
    #[inline]
    pub fn chroma_prior(&self) -> &Prior {
        &self.content.chroma_prior
    }

    /// Filters of luma planes.
    #[inline]
    pub fn luma_filter(&self) -> &FilterSet {
        &self.content.luma_filter
    }

    /// Filters of chroma planes.
    #[inline]
    pub fn chroma_filter(&self) -> &FilterSet {
        &self.content.chroma_filter
    }

    /// Networks that restore luma and chroma behind the filters.
    #[inline]
    pub fn nets(&self) -> &Nets {
        &self.content.nets
    }

    /// Networks that predict luma patches.
    #[inline]
    pub fn patch_nets(&self) -> Option<&PatchNets> {
        self.content.patch_nets.as_ref()
    }

    /// Networks that expect samples of lossless pictures.
    #[inline]
    pub fn lossless_nets(&self) -> &LosslessNets {
        &self.content.lossless_nets
    }

    /// Reconstruction points of luma and chroma: how far below its level a coefficient of magnitude 1, 2,
    /// and 3 or more is expected to lie, in 1/256 step.
    #[inline]
    pub fn shrinkage(&self) -> &[[u8; 3]; 2] {
        &self.content.shrinkage
    }

    /// Pictures that patches may be predicted from.
    #[inline]
    pub fn references(&self) -> &[Reference] {
        &self.content.references
    }

    /// Where the dictionary comes from: training set, seed, trace, licences. Human-readable.
    pub fn provenance(&self) -> &str {
        &self.content.provenance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edited_copy_has_a_name_of_its_own() {
        for original in [Dictionary::builtin(), &Dictionary::untrained()] {
            let edited = original.edited(|parts| parts.shrinkage[0][0] ^= 1).unwrap();
            assert_ne!(edited.id(), original.id());
            assert_eq!(edited.id(), DictId::of(&edited.to_bytes()));
            let read_back = Dictionary::from_bytes(&edited.to_bytes()).unwrap();
            assert_eq!(read_back.id(), edited.id());
        }
    }

    #[test]
    fn an_unedited_copy_keeps_its_number() {
        for original in [Dictionary::builtin(), &Dictionary::untrained()] {
            let copy = original.to_builder().build().unwrap();
            assert_eq!(copy.id(), original.id());
        }
    }

    /// Files keep fewer bits of a weight than the coder uses: two dictionaries that differ in these only would share
    /// a name.
    #[test]
    fn what_a_file_does_not_keep_is_not_in_the_dictionary() {
        let edited = Dictionary::untrained()
            .edited(|parts| {
                parts.luma_prior.weights[0][0] |= 3;
                parts.luma_prior.cells[0].count = 255;
            })
            .unwrap();
        assert_eq!(edited.id(), DictId::of(&edited.to_bytes()));
        let read_back = Dictionary::from_bytes(&edited.to_bytes()).unwrap();
        assert_eq!(edited.luma_prior(), read_back.luma_prior());
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let mut edited = Dictionary::builder();
        edited.luma_filter.bands[0][0] = [i16::MAX; crate::filter::TAPS];
        assert!(matches!(edited.build(), Err(Error::Unfit(_))));
        let mut edited = Dictionary::builder();
        edited.references = vec![Reference::new(0, 1, Vec::new())];
        assert!(edited.build().is_err());
        let mut edited = Dictionary::builder();
        edited.luma = Dictionary::builtin().luma().clone();
        assert!(edited.build().is_err(), "priors of other bases");
    }
}
