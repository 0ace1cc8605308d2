//! Files that are open and not yet decoded.

use crate::decoder::Decoder;
use crate::memory::{Out, bytes, hand_out, null, path};
use crate::metadata::show;
use crate::picture::Picture;
use crate::status::{Failure, Status, guard, release};
use std::ffi::{CString, c_char};
use std::io::{Cursor, Read, Seek};
use std::mem::MaybeUninit;
use std::sync::OnceLock;
use tessera_codec::{CodedPicture, Error, Metadata, Rect, Scale};

/// A file whose header is read; its pixels wait to be asked for, all of them or some.
#[derive(Debug)]
pub struct File {
    coded: CodedPicture<'static>,
    dictionary: CString,
    metadata: OnceLock<Result<Metadata, Failure>>,
}

impl File {
    /// Opens what `reader` returns; it is called twice if the file names a dictionary of the store.
    fn open<R: Read + Seek + Send + 'static>(
        decoder: Option<&Decoder>,
        reader: impl Fn() -> Result<R, Failure>,
    ) -> Result<Self, Failure> {
        let default = Decoder::default();
        let decoder = decoder.unwrap_or(&default);
        let coded = decoder.settings().open(reader()?)?;
        let id = coded.header().dictionary;
        let dictionary = CString::new(id.to_string()).unwrap_or_default();
        let coded = match decoder.dictionary_settings(id)? {
            Some(settings) => settings.open(reader()?)?,
            None => coded,
        };
        Ok(Self {
            coded,
            dictionary,
            metadata: OnceLock::new(),
        })
    }

    fn metadata(&self) -> Result<&Metadata, Failure> {
        let read = || self.coded.metadata().map_err(Failure::from);
        self.metadata
            .get_or_init(read)
            .as_ref()
            .map_err(Clone::clone)
    }
}

/// Opens a file that is in memory, and looks at its header. The bytes are copied. `decoder` may be NULL for the usual
/// settings.
///
/// `size` bytes can be read at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_file_from_memory(
    decoder: Option<&Decoder>,
    data: *const u8,
    size: usize,
    file: Option<&mut MaybeUninit<Option<Box<File>>>>,
) -> Status {
    hand_out(file, || {
        // SAFETY: as the caller promises.
        let content: std::sync::Arc<[u8]> = unsafe { bytes(data, size) }?.into();
        File::open(decoder, || Ok(Cursor::new(content.clone())))
    })
}

/// Opens a file on disk, and looks at its header; the rest is read when it is needed. `decoder` may be NULL for the usual
/// settings.
///
/// `name` is a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_file_open(
    decoder: Option<&Decoder>,
    name: *const c_char,
    file: Option<&mut MaybeUninit<Option<Box<File>>>>,
) -> Status {
    hand_out(file, || {
        // SAFETY: as the caller promises.
        let name = unsafe { path(name) }?;
        let reader = || std::fs::File::open(&name).map_err(|error| Error::Io(error).into());
        File::open(decoder, reader).map_err(|failure| failure.within(&name))
    })
}

/// Columns of the picture; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_width(file: Option<&File>) -> u32 {
    file.map_or(0, |file| file.coded.header().width)
}

/// Rows of the picture; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_height(file: Option<&File>) -> u32 {
    file.map_or(0, |file| file.coded.header().height)
}

/// Samples per pixel: 1 (gray), 2 (gray, alpha), 3 (RGB) or 4 (RGBA); 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_channels(file: Option<&File>) -> u32 {
    file.map_or(0, |file| file.coded.header().format.channels() as u32)
}

/// Bits per sample: 8, 10, 12 or 16; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_bits(file: Option<&File>) -> u32 {
    file.map_or(0, |file| file.coded.header().format.depth.bits())
}

/// The dictionary that the picture was coded with: its identity, or "builtin" and a number; NULL for NULL. Valid until the
/// file is freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_dictionary(file: Option<&File>) -> *const c_char {
    file.map_or(std::ptr::null(), |file| file.dictionary.as_ptr())
}

/// Tells where a block of metadata is: a TesseraMetadataKind. NULL and 0 if the file has none. Valid until the file is
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_metadata(
    file: Option<&File>,
    kind: u32,
    data: Option<&mut MaybeUninit<*const u8>>,
    size: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        let file = file.ok_or_else(|| null("the file"))?;
        show(file.metadata()?, kind, data, size)
    })
}

/// Compares all checksums without decoding anything.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_check(file: Option<&File>) -> Status {
    guard(|| Ok(file.ok_or_else(|| null("the file"))?.coded.check()?))
}

/// Decodes the whole picture.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_decode(
    file: Option<&File>,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    decode(file, picture, |coded| Ok(coded.decode()?))
}

/// Decodes exactly this part, reading only the tiles it needs.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_decode_region(
    file: Option<&File>,
    x: u32,
    y: u32,
    width: u32,
    height: u32,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    let region = Rect {
        x,
        y,
        width,
        height,
    };
    decode(file, picture, |coded| Ok(coded.decode_region(region)?))
}

/// Decodes the picture so that neither side is longer than `max_side` pixels, with a few rows of tiles in memory at a
/// time; it is never scaled up.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_decode_scaled(
    file: Option<&File>,
    max_side: u32,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    let scale = Scale::MaxSide(max_side);
    decode(file, picture, |coded| Ok(coded.decode_scaled(scale)?))
}

/// Decodes what is intact of a damaged file, and the rows that are there of a tile that was cut; the rest becomes gray.
/// `damaged_tiles`, unless it is NULL, is told how many tiles are not intact.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_decode_partial(
    file: Option<&File>,
    damaged_tiles: Option<&mut MaybeUninit<usize>>,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    decode(file, picture, |coded| {
        let partial = coded.decode_partial()?;
        if let Some(count) = damaged_tiles {
            count.write(partial.damaged.len());
        }
        Ok(partial.picture)
    })
}

/// Decodes the small picture in front of the large one from the beginning of a file, up to the end of the preview. NULL if
/// the file has none. `decoder` may be NULL for the usual settings.
///
/// `size` bytes can be read at `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_preview_from_memory(
    decoder: Option<&Decoder>,
    data: *const u8,
    size: usize,
    picture: Option<&mut MaybeUninit<Option<Box<Picture>>>>,
) -> Status {
    let Some(place) = picture else {
        return guard(|| Err(null("the place of the picture")));
    };
    place.write(None);
    guard(|| {
        // SAFETY: as the caller promises.
        let start = unsafe { bytes(data, size) }?;
        let default = Decoder::default();
        let settings = decoder.unwrap_or(&default).settings();
        let preview = settings.preview(start)?;
        place.write(preview.map(|preview| Box::new(Picture(preview))));
        Ok(())
    })
}

/// Frees a file; pictures decoded from it stay.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_file_free(file: Option<Box<File>>) {
    release(file);
}

fn decode(
    file: Option<&File>,
    picture: Out<'_, Picture>,
    decode: impl FnOnce(&CodedPicture<'static>) -> Result<tessera_codec::Picture, Failure>,
) -> Status {
    hand_out(picture, || {
        let file = file.ok_or_else(|| null("the file"))?;
        Ok(Picture(decode(&file.coded)?))
    })
}
