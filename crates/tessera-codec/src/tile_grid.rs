//! How a picture is cut into independent tiles.

use std::fmt;

/// Log2 of the tile side when the header does not say otherwise.
pub const DEFAULT_TILE_LOG2: u8 = 10;

/// The tile sides the format allows, as log2.
pub const TILE_LOG2_RANGE: std::ops::RangeInclusive<u8> = 6..=15;

/// A rectangle of pixels inside a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    /// Left column.
    pub x: u32,
    /// Top row.
    pub y: u32,
    /// Columns, at least one.
    pub width: u32,
    /// Rows, at least one.
    pub height: u32,
}

impl Rect {
    /// Number of pixels.
    pub fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// The part two rectangles share, if any.
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let right = self.right().min(other.right());
        let bottom = self.bottom().min(other.bottom());
        let inside = right > u64::from(x) && bottom > u64::from(y);
        inside.then(|| Self {
            x,
            y,
            width: (right - u64::from(x)) as u32,
            height: (bottom - u64::from(y)) as u32,
        })
    }

    fn right(&self) -> u64 {
        u64::from(self.x) + u64::from(self.width)
    }

    fn bottom(&self) -> u64 {
        u64::from(self.y) + u64::from(self.height)
    }
}

impl fmt::Display for Rect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}+{}+{}", self.width, self.height, self.x, self.y)
    }
}

/// The tiles of a picture in raster order; those at the right and bottom may be smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileGrid {
    width: u32,
    height: u32,
    side: u32,
}

impl TileGrid {
    /// Cuts a picture of 1 to 65535 pixels a side into tiles of `1 << tile_log2`.
    pub fn new(width: u32, height: u32, tile_log2: u8) -> Self {
        debug_assert!(width > 0 && height > 0 && TILE_LOG2_RANGE.contains(&tile_log2));
        Self {
            width,
            height,
            side: 1 << tile_log2,
        }
    }

    /// Tiles per row.
    pub fn columns(&self) -> u32 {
        self.width.div_ceil(self.side)
    }

    /// Rows of tiles.
    pub fn rows(&self) -> u32 {
        self.height.div_ceil(self.side)
    }

    /// Pixels on a side of a whole tile.
    #[cfg(feature = "encoder")]
    pub(crate) fn side(&self) -> u32 {
        self.side
    }

    /// Cuts a part of the picture along the borders of rows of tiles, from top to bottom, so that
    /// no tile belongs to two bands; each band takes `tile_rows` of them.
    pub(crate) fn bands(&self, part: Rect, tile_rows: u32) -> impl Iterator<Item = Rect> + use<> {
        let unit = u64::from(self.side) * u64::from(tile_rows.max(1));
        let mut y = u64::from(part.y);
        std::iter::from_fn(move || {
            let bottom = ((y / unit + 1) * unit).min(part.bottom());
            let band = Rect {
                y: y as u32,
                height: bottom.checked_sub(y).filter(|&height| height > 0)? as u32,
                ..part
            };
            y = bottom;
            Some(band)
        })
    }

    /// Rows of tiles that are worth working on together: enough for all threads to have a tile
    /// while others are finished.
    pub(crate) fn rows_for(&self, threads: usize) -> u32 {
        let tiles = (2 * threads).max(1) as u32;
        tiles.div_ceil(self.columns()).min(self.rows())
    }

    /// Number of tiles: at most 1024 x 1024, at least one.
    pub fn count(&self) -> usize {
        self.columns() as usize * self.rows() as usize
    }

    /// The pixels of a tile.
    pub fn rect(&self, index: usize) -> Rect {
        debug_assert!(index < self.count());
        let x = (index as u32 % self.columns()) * self.side;
        let y = (index as u32 / self.columns()) * self.side;
        Rect {
            x,
            y,
            width: self.side.min(self.width - x),
            height: self.side.min(self.height - y),
        }
    }

    /// The largest tile, in pixels.
    pub fn largest(&self) -> u64 {
        self.rect(0).area()
    }

    /// The tiles that hold at least one pixel of `region`, in raster order.
    pub fn touching(&self, region: Rect) -> impl Iterator<Item = usize> + use<> {
        let side = u64::from(self.side);
        let span = |start: u32, end: u64, count: u32| {
            let last = end.div_ceil(side).min(u64::from(count));
            start / self.side..last as u32
        };
        let columns = span(region.x, region.right(), self.columns());
        let rows = span(region.y, region.bottom(), self.rows());
        let per_row = self.columns() as usize;
        rows.flat_map(move |row| {
            let start = row as usize * per_row;
            columns.clone().map(move |column| start + column as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_cover_every_pixel_once() {
        for (width, height) in [(1, 1), (64, 64), (65, 64), (200, 131), (1, 300)] {
            let grid = TileGrid::new(width, height, 6);
            let covered: u64 = (0..grid.count()).map(|i| grid.rect(i).area()).sum();
            assert_eq!(covered, u64::from(width) * u64::from(height));
            assert!(grid.largest() <= 64 * 64);
        }
    }

    #[test]
    fn bands_end_at_tile_borders() {
        let grid = TileGrid::new(200, 300, 6);
        let part = Rect {
            x: 5,
            y: 100,
            width: 7,
            height: 190,
        };
        let heights = |tile_rows| -> Vec<(u32, u32)> {
            let bands = grid.bands(part, tile_rows);
            bands.map(|band| (band.y, band.height)).collect()
        };
        assert_eq!(heights(1), [(100, 28), (128, 64), (192, 64), (256, 34)]);
        assert_eq!(heights(2), [(100, 28), (128, 128), (256, 34)]);
        assert_eq!(heights(9), [(100, 190)]);
        assert_eq!((grid.rows_for(2), grid.rows_for(9)), (1, 5));
    }

    #[test]
    fn region_touches_only_its_tiles() {
        let grid = TileGrid::new(200, 200, 6);
        let region = Rect {
            x: 63,
            y: 64,
            width: 2,
            height: 64,
        };
        assert_eq!(grid.touching(region).collect::<Vec<_>>(), [4, 5]);
        for (x, y, width, height) in [(0, 0, 200, 200), (64, 0, 64, 65), (199, 199, 1, 1)] {
            let region = Rect {
                x,
                y,
                width,
                height,
            };
            let shares = |&index: &usize| grid.rect(index).intersection(&region).is_some();
            let expected: Vec<usize> = (0..grid.count()).filter(shares).collect();
            assert_eq!(grid.touching(region).collect::<Vec<_>>(), expected);
        }
        let beyond = Rect { x: 500, ..region };
        assert_eq!(grid.touching(beyond).count(), 0);
    }
}
