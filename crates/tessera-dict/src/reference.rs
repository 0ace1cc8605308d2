//! Reference pictures: what all pictures of a collection show, and what patches may be predicted from.
//!
//! A reference is kept as the coded picture it is stored as. This crate knows its size only; the codec decodes
//! it, once per dictionary.

use crate::error::Error;
use crate::format::take;
use byteorder::{LittleEndian, ReadBytesExt};

/// Most references a dictionary may carry.
pub const MAX_REFERENCES: usize = 16;
/// Most pixels of all references together: they stay in memory, with up to eight bytes per pixel.
pub const MAX_PIXELS: u64 = 1 << 24;

/// A picture that patches may be predicted from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    width: u16,
    height: u16,
    stream: Vec<u8>,
}

impl Reference {
    /// A reference of the stated size coded as `stream`, a picture file that names a built-in dictionary.
    pub fn new(width: u16, height: u16, stream: Vec<u8>) -> Self {
        Self {
            width,
            height,
            stream,
        }
    }

    /// Columns.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u16 {
        self.height
    }

    /// The coded picture.
    pub fn stream(&self) -> &[u8] {
        &self.stream
    }

    /// Number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// Body of the section (`spec/dictionary.md`, "References").
pub(crate) fn write(references: &[Reference]) -> Vec<u8> {
    let mut out = Vec::new();
    for reference in references {
        out.extend(reference.width.to_le_bytes());
        out.extend(reference.height.to_le_bytes());
        out.extend((reference.stream.len() as u32).to_le_bytes());
        out.extend(&reference.stream);
    }
    out
}

/// Reads the section and holds it to the limits.
pub(crate) fn read(mut body: &[u8]) -> Result<Vec<Reference>, Error> {
    let mut references = Vec::new();
    let mut pixels = 0;
    while !body.is_empty() {
        let reference = read_one(&mut body)?;
        pixels += reference.pixels();
        references.push(reference);
        if references.len() > MAX_REFERENCES {
            return Err(Error::Corrupt("there are more than 16 reference pictures"));
        }
        if pixels > MAX_PIXELS {
            return Err(Error::Corrupt("the reference pictures are too large"));
        }
    }
    if references.is_empty() {
        return Err(Error::Corrupt("the section of references is empty"));
    }
    Ok(references)
}

fn read_one(body: &mut &[u8]) -> Result<Reference, Error> {
    let width = body.read_u16::<LittleEndian>()?;
    let height = body.read_u16::<LittleEndian>()?;
    if width == 0 || height == 0 {
        return Err(Error::Corrupt("a reference picture is empty"));
    }
    let length = body.read_u32::<LittleEndian>()? as usize;
    Ok(Reference::new(width, height, take(body, length)?.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(width: u16, height: u16) -> Reference {
        Reference::new(width, height, vec![1, 2, 3])
    }

    #[test]
    fn references_round_trip() {
        let both = [reference(3, 500), reference(65535, 1)];
        let back = read(&write(&both)).unwrap();
        let sizes: Vec<_> = back.iter().map(|r| (r.width(), r.height())).collect();
        assert_eq!(sizes, [(3, 500), (65535, 1)]);
        assert!(back.iter().all(|r| r.stream() == [1, 2, 3]));
    }

    #[test]
    fn too_many_too_large_empty_and_cut_sections_are_refused() {
        let hostile = [
            write(&vec![reference(1, 1); MAX_REFERENCES + 1]),
            write(&[reference(4096, 4096), reference(1, 1)]),
            write(&[reference(0, 9)]),
            Vec::new(),
            write(&[reference(5, 5)])[..10].to_vec(),
        ];
        for body in hostile {
            assert!(read(&body).is_err(), "{} bytes", body.len());
        }
        assert!(read(&write(&[reference(4096, 4096)])).is_ok());
    }
}
