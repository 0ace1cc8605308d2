//! How much of a picture was kept, as `tessera compare` tells it.

use crate::failure::{Cause, Failure, Result};
use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};

/// SSIMULACRA2 between two pictures in RGBA; alpha is not looked at.
pub(crate) fn ssimulacra2(a: &[u8], b: &[u8], width: u32, height: u32) -> Result<f64> {
    let (a, b) = (rgb(a), rgb(b));
    let slice = |samples| {
        let stride = width as usize * 3;
        PixelSlice::new(samples, width, height, stride, PixelDescriptor::RGB8_SRGB)
            .map_err(|error| Failure::new(Cause::Parameter, error.to_string()))
    };
    compute_ssimulacra2(&slice(&a)?, &slice(&b)?)
        .map_err(|error| Failure::new(Cause::Parameter, error.to_string()))
}

fn rgb(rgba: &[u8]) -> Vec<u8> {
    let pixels = rgba.as_chunks::<4>().0;
    pixels
        .iter()
        .flat_map(|[r, g, b, _]| [*r, *g, *b])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_like_itself_and_unlike_others() {
        let waves: Vec<u8> = (0..64 * 64 * 4).map(|i| (i * i / 97 % 251) as u8).collect();
        let flat = vec![128; waves.len()];
        assert_eq!(ssimulacra2(&waves, &waves, 64, 64).unwrap(), 100.0);
        assert!(ssimulacra2(&waves, &flat, 64, 64).unwrap() < 30.0);
        assert!(ssimulacra2(&waves, &flat, 65, 64).is_err());
    }
}
