//! `lossless.md`, "Colours".

use super::Shape;
use super::cells::Cell;
use super::contexts::PlaneModel;
use super::mixing::{self, Mixer};
use super::neighbours::{Place, Sources};
use crate::error::Result;
use crate::notation::bits;
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

const TEMPLATE: [Place; 24] = [
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
    (-2, 2),
    (2, 2),
    (-3, 1),
    (3, 1),
    (-1, 3),
    (1, 3),
    (4, 0),
    (-3, 2),
    (3, 2),
    (-2, 3),
    (2, 3),
    (-4, 1),
];
/// After so many colours of the template stand the hashes 0 to 5.
const HASHED: [usize; 6] = [2, 4, 6, 9, 12, 18];
/// The hashes of the orders 0 to 2.
const ORDERS: [usize; 3] = [5, 3, 1];
const SEED: u64 = 0x1234;
const RATE: u32 = 12;
const START: i32 = 19660;
/// The kind of the question for any of the other candidates.
const ANY: usize = 7;

pub(super) fn stir(h: u64, v: u64) -> u64 {
    (h ^ v).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
}

pub(super) fn finish(h: u64) -> u64 {
    h.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Colours of pixels, continued outside the tile like samples.
pub(crate) struct Continued {
    width: usize,
    colours: Vec<u64>,
}

impl Continued {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            width,
            colours: vec![0; width * height],
        }
    }

    pub(crate) fn set(&mut self, x: usize, y: usize, colour: u64) {
        self.colours[y * self.width + x] = colour;
    }

    pub(crate) fn at(&self, x: i64, y: i64) -> u64 {
        let get = |x: i64, y: i64| self.colours[y as usize * self.width + x as usize];
        match (x, y) {
            (_, ..0) | (..0, 0) => 0,
            (..0, _) => get(0, y - 1),
            _ => get(x.min(self.width as i64 - 1), y),
        }
    }
}

/// The number of a colour.
pub(crate) fn colour_of(samples: &[i32]) -> u64 {
    samples
        .iter()
        .fold(0, |colour, &sample| colour << 16 | sample as u64)
}

/// A sample of a colour of so many planes.
pub(crate) fn sample_of(colour: u64, plane: usize, planes: usize) -> i32 {
    (colour >> (16 * (planes - 1 - plane)) & 0xFFFF) as i32
}

#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    check: u32,
    hits: u32,
    last: u64,
    second: u64,
}

impl Slot {
    fn confidence(&self, found: bool) -> usize {
        match (found, self.hits) {
            (false, _) => 0,
            (true, 0) => 1,
            (true, 1..=2) => 2,
            (true, _) => 3,
        }
    }

    fn learn(&mut self, check: u32, colour: u64) {
        if self.check != check {
            *self = Self {
                check,
                hits: 0,
                last: colour,
                second: colour,
            };
        } else if self.last == colour {
            self.hits = self.hits.saturating_add(1);
        } else {
            self.hits = 0;
            self.second = self.last;
            self.last = colour;
        }
    }
}

/// A colour that is asked for, and the reasons it was offered for.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    colour: u64,
    reasons: usize,
}

/// The models of the candidates.
pub(crate) struct Colours {
    /// `B`.
    slot_bits: u32,
    histories: [Vec<Slot>; 3],
    tables: Vec<Vec<Cell>>,
    mixers: [Mixer; 2],
}

/// What is known of a pixel before it is read.
struct Seen {
    template: [u64; 24],
    hashes: [u64; 6],
    conf: usize,
    changes: usize,
}

impl Colours {
    /// For a tile of so many pixels.
    pub(crate) fn new(pixels: usize) -> Self {
        let slot_bits = (bits(pixels as u64) - 1).clamp(8, 16);
        let hashed = || vec![Cell::NEW; 1 << (slot_bits + 2)];
        let mut tables: Vec<Vec<Cell>> = (0..6).map(|_| hashed()).collect();
        tables.extend([vec![Cell::NEW; 8 * 128], vec![Cell::NEW; 8 * 8 * 64]]);
        Self {
            slot_bits,
            histories: std::array::from_fn(|_| vec![Slot::default(); 1 << slot_bits]),
            tables,
            mixers: [
                Mixer::new(8 * 64, 8, RATE, START),
                Mixer::new(8 * 16 * 5, 8, RATE, START),
            ],
        }
    }

    /// Reads a pixel: one of the candidates, or none, then `escape` reads it.
    pub(crate) fn pixel<'a>(
        &mut self,
        coder: &mut RangeCoder<'a>,
        colours: &Continued,
        x: usize,
        y: usize,
        escape: impl FnOnce(&mut RangeCoder<'a>) -> u64,
    ) -> u64 {
        let seen = self.see(colours, x as i64, y as i64);
        let candidates = self.candidates(&seen);
        let colour = match self.chosen(coder, &seen, &candidates) {
            Some(colour) => colour,
            None => escape(coder),
        };
        for (history, order) in self.histories.iter_mut().zip(ORDERS) {
            let (slot, check) = place(seen.hashes[order], self.slot_bits);
            history[slot].learn(check, colour);
        }
        colour
    }

    /// The slot of an order, and whether it is that of the pixel's hash.
    fn slot(&self, order: usize, hashes: &[u64; 6]) -> (&Slot, bool) {
        let (slot, check) = place(hashes[ORDERS[order]], self.slot_bits);
        let slot = &self.histories[order][slot];
        (slot, slot.check == check)
    }

