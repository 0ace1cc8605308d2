//! `bitstream.md`: the payload of a tile.

mod borders;
mod canvas;
mod coefficients;
mod decisions;
mod drawn;
pub(crate) mod elements;
mod filter;
mod folding;
pub(crate) mod learned;
pub(crate) mod logistic;
mod modes;
mod network;
mod offsets;
mod partition;
mod patch;
mod prediction;
mod quantiser;
mod reconstruction;
mod references;
pub(crate) mod shapes;
mod taps;
mod weights;

use crate::bytes::Reader;
use crate::dictionary::Dictionary;
use crate::error::Result;
use crate::plane::Plane;
use crate::range_coder::RangeCoder;
use borders::Border;
use canvas::{Canvas, Leaf};
use decisions::Models;
use drawn::Drawn;
use elements::Element;
use modes::{FROM_LUMA, FROM_REFERENCE, mode_of_index};
use offsets::Offsets;
use references::Recent;
use shapes::Shape;

/// "Streams": chroma has a stream of its own in tiles of more samples.
const ONE_STREAM: usize = 65536;

/// A payload, and what it takes from outside.
pub(crate) struct Payload<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Where the tile's first sample lies in the picture.
    pub(crate) place: [i64; 2],
    /// One of gray or alpha, or three.
    pub(crate) planes: usize,
    /// Quantiser indices of the components.
    pub(crate) indices: [i32; 3],
    /// Curves of frequency weights of luma and of chroma.
    pub(crate) curves: [[i8; 3]; 2],
    pub(crate) has_offsets: bool,
    pub(crate) has_drawn: bool,
    pub(crate) dictionary: &'a Dictionary,
    /// The planes of the references that can be used.
    pub(crate) references: Vec<Vec<&'a Plane>>,
}

/// Decodes a payload to its planes.
pub(crate) fn decode(payload: &Payload<'_>) -> Result<Vec<Plane>> {
    let mut reader = Reader::new(payload.bytes);
    let drawn = drawn::read(payload, &mut reader)?;
    let mut tile = Tile::new(payload, drawn, reader)?;
    tile.superblocks_in_order()?;
    let flags: Vec<Vec<bool>> = (0..tile.canvases.len())
        .map(|kind| tile.filter_flags(kind))
        .collect();
    for (kind, flags) in flags.iter().enumerate() {
        tile.filter(kind, flags);
    }
    tile.put_drawn();
    Ok(tile.cropped())
}

/// The state of the decoder of a payload.
struct Tile<'a> {
    payload: &'a Payload<'a>,
    coders: Vec<RangeCoder<'a>>,
    /// Of luma and chroma.
    models: [Models; 2],
    canvases: Vec<Canvas>,
    drawn: Drawn,
    offsets: Offsets,
    references_in_use: bool,
    recent: Recent,
}

impl<'a> Tile<'a> {
    fn new(payload: &'a Payload<'a>, drawn: Drawn, reader: Reader<'a>) -> Result<Self> {
        let components: &[usize] = if payload.planes == 3 { &[1, 2] } else { &[1] };
        let canvas = |&components: &usize| Canvas::new(payload.width, payload.height, components);
        let canvases: Vec<Canvas> = components.iter().map(canvas).collect();
        let priors = &payload.dictionary.content.priors;
        let mut tile = Self {
            payload,
            coders: streams(payload, reader)?,
            models: [Models::new(&priors[0]), Models::new(&priors[1])],
            offsets: Offsets::new(canvases[0].width, canvases[0].height),
            canvases,
            drawn,
            references_in_use: false,
            recent: Recent::new(payload.references.len()),
        };
        tile.cover_drawn();
        tile.put_drawn();
        tile.references_in_use = !payload.references.is_empty() && tile.even(0);
        Ok(tile)
    }

