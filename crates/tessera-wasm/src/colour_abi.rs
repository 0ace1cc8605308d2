//! The functions of the module for colour profiles. An instance is there for one profile.

#![allow(unsafe_code, reason = "the border to JavaScript")]

use crate::colour::ToSrgb;
use crate::memory::bytes;
use std::cell::RefCell;

thread_local! {
    static TO_SRGB: RefCell<Option<ToSrgb>> = RefCell::default();
}

/// Takes a profile; returns zero if its colours are shown as they are.
///
/// # Safety
/// There are `len` bytes at `icc` that nobody changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_set_profile(icc: *const u8, len: usize) -> i32 {
    // SAFETY: as promised.
    let to_srgb = ToSrgb::new(unsafe { bytes(icc, len) });
    let differs = to_srgb.is_some();
    TO_SRGB.set(to_srgb);
    differs.into()
}

/// Turns RGBA of the profile into RGBA of sRGB, in place.
///
/// # Safety
/// There are `len` bytes at `pixels` that nobody else uses during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_to_srgb(pixels: *mut u8, len: usize) {
    // SAFETY: as promised; the place came from `tessera_alloc`, so it is not null.
    let pixels = unsafe { std::slice::from_raw_parts_mut(pixels, len) };
    TO_SRGB.with_borrow(|to_srgb| {
        if let Some(to_srgb) = to_srgb {
            to_srgb.apply(pixels);
        }
    });
}
