//! What networks learn from: samples of pictures as the models see them.

use super::Shape;
use super::coder::{Coder, Ends};
use super::encode::read_tile;
use super::level::Level;
use super::network::View;
use super::planar::code_plane;
use super::planes::BorderedPlane;
use super::predictive::PlaneModel;
use crate::picture::Picture;
use crate::simd::{PairOperation, PairProducts, with_pairs};
use crate::tile_grid::Rect;
use tessera_dict::lossless_net::{INPUTS, PLANES};

/// A sample to learn from.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// Its surroundings, in thirty-seconds of `unit`.
    pub inputs: [i8; INPUTS],
    /// The error that is expected, in sixteenths of a sample.
    pub unit: u32,
    /// How far it lies above the blend of predictions, the same.
    pub error: i32,
}

impl Example {
    pub(super) fn new(view: &View, error: i32) -> Self {
        let mut inputs = [0; INPUTS];
        for (to, &input) in inputs.iter_mut().zip(&view.inputs) {
            *to = input as i8;
        }
        Self {
            inputs,
            unit: view.unit,
            error,
        }
    }
}

/// Knows every decision and writes none.
struct Nowhere;

impl Coder for Nowhere {
    #[inline(always)]
    fn code(&mut self, bit: bool, _: u32) -> bool {
        bit
    }

    fn exhausted(&self) -> bool {
        false
    }

    fn raw(&mut self, _: u32, number: u32) -> u32 {
        number
    }

    fn symbol(&mut self, _: &Ends, symbol: usize) -> usize {
        symbol
    }
}

/// Pixels on a side of the part in the middle of a picture that is learned from.
const SIDE: u32 = 768;

/// All samples of the colour planes of a picture's middle, plane by plane in coding order.
pub fn examples(picture: &Picture) -> [Vec<Example>; PLANES] {
    let [width, height] = [picture.width(), picture.height()].map(|side| side.min(SIDE));
    let part = Rect {
        x: (picture.width() - width) / 2,
        y: (picture.height() - height) / 2,
        width,
        height,
    };
    let shape = Shape::new(width, height, picture.format());
    let tile = read_tile(picture, part, &shape);
    let mut examples = [const { Vec::new() }; PLANES];
    let mut earlier: Vec<BorderedPlane> = Vec::new();
    let mut errors = None;
    let colours = &tile.planes[shape.first_colour()..];
    for (samples, examples) in colours.iter().zip(&mut examples) {
        let mut plane = BorderedPlane::new(shape.width, shape.height);
        with_pairs(Watch {
            shape: &shape,
            plane: &mut plane,
            earlier: &earlier,
            samples,
            errors: &mut errors,
            examples,
        });
        earlier.push(plane);
    }
    examples
}

/// The walk over a plane that is learned from, for the instruction set at hand.
struct Watch<'a> {
    shape: &'a Shape,
    plane: &'a mut BorderedPlane,
    earlier: &'a [BorderedPlane],
    samples: &'a [u16],
    /// Those of the plane before, then those of this one.
    errors: &'a mut Option<Vec<i32>>,
    examples: &'a mut Vec<Example>,
}

impl PairOperation for Watch<'_> {
    #[inline(always)]
    fn call(self, simd: impl PairProducts) {
        let Self { shape, plane, .. } = self;
        let mut model = PlaneModel::new(simd, shape.width, shape.max(), Level::Learned).recording();
        let before = self.errors.take();
        let found = code_plane(
            &mut Nowhere,
            &mut model,
            plane,
            self.earlier,
            self.samples,
            before,
        );
        *self.errors = found.ok();
        *self.examples = model.into_record();
    }
}
