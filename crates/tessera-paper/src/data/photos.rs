//! Gray pictures and random patches of them.

use super::DataDir;
use crate::error::PaperError;
use faer::Mat;
use rand::RngExt;
use rand_pcg::Pcg64;
use std::path::Path;

/// A picture as gray values 0..255, row after row.
pub(crate) struct GrayImage {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// Loads the paper's test picture `NAME.png`, which must be at least `side` pixels each way.
pub(crate) fn load_image(data: &DataDir, name: &str, side: usize) -> Result<GrayImage, PaperError> {
    read_gray(&data.file("paper", &format!("{name}.png"))?, side)
}

/// Loads all training photos as gray pictures.
pub(crate) fn load_photos(data: &DataDir, side: usize) -> Result<Vec<GrayImage>, PaperError> {
    let paths = data.files("train", "webp")?;
    paths.iter().map(|path| read_gray(path, side)).collect()
}

fn read_gray(path: &Path, side: usize) -> Result<GrayImage, PaperError> {
    let bytes = std::fs::read(path).map_err(|error| PaperError::io(path, error))?;
    let picture =
        image::load_from_memory(&bytes).map_err(|error| PaperError::garbled(path, error))?;
    let gray = picture.into_luma8();
    let (width, height) = (gray.width() as usize, gray.height() as usize);
    if width < side || height < side {
        let reason = format!("{width}x{height} pixels are fewer than one {side}x{side} patch");
        return Err(PaperError::garbled(path, reason));
    }
    Ok(GrayImage {
        width,
        height,
        pixels: gray.into_raw(),
    })
}

/// Draws `count` overlapping `side` x `side` patches, one per column, each with its own mean removed.
///
/// A picture is drawn first, then a place in it, so that every picture is equally likely.
/// The caller has made sure that every picture holds at least one patch.
pub(crate) fn sample_patches(
    pictures: &[GrayImage],
    side: usize,
    count: usize,
    rng: &mut Pcg64,
) -> Mat<f64> {
    let mut values = Vec::with_capacity(side * side * count);
    for _ in 0..count {
        let picture = &pictures[rng.random_range(0..pictures.len())];
        let left = rng.random_range(0..=picture.width - side);
        let top = rng.random_range(0..=picture.height - side);
        picture.push_patch(left, top, side, &mut values);
    }
    super::matrix(side * side, count, &values)
}

impl GrayImage {
    fn push_patch(&self, left: usize, top: usize, side: usize, values: &mut Vec<f64>) {
        let start = values.len();
        for row in top..top + side {
            let begin = row * self.width + left;
            values.extend(
                self.pixels[begin..begin + side]
                    .iter()
                    .map(|&pixel| f64::from(pixel)),
            );
        }
        let patch = &mut values[start..];
        let mean = patch.iter().sum::<f64>() / patch.len() as f64;
        patch.iter_mut().for_each(|value| *value -= mean);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    fn ramp(width: usize, height: usize) -> GrayImage {
        let pixels = (0..width * height)
            .map(|index| (3 * (index % width) + index / width) as u8)
            .collect();
        GrayImage {
            width,
            height,
            pixels,
        }
    }

    #[test]
    fn patches_have_no_mean_and_lie_inside() {
        let mut rng = Pcg64::seed_from_u64(1);
        let patches = sample_patches(&[ramp(9, 8), ramp(8, 12)], 8, 50, &mut rng);
        assert_eq!((patches.nrows(), patches.ncols()), (64, 50));
        for patch in patches.col_iter() {
            assert!(patch.iter().sum::<f64>().abs() < 1e-9);
            // Of a ramp every patch is the same after its mean is gone, if rows are not mixed up.
            assert!(
                (patch[1] - patch[0] - 3.0).abs() < 1e-9
                    && (patch[8] - patch[0] - 1.0).abs() < 1e-9
            );
        }
    }

    #[test]
    fn same_seed_same_patches() {
        // Unlike those of a ramp, patches of this picture differ from place to place.
        let texture = GrayImage {
            width: 30,
            height: 30,
            pixels: (0..900).map(|index| (index * index % 251) as u8).collect(),
        };
        let texture = [texture];
        let draw = |seed| sample_patches(&texture, 4, 10, &mut Pcg64::seed_from_u64(seed));
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}
