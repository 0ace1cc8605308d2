//! A decode that writes down every decision, for the worked example of the specification and for tests that
//! count what a set of streams covers.

use crate::prepared::PreparedDictionary;
use crate::tile::TileConfig;
use crate::tile::decoder::{Exhausted, TileReader, read_tile};
use crate::tile::entropy::coder::{BinaryCoder, Reader};
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::graphics::read_graphics;
use crate::tile::reference::ReferenceUse;
use crate::tile::state::Site;
use crate::tile::syntax::{AtomUse, Coefficients, Leaf};
use tessera_dict::Dictionary;
use tessera_dict::layout::Element;
use tessera_patch::{Plane, Shape};

/// What happened, in coding order.
#[derive(Clone, Debug)]
pub enum Event {
    /// A binary decision was read.
    Decision(Decision),
    /// A leaf of the partition was finished.
    Leaf(LeafRecord),
}

/// A binary decision.
#[derive(Clone, Debug)]
pub struct Decision {
    /// Which planes it is about.
    pub kind: PlaneKind,
    /// What it decides; `None` for a bit with even odds.
    pub element: Option<Element>,
    /// Cell of every input table of the element.
    pub cells: Vec<u32>,
    /// Weight vector that mixes them.
    pub vector: u32,
    /// Probability of a one, 16 bits.
    pub one: u32,
    /// What was read.
    pub bit: bool,
}

/// A finished leaf.
#[derive(Clone, Debug)]
pub struct LeafRecord {
    /// Which planes it belongs to.
    pub kind: PlaneKind,
    /// Left column.
    pub x: usize,
    /// Top row.
    pub y: usize,
    /// Size.
    pub shape: Shape,
    /// Luma mode, or index of the chroma mode.
    pub mode: usize,
    /// What it took from which reference.
    pub reference: Option<ReferenceRecord>,
    /// What is coded of every component.
    pub patches: Vec<PatchCode>,
}

/// What a patch adds to its prediction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchCode {
    /// Nothing.
    Empty,
    /// Levels of a basis of its group.
    Levels {
        /// Index of the basis.
        basis: u32,
        /// In coding order up to the last one that is not zero.
        levels: Vec<i32>,
    },
    /// A multiple of a free atom.
    Atom {
        /// Index of the atom.
        index: u16,
        /// Amplitude in steps.
        level: i32,
    },
}

impl From<&Coefficients> for PatchCode {
    fn from(patch: &Coefficients) -> Self {
        match patch.atom {
            Some(AtomUse { index, level }) => Self::Atom { index, level },
            None if patch.levels.is_empty() => Self::Empty,
            None => Self::Levels {
                basis: patch.choice,
                levels: patch.levels.clone(),
            },
        }
    }
}

/// A prediction from a reference.
#[derive(Clone, Copy, Debug)]
pub struct ReferenceRecord {
    /// Number of the reference.
    pub index: u8,
    /// Its shift.
    pub shift: (i16, i16),
    /// 0 plain, 1 smooth, 2 scaled.
    pub correction: u8,
}

impl From<ReferenceUse> for ReferenceRecord {
    fn from(used: ReferenceUse) -> Self {
        Self {
            index: used.shift.reference,
            shift: (used.shift.dx, used.shift.dy),
            correction: used.correction as u8,
        }
    }
}

/// Everything that was read from one payload, and the planes it gave.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Column and row of the tile in its picture.
    pub origin: (u32, u32),
    /// Whether the plane is alpha.
    pub alpha: bool,
    /// In coding order.
    pub events: Vec<Event>,
    /// The decoded planes.
    pub planes: Vec<Plane>,
}

/// Decodes the planes of a tile and keeps a record, with all decisions or of leaves alone.
///
/// # Errors
/// If `data` is shorter than what it describes.
pub fn trace_tile(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    decisions: bool,
) -> Result<Trace, Exhausted> {
    let (graphics, data) = read_graphics(data, config)?;
    let mut tracer = Tracer {
        reader: Reader::new(data, dictionary, config)?,
        dictionary,
        decisions,
        events: Vec::new(),
    };
    let planes = read_tile(&mut tracer, config, dictionary, graphics)?;
    Ok(Trace {
        origin: config.origin,
        alpha: config.alpha,
        events: tracer.events,
        planes,
    })
}

struct Tracer<'a> {
    reader: Reader<'a>,
    dictionary: &'a Dictionary,
    /// Whether decisions are written down too.
    decisions: bool,
    events: Vec<Event>,
}

impl Tracer<'_> {
    fn inputs(&self, kind: PlaneKind, element: Element) -> usize {
        let bases = match kind {
            PlaneKind::Luma => self.dictionary.luma(),
            PlaneKind::Chroma => self.dictionary.chroma(),
        };
        element.layout(bases.totals()).inputs.len()
    }
}

impl BinaryCoder for Tracer<'_> {
    fn bit(&mut self, kind: PlaneKind, element: Element, contexts: &Contexts, bit: bool) -> bool {
        if !self.decisions {
            return self.reader.bit(kind, element, contexts, bit);
        }
        let prediction = self.reader.models.0[kind as usize].predict(element, contexts);
        let bit = self.reader.bit(kind, element, contexts, bit);
        self.events.push(Event::Decision(Decision {
            kind,
            element: Some(element),
            cells: contexts.cells[..self.inputs(kind, element)].to_vec(),
            vector: contexts.vector,
            one: prediction.one,
            bit,
        }));
        bit
    }

    fn raw(&mut self, kind: PlaneKind, bit: bool) -> bool {
        let bit = self.reader.raw(kind, bit);
        if !self.decisions {
            return bit;
        }
        self.events.push(Event::Decision(Decision {
            kind,
            element: None,
            cells: Vec::new(),
            vector: 0,
            one: 1 << 15,
            bit,
        }));
        bit
    }
}

impl TileReader for Tracer<'_> {
    fn exhausted(&self) -> bool {
        self.reader.exhausted()
    }

    fn leaf_done(&mut self, site: &Site, leaf: &Leaf) {
        let components = match site.kind {
            PlaneKind::Luma => 1,
            PlaneKind::Chroma => 2,
        };
        let patches = leaf.patches[..components].iter();
        self.events.push(Event::Leaf(LeafRecord {
            kind: site.kind,
            x: site.x,
            y: site.y,
            shape: site.shape,
            mode: leaf.mode,
            reference: leaf.reference.map(ReferenceRecord::from),
            patches: patches.map(PatchCode::from).collect(),
        }));
    }
}
