//! What a file says about its picture beside the pixels.

/// The blocks that travel with a picture, each exactly as its own standard defines it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// ICC colour profile.
    pub icc: Option<Vec<u8>>,
    /// EXIF, as a TIFF stream without the `Exif\0\0` prefix of JPEG.
    pub exif: Option<Vec<u8>>,
    /// XMP packet (XML).
    pub xmp: Option<Vec<u8>>,
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
}

impl MetadataKind {
    /// All kinds in the order in which they are written.
    pub const ALL: [Self; 3] = [Self::Icc, Self::Exif, Self::Xmp];

    /// The usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Icc => "ICC",
            Self::Exif => "EXIF",
            Self::Xmp => "XMP",
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
        }
    }

    /// The place of one kind, for writing.
    pub fn slot(&mut self, kind: MetadataKind) -> &mut Option<Vec<u8>> {
        match kind {
            MetadataKind::Icc => &mut self.icc,
            MetadataKind::Exif => &mut self.exif,
            MetadataKind::Xmp => &mut self.xmp,
        }
    }

    /// The blocks that are there.
    pub fn iter(&self) -> impl Iterator<Item = (MetadataKind, &[u8])> {
        MetadataKind::ALL
            .into_iter()
            .filter_map(|kind| Some((kind, self.get(kind)?)))
    }
}
