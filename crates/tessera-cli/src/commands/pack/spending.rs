//! One budget for pictures of which some are predicted from others.

use super::budget::{self, Batch, Coded, Goal};
use super::filling::CHUNK;
use super::gather::Found;
use super::series::Coding;
use anyhow::Result;
use tessera_codec::Target;

/// How often bytes that were saved are given to all pictures, and from which part of all bytes on.
const WIDENED: usize = 4;
const WORTH_WIDENING: f64 = 1.02;
/// How often more is asked for until predicted pictures are as good as they should be, and by how many decibels beyond what is
/// missing.
const RAISED: usize = 3;
const MARGIN: f64 = 0.01;

/// The best pictures in so many bytes. What predictions save is given to all pictures, as long as these fit then.
pub(super) fn by_size(
    batch: &Batch<'_>,
    bytes: usize,
    even: bool,
    fixed: usize,
) -> Result<Vec<Coding>> {
    let alone = budget::allocate(batch, Goal::Size { bytes, even }, fixed)?;
    let room: usize = alone.iter().flatten().map(|coded| coded.file.len()).sum();
    let mut coding = in_chunks(batch, alone, true);
    let size = |coding: &[Coding]| coding.iter().map(Coding::bytes).sum::<usize>();
    // What was asked for when all fitted, and when they did not any more.
    let (mut fits, mut too_much) = (bytes as f64, f64::INFINITY);
    for _ in 0..WIDENED {
        let free = room as f64 / size(&coding).max(1) as f64;
        if free < WORTH_WIDENING {
            break;
        }
        let asked = (fits * free).min((fits * too_much).sqrt());
        let wider = Goal::Size {
            bytes: asked as usize,
            even,
        };
        let wider = in_chunks(
            batch,
            budget::allocate(&batch.silent(), wider, fixed)?,
            true,
        );
        if size(&wider) <= room {
            (fits, coding) = (asked, wider);
        } else {
            too_much = asked;
        }
    }
    Ok(coding)
}

/// The smallest pictures with so many decibels. At its quantiser a predicted picture has a little more error than by itself, so
/// more is asked for until all of them have enough; if they never have, none is predicted.
pub(super) fn by_psnr(batch: &Batch<'_>, decibels: f64, fixed: usize) -> Result<Vec<Coding>> {
    let mut asked = decibels;
    for _ in 0..RAISED {
        let alone = budget::allocate(batch, Goal::Psnr(asked), fixed)?;
        let coding = in_chunks(batch, alone, true);
        let pictures = coding.iter().flat_map(Coding::coded);
        let missing = decibels - batch.objective.decibels(pictures);
        if missing <= 0.0 {
            return Ok(coding);
        }
        asked += missing + MARGIN;
    }
    let alone = budget::allocate(batch, Goal::Psnr(decibels), fixed)?;
    Ok(in_chunks(batch, alone, false))
}

/// The same pictures chunk by chunk, with `series` those predicted that are like others.
pub(super) fn in_chunks(batch: &Batch<'_>, alone: Vec<Result<Coded>>, series: bool) -> Vec<Coding> {
    let target = |coded: &Coded| {
        let header = batch.parse(coded).map(|coded| coded.header().quantiser);
        header.map_or(Target::default(), Target::Quantiser)
    };
    let batch = &Batch {
        series,
        ..batch.clone()
    };
    let mut alone = alone.into_iter();
    let mut next = |chunk: &[Found]| {
        let alone = alone.by_ref().take(chunk.len()).collect();
        batch.with_series(chunk, alone, &target)
    };
    batch.found.chunks(CHUNK).map(&mut next).collect()
}
