//! What a file says about its picture beside the pixels.

pub(crate) mod orientation;

use crate::error::FormatError;

/// The blocks that travel with a picture, each exactly as its own standard defines it.
///
/// The pixels are upright: readers and writers set the orientation that EXIF or XMP state to 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// EXIF, as a TIFF stream without the `Exif\0\0` prefix of JPEG.
    pub exif: Option<Vec<u8>>,
    /// XMP packet (XML).
    pub xmp: Option<Vec<u8>>,
    /// What the colours mean, in four numbers; goes before the profile if both are there.
    pub cicp: Option<Cicp>,
    /// How the picture becomes one of high dynamic range.
    pub gain_map: Option<GainMap>,
}

/// The kinds of metadata, numbered as in the file (`spec/container.md`, "Metadata").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataKind {
    /// ICC colour profile.
    Icc = 0,
    /// EXIF.
    Exif = 1,
    /// XMP.
    Xmp = 2,
    /// Coding-independent code points.
    Cicp = 3,
    /// Gain map.
    GainMap = 4,
}

/// Coding-independent code points (ITU-T H.273) of RGB or gray samples, as in the chunk `cICP` of PNG.
///
/// ```
/// use tessera_codec::Cicp;
/// // BT.2020 with the curve of SMPTE ST 2084, of which the usual name is HDR10.
/// let hdr = Cicp::new(9, 16, true);
/// assert!(hdr.is_hdr());
/// assert_eq!(hdr.to_string(), "9/16/0/1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cicp([u8; 4]);

impl Cicp {
    /// Colour primaries, transfer characteristics, and whether the whole range of numbers is used. The matrix is always
    /// that of RGB, 0.
    pub fn new(primaries: u8, transfer: u8, full_range: bool) -> Self {
        Self([primaries, transfer, 0, u8::from(full_range)])
    }

    /// From the bytes of a file.
    ///
    /// # Errors
    /// [`FormatError::Invalid`] unless there are four, the matrix is 0 and the range 0 or 1.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let reason = match bytes {
            &[primaries, transfer, 0, range @ 0..=1] => {
                return Ok(Self::new(primaries, transfer, range == 1));
            }
            [_, _, 0, _] => "a range of code points that is neither 0 nor 1",
            [_, _, _, _] => "code points with a matrix, of samples that have none",
            _ => "code points that are not four bytes",
        };
        Err(FormatError::invalid("the metadata", reason))
    }

    /// The bytes of a file: primaries, transfer, matrix, range.
    pub fn as_bytes(&self) -> &[u8; 4] {
        &self.0
    }

    /// Colour primaries: 1 those of sRGB, 9 of BT.2020, 12 of Display P3.
    pub fn primaries(self) -> u8 {
        self.0[0]
    }

    /// Transfer characteristics: 13 sRGB, 16 PQ, 18 HLG.
    pub fn transfer(self) -> u8 {
        self.0[1]
    }

    /// Whether the whole range of numbers is used, and not only that of video.
    pub fn full_range(self) -> bool {
        self.0[3] == 1
    }

    /// Whether brightness goes beyond that of a usual screen: PQ or HLG.
    pub fn is_hdr(self) -> bool {
        matches!(self.transfer(), 16 | 18)
    }
}

impl std::fmt::Display for Cicp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [primaries, transfer, matrix, range] = self.0;
        write!(f, "{primaries}/{transfer}/{matrix}/{range}")
    }
}

/// A gain map: another picture, as a file of its own that holds what is needed to apply it (ISO 21496-1, or Adobe's XMP),
/// and how it is turned to lie on the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GainMap(Vec<u8>);

impl GainMap {
    /// The orientation is numbered as in EXIF, 1 to 8; 1 if both pictures have the same way up.
    ///
    /// # Errors
    /// [`FormatError::Invalid`] if there is no such orientation, or no picture.
    pub fn new(orientation: u8, picture: &[u8]) -> Result<Self, FormatError> {
        Self::from_bytes([&[orientation], picture].concat())
    }

    /// From the bytes of a file: the orientation, then the picture.
    ///
    /// # Errors
    /// As for [`GainMap::new`].
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, FormatError> {
        match bytes[..] {
            [1..=8, _, ..] => Ok(Self(bytes)),
            _ => Err(FormatError::invalid(
                "the metadata",
                "a gain map without orientation or picture",
            )),
        }
    }

