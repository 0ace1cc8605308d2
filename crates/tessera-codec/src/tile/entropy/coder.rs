//! One syntax, three users: writing, reading and metering share the functions that walk the bitstream.

use crate::tile::TileConfig;
use crate::tile::decoder::Exhausted;
use crate::tile::entropy::mix::{Contexts, Models, PlaneKind};
use crate::tile::entropy::range::RangeDecoder;
#[cfg(feature = "encoder")]
use crate::tile::entropy::range::RangeEncoder;
use crate::tile::entropy::streams::{Streams, split};
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
    /// A decision with even odds, about planes of a kind.
    fn raw(&mut self, kind: PlaneKind, bit: bool) -> bool;
}

/// Adaptive models of both plane kinds.
#[derive(Clone, Debug)]
pub(crate) struct ModelPair(pub(crate) [Models; 2]);

impl ModelPair {
    pub(crate) fn new(dictionary: &Dictionary, kinds: &[PlaneKind]) -> Self {
        Self([PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
            if !kinds.contains(&kind) {
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
    streams: Streams<RangeDecoder<'a>>,
}

impl<'a> Reader<'a> {
    /// A reader at the start of a tile.
    ///
    /// # Errors
    /// If `data` ends before the stream of chroma begins.
    pub(crate) fn new(
        data: &'a [u8],
        dictionary: &Dictionary,
        config: &TileConfig,
    ) -> Result<Self, Exhausted> {
        Ok(Self::of_streams(&split(data, config)?, dictionary, config))
    }

    /// A reader at the start of the streams of a tile.
    pub(crate) fn of_streams(
        parts: &[&'a [u8]],
        dictionary: &Dictionary,
        config: &TileConfig,
    ) -> Self {
        let mut parts = parts.iter();
        let next = || RangeDecoder::new(parts.next().copied().unwrap_or_default());
        Self {
            models: ModelPair::new(dictionary, config.layout.kinds()),
            streams: Streams::new(config, next),
        }
    }

    /// A reader of the stream that one plane kind has for itself.
    #[cfg(feature = "threads")]
    pub(crate) fn of_kind(data: &'a [u8], dictionary: &Dictionary, kind: PlaneKind) -> Self {
        Self {
            models: ModelPair::new(dictionary, &[kind]),
            streams: Streams::shared(RangeDecoder::new(data)),
        }
    }

    /// Whether bytes of a kind's stream were read that are not there; of a `complete` one a few may have been left out.
    pub(crate) fn has_missed(&mut self, kind: PlaneKind, complete: bool) -> bool {
        let stream = self.streams.of(kind);
        match complete {
            true => stream.exhausted(),
            false => stream.has_missed(),
        }
    }

    /// Whether more was read than a stream can hold.
    pub(crate) fn exhausted(&self) -> bool {
        self.streams.iter().any(RangeDecoder::exhausted)
    }
}

impl BinaryCoder for Reader<'_> {
    #[inline(always)]
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, _: bool) -> bool {
        let stream = self.streams.of(kind);
        self.models.0[kind as usize].code(
            element,
            contexts,
            #[inline(always)]
            |one| stream.decode(one),
        )
    }

    #[inline(always)]
    fn raw(&mut self, kind: PlaneKind, _: bool) -> bool {
        self.streams.of(kind).decode(EVEN)
    }
}

/// Writes a tile.
#[cfg(feature = "encoder")]
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) models: ModelPair,
    streams: Streams<RangeEncoder>,
}

#[cfg(feature = "encoder")]
impl Writer {
    /// A writer at the start of a tile.
    pub(crate) fn new(dictionary: &Dictionary, config: &TileConfig) -> Self {
        Self {
            models: ModelPair::new(dictionary, config.layout.kinds()),
            streams: Streams::new(config, RangeEncoder::new),
        }
    }

    /// Bytes written so far.
    pub(crate) fn written(&self) -> usize {
        self.streams.iter().map(RangeEncoder::written).sum()
    }

    /// The payload.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.streams.finish()
    }
}

#[cfg(feature = "encoder")]
impl BinaryCoder for Writer {
    #[inline(always)]
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool {
        let stream = self.streams.of(kind);
        self.models.0[kind as usize].code(
            element,
            contexts,
            #[inline(always)]
            |one| {
                stream.encode(bit, one);
                bit
            },
        )
    }

    fn raw(&mut self, kind: PlaneKind, bit: bool) -> bool {
        self.streams.of(kind).encode(bit, EVEN);
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

    fn raw(&mut self, _: PlaneKind, bit: bool) -> bool {
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
