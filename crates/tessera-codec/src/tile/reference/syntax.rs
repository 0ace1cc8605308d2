//! Reading and writing of what a leaf takes from a reference.

use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::intra::Border;
use crate::tile::reference::{
    Correction, ReferenceUse, References, Shift, correction_of, uses_reference,
};
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::patch_context::{activity_class, gradient_class};
use std::cell::RefCell;
use tessera_dict::layout::Element;

/// Number of candidates for the shift.
const CANDIDATES: usize = 6;
/// Places are told apart on a grid of so many columns and rows.
const GRID: usize = 8;

/// Questions of the element Shift: the reference, then per axis whether, which way and how far.
const ZERO: u32 = 16;
const SIGN: u32 = 18;
const LENGTH: u32 = 20;
const LENGTHS: u32 = 16;

/// A leaf as the choice of its reference sees it.
#[derive(Debug)]
pub(crate) struct ReferenceContexts<'s, 'a> {
    state: &'s TileState<'a>,
    references: &'s References<'a>,
    site: Site,
    border: &'s Border,
    candidates: Vec<Shift>,
    /// The fits that were asked for: the encoder asks for the same ones again and again.
    fits: RefCell<Vec<(Shift, u32)>>,
    shape: u32,
    size_group: u32,
}

impl<'s, 'a> ReferenceContexts<'s, 'a> {
    /// Contexts of a leaf with this decoded border (of its first component); `None` if references are not in use.
    pub(crate) fn new(state: &'s TileState<'a>, site: Site, border: &'s Border) -> Option<Self> {
        let references = state.references.as_ref()?;
        let candidates = match site.kind {
            PlaneKind::Luma => candidates(references, &state.luma, &site),
            PlaneKind::Chroma => Vec::new(),
        };
        Some(Self {
            state,
            references,
            site,
            border,
            candidates,
            fits: RefCell::default(),
            shape: site.shape.index() as u32,
            size_group: site.shape.size_group() as u32,
        })
    }

    /// Codes whether and how a luma leaf is predicted from a reference.
    pub(crate) fn code_luma<C: BinaryCoder>(
        &self,
        coder: &mut C,
        used: Option<ReferenceUse>,
    ) -> Option<ReferenceUse> {
        let contexts = self.flag();
        if !coder.bit(
            PlaneKind::Luma,
            Element::Reference,
            &contexts,
            used.is_some(),
        ) {
            return None;
        }
        let shift = self.code_shift(coder, used.map_or(Shift::default(), |used| used.shift));
        let correction = used.map_or(Correction::Plain, |used| used.correction);
        Some(self.code_correction(coder, shift, correction))
    }

    /// Codes whether and how a chroma leaf follows the luma leaf in its middle into a reference.
    pub(crate) fn code_chroma<C: BinaryCoder>(
        &self,
        coder: &mut C,
        used: Option<ReferenceUse>,
    ) -> Option<ReferenceUse> {
        let luma = self.luma_use()?;
        let [left, above] = self.neighbours().map(uses_reference);
        let contexts = Contexts::new(
            [left | above << 2, self.size_group, luma.correction as u32],
            0,
        );
        if !coder.bit(
            PlaneKind::Chroma,
            Element::ChromaReference,
            &contexts,
            used.is_some(),
        ) {
            return None;
        }
        let correction = used.map_or(Correction::Plain, |used| used.correction);
        Some(self.code_correction(coder, luma.shift, correction))
    }

    /// What a chroma leaf may follow: a luma leaf in its middle that uses a reference with colour.
    pub(crate) fn luma_use(&self) -> Option<ReferenceUse> {
        let Site { x, y, shape, .. } = self.site;
        let (x, y) = (x + shape.width() / 2, y + shape.height() / 2);
        let used = self.state.luma.cell(x as isize, y as isize)?.reference?;
        self.references.plane(used.shift.reference, 1)?;
        Some(used)
    }

    fn neighbours(&self) -> [Option<&crate::tile::reference::CellInfo>; 2] {
        let canvas = self.state.canvas(self.site.kind);
        let (x, y) = (self.site.x as isize, self.site.y as isize);
        [canvas.cell(x - 1, y), canvas.cell(x, y - 1)]
    }

    fn flag(&self) -> Contexts {
        let Site { x, y, shape, .. } = self.site;
        let [left, above] = self.neighbours().map(uses_reference);
        let canvas = self.state.canvas(self.site.kind);
        let activity = activity_class(canvas.activity(0, x, y, shape.width(), shape.height()));
        let own = gradient_class(self.state.border_gradient(&self.site, self.border));
        let fit = self.fit(self.candidates[0]);
        Contexts::new(
            [
                self.shape | left << 4 | above << 6,
                fit | own << 4,
                fit | activity << 4,
                self.place() | left << 6 | above << 8,
            ],
            self.shape,
        )
    }

    /// Class of how far the border departs from that of a reference.
    fn fit(&self, shift: Shift) -> u32 {
        let known = self
            .fits
            .borrow()
            .iter()
            .find(|(of, _)| *of == shift)
            .copied();
        if let Some((_, fit)) = known {
            return fit;
        }
        let canvas = self.state.canvas(self.site.kind);
        let own = self.references.border(canvas, &self.site, shift);
        let difference = self.border.minus(&own, |sample| sample);
        let fit = gradient_class(self.state.border_gradient(&self.site, &difference));
        self.fits.borrow_mut().push((shift, fit));
        fit
    }

