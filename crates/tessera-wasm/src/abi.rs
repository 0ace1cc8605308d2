//! The functions of the decoder and the encoder.
//!
//! Input lies in memory that [`tessera_alloc`](crate::memory::tessera_alloc) gave. A call returns zero or a number, or minus
//! the number of what made it fail; what it made, or a sentence about the failure, is the output, to be copied before the
//! next call.

#![allow(unsafe_code, reason = "the border to JavaScript")]

use crate::failure::{Failure, Result};
use crate::instance::{Form, Instance, Wanted};
use crate::memory::bytes;
use std::cell::RefCell;
use tessera_codec::Rect;

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

/// Runs a call and turns its outcome into a status.
fn call(work: impl FnOnce(&mut Instance) -> Result<usize>) -> i32 {
    INSTANCE.with_borrow_mut(|instance| match work(instance) {
        Ok(number) => number as i32,
        Err(Failure { cause, message }) => {
            instance.output = message.into_bytes();
            -(cause as i32)
        }
    })
}

/// Where the output of the last call lies.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_output() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.output.as_ptr())
}

/// How many bytes it has.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_output_len() -> usize {
    INSTANCE.with_borrow(|instance| instance.output.len())
}

/// Gives the memory of the output back.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_drop_output() {
    INSTANCE.with_borrow_mut(|instance| instance.output = Vec::new());
}

/// Loads the built-in dictionary from its file; the output is its name.
///
/// # Safety
/// As for all input: `len` bytes at `file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_load_builtin(file: *const u8, len: usize) -> i32 {
    // SAFETY: as promised.
    let file = unsafe { bytes(file, len) };
    call(|instance| instance.load_builtin(file).map(|()| 0))
}

/// Takes a learned dictionary and returns its number; the output is its identity.
///
/// # Safety
/// As for all input: `len` bytes at `file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_add_dictionary(file: *const u8, len: usize) -> i32 {
    // SAFETY: as promised.
    let file = unsafe { bytes(file, len) };
    call(|instance| instance.add_dictionary(file))
}

/// Opens a picture of `file_len` bytes by its start and returns its number; the output describes it in JSON.
///
/// # Safety
/// As for all input: `len` bytes at `start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_open(start: *const u8, len: usize, file_len: usize) -> i32 {
    // SAFETY: as promised.
    let start = unsafe { bytes(start, len) };
    call(|instance| instance.open(start, file_len))
}

/// Six numbers for every tile of an open picture: left, top, width, height, start and end in the file.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_tiles(picture: usize) -> i32 {
    call(|instance| instance.tiles(picture).map(|()| 0))
}

/// The colour profile of an open picture: no bytes if it has none, or no colours.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_profile(picture: usize) -> i32 {
    call(|instance| instance.profile(picture).map(|()| 0))
}

/// Decodes the small picture in front of an open one to RGBA. The output is width, height, channels, bits and the samples, or
/// nothing if there is none.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_preview(picture: usize) -> i32 {
    call(|instance| instance.preview(picture).map(|()| 0))
}

/// Decodes the rows of a tile that are in its first bytes, before the filter, to RGBA. The output is as that of
/// [`tessera_preview`].
///
/// # Safety
/// As for all input: `len` bytes at `start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_tile_start(
    picture: usize,
    index: usize,
    start: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: as promised.
    let start = unsafe { bytes(start, len) };
    call(|instance| instance.tile_start(picture, index, start).map(|()| 0))
}

/// Decodes a tile of an open picture, of which all bytes are given, to RGBA in the colours of its profile.
///
/// # Safety
/// As for all input: `len` bytes at `tile`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_decode_tile(
    picture: usize,
    index: usize,
    tile: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: as promised.
    let tile = unsafe { bytes(tile, len) };
    call(|instance| instance.decode_tile(picture, index, tile).map(|()| 0))
}

/// Forgets an open picture.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_close(picture: usize) {
    INSTANCE.with_borrow_mut(|instance| instance.close(picture));
}

/// Opens a pack of `file_len` bytes by its first bytes and its end, which holds its index, and returns its number; the output
/// tells in JSON what is where in it.
///
/// # Safety
/// As for all input: `start_len` bytes at `start`, `end_len` at `end`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_open_pack(
    start: *const u8,
    start_len: usize,
    end: *const u8,
    end_len: usize,
    file_len: usize,
) -> i32 {
    // SAFETY: as promised.
    let (start, end) = unsafe { (bytes(start, start_len), bytes(end, end_len)) };
    call(|instance| instance.open_pack(start, end, file_len))
}

/// Takes the dictionary of an open pack.
///
/// # Safety
/// As for all input: `len` bytes at `dictionary`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_pack_dictionary(
    pack: usize,
    dictionary: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: as promised.
    let dictionary = unsafe { bytes(dictionary, len) };
    call(|instance| instance.set_pack_dictionary(pack, dictionary).map(|()| 0))
}

/// Takes a part of an open pack that its pictures share, and where it lies.
///
/// # Safety
/// As for all input: `len` bytes at `part`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_pack_shared(
    pack: usize,
    place: usize,
    part: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: as promised.
    let part = unsafe { bytes(part, len) };
    call(|instance| instance.keep_shared(pack, place, part).map(|()| 0))
}

