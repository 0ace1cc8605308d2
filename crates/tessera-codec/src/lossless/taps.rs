//! What a sample is predicted from (`spec/lossless.md`, "Neighbours").

use super::least_squares::TAPS;
use super::planes::BorderedPlane;

/// Samples that only networks look at.
pub(super) const FAR: usize = 10;
/// Small predictors.
pub(super) const SMALL: usize = 3;

/// Neighbours of a sample and what they say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taps {
    /// Mean of the four nearest neighbours.
    pub(super) mean: i32,
    /// Regressors: neighbours without the mean of their plane.
    pub(super) regressors: [i32; TAPS],
    /// Small predictors.
    pub(super) small: [i32; SMALL],
    /// West, north, north-west, north-east, west of west, north of north.
    pub(super) near: [i32; 6],
    /// Samples farther away, for networks.
    pub(super) far: [i32; FAR],
}

/// Samples of one plane around a place.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    data: &'a [u16],
    at: usize,
    stride: usize,
}

impl<'a> Around<'a> {
    #[inline(always)]
    pub(super) fn new(plane: &'a BorderedPlane, at: usize) -> Self {
        Self {
            data: &plane.data,
            at,
            stride: plane.stride,
        }
    }

    /// The sample `left` columns to the left and `up` rows up.
    #[inline(always)]
    pub(super) fn sample(&self, left: isize, up: isize) -> i32 {
        let back = up * self.stride as isize + left;
        i32::from(self.data[self.at.wrapping_add_signed(-back)])
    }

    #[inline(always)]
    fn mean(&self) -> i32 {
        let sum = self.sample(1, 0) + self.sample(0, 1) + self.sample(1, 1) + self.sample(-1, 1);
        (sum + 2) >> 2
    }
}

/// Gradient-adjusted median of west, north and their sum less north-west.
#[inline(always)]
pub(super) fn median(west: i32, north: i32, north_west: i32) -> i32 {
    (west + north - north_west).clamp(west.min(north), west.max(north))
}

/// Regressors of a plane that stands alone, as (left, up).
const ALONE: [(isize, isize); TAPS] = [
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
/// Regressors from the plane itself when there is another one.
const OWN: [(isize, isize); 6] = [(1, 0), (0, 1), (1, 1), (-1, 1), (2, 0), (0, 2)];
/// Regressors from the plane before.
const PREVIOUS: [(isize, isize); 5] = [(0, 0), (1, 0), (0, 1), (1, 1), (-1, 1)];
/// Two more, if the plane before is complete, and if it is not.
const AHEAD: [(isize, isize); 2] = [(-1, 0), (0, -1)];
const BEHIND: [(isize, isize); 2] = [(2, 0), (0, 2)];
/// The last three of the second of three planes, if the plane before is complete.
const CORNERS: [(isize, isize); 2] = [(1, -1), (-1, -1)];
/// The last three of the third plane, from the first one.
const FIRST: [(isize, isize); 3] = [(0, 0), (1, 0), (0, 1)];

/// Where they lie, as (left, up).
const FAR_PLACES: [(isize, isize); FAR] = [
    (-1, 3),
    (1, 3),
    (-2, 3),
    (2, 3),
    (-3, 2),
    (3, 2),
    (4, 0),
    (0, 4),
    (4, 1),
    (-4, 1),
];

impl Taps {
    /// Looks around a sample of `own`; `earlier` are the planes it hangs on, in coding order, complete if `ahead`.
    #[inline(always)]
    pub(super) fn new(own: Around<'_>, earlier: &[Around<'_>], ahead: bool) -> Self {
        let mut near = [0; OWN.len()];
        for (to, &(left, up)) in near.iter_mut().zip(&OWN) {
            *to = own.sample(left, up);
        }
        let [west, north, north_west, north_east, ..] = near;
        let mut taps = Self {
            mean: (west + north + north_west + north_east + 2) >> 2,
            regressors: [0; TAPS],
            small: [0; SMALL],
            near,
            far: [0; FAR],
        };
        match *earlier {
            [] => {
                taps.put(0, own, taps.mean, &ALONE);
                taps.small = [
                    median(west, north, north_west),
                    west + ((north_east - north_west) >> 1),
                    north + ((west - north_west) >> 1),
                ];
            }
            [previous] => {
                taps.put_previous(own, previous, ahead);
                if ahead {
                    taps.put(13, previous, previous.mean(), &CORNERS);
                }
                taps.put(15, own, taps.mean, &[(-1, 2)]);
            }
            [first, previous, ..] => {
                taps.put_previous(own, previous, ahead);
                taps.put(13, first, first.mean(), &FIRST);
            }
        }
        taps
    }

    /// Looks farther around a sample of `own`.
    #[inline(always)]
    pub(super) fn look_far(&mut self, own: Around<'_>) {
        for (to, (left, up)) in self.far.iter_mut().zip(FAR_PLACES) {
            *to = own.sample(left, up);
        }
    }

    #[inline(always)]
    fn put(&mut self, start: usize, from: Around<'_>, mean: i32, places: &[(isize, isize)]) {
        for (to, &(left, up)) in self.regressors[start..].iter_mut().zip(places) {
            *to = from.sample(left, up) - mean;
        }
    }

    #[inline(always)]
    fn put_previous(&mut self, own: Around<'_>, previous: Around<'_>, ahead: bool) {
        let mean = previous.mean();
        self.put(0, own, self.mean, &OWN);
        self.put(6, previous, mean, &PREVIOUS);
        self.put(11, previous, mean, if ahead { &AHEAD } else { &BEHIND });
        let [west, north, north_west, ..] = self.near;
        let here = previous.sample(0, 0);
        let (w, n) = (west - previous.sample(1, 0), north - previous.sample(0, 1));
        self.small = [
            median(w, n, north_west - previous.sample(1, 1)) + here,
            w + here,
            n + here,
        ];
    }
}