    fn see(&self, colours: &Continued, x: i64, y: i64) -> Seen {
        let template = TEMPLATE.map(|(left, up)| colours.at(x - left, y - up));
        let stirred = |count: usize| {
            template[..count]
                .iter()
                .fold(SEED, |h, &colour| stir(h, colour))
        };
        let hashes = HASHED.map(|count| finish(stirred(count)));
        let confidence = |order| {
            let (slot, found) = self.slot(order, &hashes);
            slot.confidence(found)
        };
        let differ = |(a, b): (usize, usize)| usize::from(template[a] != template[b]);
        Seen {
            template,
            hashes,
            conf: 16 * confidence(0) + 4 * confidence(1) + confidence(2),
            changes: [(0, 1), (1, 2), (1, 3), (0, 4)]
                .into_iter()
                .map(differ)
                .sum(),
        }
    }

    fn candidates(&self, seen: &Seen) -> Vec<Candidate> {
        let mut list: Vec<Candidate> = Vec::new();
        let mut offer = |colour: u64, reason: usize| {
            let reasons = 1 << reason;
            match list.iter().position(|candidate| candidate.colour == colour) {
                Some(known) => list[known].reasons |= reasons,
                None if list.len() < 6 => list.push(Candidate { colour, reasons }),
                None => {}
            }
        };
        let slots: Vec<(&Slot, bool)> =
            (0..3).map(|order| self.slot(order, &seen.hashes)).collect();
        for (order, (slot, found)) in slots.iter().enumerate() {
            if *found {
                offer(slot.last, order);
            }
        }
        for place in 0..4 {
            offer(seen.template[place], 3 + place);
        }
        for (slot, _) in slots[1..].iter().filter(|(_, found)| *found) {
            offer(slot.second, 7);
        }
        offer(seen.template[4], 8);
        offer(seen.template[5], 8);
        list
    }

    /// "Decisions": the candidate that it is.
    fn chosen(
        &mut self,
        coder: &mut RangeCoder<'_>,
        seen: &Seen,
        candidates: &[Candidate],
    ) -> Option<u64> {
        for (kind, candidate) in candidates.iter().enumerate() {
            if self.decide(coder, seen, candidate, kind) {
                return Some(candidate.colour);
            }
            if kind == 0 && !self.decide(coder, seen, candidate, ANY) {
                return None;
            }
        }
        None
    }

    fn decide(
        &mut self,
        coder: &mut RangeCoder<'_>,
        seen: &Seen,
        candidate: &Candidate,
        kind: usize,
    ) -> bool {
        let Candidate { colour, reasons } = *candidate;
        let same = seen
            .template
            .iter()
            .enumerate()
            .filter(|(_, other)| **other == colour);
        let pattern = same.fold(0, |pattern, (i, _)| pattern | 1 << i);
        let salt = stir(
            colour.wrapping_mul(0x2545_F491_4F6C_DD1D),
            (kind.min(2) + (kind & 4)) as u64,
        );
        let upper = |h: u64| (finish(h) >> (64 - (self.slot_bits + 2))) as usize;
        let hashed = |i: usize| upper(stir(seen.hashes[i], salt));
        let cells = [
            hashed(0),
            hashed(1),
            hashed(3),
            hashed(4),
            hashed(5),
            upper(stir(pattern, kind as u64)),
            8 * (reasons % 128) + kind,
            8 * (8 * seen.conf + reasons % 8) + kind,
        ];
        let sets = [
            kind * 64 + seen.conf,
            (kind * 16 + pattern as usize % 16) * 5 + seen.changes,
        ];
        mixing::decide(coder, &mut self.tables, &cells, &mut self.mixers, &sets)
    }
}

/// The slot and the check of a hash.
fn place(hash: u64, slot_bits: u32) -> (usize, u32) {
    ((hash >> (64 - slot_bits)) as usize, hash as u32 | 1)
}

/// The method *colours*.
pub(super) fn decode(
    coder: &mut RangeCoder<'_>,
    shape: &Shape,
    level: usize,
) -> Result<Vec<Plane>> {
    let (width, height, count) = (shape.width, shape.height, shape.planes());
    let mut planes = vec![Plane::new(width, height); count];
    let model = |_| PlaneModel::new(width, height, shape.top(), level, None);
    let mut models: Vec<PlaneModel<'_>> = (0..count).map(model).collect();
    let mut colours = Continued::new(width, height);
    let mut candidates = Colours::new(width * height);
    for y in 0..height {
        for x in 0..width {
            let colour = candidates.pixel(coder, &colours, x, y, |coder| {
                escape(coder, shape, &mut planes, &mut models, x, y)
            });
            colours.set(x, y, colour);
            for (i, plane) in planes.iter_mut().enumerate() {
                plane.set(x, y, sample_of(colour, i, count));
            }
        }
        coder.check_end()?;
    }
    Ok(planes)
}

/// "Escapes": the samples of a pixel, plane by plane.
fn escape(
    coder: &mut RangeCoder<'_>,
    shape: &Shape,
    planes: &mut [Plane],
    models: &mut [PlaneModel<'_>],
    x: usize,
    y: usize,
) -> u64 {
    for i in 0..planes.len() {
        let colour = shape.colour_number(i);
        let before = match colour {
            Some(1..) => Some(models[i - 1].errors.get(x, y)),
            _ => None,
        };
        let sources = Sources {
            own: &planes[i],
            before: colour.map_or(&[], |colour| &planes[i - colour..i]),
            ahead: false,
        };
        let sample = models[i].sample(coder, sources, before, x, y);
        planes[i].set(x, y, sample);
    }
    let samples: Vec<i32> = planes.iter().map(|plane| plane.get(x, y)).collect();
    colour_of(&samples)
}
