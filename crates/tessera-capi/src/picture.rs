//! Pictures in memory.

use crate::memory::{bytes, hand_out, null};
use crate::metadata::{kind_of, show};
use crate::status::{Failure, Status, guard, release};
use std::ffi::c_void;
use std::mem::MaybeUninit;
use tessera_codec::{BitDepth, Colour, Picture as Content, PixelFormat, Samples};

/// A picture in memory: pixels and metadata.
#[derive(Debug)]
pub struct Picture(pub(crate) Content);

/// Makes a picture from pixels of the caller, which are copied.
///
/// `channels` is 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); `bits` is 8 (uint8_t), 10, 12 or 16 (uint16_t). `stride`
/// is the number of bytes from one row to the next; 0 if there is nothing between them.
///
/// At `samples` there are `height` rows, `stride` bytes apart.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_picture_new(
    width: u32,
    height: u32,
    channels: u32,
    bits: u32,
    samples: *const c_void,
    stride: usize,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    hand_out(picture, || {
        let format = pixel_format(channels, bits)?;
        let layout = Layout::new(width, height, format, stride)?;
        if samples.is_null() {
            return Err(null("the pointer to the samples"));
        }
        // SAFETY: as the caller promises, and not NULL.
        let rows = unsafe { bytes(samples.cast(), layout.size) }?;
        let content = Content::new(width, height, format, layout.samples(rows, format)?)?;
        Ok(Picture(content))
    })
}

/// Columns; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_width(picture: Option<&Picture>) -> u32 {
    picture.map_or(0, |picture| picture.0.width())
}

/// Rows; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_height(picture: Option<&Picture>) -> u32 {
    picture.map_or(0, |picture| picture.0.height())
}

/// Samples per pixel: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_channels(picture: Option<&Picture>) -> u32 {
    picture.map_or(0, |picture| picture.0.format().channels() as u32)
}

/// Bits per sample: 8, 10, 12 or 16; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_bits(picture: Option<&Picture>) -> u32 {
    picture.map_or(0, |picture| picture.0.format().depth.bits())
}

/// The samples, rows without gaps: uint8_t for 8 bits, uint16_t for more; NULL for NULL. Valid until the picture is freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_samples(picture: Option<&Picture>) -> *const c_void {
    picture.map_or(std::ptr::null(), |picture| match picture.0.samples() {
        Samples::U8(samples) => samples.as_ptr().cast(),
        Samples::U16(samples) => samples.as_ptr().cast(),
    })
}

/// Number of bytes of all samples; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_size(picture: Option<&Picture>) -> usize {
    picture.map_or(0, |picture| {
        picture.0.samples().len() * picture.0.format().bytes_per_sample()
    })
}

/// Writes the pixels as RGBA of 8 bits, whatever they are, in rows of `stride` bytes (0: without gaps).
///
/// `size` bytes can be written at `pixels`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_picture_write_rgba8(
    picture: Option<&Picture>,
    pixels: *mut u8,
    stride: usize,
    size: usize,
) -> Status {
    guard(|| {
        let picture = &picture.ok_or_else(|| null("the picture"))?.0;
        let rgba = PixelFormat {
            alpha: true,
            ..PixelFormat::RGB8
        };
        let layout = Layout::new(picture.width(), picture.height(), rgba, stride)?;
        if pixels.is_null() {
            return Err(null("the pointer to the pixels"));
        }
        if layout.size > size {
            let needed = layout.size;
            let message = format!("the pixels take {needed} bytes, there is room for {size}");
            return Err(Failure::parameter(message));
        }
        // SAFETY: as the caller promises, not NULL, and no more than there is room for.
        let out = unsafe { std::slice::from_raw_parts_mut(pixels, layout.size) };
        for (y, row) in out.chunks_mut(layout.stride).enumerate() {
            for (x, pixel) in row[..layout.row].as_chunks_mut().0.iter_mut().enumerate() {
                *pixel = rgba8(picture, y * picture.width() as usize + x);
            }
        }
        Ok(())
    })
}

/// Tells where a block of metadata is: a TesseraMetadataKind. NULL and 0 if the picture has none. Valid until the
/// picture is changed or freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_metadata(
    picture: Option<&Picture>,
    kind: u32,
    data: Option<&mut MaybeUninit<*const u8>>,
    size: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        let picture = picture.ok_or_else(|| null("the picture"))?;
        show(&picture.0.metadata, kind, data, size)
    })
}

