//! `lossless.md`, "Palette".

use super::Shape;
use super::cells::Cell;
use super::colours::{Colours, Continued, finish, sample_of, stir};
use super::mixing::{self, Mixer};
use crate::error::{Result, ensure};
use crate::notation::bits;
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

const NUMBER_LIMIT: u8 = 30;
const MAX_LENGTH: usize = 17;
const MAX_COLOURS: u32 = 4096;
const RATE: u32 = 11;
const START: i32 = 26214;
const SEED: u64 = 0x1234;

/// Adaptive Elias gamma codes of three kinds.
pub(crate) struct Numbers {
    longer: [[Cell; MAX_LENGTH]; 3],
    top: [[Cell; MAX_LENGTH + 1]; 3],
}

impl Numbers {
    pub(crate) fn new() -> Self {
        Self {
            longer: [[Cell::NEW; MAX_LENGTH]; 3],
            top: [[Cell::NEW; MAX_LENGTH + 1]; 3],
        }
    }

    pub(crate) fn read(&mut self, coder: &mut RangeCoder<'_>, kind: usize) -> u32 {
        let mut length = 0;
        while length < MAX_LENGTH && self.longer[kind][length].decide(coder, NUMBER_LIMIT) {
            length += 1;
        }
        let mut number = 1;
        for i in 0..length {
            let bit = match i {
                0 => u32::from(self.top[kind][length].decide(coder, NUMBER_LIMIT)),
                _ => coder.raw(1),
            };
            number = 2 * number + bit;
        }
        number - 1
    }
}

/// The colours of a tile, as samples.
pub(crate) struct Palette {
    pub(crate) colours: Vec<u64>,
}

/// A number from 0 on as a signed one: 0, -1, 1, -2, ...
fn unfold(number: u32) -> i64 {
    let size = i64::from(number.div_ceil(2));
    if number % 2 == 1 { -size } else { size }
}

impl Palette {
    /// Reads a palette of colours of so many planes. `absolute` planes are told from the colour before, not from the
    /// plane before, as `bitstream.md`, "Drawn blocks", wants it.
    pub(crate) fn read(
        coder: &mut RangeCoder<'_>,
        planes: usize,
        depth: u32,
        from_colour_before: bool,
    ) -> Result<Self> {
        let mut numbers = Numbers::new();
        let count = numbers.read(coder, 0) + 1;
        ensure(count <= MAX_COLOURS, "a palette has too many colours")?;
        let size = 1i64 << depth;
        let mut before = vec![size / 2; planes];
        before[0] = 0;
        let mut colours = Vec::new();
        for _ in 0..count {
            let mut colour = vec![before[0] + i64::from(numbers.read(coder, 1))];
            ensure(colour[0] < size, "a sample of a palette is too large")?;
            for plane in 1..planes {
                let base = if from_colour_before {
                    before[plane]
                } else {
                    colour[plane - 1]
                };
                colour.push((base + unfold(numbers.read(coder, 2))).rem_euclid(size));
            }
            colours.push(
                colour
                    .iter()
                    .fold(0, |number, &sample| number << 16 | sample as u64),
            );
            before = colour;
        }
        Ok(Self { colours })
    }
}

/// Reads escapes: numbers of colours.
pub(crate) struct Escapes {
    colours: Vec<u64>,
    tables: Vec<Vec<Cell>>,
    mixer: [Mixer; 1],
}

impl Escapes {
    pub(crate) fn new(palette: Palette) -> Self {
        Self {
            colours: palette.colours,
            tables: vec![vec![Cell::NEW; 1 << 16]; 4],
            mixer: [Mixer::new(256, 4, RATE, START)],
        }
    }

    /// Reads the colour of a pixel whose neighbours on the left and above have the colours `w` and `n`.
    pub(crate) fn read(&mut self, coder: &mut RangeCoder<'_>, w: u64, n: u64) -> u64 {
        let last = self.colours.len() - 1;
        let mut node = 1;
        for _ in 0..bits(last as u64) {
            let hash = |u: u64, v: u64| finish(stir(stir(stir(SEED, u), v), node as u64));
            let pairs = [(0, 0), (1, w), (2, n), (w, n)];
            let cells = pairs.map(|(u, v)| (hash(u, v) >> 48) as usize);
            let set = node.min(255);
            let bit = mixing::decide(coder, &mut self.tables, &cells, &mut self.mixer, &[set]);
            node = 2 * node + usize::from(bit);
        }
        let number = node - (1 << bits(last as u64));
        self.colours[number.min(last)]
    }
}

/// The method *palette*.
pub(super) fn decode(coder: &mut RangeCoder<'_>, shape: &Shape) -> Result<Vec<Plane>> {
    let (width, height, count) = (shape.width, shape.height, shape.planes());
    let mut escapes = Escapes::new(Palette::read(coder, count, shape.depth, false)?);
    let mut colours = Continued::new(width, height);
    let mut candidates = Colours::new(width * height);
    let mut planes = vec![Plane::new(width, height); count];
    for y in 0..height {
        for x in 0..width {
            let (xi, yi) = (x as i64, y as i64);
            let (w, n) = (colours.at(xi - 1, yi), colours.at(xi, yi - 1));
            let colour = candidates.pixel(coder, &colours, x, y, |coder| escapes.read(coder, w, n));
            colours.set(x, y, colour);
            for (i, plane) in planes.iter_mut().enumerate() {
                plane.set(x, y, sample_of(colour, i, count));
            }
        }
        coder.check_end()?;
    }
    Ok(planes)
}
