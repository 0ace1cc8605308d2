//! Encoders: settings, and pictures to files.

use crate::buffer::Buffer;
use crate::cancel::Cancel;
use crate::dictionary::Dictionary;
use crate::memory::{hand_out, null};
use crate::picture::Picture;
use crate::status::{Failure, Status, answer, guard, release};
use std::mem::MaybeUninit;
use tessera_codec::Encoder as Settings;

/// An encoder: quality or another target, effort, threads, dictionary.
#[derive(Debug, Default)]
pub struct Encoder(Settings);

/// What bits are spent on.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tune {
    /// For the eye: bits go where errors are seen.
    Visual = 0,
    /// For the smallest squared error at a size.
    Psnr = 1,
}

/// An encoder of quality 75, effort 5, all cores and the built-in dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_new() -> Option<Box<Encoder>> {
    answer(None, || Some(Some(Box::default())))
}

/// Aims at a point of the quality scale, from 0 (smallest) to 100 (almost indistinguishable).
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_quality(
    encoder: Option<&mut Encoder>,
    quality: u32,
) -> Status {
    change(encoder, |settings| Ok(settings.quality(small(quality))))
}

/// Aims at the best picture in at most so many bytes, everything included.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_target_size(
    encoder: Option<&mut Encoder>,
    bytes: u64,
) -> Status {
    change(encoder, |settings| Ok(settings.target_size(bytes)))
}

/// Aims at the smallest file with at least this PSNR, in decibels.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_target_psnr(
    encoder: Option<&mut Encoder>,
    decibels: f64,
) -> Status {
    change(encoder, |settings| Ok(settings.target_psnr(decibels)))
}

/// Sets how hard to search, from 1 (fast) to 9 (smallest files).
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_effort(encoder: Option<&mut Encoder>, effort: u32) -> Status {
    change(encoder, |settings| Ok(settings.effort(small(effort))))
}

/// Sets what to spend bits on: a TesseraTune.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_tune(encoder: Option<&mut Encoder>, tune: u32) -> Status {
    change(encoder, |settings| match tune {
        0 => Ok(settings.tune(tessera_codec::Tune::Visual)),
        1 => Ok(settings.tune(tessera_codec::Tune::Psnr)),
        _ => Err(Failure::parameter(format!("there is no tune {tune}"))),
    })
}

/// Sets how many threads encode tiles; 0 means one per core. Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_threads(
    encoder: Option<&mut Encoder>,
    threads: u32,
) -> Status {
    change(encoder, |settings| Ok(settings.threads(threads as usize)))
}

/// Puts a small picture of about a kilobyte in front of the large one, if `wanted` is not 0.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_preview(
    encoder: Option<&mut Encoder>,
    wanted: u32,
) -> Status {
    change(encoder, |settings| Ok(settings.preview(wanted != 0)))
}

/// Uses a learned dictionary; the receiver needs the same one.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_dictionary(
    encoder: Option<&mut Encoder>,
    dictionary: Option<&Dictionary>,
) -> Status {
    change(encoder, |settings| {
        let dictionary = dictionary.ok_or_else(|| null("the dictionary"))?;
        Ok(settings.dictionary(&dictionary.prepared))
    })
}

/// Stops encoding when the token says so.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_set_cancel(
    encoder: Option<&mut Encoder>,
    cancel: Option<&Cancel>,
) -> Status {
    change(encoder, |settings| {
        let Cancel(token) = cancel.ok_or_else(|| null("the token"))?;
        Ok(settings.cancel(token))
    })
}

/// Encodes a picture and its metadata. `encoder` may be NULL for the usual settings.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_encode(
    encoder: Option<&Encoder>,
    picture: Option<&Picture>,
    file: Option<&mut MaybeUninit<Option<Box<Buffer>>>>,
) -> Status {
    hand_out(file, || {
        let picture = picture.ok_or_else(|| null("the picture"))?;
        let settings = encoder.map_or_else(Settings::new, |encoder| encoder.0.clone());
        // The error would go nowhere.
        let settings = settings.measure_distortion(false);
        Ok(Buffer(settings.encode(&picture.0)?.bytes))
    })
}

/// Frees an encoder.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_encoder_free(encoder: Option<Box<Encoder>>) {
    release(encoder);
}

/// Changes settings; they stay as they were if the new ones are out of range.
fn change(
    encoder: Option<&mut Encoder>,
    change: impl FnOnce(Settings) -> Result<Settings, Failure>,
) -> Status {
    guard(|| {
        let encoder = encoder.ok_or_else(|| null("the encoder"))?;
        let changed = change(encoder.0.clone())?;
        changed.check()?;
        encoder.0 = changed;
        Ok(())
    })
}

/// Numbers that are far out of range are so in eight bits too.
fn small(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
