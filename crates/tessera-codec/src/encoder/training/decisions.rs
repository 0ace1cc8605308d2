//! The binary decisions of a coded tile, kept so that priors can be fitted to them without coding again.

use crate::encoder::training::CarriedModels;
use crate::prepared::PreparedDictionary;
use crate::tile::TileConfig;
use crate::tile::decoder::{TileReader, read_tile};
use crate::tile::entropy::coder::{BinaryCoder, Meter, Reader};
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use tessera_dict::layout::{BasisTotals, ELEMENTS, Element};

/// The decisions of one tile in coding order.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    entries: Vec<Entry>,
    /// Bits with even odds, which no prior changes.
    raw: usize,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    contexts: Contexts,
    kind: PlaneKind,
    element: Element,
    bit: bool,
}

/// What one cell saw in one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellCount {
    /// Index among the cells of its plane kind.
    pub cell: u32,
    /// Number of zeros.
    pub zeros: u32,
    /// Number of ones.
    pub ones: u32,
}

impl Decisions {
    /// Reads the decisions back from a coded tile; `None` if the bytes are not one of this dictionary.
    pub fn read(
        bytes: &[u8],
        config: &TileConfig,
        dictionary: &PreparedDictionary,
    ) -> Option<Self> {
        let mut recorder = Recorder {
            reader: Reader::new(bytes, dictionary, config).ok()?,
            decisions: Self::default(),
        };
        read_tile(&mut recorder, config, dictionary, None).ok()?;
        Some(recorder.decisions)
    }

    /// Number of decisions that depend on priors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no decision depends on priors.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Runs the models over all decisions and returns the bits they cost.
    pub fn replay(&self, models: &mut CarriedModels) -> f64 {
        let mut bits = self.raw as f64;
        for entry in &self.entries {
            let Entry {
                contexts,
                kind,
                element,
                bit,
            } = *entry;
            let mut meter = Meter::new(&models.0);
            meter.bit(kind, element, &contexts, bit);
            bits += f64::from(meter.bits);
            models.0.0[kind as usize].code(element, &contexts, |_| bit);
        }
        bits
    }

    /// How often every cell of a plane kind saw zeros and ones; cells in order, none without either.
    pub fn cell_counts(&self, kind: PlaneKind, totals: BasisTotals) -> Vec<CellCount> {
        let starts = ELEMENTS.map(|element| element.layout(totals).inputs);
        let mut first = 0;
        let starts = starts.map(|sizes| {
            let place = |size: usize| {
                let start = first;
                first += size as u32;
                start
            };
            sizes.into_iter().map(place).collect::<Vec<u32>>()
        });
        let mut seen: Vec<(u32, bool)> = Vec::new();
        for entry in self.entries.iter().filter(|entry| entry.kind == kind) {
            let starts = starts[entry.element as usize].iter();
            let cells = starts.zip(&entry.contexts.cells);
            seen.extend(cells.map(|(start, cell)| (start + cell, entry.bit)));
        }
        seen.sort_unstable();
        let count = |same: &[(u32, bool)]| {
            let ones = same.iter().filter(|(_, bit)| *bit).count();
            CellCount {
                cell: same[0].0,
                zeros: (same.len() - ones) as u32,
                ones: ones as u32,
            }
        };
        seen.chunk_by(|a, b| a.0 == b.0).map(count).collect()
    }
}

struct Recorder<'a> {
    reader: Reader<'a>,
    decisions: Decisions,
}

impl BinaryCoder for Recorder<'_> {
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool {
        let bit = self.reader.bit(kind, element, contexts, bit);
        self.decisions.entries.push(Entry {
            contexts: *contexts,
            kind,
            element,
            bit,
        });
        bit
    }

    fn raw(&mut self, kind: PlaneKind, bit: bool) -> bool {
        self.decisions.raw += 1;
        self.reader.raw(kind, bit)
    }
}

impl TileReader for Recorder<'_> {
    fn exhausted(&self) -> bool {
        self.reader.exhausted()
    }
}
