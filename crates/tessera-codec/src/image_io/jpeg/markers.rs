//! The marker codes that matter here.

pub(super) const SOI: u8 = 0xD8;
pub(super) const EOI: u8 = 0xD9;
pub(super) const SOS: u8 = 0xDA;
pub(super) const DHT: u8 = 0xC4;
pub(super) const DRI: u8 = 0xDD;
pub(super) const APP14: u8 = 0xEE;

/// SOF0 to SOF15 except the codes that mean something else (DHT, JPG, DAC).
pub(super) fn is_frame_header(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC)
}

/// RST0 to RST7.
pub(super) fn is_restart(marker: u8) -> bool {
    matches!(marker, 0xD0..=0xD7)
}
