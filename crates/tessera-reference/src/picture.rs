//! What decoding gives.

/// A decoded picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Samples of a pixel: 1 gray, 2 gray and alpha, 3 red, green and blue, 4 these and alpha.
    pub channels: usize,
    /// Bits of a sample: 8, 10, 12 or 16.
    pub bits: u32,
    /// Row by row, channels interleaved.
    pub samples: Vec<u16>,
}

impl Picture {
    /// The samples as the manifests hash them: one byte each for 8 bits, else two, low byte first.
    pub fn bytes(&self) -> Vec<u8> {
        match self.bits {
            8 => self.samples.iter().map(|&sample| sample as u8).collect(),
            _ => self.samples.iter().flat_map(|s| s.to_le_bytes()).collect(),
        }
    }

    /// The picture as PGM, PPM or, with alpha, PAM.
    pub fn pnm(&self) -> Vec<u8> {
        let (width, height, top) = (self.width, self.height, (1u32 << self.bits) - 1);
        let mut file = match self.channels {
            1 => format!("P5\n{width} {height}\n{top}\n"),
            3 => format!("P6\n{width} {height}\n{top}\n"),
            depth => {
                let kind = if depth == 2 { "GRAYSCALE_ALPHA" } else { "RGB_ALPHA" };
                format!("P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH {depth}\nMAXVAL {top}\nTUPLTYPE {kind}\nENDHDR\n")
            }
        }
        .into_bytes();
        match self.bits {
            8 => file.extend(self.bytes()),
            _ => file.extend(self.samples.iter().flat_map(|s| s.to_be_bytes())),
        }
        file
    }
}
