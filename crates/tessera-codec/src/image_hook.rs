//! Lets programs that use the `image` crate open `.tsr` files like any other.

use crate::container::MAGIC;
use crate::decode::Decoder;
use crate::error::Error;
use crate::image_io::to_dynamic_image;
use crate::metadata::Metadata;
use crate::picture::{Colour, PixelFormat};
use image::error::{DecodingError, ImageFormatHint, LimitError, LimitErrorKind};
use image::hooks::{GenericReader, register_decoding_hook, register_format_detection_hook};
use image::{ColorType, ImageDecoder, ImageError, ImageResult};
use std::io::Read;

const EXTENSION: &str = "tsr";

/// Registers Tessera with the `image` crate: afterwards `image::open("photo.tsr")` works, by
/// extension and by content. Returns false when a decoder for `.tsr` was there already.
///
/// Only pictures coded with the built-in dictionary can be opened this way.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let picture = tessera_codec::Picture::gray8(4, 4, vec![128; 16])?;
/// # let file = tessera_codec::encode(&picture, 75)?;
/// tessera_codec::register_image_hooks();
/// let reader = image::ImageReader::new(std::io::Cursor::new(&file)).with_guessed_format()?;
/// assert_eq!(reader.decode()?.width(), 4);
/// # Ok(())
/// # }
/// ```
pub fn register_image_hooks() -> bool {
    let fresh = register_decoding_hook(EXTENSION.into(), Box::new(open));
    if fresh {
        register_format_detection_hook(EXTENSION.into(), &MAGIC, None);
    }
    fresh
}

fn open<'a>(reader: GenericReader<'a>) -> ImageResult<Box<dyn ImageDecoder + 'a>> {
    Ok(Box::new(TesseraDecoder::new(reader, Decoder::new())?))
}

/// A file as the `image` crate wants to see it: its header has been read, the pixels wait for
/// [`read_image`](ImageDecoder::read_image).
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let picture = tessera_codec::Picture::gray8(4, 4, vec![128; 16])?;
/// # let file = tessera_codec::encode(&picture, 75)?;
/// use tessera_codec::{Decoder, TesseraDecoder};
///
/// let decoder = TesseraDecoder::new(&file[..], Decoder::new().threads(1))?;
/// assert_eq!(image::DynamicImage::from_decoder(decoder)?.width(), 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TesseraDecoder {
    decoder: Decoder,
    file: Vec<u8>,
    dimensions: (u32, u32),
    colour: ColorType,
    metadata: Metadata,
}

impl TesseraDecoder {
    /// Reads a file to its end and takes it apart; `decoder` brings limits, threads and dictionaries.
    ///
    /// # Errors
    /// If it cannot be read or is no picture of ours.
    pub fn new(mut reader: impl Read, decoder: Decoder) -> ImageResult<Self> {
        let mut file = Vec::new();
        reader.read_to_end(&mut file)?;
        let container = decoder.parse(&file).map_err(to_image_error)?;
        let header = container.header();
        Ok(Self {
            dimensions: (header.width, header.height),
            colour: colour_type(header.format),
            metadata: container.metadata().map_err(to_image_error)?,
            decoder,
            file,
        })
    }
}

impl ImageDecoder for TesseraDecoder {
    fn dimensions(&self) -> (u32, u32) {
        self.dimensions
    }

    fn color_type(&self) -> ColorType {
        self.colour
    }

    fn icc_profile(&mut self) -> ImageResult<Option<Vec<u8>>> {
        Ok(self.metadata.icc.clone())
    }

    fn exif_metadata(&mut self) -> ImageResult<Option<Vec<u8>>> {
        Ok(self.metadata.exif.clone())
    }

    fn xmp_metadata(&mut self) -> ImageResult<Option<Vec<u8>>> {
        Ok(self.metadata.xmp.clone())
    }

    fn read_image(self, buffer: &mut [u8]) -> ImageResult<()> {
        let picture = self.decoder.decode(&self.file).map_err(to_image_error)?;
        buffer.copy_from_slice(to_dynamic_image(picture).as_bytes());
        Ok(())
    }

    fn read_image_boxed(self: Box<Self>, buffer: &mut [u8]) -> ImageResult<()> {
        // A box is a decoder itself, whose `read_image` comes back here: name the one inside.
        (*self).read_image(buffer)
    }
}

fn colour_type(format: PixelFormat) -> ColorType {
    let deep = format.bytes_per_sample() > 1;
    match (format.colour, format.alpha, deep) {
        (Colour::Gray, false, false) => ColorType::L8,
        (Colour::Gray, true, false) => ColorType::La8,
        (Colour::Rgb, false, false) => ColorType::Rgb8,
        (Colour::Rgb, true, false) => ColorType::Rgba8,
        (Colour::Gray, false, true) => ColorType::L16,
        (Colour::Gray, true, true) => ColorType::La16,
        (Colour::Rgb, false, true) => ColorType::Rgb16,
        (Colour::Rgb, true, true) => ColorType::Rgba16,
    }
}

fn to_image_error(error: Error) -> ImageError {
    match error {
        Error::Io(error) => ImageError::IoError(error),
        Error::Limits(_) | Error::Memory(_) => {
            ImageError::Limits(LimitError::from_kind(LimitErrorKind::InsufficientMemory))
        }
        other => {
            let format = ImageFormatHint::Name("Tessera".into());
            ImageError::Decoding(DecodingError::new(format, other))
        }
    }
}
