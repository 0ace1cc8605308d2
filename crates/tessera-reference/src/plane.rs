//! A rectangle of samples.

/// Samples in raster order.
#[derive(Debug, Clone)]
pub(crate) struct Plane {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) samples: Vec<i32>,
    /// What `lossless.md` continues it with above the tile.
    pub(crate) above: i32,
}

impl Plane {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let samples = vec![0; width * height];
        Self {
            width,
            height,
            samples,
            above: 0,
        }
    }

    /// A plane of one value, also where it is continued.
    pub(crate) fn constant(width: usize, height: usize, value: i32) -> Self {
        Self {
            width,
            height,
            samples: vec![value; width * height],
            above: value,
        }
    }

    pub(crate) fn get(&self, x: usize, y: usize) -> i32 {
        self.samples[y * self.width + x]
    }

    pub(crate) fn set(&mut self, x: usize, y: usize, sample: i32) {
        self.samples[y * self.width + x] = sample;
    }

    /// The sample at (x, y), or the nearest one to it.
    pub(crate) fn nearest(&self, x: i64, y: i64) -> i32 {
        let x = x.clamp(0, self.width as i64 - 1);
        let y = y.clamp(0, self.height as i64 - 1);
        self.get(x as usize, y as usize)
    }

    /// Copies `from`, or what of it fits, to (x, y).
    pub(crate) fn put(&mut self, from: &Plane, x: usize, y: usize) {
        for row in 0..from.height.min(self.height - y) {
            for column in 0..from.width.min(self.width - x) {
                self.set(x + column, y + row, from.get(column, row));
            }
        }
    }
}
