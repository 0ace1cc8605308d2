//! Where decoded rows go: scaled down and coloured as the output wants them, then into its encoder.

use super::format::OutputFormat;
use super::webp::LossyWebp;
use crate::exit::Usage;
use crate::files::Output;
use anyhow::{Context, Result, bail};
use image::ImageFormat;
use std::io::Write;
use tessera_codec::image_io::{Losses, PictureWriter};
use tessera_codec::{
    Colour, Downscaler, Metadata, Picture, PictureInfo, PixelFormat, Samples, Scale,
};

/// Longest side of a WebP picture.
const WEBP_MAX_SIDE: u32 = 16383;

/// What is done to a picture on its way.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageOptions {
    pub(super) quality: Option<u8>,
    pub(super) max_side: Option<u32>,
}

/// An output picture in the making.
pub(super) struct Page<'a> {
    out: &'a Output<'a>,
    scaler: Option<Downscaler>,
    colour: Colour,
    encoder: Encoder,
}

/// What makes a file of the rows.
enum Encoder {
    Rows(Box<PictureWriter<Box<dyn Write>>>),
    Webp(LossyWebp),
}

impl<'a> Page<'a> {
    /// Starts a picture of which `info` tells what will be pushed.
    ///
    /// # Errors
    /// When the format cannot hold it, or writing fails.
    pub(super) fn new(
        out: &'a Output<'a>,
        format: &OutputFormat,
        info: PictureInfo,
        metadata: Metadata,
        options: PageOptions,
    ) -> Result<Self> {
        let scaler = options
            .max_side
            .map(|side| Downscaler::new(info, Scale::MaxSide(side)));
        let scaler = scaler.transpose()?.filter(|scaler| scaler.info() != info);
        let info = scaler.as_ref().map_or(info, Downscaler::info);
        let colour = format.colour_for(info.format())?;
        let coloured = PixelFormat {
            colour,
            ..info.format()
        };
        let info = PictureInfo::new(info.width(), info.height(), coloured)?;
        check_sides(format.image_format(), info)?;
        let encoder = encoder(out, format, info, metadata, options.quality)?;
        Ok(Self {
            out,
            scaler,
            colour,
            encoder,
        })
    }

    /// Takes the next rows.
    ///
    /// # Errors
    /// When writing fails.
    pub(super) fn push(&mut self, rows: Picture) -> Result<()> {
        let rows = match &mut self.scaler {
            Some(scaler) => scaler.push(&rows)?,
            None => Some(rows),
        };
        let Some(rows) = rows else {
            return Ok(());
        };
        let rows = in_colour(rows, self.colour)?;
        match &mut self.encoder {
            Encoder::Rows(writer) => writer.push(rows).with_context(|| self.out.failure()),
            Encoder::Webp(webp) => {
                webp.push(rows);
                Ok(())
            }
        }
    }

    /// Ends the picture and says what its format could not keep.
    ///
    /// # Errors
    /// When rows are missing or writing fails.
    pub(super) fn finish(self) -> Result<Losses> {
        let out = self.out;
        match self.encoder {
            Encoder::Rows(writer) => Ok(writer.finish().with_context(|| out.failure())?),
            Encoder::Webp(webp) => webp.finish(out.writer()?).with_context(|| out.failure()),
        }
    }
}

fn encoder(
    out: &Output<'_>,
    format: &OutputFormat,
    info: PictureInfo,
    metadata: Metadata,
    quality: Option<u8>,
) -> Result<Encoder> {
    let format = format.image_format();
    if let (ImageFormat::WebP, Some(quality)) = (format, quality) {
        return Ok(Encoder::Webp(LossyWebp::new(info, metadata, quality)));
    }
    let writer =
        PictureWriter::new(out.writer()?, format, info, metadata).with_context(|| out.failure())?;
    Ok(Encoder::Rows(Box::new(match quality {
        Some(quality) => writer.jpeg_quality(quality),
        None => writer,
    })))
}

fn check_sides(format: ImageFormat, info: PictureInfo) -> Result<()> {
    if format == ImageFormat::WebP && info.width().max(info.height()) > WEBP_MAX_SIDE {
        bail!(Usage(format!(
            "WebP holds at most {WEBP_MAX_SIDE} pixels on a side; use --max-side {WEBP_MAX_SIDE} or another format"
        )));
    }
    Ok(())
}

/// Gray rows in three equal colours, if colour is wanted.
fn in_colour(rows: Picture, colour: Colour) -> Result<Picture> {
    let format = rows.format();
    if format.colour == colour {
        return Ok(rows);
    }
    let (width, height) = (rows.width(), rows.height());
    let samples = match rows.into_samples() {
        Samples::U8(gray) => Samples::U8(gray.into_iter().flat_map(|v| [v; 3]).collect()),
        Samples::U16(gray) => Samples::U16(gray.into_iter().flat_map(|v| [v; 3]).collect()),
    };
    let format = PixelFormat { colour, ..format };
    Ok(Picture::new(width, height, format, samples)?)
}
