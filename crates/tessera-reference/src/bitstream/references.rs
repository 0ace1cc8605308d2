//! `bitstream.md`, "References".

use super::Tile;
use super::borders::Border;
use super::canvas::Leaf;
use super::elements::Element;
use super::patch::activity_class;
use super::prediction::planar;
use super::shapes::Shape;

/// A reference and where it is shifted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift {
    pub(super) reference: usize,
    by: [i64; 2],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Correction {
    Plain,
    Smooth,
    Scaled,
}

/// What a leaf takes from which reference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prediction {
    pub(super) shift: Shift,
    pub(super) correction: Correction,
}

/// The shifts used last, the newest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    list: Vec<Shift>,
    /// Of the superblock that is being read, in coding order.
    fresh: Vec<Shift>,
}

impl Recent {
    pub(super) fn new(references: usize) -> Self {
        let unmoved = |reference| Shift {
            reference,
            by: [0, 0],
        };
        Self {
            list: (0..references.min(4)).map(unmoved).collect(),
            fresh: Vec::new(),
        }
    }

    /// After a superblock.
    pub(super) fn update(&mut self) {
        for shift in self.fresh.drain(..) {
            self.list.retain(|&old| old != shift);
            self.list.insert(0, shift);
        }
        self.list.truncate(4);
    }
}

