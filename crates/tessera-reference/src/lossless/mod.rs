//! `lossless.md`: the payload of a lossless tile.

mod cells;
mod colours;
mod contexts;
mod fast;
mod least_squares;
mod logistic;
mod mixing;
mod neighbours;
mod network;
mod odds;
mod palette;
mod planes;
mod samples;

pub(crate) use cells::Cell;
pub(crate) use colours::{Colours, Continued, sample_of};
pub(crate) use palette::{Escapes, Palette};

use crate::dictionary::Network;
use crate::error::{Result, ensure, refuse};
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

/// The networks of the three colour planes, of files that name a dictionary.
pub(crate) type Networks = [Option<Network>; 3];

/// What a payload takes from outside.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bits per sample.
    pub(crate) depth: u32,
    /// Gray, or three.
    pub(crate) colours: usize,
    pub(crate) alpha: bool,
}

impl Shape {
    fn planes(&self) -> usize {
        self.colours + usize::from(self.alpha)
    }

    fn top(&self) -> i32 {
        (1 << self.depth) - 1
    }

    /// The number of a plane among the colour planes; none for alpha.
    fn colour_number(&self, plane: usize) -> Option<usize> {
        plane.checked_sub(usize::from(self.alpha))
    }
}

/// Decodes a payload to its planes: alpha if there is one, then gray, or green, red, blue.
pub(crate) fn decode(
    payload: &[u8],
    shape: &Shape,
    networks: Option<&Networks>,
) -> Result<Vec<Plane>> {
    let Some((&byte, data)) = payload.split_first() else {
        return refuse("a lossless payload without a method");
    };
    let (method, level) = (byte & 3, usize::from(byte >> 2));
    let last = match method {
        0 if networks.is_some() => 3,
        0 | 1 => 2,
        _ => 0,
    };
    ensure(level <= last, "a level that is reserved")?;
    let mut coder = RangeCoder::new(data);
    let planes = match method {
        0 => planes::decode(
            &mut coder,
            shape,
            planes::Samples::Predicted { level, networks },
        )?,
        1 => colours::decode(&mut coder, shape, level)?,
        2 => palette::decode(&mut coder, shape)?,
        _ => planes::decode(&mut coder, shape, planes::Samples::Fast)?,
    };
    coder.check_end()?;
    Ok(planes)
}