/// Gives a picture a block of metadata (a TesseraMetadataKind), which is copied; NULL takes it away.
///
/// `size` bytes can be read at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_picture_set_metadata(
    picture: Option<&mut Picture>,
    kind: u32,
    data: *const u8,
    size: usize,
) -> Status {
    guard(|| {
        let picture = picture.ok_or_else(|| null("the picture"))?;
        let kind = kind_of(kind)?;
        // SAFETY: as the caller promises.
        let block = unsafe { bytes(data, size) }?;
        let block = (!data.is_null()).then(|| block.to_vec());
        let set = picture.0.metadata.set(kind, block);
        set.map_err(|error| Failure::parameter(error.to_string()))
    })
}

/// Frees a picture.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_picture_free(picture: Option<Box<Picture>>) {
    release(picture);
}

fn pixel_format(channels: u32, bits: u32) -> Result<PixelFormat, Failure> {
    let colour = match channels {
        1 | 2 => Colour::Gray,
        3 | 4 => Colour::Rgb,
        _ => {
            let message = format!("a pixel has 1 to 4 channels, not {channels}");
            return Err(Failure::parameter(message));
        }
    };
    let depth = BitDepth::ALL.into_iter().find(|depth| depth.bits() == bits);
    let unknown = || Failure::parameter(format!("a sample has 8, 10, 12 or 16 bits, not {bits}"));
    Ok(PixelFormat {
        colour,
        alpha: channels.is_multiple_of(2),
        depth: depth.ok_or_else(unknown)?,
    })
}

/// Where rows lie in memory of the caller, in bytes.
struct Layout {
    row: usize,
    stride: usize,
    size: usize,
}

impl Layout {
    fn new(width: u32, height: u32, format: PixelFormat, stride: usize) -> Result<Self, Failure> {
        // Bounds the sides, so that a row cannot overflow.
        tessera_codec::PictureInfo::new(width, height, format)?;
        let row = width as usize * format.channels() * format.bytes_per_sample();
        let stride = if stride == 0 { row } else { stride };
        let rows_before_last = stride.checked_mul(height as usize - 1);
        let size = rows_before_last.and_then(|size| size.checked_add(row));
        match size.filter(|&size| size <= isize::MAX as usize && stride >= row) {
            Some(size) => Ok(Self { row, stride, size }),
            None => Err(Failure::parameter(format!(
                "rows of {row} bytes cannot be {stride} bytes apart"
            ))),
        }
    }

    /// The samples of all rows, without what lies between them.
    fn samples(&self, rows: &[u8], format: PixelFormat) -> Result<Samples, Failure> {
        let rows = rows.chunks(self.stride).map(|row| &row[..self.row]);
        let total = rows.len() * self.row;
        let memory = |_| Failure::new(Status::Memory, format!("{total} bytes cannot be had"));
        if format.bytes_per_sample() == 1 {
            let mut samples = Vec::new();
            samples.try_reserve_exact(total).map_err(memory)?;
            rows.for_each(|row| samples.extend_from_slice(row));
            return Ok(Samples::U8(samples));
        }
        let mut samples = Vec::new();
        samples.try_reserve_exact(total / 2).map_err(memory)?;
        for row in rows {
            samples.extend(row.as_chunks().0.iter().copied().map(u16::from_ne_bytes));
        }
        Ok(Samples::U16(samples))
    }
}

/// A pixel as RGBA of 8 bits.
fn rgba8(picture: &Content, pixel: usize) -> [u8; 4] {
    let format = picture.format();
    let largest = u32::from(format.depth.max_value());
    let sample = |channel: usize| {
        let value = picture.samples().get(pixel * format.channels() + channel);
        ((u32::from(value) * 255 + largest / 2) / largest) as u8
    };
    let alpha = match format.alpha {
        true => sample(format.colour_channels()),
        false => 255,
    };
    match format.colour {
        Colour::Gray => [sample(0), sample(0), sample(0), alpha],
        Colour::Rgb => [sample(0), sample(1), sample(2), alpha],
    }
}
