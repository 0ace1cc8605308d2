//! `lossless.md`, "Neighbours".

use crate::plane::Plane;

/// A place, columns to the left and rows up.
pub(super) type Place = (i64, i64);

const ALONE: [Place; 16] = [
    (1, 0),
    (0, 1),
    (1, 1),
    (-1, 1),
    (2, 0),
    (0, 2),
    (-1, 2),
    (2, 1),
    (-2, 1),
    (1, 2),
    (3, 0),
    (0, 3),
    (2, 2),
    (-2, 2),
    (3, 1),
    (-3, 1),
];
/// Of the plane itself, where there is one before.
const OWN: [Place; 6] = [(1, 0), (0, 1), (1, 1), (-1, 1), (2, 0), (0, 2)];
/// Of the plane before.
const BEFORE: [Place; 5] = [(0, 0), (1, 0), (0, 1), (1, 1), (-1, 1)];
/// *P* and *Q*, where all of the planes before is known, and *P* where only what was read is.
const AHEAD_P: [Place; 2] = [(-1, 0), (0, -1)];
const AHEAD_Q: [Place; 2] = [(1, -1), (-1, -1)];
const BEHIND_P: [Place; 2] = [(2, 0), (0, 2)];

/// A plane as it is continued outside the tile.
pub(super) fn continued(plane: &Plane, x: i64, y: i64) -> i32 {
    let (width, height) = (plane.width as i64, plane.height as i64);
    let y = y.min(height - 1);
    match (x, y) {
        (_, ..0) | (..0, 0) => plane.above,
        (..0, _) => plane.get(0, y as usize - 1),
        _ => plane.get(x.min(width - 1) as usize, y as usize),
    }
}

/// The neighbours of a sample.
pub(super) struct Around {
    pub(super) w: i32,
    pub(super) n: i32,
    pub(super) nw: i32,
    pub(super) ne: i32,
    pub(super) ww: i32,
    pub(super) nn: i32,
}

impl Around {
    pub(super) fn new(plane: &Plane, x: usize, y: usize) -> Self {
        let at = |left, up| continued(plane, x as i64 - left, y as i64 - up);
        Self {
            w: at(1, 0),
            n: at(0, 1),
            nw: at(1, 1),
            ne: at(-1, 1),
            ww: at(2, 0),
            nn: at(0, 2),
        }
    }

    pub(super) fn mean(&self) -> i32 {
        (self.w + self.n + self.nw + self.ne + 2) >> 2
    }

    /// The sum of the sizes, with those of `w` and `n` counted twice.
    pub(super) fn weighted_sizes(&self) -> i64 {
        let size = |error: i32| i64::from(error.abs());
        let Self {
            w,
            n,
            nw,
            ne,
            ww,
            nn,
        } = *self;
        2 * (size(w) + size(n)) + size(ne) + size(nw) + size(ww) + size(nn)
    }

    /// What is left of this plane less another one.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self {
            w: self.w - other.w,
            n: self.n - other.n,
            nw: self.nw - other.nw,
            ne: self.ne - other.ne,
            ww: self.ww - other.ww,
            nn: self.nn - other.nn,
        }
    }
}

pub(super) fn med(w: i32, n: i32, nw: i32) -> i32 {
    (w + n - nw).clamp(w.min(n), w.max(n))
}

/// The planes that a sample is predicted from: its own, and the colour planes before in their order.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) own: &'a Plane,
    pub(super) before: &'a [Plane],
    /// Whether the planes before are known ahead of the sample.
    pub(super) ahead: bool,
}

impl Sources<'_> {
    pub(super) fn regressors(&self, x: usize, y: usize) -> [i32; 16] {
        let of = |plane: &Plane, places: &[Place]| {
            let mean = Around::new(plane, x, y).mean();
            let sample =
                |&(left, up): &Place| continued(plane, x as i64 - left, y as i64 - up) - mean;
            places.iter().map(sample).collect::<Vec<i32>>()
        };
        let p = if self.ahead { AHEAD_P } else { BEHIND_P };
        let all = match self.before {
            [] => of(self.own, &ALONE),
            [first] => {
                let q = if self.ahead {
                    of(first, &AHEAD_Q)
                } else {
                    vec![0; 2]
                };
                [
                    of(self.own, &OWN),
                    of(first, &BEFORE),
                    of(first, &p),
                    q,
                    of(self.own, &[(-1, 2)]),
                ]
                .concat()
            }
            [first, .., second] => [
                of(self.own, &OWN),
                of(second, &BEFORE),
                of(second, &p),
                of(first, &BEFORE[..3]),
            ]
            .concat(),
        };
        std::array::from_fn(|i| all[i])
    }

    /// The three small predictors.
    pub(super) fn small(&self, x: usize, y: usize) -> [i32; 3] {
        let own = Around::new(self.own, x, y);
        let Some(before) = self.before.last() else {
            let Around { w, n, nw, ne, .. } = own;
            return [med(w, n, nw), w + ((ne - nw) >> 1), n + ((w - nw) >> 1)];
        };
        let h = before.get(x, y);
        let d = own.minus(&Around::new(before, x, y));
        [med(d.w, d.n, d.nw) + h, d.w + h, d.n + h]
    }
}
