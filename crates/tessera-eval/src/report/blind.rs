//! A page for a blind viewing test: two versions of every picture side by side, nobody knowing which is which.

use super::ReportError;
use super::viewer::data_uri;
use crate::codec::CodecError;
use crate::image8::Image8;
use serde::Serialize;

/// A version of a picture and the size of the file it came in.
#[derive(Clone, Copy, Debug)]
pub struct BlindVersion<'a> {
    /// The pixels.
    pub picture: &'a Image8,
    /// Bytes of the file.
    pub bytes: u64,
}

/// A test of two ways to code pictures.
#[derive(Clone, Debug, Serialize)]
pub struct BlindTest {
    a: String,
    b: String,
    pictures: Vec<Trial>,
}

/// A picture to be judged, as the script of the page reads it.
#[derive(Clone, Debug, Serialize)]
struct Trial {
    name: String,
    width: u32,
    height: u32,
    original: String,
    a: Version,
    b: Version,
}

#[derive(Clone, Debug, Serialize)]
struct Version {
    bytes: u64,
    image: String,
}

impl Version {
    fn of(version: BlindVersion<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            bytes: version.bytes,
            image: data_uri(version.picture)?,
        })
    }
}

impl BlindTest {
    /// A test without pictures; the names are shown when it is over.
    #[must_use]
    pub fn new(a: impl Into<String>, b: impl Into<String>) -> Self {
        Self {
            a: a.into(),
            b: b.into(),
            pictures: Vec::new(),
        }
    }

    /// Adds a picture with two versions of the same size as the original.
    ///
    /// # Errors
    /// [`CodecError`] if a picture is too large to be put into a page.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        original: &Image8,
        [a, b]: [BlindVersion<'_>; 2],
    ) -> Result<(), CodecError> {
        self.pictures.push(Trial {
            name: name.into(),
            width: original.width(),
            height: original.height(),
            original: data_uri(original)?,
            a: Version::of(a)?,
            b: Version::of(b)?,
        });
        Ok(())
    }

    /// The page, with everything inside; order and sides are drawn anew whenever it is opened.
    ///
    /// # Errors
    /// [`ReportError::Json`] if the names do not fit JSON.
    pub fn page(&self) -> Result<String, ReportError> {
        // A closing tag inside the JSON would end the script element early.
        let data = serde_json::to_string(self)?.replace("</", "<\\/");
        Ok(format!(include_str!("assets/blind.html"), data = data))
    }
}