impl Tile<'_> {
    /// The sample of a reference that corresponds to a sample of the tile; components are Y, Cb, Cr.
    fn corresponding(&self, shift: Shift, component: usize, x: i64, y: i64) -> i32 {
        let [px, py] = self.payload.place;
        let plane = self.payload.references[shift.reference][component];
        plane.nearest(px + x + shift.by[0], py + y + shift.by[1])
    }

    /// `own(shift)` for a component of a kind.
    fn own(
        &self,
        shift: Shift,
        kind: usize,
        component: usize,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Border {
        Border::new(&self.canvases[kind], x, y, shape, |x, y| {
            self.corresponding(shift, kind + component, x, y)
        })
    }

    /// `fit(shift)`: how much the border differs from the reference's.
    fn fit(
        &self,
        shift: Shift,
        kind: usize,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> usize {
        let difference = border.minus(&self.own(shift, kind, 0, x, y, shape), |sample| sample);
        self.gradient_class(kind, 0, &difference, x, y, shape)
    }

    fn candidates(&self, x: usize, y: usize, shape: Shape) -> Vec<Shift> {
        let (x, y, w, h) = (x as i64, y as i64, shape.w as i64, shape.h as i64);
        let near = [
            (x - 1, y + h - 1),
            (x + w - 1, y - 1),
            (x + w, y - 1),
            (x - 1, y - 1),
        ];
        let near = near
            .iter()
            .filter_map(|&(x, y)| self.canvases[0].cell(x, y)?.reference);
        let mut list = Vec::new();
        for shift in near
            .map(|p| p.shift)
            .chain(self.recent.list.iter().copied())
        {
            if !list.contains(&shift) && list.len() < 6 {
                list.push(shift);
            }
        }
        list
    }

    /// "A luma leaf": what it takes from a reference, if it does.
    pub(super) fn luma_reference(
        &mut self,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Option<Prediction> {
        if !self.references_in_use {
            return None;
        }
        let candidates = self.candidates(x, y, shape);
        if !self.is_from_reference(candidates[0], border, x, y, shape) {
            return None;
        }
        let shift = match self.chosen_candidate(&candidates, border, x, y, shape) {
            Some(shift) => shift,
            None => self.new_shift(&candidates, shape.size_group()),
        };
        self.recent.fresh.push(shift);
        let correction = self.correction(shift, 0, border, x, y, shape);
        Some(Prediction { shift, correction })
    }

    fn is_from_reference(
        &mut self,
        first: Shift,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> bool {
        let (l, a) = self.neighbours(0, x, y, |leaf| match leaf {
            Some(leaf) => usize::from(leaf.reference.is_some()),
            None => 2,
        });
        let f = self.fit(first, 0, border, x, y, shape);
        let gradc = self.gradient_class(0, 0, border, x, y, shape);
        let activity =
            self.canvases[0].activity(0, x as i64, y as i64, shape.w as i64, shape.h as i64);
        let actc = activity_class(activity);
        let plane = self.payload.references[0][0];
        let [px, py] = self.payload.place;
        let eighth = |at: i64, size: usize| (8 * at / size as i64).min(7) as usize;
        let px = eighth(px + (x + shape.w / 2) as i64, plane.width);
        let py = eighth(py + (y + shape.h / 2) as i64, plane.height);
        let (index, place) = (shape.index(), px + 8 * py);
        let cells = [
            index | l << 4 | a << 6,
            f | gradc << 4,
            f | actc << 4,
            place | l << 6 | a << 8,
        ];
        self.decide(0, Element::Reference, &cells, index)
    }

    fn chosen_candidate(
        &mut self,
        list: &[Shift],
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Option<Shift> {
        let (index, g, count) = (shape.index(), shape.size_group(), list.len());
        for (i, &shift) in list.iter().enumerate() {
            let f = self.fit(shift, 0, border, x, y, shape);
            let cells = [i | count << 3, i | index << 3, i | f << 3 | (g / 2) << 7];
            if self.decide(0, Element::Candidate, &cells, i) {
                return Some(shift);
            }
        }
        None
    }

    fn new_shift(&mut self, candidates: &[Shift], g: usize) -> Shift {
        let mut reference = 0;
        while reference < self.payload.references.len() - 1 && self.shift_decision(reference, g) {
            reference += 1;
        }
        let same = candidates.iter().find(|shift| shift.reference == reference);
        let mut by = same.map_or([0, 0], |shift| shift.by);
        for (axis, coordinate) in by.iter_mut().enumerate() {
            *coordinate = (*coordinate + self.shift_difference(axis, g)).clamp(-32768, 32767);
        }
        Shift { reference, by }
    }

    fn shift_difference(&mut self, axis: usize, g: usize) -> i64 {
        if self.shift_decision(16 + axis, g) {
            return 0;
        }
        let negative = self.shift_decision(18 + axis, g);
        let mut length = 1;
        while length < 16 && self.shift_decision(20 + 16 * axis + length - 1, g) {
            length += 1;
        }
        let size = (1..length).fold(1, |size, _| 2 * size + i64::from(self.even(0)));
        if negative { -size } else { size }
    }

    fn shift_decision(&mut self, q: usize, g: usize) -> bool {
        self.decide(0, Element::Shift, &[q, q | g << 6], q)
    }

    fn correction(
        &mut self,
        shift: Shift,
        kind: usize,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Correction {
        let correction = |leaf: &Leaf| {
            leaf.reference
                .map(|reference| reference.correction as usize)
        };
        let (l, a) = self.neighbours(kind, x, y, |leaf| leaf.and_then(correction).unwrap_or(3));
        let (f, index) = (self.fit(shift, kind, border, x, y, shape), shape.index());
        let mut decide = |q: usize| {
            let cells = [q | l << 1 | a << 3, q | index << 1, q | f << 1];
            self.decide(kind, Element::Correction, &cells, q)
        };
        match decide(0) {
            false => Correction::Plain,
            true if decide(1) => Correction::Scaled,
            true => Correction::Smooth,
        }
    }

    /// "A chroma leaf" may follow the luma in its middle.
    pub(super) fn chroma_reference(
        &mut self,
        luma: Option<Prediction>,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Option<Prediction> {
        let Prediction { shift, correction } = luma?;
        if self.payload.references[shift.reference].len() < 3 {
            return None;
        }
        let (l, a) = self.neighbours(1, x, y, |leaf| match leaf {
            Some(leaf) => usize::from(leaf.reference.is_some()),
            None => 2,
        });
        let cells = [l | a << 2, shape.size_group(), correction as usize];
        if !self.decide(1, Element::ChromaReference, &cells, 0) {
            return None;
        }
        let correction = self.correction(shift, 1, border, x, y, shape);
        Some(Prediction { shift, correction })
    }

    /// "Prediction": that of a component, and the difference border.
    pub(super) fn predict_from_reference(
        &self,
        prediction: Prediction,
        (kind, component): (usize, usize),
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> (Vec<i32>, Border) {
        let Prediction { shift, correction } = prediction;
        let own = self.own(shift, kind, component, x, y, shape);
        let scale = match correction {
            Correction::Scaled => scale(&own, border, shape),
            _ => 4096,
        };
        let scaled = |v: i32| ((i64::from(v) * scale + 2048) >> 12) as i32;
        let difference = border.minus(&own, scaled);
        let mut p: Vec<i32> = (0..shape.area())
            .map(|i| {
                let (x, y) = ((x + i % shape.w) as i64, (y + i / shape.w) as i64);
                scaled(self.corresponding(shift, kind + component, x, y))
            })
            .collect();
        if correction != Correction::Plain {
            for (p, s) in p.iter_mut().zip(planar(&difference, shape)) {
                *p = (*p + s).clamp(0, 4095);
            }
        }
        (p, difference)
    }

    /// What `of` says of the cells to the left and above.
    fn neighbours(
        &self,
        kind: usize,
        x: usize,
        y: usize,
        of: impl Fn(Option<&Leaf>) -> usize,
    ) -> (usize, usize) {
        let canvas = &self.canvases[kind];
        let (x, y) = (x as i64, y as i64);
        (of(canvas.cell(x - 1, y)), of(canvas.cell(x, y - 1)))
    }
}

/// The contrast of the border over that of the reference's, 12 fractional bits.
fn scale(own: &Border, border: &Border, shape: Shape) -> i64 {
    let n = (shape.w + shape.h) as i64;
    let (mut so, mut sb, mut sob, mut soo) = (0, 0, 0, 0);
    for (o, b) in own.adjacent(shape).zip(border.adjacent(shape)) {
        so += o;
        sb += b;
        sob += o * b;
        soo += o * o;
    }
    let covariance = n * sob - so * sb + 512 * n * n;
    let variance = n * soo - so * so + 512 * n * n;
    ((covariance << 12) / variance).clamp(0, 16384)
}
