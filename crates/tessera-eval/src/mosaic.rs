//! Dictionaries as pictures: every atom a small tile, side by side.
//!
//! Zero is middle gray and every atom is stretched to its own largest magnitude: atoms have unit
//! norm and no common scale, so only their shape is worth showing. The order is the dictionary's.

use faer::MatRef;
use image::{GrayImage, ImageEncoder, Luma};
use std::io::Cursor;
use thiserror::Error;

/// Tiles are enlarged by a whole factor until they are about this wide.
const TILE_TARGET: usize = 32;
/// Pixels between the tiles and around all of them.
const GAP: usize = 2;
const GAP_SHADE: u8 = 255;
const MIDDLE_GRAY: f64 = 127.5;
/// Pictures larger than this in one direction are of no use to anyone.
const MAX_SIDE: usize = 1 << 14;

/// Why a matrix cannot be drawn.
#[derive(Debug, Error)]
pub enum MosaicError {
    /// There is nothing to draw.
    #[error("the dictionary is empty ({rows} x {columns})")]
    Empty {
        /// Values per atom.
        rows: usize,
        /// Number of atoms.
        columns: usize,
    },
    /// Atoms must be square tiles.
    #[error("an atom of {rows} values is not a square tile (4, 16, 64, 256, ... values are)")]
    NotSquare {
        /// Values per atom.
        rows: usize,
    },
    /// A value is infinite or not a number.
    #[error("atom {atom} holds a value that is not finite")]
    NotFinite {
        /// The first such atom.
        atom: usize,
    },
    /// The picture would be absurdly large.
    #[error("a mosaic of {atoms} atoms of {side}x{side} values is larger than {MAX_SIDE} pixels")]
    TooLarge {
        /// Number of atoms.
        atoms: usize,
        /// Width of an atom.
        side: usize,
    },
    /// The picture cannot be written.
    #[error("cannot write the mosaic as PNG: {0}")]
    Png(#[from] image::ImageError),
}

/// Where the tiles go; a pure function of the dictionary's shape.
struct Layout {
    side: usize,
    zoom: usize,
    columns: usize,
    rows: usize,
}

impl Layout {
    fn of(atoms: MatRef<'_, f64>) -> Result<Self, MosaicError> {
        let (rows, columns) = (atoms.nrows(), atoms.ncols());
        if rows == 0 || columns == 0 {
            return Err(MosaicError::Empty { rows, columns });
        }
        let side = rows.isqrt();
        if side * side != rows {
            return Err(MosaicError::NotSquare { rows });
        }
        let across = columns.isqrt() + usize::from(columns.isqrt().pow(2) < columns);
        let layout = Self {
            side,
            zoom: (TILE_TARGET / side).max(1),
            columns: across,
            rows: columns.div_ceil(across),
        };
        if layout.extent(across) > MAX_SIDE {
            return Err(MosaicError::TooLarge {
                atoms: columns,
                side,
            });
        }
        Ok(layout)
    }

    fn pitch(&self) -> usize {
        self.side * self.zoom + GAP
    }

    /// Pixels that `tiles` tiles and the gaps around them take.
    fn extent(&self, tiles: usize) -> usize {
        tiles * self.pitch() + GAP
    }
}

/// Draws the atoms (the columns of an m x n matrix with square m) as one picture.
///
/// # Errors
/// If the matrix is empty, its atoms are not square, or a value is not finite.
pub fn draw_mosaic(atoms: MatRef<'_, f64>) -> Result<GrayImage, MosaicError> {
    let layout = Layout::of(atoms)?;
    let (width, height) = (layout.extent(layout.columns), layout.extent(layout.rows));
    let mut picture = GrayImage::from_pixel(width as u32, height as u32, Luma([GAP_SHADE]));
    for (index, atom) in atoms.col_iter().enumerate() {
        let atom: Vec<f64> = atom.iter().copied().collect();
        if atom.iter().any(|value| !value.is_finite()) {
            return Err(MosaicError::NotFinite { atom: index });
        }
        draw_tile(&mut picture, &layout, index, &atom);
    }
    Ok(picture)
}

fn draw_tile(picture: &mut GrayImage, layout: &Layout, index: usize, atom: &[f64]) {
    let left = GAP + (index % layout.columns) * layout.pitch();
    let top = GAP + (index / layout.columns) * layout.pitch();
    let largest = atom
        .iter()
        .fold(0.0, |largest: f64, value| largest.max(value.abs()));
    let extent = layout.side * layout.zoom;
    for y in 0..extent {
        for x in 0..extent {
            let value = atom[(y / layout.zoom) * layout.side + x / layout.zoom];
            let shade = Luma([shade(value, largest)]);
            picture.put_pixel((left + x) as u32, (top + y) as u32, shade);
        }
    }
}

fn shade(value: f64, largest: f64) -> u8 {
    let relative = if largest > 0.0 { value / largest } else { 0.0 };
    (MIDDLE_GRAY * (1.0 + relative)).round() as u8
}

/// Draws the atoms and packs the picture as PNG.
///
/// # Errors
/// As [`draw_mosaic`].
pub fn mosaic_png(atoms: MatRef<'_, f64>) -> Result<Vec<u8>, MosaicError> {
    let picture = draw_mosaic(atoms)?;
    let mut bytes = Cursor::new(Vec::new());
    image::codecs::png::PngEncoder::new(&mut bytes).write_image(
        picture.as_raw(),
        picture.width(),
        picture.height(),
        image::ExtendedColorType::L8,
    )?;
    Ok(bytes.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::Mat;

    fn matrix(rows: usize, columns: usize, value: impl Fn(usize) -> f64) -> Mat<f64> {
        Mat::from_fn(rows, columns, |row, column| value(column * rows + row))
    }

    #[test]
    fn tiles_stand_where_they_belong() {
        let atoms = matrix(4, 3, |index| {
            [1.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0][index]
        });
        let picture = draw_mosaic(atoms.as_ref()).unwrap();
        let pitch = 32 + GAP as u32;
        assert_eq!(picture.dimensions(), (2 * pitch + 2, 2 * pitch + 2));
        let at = |x: u32, y: u32| picture.get_pixel(x, y).0[0];
        assert_eq!(
            (at(2, 2), at(2 + 16, 2), at(33, 33)),
            (255, 128, 0),
            "first atom, row by row"
        );
        assert_eq!(at(pitch + 2, 2), 128, "an atom of zeros is gray");
        assert_eq!(
            at(2, pitch + 2),
            255,
            "the third atom starts the second line"
        );
        assert_eq!(
            at(pitch + 10, pitch + 10),
            GAP_SHADE,
            "there is no fourth atom"
        );
    }

    #[test]
    fn refuses_what_cannot_be_drawn() {
        assert!(matches!(
            draw_mosaic(matrix(5, 2, |_| 0.0).as_ref()),
            Err(MosaicError::NotSquare { rows: 5 })
        ));
        assert!(matches!(
            draw_mosaic(matrix(4, 2, |_| f64::NAN).as_ref()),
            Err(MosaicError::NotFinite { atom: 0 })
        ));
        assert!(matches!(
            draw_mosaic(matrix(4, 0, |_| 0.0).as_ref()),
            Err(MosaicError::Empty { .. })
        ));
    }

    #[test]
    fn png_reads_back() {
        let bytes = mosaic_png(matrix(64, 256, |index| (index % 7) as f64).as_ref()).unwrap();
        let picture = image::load_from_memory(&bytes).unwrap();
        assert_eq!(
            (picture.width(), picture.height()),
            (16 * 34 + 2, 16 * 34 + 2)
        );
    }
}
