//! One syntax, three users: writing, reading and metering share the functions that walk the bitstream.

use crate::tile::PlaneLayout;
use crate::tile::entropy::mix::{Contexts, Models, PlaneKind};
use crate::tile::entropy::range::RangeDecoder;
#[cfg(feature = "encoder")]
use crate::tile::entropy::range::RangeEncoder;
use tessera_dict::Dictionary;
use tessera_dict::layout::Element;

const EVEN: u32 = 1 << 15;

/// Passes binary decisions in or out.
///
/// A writer codes the bit it is given and returns it; a reader ignores the argument and returns the bit
/// it finds. Syntax written against this trait cannot differ between the two.
pub(crate) trait BinaryCoder {
    /// A decision with adaptive probability.
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool;
    /// A decision with even odds.
    fn raw(&mut self, bit: bool) -> bool;
}

/// Adaptive models of both plane kinds.
#[derive(Clone, Debug)]
pub(crate) struct ModelPair(pub(crate) [Models; 2]);

impl ModelPair {
    pub(crate) fn new(dictionary: &Dictionary, layout: PlaneLayout) -> Self {
        Self([PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
            if !layout.kinds().contains(&kind) {
                return Models::absent();
            }
            let (prior, bases) = match kind {
                PlaneKind::Luma => (dictionary.luma_prior(), dictionary.luma()),
                PlaneKind::Chroma => (dictionary.chroma_prior(), dictionary.chroma()),
            };
            Models::new(prior, bases.totals())
        }))
    }
}

/// Reads a tile.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) models: ModelPair,
    pub(crate) range: RangeDecoder<'a>,
}

impl BinaryCoder for Reader<'_> {
    #[inline(always)]
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, _: bool) -> bool {
        let models = &mut self.models.0[kind as usize];
        let prediction = models.predict(element, contexts);
        let bit = self.range.decode(prediction.one);
        models.update(element, contexts, &prediction, bit);
        bit
    }

    #[inline(always)]
    fn raw(&mut self, _: bool) -> bool {
        self.range.decode(EVEN)
    }
}

/// Writes a tile.
#[cfg(feature = "encoder")]
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) models: ModelPair,
    pub(crate) range: RangeEncoder,
}

#[cfg(feature = "encoder")]
impl BinaryCoder for Writer {
    #[inline(always)]
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool {
        let models = &mut self.models.0[kind as usize];
        let prediction = models.predict(element, contexts);
        self.range.encode(bit, prediction.one);
        models.update(element, contexts, &prediction, bit);
        bit
    }

    fn raw(&mut self, bit: bool) -> bool {
        self.range.encode(bit, EVEN);
        bit
    }
}

/// Adds up what bits would cost without changing any state.
#[cfg(feature = "encoder")]
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    pub(crate) models: &'a ModelPair,
    pub(crate) bits: f32,
}

#[cfg(feature = "encoder")]
impl<'a> Meter<'a> {
    pub(crate) fn new(models: &'a ModelPair) -> Self {
        Self { models, bits: 0.0 }
    }
}

#[cfg(feature = "encoder")]
impl BinaryCoder for Meter<'_> {
    #[inline(always)]
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool {
        let [zero, one] = costs(self.models, kind, element, contexts);
        self.bits += if bit { one } else { zero };
        bit
    }

    fn raw(&mut self, bit: bool) -> bool {
        self.bits += 1.0;
        bit
    }
}

/// Bits a zero and a one would cost.
#[cfg(feature = "encoder")]
#[inline(always)]
pub(crate) fn costs(
    models: &ModelPair,
    kind: PlaneKind,
    element: Element,
    contexts: &Contexts,
) -> [f32; 2] {
    code_lengths(models.0[kind as usize].predict(element, contexts).one)
}

/// Bits a zero and a one would cost by the first cell alone.
#[cfg(feature = "encoder")]
#[inline(always)]
pub(crate) fn quick_costs(
    models: &ModelPair,
    kind: PlaneKind,
    element: Element,
    contexts: &Contexts,
) -> [f32; 2] {
    code_lengths(models.0[kind as usize].cell(element, 0, contexts.cells[0]))
}

/// Bits of a zero and of a one whose probability is `one` / 2^16.
#[cfg(feature = "encoder")]
#[inline(always)]
pub(crate) fn code_lengths(one: u32) -> [f32; 2] {
    [code_length(65536 - one), code_length(one)]
}

/// -log2(p / 2^16), by table.
#[cfg(feature = "encoder")]
#[inline(always)]
pub(crate) fn code_length(p: u32) -> f32 {
    static TABLE: std::sync::LazyLock<Vec<f32>> = std::sync::LazyLock::new(|| {
        (0..=4096)
            .map(|i| 12.0 - (i.max(1) as f32).log2())
            .collect()
    });
    // Below 1/16 the table is too coarse for linear steps; shift the argument up instead.
    if p >= 4096 {
        TABLE[(p >> 4) as usize]
    } else {
        TABLE[p as usize] + 4.0
    }
}
