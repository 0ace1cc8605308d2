//! `lossless.md`, "Planes".

use super::cells::Cell;
use super::contexts::PlaneModel;
use super::fast::FastPlane;
use super::neighbours::Sources;
use super::{Networks, Shape};
use crate::error::{Result, ensure, refuse};
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

/// How the samples of a plane are coded.
#[derive(Debug, Clone, Copy)]
pub(super) enum Samples<'a> {
    Predicted {
        level: usize,
        networks: Option<&'a Networks>,
    },
    Fast,
}

pub(super) fn decode(
    coder: &mut RangeCoder<'_>,
    shape: &Shape,
    samples: Samples<'_>,
) -> Result<Vec<Plane>> {
    let values = if coder.raw(1) == 1 {
        Some(values(coder, shape.top())?)
    } else {
        None
    };
    let mut planes: Vec<Plane> = Vec::new();
    // The final errors of the nearest colour plane before that was coded.
    let mut errors: Option<Plane> = None;
    for number in 0..shape.planes() {
        let colour = shape.colour_number(number);
        let max = match (&values, colour) {
            (Some(values), Some(_)) => values.len() as i32 - 1,
            _ => shape.top(),
        };
        let mut plane = Plane::new(shape.width, shape.height);
        match (coder.raw(2), colour) {
            (0, _) => {
                let before = colour.map_or(&[][..], |colour| &planes[number - colour..]);
                let left = match samples {
                    Samples::Predicted { level, networks } => {
                        let network = networks.filter(|_| level == 3).zip(colour);
                        let network =
                            network.and_then(|(networks, colour)| networks[colour].as_ref());
                        let model = PlaneModel::new(shape.width, shape.height, max, level, network);
                        let errors = errors.as_ref().filter(|_| colour.is_some());
                        coded(coder, &mut plane, before, errors, model)?
                    }
                    Samples::Fast => fast(coder, &mut plane, before, max)?,
                };
                if colour.is_some() {
                    errors = Some(left);
                }
            }
            (1, _) => {
                plane = Plane::constant(
                    shape.width,
                    shape.height,
                    (coder.raw(shape.depth) as i32).min(max),
                )
            }
            (2, Some(1..)) => plane = planes[number - 1].clone(),
            _ => return refuse("a plane of a kind that is reserved"),
        }
        planes.push(plane);
    }
    if let Some(values) = values {
        let colours = planes.iter_mut().skip(usize::from(shape.alpha));
        for sample in colours.flat_map(|plane| &mut plane.samples) {
            *sample = values[*sample as usize];
        }
    }
    Ok(planes)
}

/// The values that occur.
fn values(coder: &mut RangeCoder<'_>, top: i32) -> Result<Vec<i32>> {
    let mut cells = [[Cell::NEW; 2]; 32];
    let (mut gap, mut gap_before) = (0, 0);
    let mut values = Vec::new();
    for value in 0..=top {
        let cell = &mut cells[gap.min(31)][usize::from(gap == gap_before)];
        if cell.decide(coder, Cell::LIMIT) {
            values.push(value);
            gap_before = gap;
            gap = 0;
        } else {
            gap += 1;
        }
    }
    ensure(!values.is_empty(), "no value occurs")?;
    Ok(values)
}

/// Reads a plane by predictions that learn; gives its final errors.
fn coded(
    coder: &mut RangeCoder<'_>,
    plane: &mut Plane,
    before: &[Plane],
    errors: Option<&Plane>,
    mut model: PlaneModel<'_>,
) -> Result<Plane> {
    for y in 0..plane.height {
        for x in 0..plane.width {
            let sources = Sources {
                own: plane,
                before,
                ahead: true,
            };
            let error = errors.map(|errors| errors.get(x, y));
            let sample = model.sample(coder, sources, error, x, y);
            plane.set(x, y, sample);
        }
        coder.check_end()?;
    }
    Ok(model.errors)
}

/// Reads a plane with the method *fast*; gives its errors.
fn fast(
    coder: &mut RangeCoder<'_>,
    plane: &mut Plane,
    before: &[Plane],
    max: i32,
) -> Result<Plane> {
    let mut model = FastPlane::new(plane.width, plane.height, max);
    for y in 0..plane.height {
        for x in 0..plane.width {
            let sample = model.sample(coder, plane, before.last(), x, y);
            plane.set(x, y, sample);
        }
        coder.check_end()?;
    }
    Ok(model.errors)
}