/// The file of a picture in an open pack, of which all bytes that the pack has are given, and those of the picture it is
/// predicted from, if it is.
///
/// # Safety
/// As for all input: `len` bytes at `entry`, `key_len` at `key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_pack_file(
    pack: usize,
    picture: usize,
    entry: *const u8,
    len: usize,
    key: *const u8,
    key_len: usize,
) -> i32 {
    // SAFETY: as promised.
    let (entry, key) = unsafe { (bytes(entry, len), bytes(key, key_len)) };
    call(|instance| instance.pack_file(pack, picture, entry, key).map(|()| 0))
}

/// Adds the dictionary of a picture in an open pack that is predicted from another one, whose bytes are given, and returns its
/// number; the output is its identity.
///
/// # Safety
/// As for all input: `len` bytes at `key`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_pack_predicting(
    pack: usize,
    picture: usize,
    key: *const u8,
    len: usize,
) -> i32 {
    // SAFETY: as promised.
    let key = unsafe { bytes(key, len) };
    call(|instance| instance.add_predicting(pack, picture, key))
}

/// Forgets an open pack.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_close_pack(pack: usize) {
    INSTANCE.with_borrow_mut(|instance| instance.close_pack(pack));
}

/// Describes a whole file in JSON.
///
/// # Safety
/// As for all input: `len` bytes at `file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_describe(file: *const u8, len: usize) -> i32 {
    // SAFETY: as promised.
    let file = unsafe { bytes(file, len) };
    call(|instance| instance.describe(file).map(|()| 0))
}

/// Decodes a whole file, or a region of it unless `width` is zero, no side longer than `max_side` unless that is zero,
/// to RGBA in the colours of its profile or, if `raw` is not zero, to its samples. The output is width, height, channels, bits and the samples.
///
/// # Safety
/// As for all input: `len` bytes at `file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_decode(
    file: *const u8,
    len: usize,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    max_side: u32,
    raw: u32,
) -> i32 {
    // SAFETY: as promised.
    let file = unsafe { bytes(file, len) };
    let region = Rect {
        x,
        y,
        width,
        height,
    };
    let wanted = Wanted {
        region: (width > 0).then_some(region),
        max_side: (max_side > 0).then_some(max_side),
        form: if raw == 0 { Form::Rgba } else { Form::Raw },
    };
    call(|instance| instance.decode(file, wanted).map(|()| 0))
}

#[cfg(feature = "encoder")]
pub use encoder::{tessera_encode, tessera_ssimulacra2};

#[cfg(feature = "encoder")]
mod encoder {
    use super::*;
    use crate::encode::{Settings, encode};
    use crate::failure::Cause;
    use crate::metric::ssimulacra2;

    #[cfg(target_arch = "wasm32")]
    #[link(wasm_import_module = "tessera")]
    unsafe extern "C" {
        /// Hears of the pixels of every tile that is done.
        safe fn progress(pixels: f64);
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn progress(_pixels: f64) {}

    /// Bytes of a picture in RGBA.
    fn rgba_len(width: u32, height: u32) -> Result<usize> {
        let pixels = (width as usize).checked_mul(height as usize);
        let len = pixels.and_then(|pixels| pixels.checked_mul(4));
        len.ok_or_else(|| Failure::new(Cause::Parameter, "the picture does not fit in memory"))
    }

    /// Encodes RGBA at a quality, or to at most `size` bytes unless that is zero, with a small picture in front unless
    /// `preview` is zero, with the dictionary of this number, or the built-in one if it is negative. The output is the file.
    ///
    /// # Safety
    /// There are `width * height * 4` bytes at `pixels`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn tessera_encode(
        pixels: *const u8,
        width: u32,
        height: u32,
        quality: u32,
        size: u32,
        effort: u32,
        preview: u32,
        dictionary: i32,
    ) -> i32 {
        call(|instance| {
            // SAFETY: as promised.
            let pixels = unsafe { bytes(pixels, rgba_len(width, height)?) };
            let settings = Settings {
                quality: u8::try_from(quality).unwrap_or(u8::MAX),
                size: (size > 0).then_some(size),
                effort: u8::try_from(effort).unwrap_or(u8::MAX),
                preview: preview != 0,
            };
            let dictionary = instance.dictionary(usize::try_from(dictionary).ok())?;
            let hear = |pixels| progress(pixels as f64);
            instance.output = encode(pixels, (width, height), settings, dictionary, hear)?;
            Ok(0)
        })
    }

    /// SSIMULACRA2 between two pictures in RGBA. The output is a number of eight bytes.
    ///
    /// # Safety
    /// There are `width * height * 4` bytes at `a` and at `b`.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn tessera_ssimulacra2(
        a: *const u8,
        b: *const u8,
        width: u32,
        height: u32,
    ) -> i32 {
        call(|instance| {
            let len = rgba_len(width, height)?;
            // SAFETY: as promised.
            let (a, b) = unsafe { (bytes(a, len), bytes(b, len)) };
            let score = ssimulacra2(a, b, width, height)?;
            instance.output = score.to_le_bytes().to_vec();
            Ok(0)
        })
    }
}