    /// The stream that a kind is read from.
    fn coder(&mut self, kind: usize) -> &mut RangeCoder<'a> {
        let own = kind.min(self.coders.len() - 1);
        &mut self.coders[own]
    }

    fn even(&mut self, kind: usize) -> bool {
        self.coder(kind).even()
    }

    fn decide(&mut self, kind: usize, element: Element, cells: &[usize], vector: usize) -> bool {
        let own = kind.min(self.coders.len() - 1);
        self.models[kind].decide(&mut self.coders[own], element, cells, vector)
    }

    fn decide_alone(&mut self, kind: usize, element: Element, cell: usize) -> bool {
        let own = kind.min(self.coders.len() - 1);
        self.models[kind].decide_alone(&mut self.coders[own], element, cell)
    }

    /// How many superblocks there are across and down.
    fn superblocks(&self) -> (usize, usize) {
        (
            self.canvases[0].width.div_ceil(64),
            self.canvases[0].height.div_ceil(64),
        )
    }

    fn superblocks_in_order(&mut self) -> Result<()> {
        let (across, down) = self.superblocks();
        for i in 0..across * down {
            let (x, y) = (i % across * 64, i / across * 64);
            self.quantiser_offsets(x, y);
            for kind in 0..self.canvases.len() {
                self.block(kind, 64, x, y);
            }
            self.recent.update();
            self.coders.iter().try_for_each(RangeCoder::check_end)?;
        }
        Ok(())
    }

    /// Reads a leaf and draws it.
    fn leaf(&mut self, kind: usize, x: usize, y: usize, shape: Shape) {
        let components = self.canvases[kind].planes.len();
        let borders: Vec<Border> = (0..components)
            .map(|c| self.border(kind, c, x, y, shape))
            .collect();
        let mut leaf = Leaf {
            x,
            y,
            shape,
            mode: 0,
            taps: false,
            reference: None,
            coded: [false; 2],
            activity: [0; 2],
        };
        match kind {
            0 => self.luma_leaf(&borders[0], &mut leaf),
            _ => self.chroma_leaf(&borders[0], &mut leaf),
        }
        for (component, border) in borders.iter().enumerate() {
            let (prediction, border) = self.predict(kind, component, border, &leaf);
            let residual = self.patch(kind, component, &border, &mut leaf);
            let residual = residual.unwrap_or_else(|| vec![0; shape.area()]);
            let plane = &mut self.canvases[kind].planes[component];
            for (i, (p, r)) in prediction.iter().zip(residual).enumerate() {
                plane.set(
                    x + i % shape.w,
                    y + i / shape.w,
                    p.wrapping_add(r).clamp(0, 4095),
                );
            }
        }
        self.canvases[kind].cover(&leaf);
    }

    fn border(&self, kind: usize, component: usize, x: usize, y: usize, shape: Shape) -> Border {
        let canvas = &self.canvases[kind];
        Border::new(canvas, x, y, shape, |x, y| {
            canvas.planes[component].nearest(x, y)
        })
    }

    fn luma_leaf(&mut self, border: &Border, leaf: &mut Leaf) {
        leaf.reference = self.luma_reference(border, leaf.x, leaf.y, leaf.shape);
        if leaf.reference.is_none() {
            leaf.mode = self.luma_mode(leaf.x, leaf.y, leaf.shape);
        }
    }

    fn chroma_leaf(&mut self, border: &Border, leaf: &mut Leaf) {
        let Leaf { x, y, shape, .. } = *leaf;
        let luma = *self.luma_in_the_middle(leaf);
        leaf.reference = self.chroma_reference(luma.reference, border, x, y, shape);
        leaf.mode = match leaf.reference {
            Some(_) => FROM_REFERENCE,
            None => self.chroma_mode(x, y, shape, luma.mode),
        };
        leaf.taps = leaf.mode == FROM_LUMA && self.has_taps(x, y, shape, luma.mode);
    }

    fn luma_in_the_middle(&self, leaf: &Leaf) -> &Leaf {
        let (x, y) = (leaf.x + leaf.shape.w / 2, leaf.y + leaf.shape.h / 2);
        let luma = self.canvases[0].cell(x as i64, y as i64);
        luma.expect("luma of a superblock is decoded before its chroma")
    }

    /// The prediction of a component, and the border whose gradient counts.
    fn predict(
        &self,
        kind: usize,
        component: usize,
        border: &Border,
        leaf: &Leaf,
    ) -> (Vec<i32>, Border) {
        let Leaf {
            x, y, shape, mode, ..
        } = *leaf;
        if let Some(reference) = leaf.reference {
            return self.predict_from_reference(reference, (kind, component), border, x, y, shape);
        }
        let prediction = match (kind, mode) {
            (0, _) => match self.learned(mode, border, x, y, shape) {
                Some(learned) => learned,
                None => prediction::predict(mode, border, shape),
            },
            (_, FROM_LUMA) if leaf.taps => self.predict_with_taps(component, x, y, shape),
            (_, FROM_LUMA) => self.predict_from_luma(border, x, y, shape),
            _ => {
                let mode = mode_of_index(mode, self.luma_in_the_middle(leaf).mode);
                prediction::predict(mode, border, shape)
            }
        };
        (prediction, border.clone())
    }

    /// The planes without what pads them.
    fn cropped(&self) -> Vec<Plane> {
        let crop = |plane: &Plane| {
            let mut cropped = Plane::new(self.payload.width, self.payload.height);
            cropped.put(plane, 0, 0);
            cropped
        };
        self.canvases
            .iter()
            .flat_map(|canvas| canvas.planes.iter().map(crop))
            .collect()
    }
}

/// "Streams".
fn streams<'a>(payload: &Payload<'a>, mut reader: Reader<'a>) -> Result<Vec<RangeCoder<'a>>> {
    if payload.planes < 3 || payload.width * payload.height <= ONE_STREAM {
        return Ok(vec![RangeCoder::new(reader.rest())]);
    }
    let length = reader.length()?;
    let first = reader.take(length)?;
    Ok(vec![RangeCoder::new(first), RangeCoder::new(reader.rest())])
}
