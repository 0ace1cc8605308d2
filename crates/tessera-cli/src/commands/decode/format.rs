//! Which format is written, and what pictures it may hold.

use crate::exit::Usage;
use crate::files;
use anyhow::{Result, anyhow, bail};
use image::ImageFormat;
use std::path::Path;
use tessera_codec::{Colour, PixelFormat};

/// A format and the name it was asked for by: of the anymaps each name promises its own kind of picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OutputFormat {
    format: ImageFormat,
    name: String,
}

impl OutputFormat {
    /// The format named, else the one the output's extension names; streams and devices get PNG.
    pub(super) fn choose(named: Option<&str>, output: &Path) -> Result<Self> {
        if let Some(name) = named {
            return Self::named(name)
                .ok_or_else(|| anyhow!(Usage(format!("unknown output format {name}"))));
        }
        let extension = output.extension().and_then(|extension| extension.to_str());
        if let Some(format) = extension.and_then(Self::named) {
            return Ok(format);
        }
        if files::is_standard_stream(output) || is_device(output) {
            return Ok(Self {
                format: ImageFormat::Png,
                name: super::DEFAULT_FORMAT.into(),
            });
        }
        bail!(Usage(format!(
            "the name {} does not say which format to write; end it in .png, .jpg, .webp, .ppm, .pgm, .pam, .tiff or \
             .bmp, or use --format",
            output.display()
        )))
    }

    fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let format = ImageFormat::from_extension(&name)?;
        Some(Self { format, name })
    }

    pub(super) fn image_format(&self) -> ImageFormat {
        self.format
    }

    /// Refuses a quality for formats that have none.
    pub(super) fn check_quality(&self, quality: Option<u8>) -> Result<()> {
        let lossy = matches!(self.format, ImageFormat::Jpeg | ImageFormat::WebP);
        if quality.is_some() && !lossy {
            let name = &self.name;
            bail!(Usage(format!(
                "--quality is for JPEG and WebP; {name} loses nothing"
            )));
        }
        Ok(())
    }

    /// The colours to write a picture in: those it has, or three of them if the format's name promises colour.
    ///
    /// # Errors
    /// If the name promises less than the picture has.
    pub(super) fn colour_for(&self, format: PixelFormat) -> Result<Colour> {
        let refuse = |what: &str, choose: &str| {
            let name = &self.name;
            Err(anyhow!(Usage(format!(
                ".{name} files hold no {what}; choose {choose}"
            ))))
        };
        match (self.name.as_str(), format.colour, format.alpha) {
            ("pbm", ..) => refuse("shades", ".pgm, .ppm or .png"),
            ("pgm" | "ppm" | "pnm", _, true) => refuse("transparency", ".pam or .png"),
            ("pgm", Colour::Rgb, _) => refuse("colour", ".ppm or .png"),
            ("ppm", ..) => Ok(Colour::Rgb),
            (_, colour, _) => Ok(colour),
        }
    }
}

fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_file() && !path.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_anymaps_keep_their_promise() {
        let alpha = PixelFormat {
            alpha: true,
            ..PixelFormat::GRAY8
        };
        let colour_in =
            |name: &str, format| OutputFormat::named(name).unwrap().colour_for(format).ok();
        assert_eq!(colour_in("PGM", PixelFormat::GRAY8), Some(Colour::Gray));
        assert_eq!(colour_in("pgm", PixelFormat::RGB8), None);
        assert_eq!(colour_in("ppm", PixelFormat::GRAY8), Some(Colour::Rgb));
        assert_eq!(colour_in("pnm", PixelFormat::GRAY8), Some(Colour::Gray));
        assert_eq!(colour_in("pnm", alpha), None);
        assert_eq!(colour_in("pam", alpha), Some(Colour::Gray));
        assert_eq!(colour_in("pbm", PixelFormat::GRAY8), None);
        assert_eq!(colour_in("png", alpha), Some(Colour::Gray));
    }
}