    /// How the map must be turned to lie on the picture, as EXIF numbers it.
    pub fn orientation(&self) -> u8 {
        self.0[0]
    }

    /// Says how the map must be turned from now on; there is no orientation but 1 to 8.
    #[cfg(feature = "image")]
    pub(crate) fn set_orientation(&mut self, orientation: u8) {
        debug_assert!((1..=8).contains(&orientation));
        self.0[0] = orientation;
    }

    /// The map, in a format of its own: JPEG, if it came with a JPEG.
    pub fn picture(&self) -> &[u8] {
        &self.0[1..]
    }

    fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl MetadataKind {
    /// All kinds in the order in which they are written.
    pub const ALL: [Self; 5] = [Self::Cicp, Self::Icc, Self::Exif, Self::Xmp, Self::GainMap];

    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icc => "ICC",
            Self::Exif => "EXIF",
            Self::Xmp => "XMP",
            Self::Cicp => "CICP",
            Self::GainMap => "gain map",
        }
    }
}

impl Metadata {
    /// True when there is nothing at all.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// The block of one kind.
    pub fn get(&self, kind: MetadataKind) -> Option<&[u8]> {
        match kind {
            MetadataKind::Icc => self.icc.as_deref(),
            MetadataKind::Exif => self.exif.as_deref(),
            MetadataKind::Xmp => self.xmp.as_deref(),
            MetadataKind::Cicp => self.cicp.as_ref().map(|cicp| &cicp.as_bytes()[..]),
            MetadataKind::GainMap => self.gain_map.as_ref().map(GainMap::as_bytes),
        }
    }

    /// Puts a block of one kind in the place of what was there; `None` takes it away.
    ///
    /// # Errors
    /// [`FormatError::Invalid`] if a block of this kind cannot be that.
    pub fn set(&mut self, kind: MetadataKind, block: Option<Vec<u8>>) -> Result<(), FormatError> {
        match kind {
            MetadataKind::Icc => self.icc = block,
            MetadataKind::Exif => self.exif = block,
            MetadataKind::Xmp => self.xmp = block,
            MetadataKind::Cicp => {
                let cicp = block.map(|block| Cicp::from_bytes(&block));
                self.cicp = cicp.transpose()?;
            }
            MetadataKind::GainMap => {
                self.gain_map = block.map(GainMap::from_bytes).transpose()?;
            }
        }
        Ok(())
    }

    /// The blocks that are there.
    pub fn iter(&self) -> impl Iterator<Item = (MetadataKind, &[u8])> {
        MetadataKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// Says in EXIF and XMP that the pixels are upright, as they are.
    pub(crate) fn set_upright(&mut self) {
        if let Some(exif) = &mut self.exif {
            orientation::reset_exif(exif);
        }
        if let Some(packet) = &mut self.xmp {
            orientation::reset_xmp(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_set_and_got() {
        let mut metadata = Metadata::default();
        for kind in MetadataKind::ALL {
            let block = match kind {
                MetadataKind::Cicp => vec![12, 13, 0, 1],
                _ => vec![1, 2, 3],
            };
            metadata.set(kind, Some(block.clone())).unwrap();
            assert_eq!(metadata.get(kind), Some(&block[..]));
        }
        assert_eq!(metadata.iter().count(), MetadataKind::ALL.len());
        for kind in MetadataKind::ALL {
            metadata.set(kind, None).unwrap();
        }
        assert!(metadata.is_empty());
    }

    #[test]
    fn impossible_blocks_are_refused() {
        let mut metadata = Metadata::default();
        for wrong in [&[9, 16, 0][..], &[9, 16, 9, 1], &[9, 16, 0, 2], &[0; 5]] {
            let set = metadata.set(MetadataKind::Cicp, Some(wrong.to_vec()));
            assert!(set.is_err(), "{wrong:?}");
        }
        for wrong in [&[][..], &[1], &[0, 7], &[9, 7]] {
            let set = metadata.set(MetadataKind::GainMap, Some(wrong.to_vec()));
            assert!(set.is_err(), "{wrong:?}");
        }
        assert!(metadata.is_empty());
    }
}
