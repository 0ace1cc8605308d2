//! Blocks of a tile that are coded pixel by pixel, before everything else (`spec/bitstream.md`, "Drawn blocks").
//!
//! They lie on the canvases from the start: blocks around them are divided so that none reaches into them, predict from
//! them, and are filtered beside them.

use crate::container::bytes::ByteReader;
use crate::lossless::{DRAWN_BLOCK, Drawn, DrawnShape, Mask, decode_drawn};
use crate::tile::TileConfig;
use crate::tile::canvas::{Canvas, CellInfo, PlaneBuffer};
use crate::tile::decoder::Exhausted;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::PLANAR;
use crate::tile::state::TileState;
use std::sync::Arc;
use tessera_patch::Shape;

/// The drawn blocks of a tile.
#[derive(Clone, Debug)]
pub(crate) struct GraphicsLayer {
    mask: Arc<Mask>,
    /// Planes of the size of a canvas; only drawn blocks matter.
    planes: Arc<Vec<PlaneBuffer>>,
}

impl TileConfig {
    /// What drawn blocks need to know of a tile.
    pub(crate) fn drawn_shape(&self) -> DrawnShape {
        DrawnShape {
            width: self.width as usize,
            height: self.height as usize,
            channels: self.layout.planes(),
        }
    }
}

/// The drawn blocks at the start of a payload, if it has any, and what follows them.
///
/// # Errors
/// If it ends too early.
pub(crate) fn read_graphics<'a>(
    data: &'a [u8],
    config: &TileConfig,
) -> Result<(Option<GraphicsLayer>, &'a [u8]), Exhausted> {
    if !config.graphics {
        return Ok((None, data));
    }
    let mut reader = ByteReader::new(data, 0, "tile");
    let length = reader.length().map_err(|_| Exhausted)?;
    let stream = reader.take(length).map_err(|_| Exhausted)?;
    let rest = &data[reader.position()..];
    if stream.is_empty() {
        return Ok((None, rest));
    }
    let shape = config.drawn_shape();
    let drawn = decode_drawn(stream, shape).map_err(|_| Exhausted)?;
    Ok((Some(GraphicsLayer::new(drawn, shape)), rest))
}

impl GraphicsLayer {
    pub(crate) fn new(drawn: Drawn, shape: DrawnShape) -> Self {
        let plane = |channel| {
            let mut canvas = Canvas::new(shape.width, shape.height, 1);
            for (left, top) in drawn.mask.places() {
                for y in top..(top + DRAWN_BLOCK).min(canvas.height) {
                    for x in left..(left + DRAWN_BLOCK).min(canvas.width) {
                        let (column, row) = (x.min(shape.width - 1), y.min(shape.height - 1));
                        canvas.components[0].data[y * canvas.width + x] =
                            drawn.sample(column, row, channel);
                    }
                }
            }
            canvas.components.remove(0)
        };
        Self {
            planes: Arc::new((0..shape.channels).map(plane).collect()),
            mask: Arc::new(drawn.mask),
        }
    }

    /// Puts the samples of drawn blocks on a component of a plane kind.
    pub(crate) fn put(&self, kind: PlaneKind, component: usize, plane: &mut PlaneBuffer) {
        if let Some(from) = self.planes.get(kind as usize + component) {
            for (x, y) in self.mask.places() {
                plane.copy_block(from, x, y, DRAWN_BLOCK);
            }
        }
    }

    /// Draws on a canvas on which nothing is decoded yet.
    fn draw(&self, kind: PlaneKind, canvas: &mut Canvas) {
        for (component, plane) in canvas.components.iter_mut().enumerate() {
            self.put(kind, component, plane);
        }
        let shape = Shape::new(DRAWN_BLOCK, DRAWN_BLOCK).expect("blocks are square shapes");
        for (x, y) in self.mask.places() {
            let info = CellInfo::of(shape, PLANAR, None);
            canvas.mark(x, y, DRAWN_BLOCK, DRAWN_BLOCK, info);
        }
        canvas.drawn = Some(self.mask.clone());
    }
}

impl TileState<'_> {
    /// Begins a tile with its drawn blocks.
    pub(crate) fn draw_graphics(&mut self, graphics: Option<GraphicsLayer>) {
        let Some(graphics) = graphics else {
            return;
        };
        graphics.draw(PlaneKind::Luma, &mut self.luma);
        if let Some(chroma) = &mut self.chroma {
            graphics.draw(PlaneKind::Chroma, chroma);
        }
        self.graphics = Some(graphics);
    }
}
