//! `bitstream.md`, "Patch".

use super::Tile;
use super::borders::Border;
use super::canvas::Leaf;
use super::coefficients::Expectation;
use super::elements::{Element, log_class};
use super::folding::{Folding, fold};
use super::quantiser::coefficient;
use super::reconstruction::{self, transpose_back};
use super::shapes::Shape;
use crate::dictionary::{AtomSet, group_index};

/// What is known of a patch before anything of it is read.
struct Context {
    kind: usize,
    component: usize,
    folding: Folding,
    /// Index and size group of the folded shape.
    shape: usize,
    size: usize,
    class: usize,
    act: i64,
    actc: usize,
    grad: i64,
    gradc: usize,
    /// Whether the cells to the left and above are coded, 2 if absent.
    coded: [usize; 2],
}

/// `actc` of an activity.
pub(super) fn activity_class(act: i64) -> usize {
    log_class(act, 8, 4, 9, 15)
}

impl<'a> Tile<'a> {
    /// `act` of a component.
    fn act(&self, kind: usize, component: usize, x: usize, y: usize, shape: Shape) -> i64 {
        let (xi, yi, w, h) = (x as i64, y as i64, shape.w as i64, shape.h as i64);
        let activity = self.canvases[kind].activity(component, xi, yi, w, h);
        if !self.payload.has_offsets {
            return activity;
        }
        let step = self.step(kind, component, x, y, shape.w, shape.h);
        (activity * self.plain_step(kind, component) / step).min(65535)
    }

