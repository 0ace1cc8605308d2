//! PNG and PNM, written as the rows come.

use crate::image_io::convert::stretch;
use crate::image_io::write::{Losses, WriteImageError};
use crate::image_io::xmp;
use crate::metadata::{Metadata, MetadataKind};
use crate::picture::{Colour, Picture, PixelFormat, Samples};
use crate::rows::PictureInfo;
use png::{BitDepth, ColorType, Compression, Filter, StreamWriter};
use std::io::Write;

/// Bytes of compressed data per PNG chunk.
const PNG_CHUNK: usize = 1 << 16;

/// A PNG in the making; it keeps all metadata but a gain map.
pub(super) struct PngSink<W: Write + 'static> {
    writer: StreamWriter<'static, W>,
    losses: Losses,
}

impl<W: Write + 'static> PngSink<W> {
    pub(super) fn new(
        out: W,
        info: PictureInfo,
        metadata: &Metadata,
    ) -> Result<Self, WriteImageError> {
        let mut head = png::Info::with_size(info.width(), info.height());
        head.icc_profile = metadata.icc.as_deref().map(Into::into);
        head.exif_metadata = metadata.exif.as_deref().map(Into::into);
        let mut encoder = png::Encoder::with_info(out, head)?;
        encoder.set_color(match (info.format().colour, info.format().alpha) {
            (Colour::Gray, false) => ColorType::Grayscale,
            (Colour::Gray, true) => ColorType::GrayscaleAlpha,
            (Colour::Rgb, false) => ColorType::Rgb,
            (Colour::Rgb, true) => ColorType::Rgba,
        });
        encoder.set_depth(match info.format().bytes_per_sample() {
            1 => BitDepth::Eight,
            _ => BitDepth::Sixteen,
        });
        encoder.set_compression(Compression::Fast);
        encoder.set_filter(Filter::Adaptive);
        let mut writer = encoder.write_header()?;
        if let Some(cicp) = &metadata.cicp {
            writer.write_chunk(png::chunk::cICP, cicp.as_bytes())?;
        }
        if let Some(packet) = &metadata.xmp {
            writer.write_chunk(png::chunk::iTXt, &xmp::png_text(packet))?;
        }
        let gain_map = metadata.gain_map.as_ref();
        Ok(Self {
            writer: writer.into_stream_writer_with_size(PNG_CHUNK)?,
            losses: Losses {
                dropped: gain_map
                    .map(|_| MetadataKind::GainMap)
                    .into_iter()
                    .collect(),
                reduced_to_8_bits: false,
            },
        })
    }

    pub(super) fn push(&mut self, rows: Picture) -> Result<(), WriteImageError> {
        write_samples(&mut self.writer, rows)
    }

    pub(super) fn finish(self) -> Result<Losses, WriteImageError> {
        self.writer.finish()?;
        Ok(self.losses)
    }
}

/// A graymap, a pixmap, or with alpha an arbitrary map; none of them keeps metadata.
pub(super) struct PnmSink<W> {
    out: W,
    losses: Losses,
}

impl<W: Write> PnmSink<W> {
    pub(super) fn new(
        mut out: W,
        info: PictureInfo,
        metadata: &Metadata,
    ) -> Result<Self, WriteImageError> {
        out.write_all(pnm_header(info).as_bytes())?;
        let losses = Losses {
            dropped: metadata.iter().map(|(kind, _)| kind).collect(),
            reduced_to_8_bits: false,
        };
        Ok(Self { out, losses })
    }

    pub(super) fn push(&mut self, rows: Picture) -> Result<(), WriteImageError> {
        write_samples(&mut self.out, rows)
    }

    pub(super) fn finish(mut self) -> Result<Losses, WriteImageError> {
        self.out.flush()?;
        Ok(self.losses)
    }
}

fn pnm_header(info: PictureInfo) -> String {
    let (width, height) = (info.width(), info.height());
    let PixelFormat { colour, alpha, .. } = info.format();
    let largest = match info.format().bytes_per_sample() {
        1 => 0xFF,
        _ => 0xFFFF,
    };
    let kind = match (colour, alpha) {
        (Colour::Gray, false) => return format!("P5\n{width} {height}\n{largest}\n"),
        (Colour::Rgb, false) => return format!("P6\n{width} {height}\n{largest}\n"),
        (Colour::Gray, true) => "GRAYSCALE_ALPHA",
        (Colour::Rgb, true) => "RGB_ALPHA",
    };
    let channels = info.format().channels();
    format!(
        "P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {channels}\nMAXVAL {largest}\nTUPLTYPE \
         {kind}\nENDHDR\n"
    )
}

/// Writes samples as both formats want them: depths above eight bits stretched to sixteen, high
/// byte first.
fn write_samples(out: &mut impl Write, rows: Picture) -> Result<(), WriteImageError> {
    let depth = rows.format().depth;
    let per_row = rows.width() as usize * rows.format().channels();
    match rows.into_samples() {
        Samples::U8(samples) => out.write_all(&samples)?,
        Samples::U16(mut samples) => {
            stretch(&mut samples, depth);
            for row in samples.chunks_exact(per_row) {
                let bytes: Vec<u8> = row.iter().flat_map(|sample| sample.to_be_bytes()).collect();
                out.write_all(&bytes)?;
            }
        }
    }
    Ok(())
}
