//! A tile plane by plane (`spec/lossless.md`, "Planes").

use super::coder::Coder;
use super::fast::FastModel;
use super::level::Level;
use super::planes::BorderedPlane;
use super::predictive::PlaneModel;
use super::taps::{Around, Taps};
use super::values::code_values;
use super::{Fault, Shape, Tile};
use crate::simd::PairProducts;
use tessera_dict::{LosslessNet, LosslessNets};

/// How a plane is coded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlaneKind {
    Coded,
    Constant(u16),
    /// The same as the colour plane before.
    Copied,
}

/// The models of planes that are coded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Models<'a> {
    Fast,
    Level(Level),
    /// With the networks of a dictionary.
    Learned(&'a LosslessNets),
}

impl<'a> Models<'a> {
    fn level(self) -> Level {
        match self {
            Self::Level(level) => level,
            Self::Fast | Self::Learned(_) => Level::Learned,
        }
    }

    /// The network of a colour plane, by its number among them.
    fn net(self, colour: Option<usize>) -> Option<&'a LosslessNet> {
        match self {
            Self::Learned(nets) => nets[colour?].as_ref(),
            _ => None,
        }
    }
}

/// Codes a tile; a reader is given one without samples.
#[inline(always)]
pub(super) fn code_planes(
    simd: impl PairProducts,
    coder: &mut impl Coder,
    shape: &Shape,
    source: &Tile,
    models: Models<'_>,
) -> Result<Vec<BorderedPlane>, Fault> {
    let values = code_used_values(coder, shape, &source.used)?;
    let mut planes: Vec<BorderedPlane> = Vec::with_capacity(shape.channels);
    let mut errors = None;
    for number in 0..shape.channels {
        let wanted = source.planes.get(number).map_or(&[][..], Vec::as_slice);
        let first = shape.first_colour();
        let is_colour = number >= first;
        let max = match &values {
            Some(values) if is_colour => (values.len() - 1) as u16,
            _ => shape.max(),
        };
        let earlier = if is_colour { &planes[first..] } else { &[] };
        let mut plane = BorderedPlane::new(shape.width, shape.height);
        match code_kind(
            coder,
            shape,
            wanted,
            source.planes.get(number.wrapping_sub(1)),
            earlier,
        )? {
            PlaneKind::Constant(value) => plane.data.fill(value.min(max)),
            PlaneKind::Copied => plane.data.clone_from(&planes[number - 1].data),
            PlaneKind::Coded => match models {
                Models::Fast => code_fast(simd, coder, &mut plane, earlier, wanted, max)?,
                _ => {
                    let net = models.net(number.checked_sub(first));
                    let mut model =
                        PlaneModel::new(simd, shape.width, max, models.level()).with_network(net);
                    let before = errors.take();
                    let found = code_plane(coder, &mut model, &mut plane, earlier, wanted, before)?;
                    errors = is_colour.then_some(found);
                }
            },
        }
        planes.push(plane);
    }
    if let Some(values) = values {
        for plane in &mut planes[shape.first_colour()..] {
            for sample in &mut plane.data {
                *sample = values[usize::from(*sample).min(values.len() - 1)];
            }
        }
    }
    Ok(planes)
}

/// Which values colour samples have, if they are coded by rank.
fn code_used_values(
    coder: &mut impl Coder,
    shape: &Shape,
    used: &Option<Vec<u16>>,
) -> Result<Option<Vec<u16>>, Fault> {
    if coder.raw(1, u32::from(used.is_some())) == 0 {
        return Ok(None);
    }
    let values = code_values(coder, used.as_deref().unwrap_or(&[]), shape.max());
    if values.is_empty() {
        return Err(Fault::Invalid("no value is used"));
    }
    Ok(Some(values))
}

fn code_kind(
    coder: &mut impl Coder,
    shape: &Shape,
    wanted: &[u16],
    before: Option<&Vec<u16>>,
    earlier: &[BorderedPlane],
) -> Result<PlaneKind, Fault> {
    let constant = wanted
        .first()
        .filter(|&first| wanted.iter().all(|value| value == first));
    let copied = !earlier.is_empty() && before.is_some_and(|before| before == wanted);
    let code = match constant {
        Some(_) => 1,
        None if copied => 2,
        None => 0,
    };
    match coder.raw(2, code) {
        0 => Ok(PlaneKind::Coded),
        1 => {
            let value = constant.copied().unwrap_or(0);
            Ok(PlaneKind::Constant(
                coder.raw(shape.depth, value.into()) as u16
            ))
        }
        2 if !earlier.is_empty() => Ok(PlaneKind::Copied),
        _ => Err(Fault::Invalid("a reserved kind of plane")),
    }
}

/// Codes a plane and returns the errors of its predictions; `before` are those of the plane before.
#[inline(always)]
pub(super) fn code_plane(
    coder: &mut impl Coder,
    model: &mut PlaneModel<impl PairProducts>,
    plane: &mut BorderedPlane,
    earlier: &[BorderedPlane],
    wanted: &[u16],
    before: Option<Vec<i32>>,
) -> Result<Vec<i32>, Fault> {
    let (width, height) = (plane.width, plane.height);
    let has_before = before.is_some();
    let mut errors = before.unwrap_or_else(|| vec![0; width * height]);
    for y in 0..height {
        model.open_row();
        plane.open_row(y);
        for x in 0..width {
            let at = plane.at(x, y);
            let own = Around::new(plane, at);
            let mut taps = match earlier {
                [] => Taps::new(own, &[], true),
                [first] => Taps::new(own, &[Around::new(first, at)], true),
                [first, second, ..] => {
                    let earlier = [Around::new(first, at), Around::new(second, at)];
                    Taps::new(own, &earlier, true)
                }
            };
            if model.looks_far() {
                taps.look_far(own);
            }
            let index = y * width + x;
            let before = has_before.then_some(errors[index]);
            let value = wanted.get(index).copied().unwrap_or(0);
            let (value, error) = model.code(coder, &taps, before, x, value);
            plane.data[at] = value;
            errors[index] = error;
        }
        plane.close_row(y);
        model.close_row();
        if coder.exhausted() {
            return Err(Fault::Exhausted);
        }
    }
    Ok(errors)
}

#[inline(always)]
fn code_fast(
    simd: impl PairProducts,
    coder: &mut impl Coder,
    plane: &mut BorderedPlane,
    earlier: &[BorderedPlane],
    wanted: &[u16],
    max: u16,
) -> Result<(), Fault> {
    let mut model = FastModel::new(simd, plane.width, max);
    for y in 0..plane.height {
        model.open_row();
        plane.open_row(y);
        for x in 0..plane.width {
            let at = plane.at(x, y);
            let previous = earlier.last().map(|plane| Around::new(plane, at));
            let value = wanted.get(y * plane.width + x).copied().unwrap_or(0);
            plane.data[at] = model.code(coder, Around::new(plane, at), previous, x, value);
        }
        plane.close_row(y);
        model.close_row();
        if coder.exhausted() {
            return Err(Fault::Exhausted);
        }
    }
    Ok(())
}