    /// Where the leaf's middle lies in the picture, on a grid over the first reference.
    fn place(&self) -> u32 {
        let Site { x, y, shape, .. } = self.site;
        let (x, y) = (x + shape.width() / 2, y + shape.height() / 2);
        let (x, y) = self
            .references
            .place(Shift::default(), x as isize, y as isize);
        let Some(plane) = self.references.plane(0, 0) else {
            return 0;
        };
        let part = |at: isize, size: usize| (at as usize * GRID / size).min(GRID - 1);
        (part(x, plane.width) + GRID * part(y, plane.height)) as u32
    }

    fn code_shift<C: BinaryCoder>(&self, coder: &mut C, shift: Shift) -> Shift {
        let count = self.candidates.len() as u32;
        for (i, &candidate) in self.candidates.iter().enumerate() {
            let i = i as u32;
            let fit = self.fit(candidate);
            let contexts = Contexts::new(
                [
                    i | count << 3,
                    i | self.shape << 3,
                    i | fit << 3 | (self.size_group / 2) << 7,
                ],
                i,
            );
            if coder.bit(
                PlaneKind::Luma,
                Element::Candidate,
                &contexts,
                candidate == shift,
            ) {
                return candidate;
            }
        }
        self.code_new_shift(coder, shift)
    }

    fn code_new_shift<C: BinaryCoder>(&self, coder: &mut C, shift: Shift) -> Shift {
        let last = self.references.len() as u8 - 1;
        let mut reference = 0;
        while reference < last && self.ask(coder, u32::from(reference), shift.reference > reference)
        {
            reference += 1;
        }
        let expected = self.expected(reference);
        Shift {
            reference,
            dx: self.code_axis(coder, 0, expected.dx, shift.dx),
            dy: self.code_axis(coder, 1, expected.dy, shift.dy),
        }
    }

    /// Codes one coordinate of a shift against what is expected of it.
    fn code_axis<C: BinaryCoder>(&self, coder: &mut C, axis: u32, expected: i16, to: i16) -> i16 {
        let way = i32::from(to) - i32::from(expected);
        if self.ask(coder, ZERO + axis, way == 0) {
            return expected;
        }
        let negative = self.ask(coder, SIGN + axis, way < 0);
        let bits = 32 - way.unsigned_abs().leading_zeros();
        let mut length = 1;
        while length < LENGTHS
            && self.ask(coder, LENGTH + LENGTHS * axis + length - 1, bits > length)
        {
            length += 1;
        }
        let rest = (0..length - 1).rev();
        let size = rest.fold(1, |known, bit| {
            known << 1 | i32::from(coder.raw(PlaneKind::Luma, way.unsigned_abs() >> bit & 1 == 1))
        });
        let moved = i32::from(expected) + if negative { -size } else { size };
        moved.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
    }

    /// A decision about a new shift.
    fn ask<C: BinaryCoder>(&self, coder: &mut C, question: u32, bit: bool) -> bool {
        let cells = [question, question | self.size_group << 6];
        let contexts = Contexts::new(cells, question);
        coder.bit(PlaneKind::Luma, Element::Shift, &contexts, bit)
    }

    /// What a new shift into a reference is coded against.
    fn expected(&self, reference: u8) -> Shift {
        let known = self.candidates.iter();
        let mut same = known.filter(|candidate| candidate.reference == reference);
        same.next().copied().unwrap_or(Shift::zero(reference))
    }

    fn code_correction<C: BinaryCoder>(
        &self,
        coder: &mut C,
        shift: Shift,
        correction: Correction,
    ) -> ReferenceUse {
        let [left, above] = self.neighbours().map(correction_of);
        let fit = self.fit(shift);
        let mut ask = |question: u32, bit: bool| {
            let cells = [
                question | left << 1 | above << 3,
                question | self.shape << 1,
                question | fit << 1,
            ];
            let contexts = Contexts::new(cells, question);
            coder.bit(self.site.kind, Element::Correction, &contexts, bit)
        };
        let correction = if !ask(0, correction != Correction::Plain) {
            Correction::Plain
        } else if ask(1, correction == Correction::Scaled) {
            Correction::Scaled
        } else {
            Correction::Smooth
        };
        ReferenceUse { shift, correction }
    }
}

#[cfg(feature = "encoder")]
impl ReferenceContexts<'_, '_> {
    /// The shifts that are cheap to name.
    pub(crate) fn candidates(&self) -> &[Shift] {
        &self.candidates
    }
}

/// The shifts of the neighbours, then those of earlier superblocks.
fn candidates(references: &References<'_>, luma: &Canvas, site: &Site) -> Vec<Shift> {
    let (x, y) = (site.x as isize, site.y as isize);
    let (w, h) = (site.shape.width() as isize, site.shape.height() as isize);
    let places = [
        (x - 1, y + h - 1),
        (x + w - 1, y - 1),
        (x + w, y - 1),
        (x - 1, y - 1),
    ];
    let neighbours = places
        .into_iter()
        .filter_map(|(x, y)| Some(luma.cell(x, y)?.reference?.shift));
    let mut candidates = Vec::with_capacity(CANDIDATES);
    for shift in neighbours.chain(references.recent.iter().copied()) {
        if candidates.len() < CANDIDATES && !candidates.contains(&shift) {
            candidates.push(shift);
        }
    }
    candidates
}