    /// `grad` of a border.
    fn grad(
        &self,
        kind: usize,
        component: usize,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> i64 {
        let step = self.step(kind, component, x, y, shape.w, shape.h);
        let n = (shape.w + shape.h) as i64;
        (border.gradient(shape) << 16) / (n * step)
    }

    /// `gradc` of a border.
    pub(super) fn gradient_class(
        &self,
        kind: usize,
        component: usize,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> usize {
        log_class(self.grad(kind, component, border, x, y, shape), 8, 4, 7, 15)
    }

    /// Reads a patch of a leaf, and says what it adds to the prediction; notes in the leaf what it leaves in the cells.
    pub(super) fn patch(
        &mut self,
        kind: usize,
        component: usize,
        border: &Border,
        leaf: &mut Leaf,
    ) -> Option<Vec<i32>> {
        let context = self.patch_context(kind, component, border, leaf);
        if !self.coded_flag(&context) {
            return None;
        }
        leaf.coded[component] = true;
        let Shape { w, h } = leaf.shape;
        let step = self.step(kind, component, leaf.x, leaf.y, w, h);
        let atoms = self.atoms_of(&context);
        let is_atom = atoms.is_some() && self.atom_flag(&context);
        let (levels, mut spectrum) = match atoms.filter(|_| is_atom) {
            Some(set) => self.atom(set, &context, step),
            None => self.levels(&context, step),
        };
        leaf.activity[component] = self.left_activity(&levels, &context, leaf, step);
        let folding = context.folding;
        reconstruction::apply_weights(&mut spectrum, self.payload.curves[kind], folding.shape);
        let residual = reconstruction::inverse_cosine(&spectrum, folding.shape);
        Some(match folding.transposed {
            true => transpose_back(&residual, folding.shape),
            false => residual,
        })
    }

    fn patch_context(
        &self,
        kind: usize,
        component: usize,
        border: &Border,
        leaf: &Leaf,
    ) -> Context {
        let Leaf { x, y, shape, .. } = *leaf;
        let mode = if leaf.reference.is_some() {
            0
        } else {
            leaf.mode
        };
        let folding = fold(kind, mode, shape);
        let canvas = &self.canvases[kind];
        let coded = |x, y| {
            canvas
                .cell(x, y)
                .map_or(2, |leaf| usize::from(leaf.coded[component]))
        };
        let (xi, yi) = (x as i64, y as i64);
        let act = self.act(kind, component, x, y, shape);
        Context {
            kind,
            component,
            folding,
            shape: folding.shape.index(),
            size: folding.shape.size_group(),
            class: match (kind, component) {
                (0, _) => folding.class,
                (_, 0) => 0,
                _ => 2 + usize::from(leaf.coded[0]),
            },
            act,
            actc: activity_class(act),
            grad: self.grad(kind, component, border, x, y, shape),
            gradc: self.gradient_class(kind, component, border, x, y, shape),
            coded: [coded(xi - 1, yi), coded(xi, yi - 1)],
        }
    }

    fn coded_flag(&mut self, context: &Context) -> bool {
        let &Context {
            shape,
            size,
            actc,
            gradc,
            coded: [l, a],
            ..
        } = context;
        let cells = [
            shape | l << 4 | a << 6,
            shape | actc << 4,
            gradc | actc << 4 | size << 8,
            shape | gradc << 4,
        ];
        self.decide(context.kind, Element::Coded, &cells, shape)
    }

    /// The free atoms of the folded shape, if there are any.
    fn atoms_of(&self, context: &Context) -> Option<&'a AtomSet> {
        let sets = self.payload.dictionary.content.atoms.as_ref()?;
        let set = sets.get(context.shape).filter(|_| context.kind == 0)?;
        (set.bits > 0).then_some(set)
    }

    fn atom_flag(&mut self, context: &Context) -> bool {
        let &Context {
            shape,
            class,
            actc,
            gradc,
            ..
        } = context;
        let cells = [shape | class << 3, shape | actc << 3, gradc | actc << 4];
        self.decide(0, Element::Atom, &cells, shape)
    }

    /// A multiple of one atom: its magnitude as the only level, and its spectrum.
    fn atom(&mut self, set: &AtomSet, context: &Context, step: i64) -> (Vec<i64>, Vec<i32>) {
        let &Context {
            shape,
            class,
            actc,
            size,
            ..
        } = context;
        let sets = self.payload.dictionary.content.atoms.iter().flatten();
        let before: usize = sets.take(shape).map(AtomSet::count).sum();
        let mut node = 1;
        for _ in 0..set.bits {
            let cell = 6 * before + class * set.count() + node;
            node = 2 * node + usize::from(self.decide_alone(0, Element::AtomIndex, cell));
        }
        let index = node - set.count();
        let magnitude = self.magnitude(0, Element::AtomMagnitude, |k| k | actc << 4 | size << 8);
        let level = if self.even(0) { -magnitude } else { magnitude };
        let v = coefficient(level, step, [0; 3]);
        (
            vec![level],
            reconstruction::atom_spectrum(v, set, index, context.folding.shape),
        )
    }

    /// The basis, the last position and the levels, and the spectrum they stand for.
    fn levels(&mut self, context: &Context, step: i64) -> (Vec<i64>, Vec<i32>) {
        let &Context {
            kind,
            size,
            folding,
            ..
        } = context;
        let content = &self.payload.dictionary.content;
        let groups = &content.bases[kind];
        let group = group_index(kind, folding.shape, folding.class);
        let choice = self.basis(context, groups[group].len());
        let id = groups[..group].iter().map(Vec::len).sum::<usize>() + choice;
        let basis = &groups[group][choice];
        let last = self.last_position(context, id);
        let mut expectation =
            Expectation::new(basis, context.act, context.grad, last, folding.shape);
        let mut levels = vec![0; last + 1];
        for i in (0..=last).rev() {
            let x = expectation.class(i);
            let p = [4, 31, 161].iter().filter(|&&bound| bound <= i).count();
            let significance = x | p << 5 | size << 7;
            if i == last || self.decide_alone(kind, Element::Significance, significance) {
                let magnitude = self.magnitude(kind, Element::Magnitude, |k| k | x << 4);
                levels[i] = if self.even(kind) {
                    -magnitude
                } else {
                    magnitude
                };
            }
            expectation.learn(i, levels[i].abs());
        }
        let value = |&level: &i64| coefficient(level, step, content.points[kind]);
        let values: Vec<i32> = levels.iter().map(value).collect();
        let spectrum = reconstruction::spectrum(&values, basis, folding.shape);
        (levels, spectrum)
    }

    fn basis(&mut self, context: &Context, count: usize) -> usize {
        let &Context {
            kind, shape, class, ..
        } = context;
        let chosen =
            |i: &usize| !self.decide_alone(kind, Element::Basis, i | shape << 4 | class << 8);
        (0..count - 1).find(chosen).unwrap_or(count - 1)
    }

    fn last_position(&mut self, context: &Context, id: usize) -> usize {
        let &Context {
            kind,
            shape,
            size,
            actc,
            ..
        } = context;
        let decide = |tile: &mut Self, node: usize| {
            let cells = [
                node | shape << 6 | (actc / 2) << 10,
                node | actc << 6 | size << 10,
                node | id << 6,
            ];
            usize::from(tile.decide(kind, Element::Last, &cells, node))
        };
        let mut node = 1;
        for _ in 0..5 {
            node = 2 * node + decide(self, node);
        }
        let class = node - 32;
        let v = match class {
            0..3 => class + 1,
            _ => {
                let first = 2 * (2 | ((class - 3) & 1)) + decide(self, 32 + class);
                (0..(class - 3) / 2).fold(first, |v, _| 2 * v + usize::from(self.even(kind)))
            }
        };
        (v - 1).min(context.folding.shape.coded() - 1)
    }

    /// A magnitude from 1 on; `cell` is that of its decision k.
    fn magnitude(&mut self, kind: usize, element: Element, cell: impl Fn(usize) -> usize) -> i64 {
        for k in 0..15 {
            if !self.decide_alone(kind, element, cell(k)) {
                return k as i64 + 1;
            }
        }
        let mut length = 1;
        while length < 20 && self.even(kind) {
            length += 1;
        }
        15 + (1..length).fold(1, |r, _| 2 * r + i64::from(self.even(kind)))
    }

    /// The activity that a coded patch leaves in its cells.
    fn left_activity(&self, levels: &[i64], context: &Context, leaf: &Leaf, step: i64) -> i64 {
        let squares: i64 = levels
            .iter()
            .map(|level| level.abs().min(4096).pow(2))
            .sum();
        let a = (squares * 65536 / leaf.shape.area() as i64)
            .isqrt()
            .min(65535);
        match self.payload.has_offsets {
            true => (a * step / self.plain_step(context.kind, context.component)).min(65535),
            false => a,
        }
    }
}
