//! Handwritten digits: a gzip-compressed IDX file of 28x28 pictures.

use super::DataDir;
use crate::error::PaperError;
use faer::Mat;
use flate2::read::GzDecoder;
use rand_pcg::Pcg64;
use std::io::Read;
use std::path::Path;

const FILE: &str = "t10k-images-idx3-ubyte.gz";
/// Type byte 8 (unsigned bytes), three dimensions.
const MAGIC: u32 = 0x0000_0803;
const HEADER: usize = 16;
/// The published files hold 47 MB at most; anything far above is not one of them.
const MAX_UNPACKED: u64 = 1 << 27;

/// Loads `count` random digits, one per column, pixels 0..255 as they are.
pub(crate) fn load_digits(
    data: &DataDir,
    count: usize,
    rng: &mut Pcg64,
) -> Result<Mat<f64>, PaperError> {
    let path = data.file("mnist", FILE)?;
    let bytes = unpack(&path)?;
    let digits = Digits::parse(&path, &bytes)?;
    let count = count.min(digits.count);
    let values: Vec<f64> = super::choose(digits.count, count, rng)
        .into_iter()
        .flat_map(|index| digits.pixels(index))
        .map(|&pixel| f64::from(pixel))
        .collect();
    Ok(super::matrix(digits.area, count, &values))
}

fn unpack(path: &Path) -> Result<Vec<u8>, PaperError> {
    let packed = std::fs::File::open(path).map_err(|error| PaperError::io(path, error))?;
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .take(MAX_UNPACKED)
        .read_to_end(&mut bytes)
        .map_err(|error| {
            PaperError::garbled(path, format!("not a complete gzip file ({error})"))
        })?;
    Ok(bytes)
}

/// The pictures of an IDX file; `pictures.len() == count * area` and neither is zero.
struct Digits<'a> {
    count: usize,
    area: usize,
    pictures: &'a [u8],
}

impl<'a> Digits<'a> {
    fn parse(path: &Path, bytes: &'a [u8]) -> Result<Self, PaperError> {
        let word = |index: usize| {
            let field = bytes.get(4 * index..4 * index + 4);
            field.map(|field| u32::from_be_bytes([field[0], field[1], field[2], field[3]]))
        };
        let (Some(magic), Some(count), Some(height), Some(width)) =
            (word(0), word(1), word(2), word(3))
        else {
            return Err(PaperError::garbled(path, "the IDX header is cut short"));
        };
        let pictures = &bytes[HEADER..];
        let area = u64::from(height) * u64::from(width);
        if magic != MAGIC || area == 0 || count == 0 {
            return Err(PaperError::garbled(
                path,
                "not an IDX file of pictures (idx3-ubyte)",
            ));
        }
        if area.checked_mul(u64::from(count)) != Some(pictures.len() as u64) {
            let reason = format!(
                "the header promises {count} pictures of {height}x{width}, the file holds {} bytes",
                pictures.len()
            );
            return Err(PaperError::garbled(path, reason));
        }
        Ok(Self {
            count: count as usize,
            area: area as usize,
            pictures,
        })
    }

    fn pixels(&self, index: usize) -> &'a [u8] {
        &self.pictures[index * self.area..(index + 1) * self.area]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(count: u8, side: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, side, 0, 0, 0, side];
        bytes.extend((0..payload).map(|value| value as u8));
        bytes
    }

    #[test]
    fn reads_pictures_in_order() {
        let bytes = file(2, 3, 18);
        let digits = Digits::parse(Path::new("d"), &bytes).unwrap();
        assert_eq!(digits.pixels(1), (9..18).collect::<Vec<u8>>());
    }

    #[test]
    fn refuses_short_and_foreign_files() {
        for bytes in [file(2, 3, 17), file(0, 3, 0), vec![0; 8], vec![1; 40]] {
            assert!(Digits::parse(Path::new("d"), &bytes).is_err());
        }
    }
}
