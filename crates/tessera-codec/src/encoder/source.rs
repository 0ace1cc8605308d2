//! The original samples of a tile.

use crate::encoder::forward::Difference;
use crate::tile::TileConfig;
use crate::tile::canvas::{Canvas, PlaneBuffer};
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{Border, Known};
use crate::tile::state::Site;
use crate::tile::syntax::Block;
use tessera_patch::{Plane, Shape};

/// The planes of a tile, their last column and row repeated up to the size of the canvases.
#[derive(Debug)]
pub(crate) struct Source {
    planes: Vec<Vec<u16>>,
    pub(crate) stride: usize,
}

impl Source {
    /// Pads planes to the size of a canvas.
    pub(crate) fn new(planes: &[Plane], canvas: &Canvas) -> Self {
        let (stride, rows) = (canvas.width, canvas.height);
        let planes = planes.iter().map(|plane| padded(plane, stride, rows));
        Self {
            planes: planes.collect(),
            stride,
        }
    }

    /// All planes.
    pub(crate) fn planes(&self) -> &[Vec<u16>] {
        &self.planes
    }

    /// Luma, for predictions from original samples.
    pub(crate) fn luma(&self) -> &[u16] {
        &self.planes[0]
    }

    /// A component of a plane kind.
    pub(crate) fn component(&self, kind: PlaneKind, component: usize) -> &[u16] {
        &self.planes[kind as usize + component]
    }

    /// Number of padded rows.
    pub(crate) fn rows(&self) -> usize {
        self.planes[0].len() / self.stride
    }

    /// The rows of a luma patch.
    pub(crate) fn luma_rows(&self, site: &Site) -> impl Iterator<Item = &[u16]> {
        let (w, h) = (site.shape.width(), site.shape.height());
        (site.y..site.y + h).map(move |y| &self.luma()[y * self.stride + site.x..][..w])
    }

    /// What a prediction leaves of a patch.
    pub(crate) fn residual<'a>(&'a self, site: &Site, prediction: &'a [i32]) -> Difference<'a> {
        let component = self.component(site.kind, site.component);
        Difference {
            original: &component[site.y * self.stride + site.x..],
            stride: self.stride,
            prediction,
        }
    }

    /// The border of a luma patch, of original samples.
    pub(crate) fn border(&self, x: usize, y: usize, shape: Shape) -> Border {
        let length = shape.width() + shape.height();
        let arm = |behind: usize, room: usize| if behind == 0 { 0 } else { length.min(room) };
        let known = Known {
            lefts: arm(x, self.rows() - y),
            tops: arm(y, self.stride - x),
            corner: x > 0 && y > 0,
        };
        Border::read(self.luma(), self.stride, (x, y), length, known)
    }

    /// Squared error of the part of a decoded block that lies inside the picture.
    pub(crate) fn squared_error(
        &self,
        config: &TileConfig,
        original: &[u16],
        decoded: &PlaneBuffer,
        block: Block,
    ) -> f32 {
        let columns = block.x..(block.x + block.size).min(config.width as usize);
        let rows = block.y..(block.y + block.size).min(config.height as usize);
        rows.map(|y| {
            let range = y * self.stride + columns.start..y * self.stride + columns.end;
            let pairs = original[range.clone()].iter().zip(&decoded.data[range]);
            pairs
                .map(|(&a, &b)| (f32::from(a) - f32::from(b)).powi(2))
                .sum::<f32>()
        })
        .sum()
    }
}

/// A plane with its last column and row repeated up to the padded size.
fn padded(plane: &Plane, stride: usize, rows: usize) -> Vec<u16> {
    let mut out = Vec::with_capacity(stride * rows);
    for y in 0..rows {
        let row = &plane.data[y.min(plane.height - 1) * plane.width..][..plane.width];
        out.extend_from_slice(row);
        out.resize((y + 1) * stride, row[plane.width - 1]);
    }
    out
}
