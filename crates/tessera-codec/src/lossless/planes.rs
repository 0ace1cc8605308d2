//! Samples of a tile with a border, so that every neighbour exists.

/// Samples around the tile on the left, on the right and above.
pub(super) const BORDER: usize = 4;

/// One channel of a tile.
#[derive(Clone, Debug)]
pub(super) struct BorderedPlane {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) stride: usize,
    pub(super) data: Vec<u16>,
}

impl BorderedPlane {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let stride = width + 2 * BORDER;
        Self {
            width,
            height,
            stride,
            data: vec![0; stride * (height + BORDER + 1)],
        }
    }

    /// Where a sample lies.
    #[inline(always)]
    pub(super) fn at(&self, x: usize, y: usize) -> usize {
        (y + BORDER) * self.stride + x + BORDER
    }

    /// Before row `y` is coded: on its left stands what is above its first sample.
    pub(super) fn open_row(&mut self, y: usize) {
        let start = self.at(0, y);
        let above = self.data[start - self.stride];
        self.data[start - BORDER..start].fill(above);
    }

    /// After row `y` was coded: on its right stands its last sample.
    pub(super) fn close_row(&mut self, y: usize) {
        let end = self.at(self.width, y);
        let last = self.data[end - 1];
        self.data[end..end + BORDER].fill(last);
        if y + 1 == self.height {
            let start = end - self.width - BORDER;
            self.data
                .copy_within(start..start + self.stride, start + self.stride);
        }
    }
}
