//! Two pictures side by side in numbers, and where they differ as a picture.

use crate::image8::{Channels, Image8, Image8Error};
use crate::metrics::{Comparison, Metric, MetricError};

/// Every metric of two pictures; `None` where they are too small for one.
///
/// If only one is gray, it is compared as RGB.
///
/// # Errors
/// [`MetricError`] if the sizes differ or a metric fails.
pub fn all_metrics(a: &Image8, b: &Image8) -> Result<Vec<(Metric, Option<f64>)>, MetricError> {
    let (a, b) = in_common_channels(a, b);
    let values = Comparison::with(&a).measure(&b, &Metric::ALL)?;
    Ok(Metric::ALL.into_iter().zip(values).collect())
}

fn in_common_channels(a: &Image8, b: &Image8) -> (Image8, Image8) {
    if a.channels() == b.channels() {
        (a.clone(), b.clone())
    } else {
        (a.to_rgb(), b.to_rgb())
    }
}

/// The largest difference of any sample.
#[must_use]
pub fn largest_difference(a: &Image8, b: &Image8) -> u8 {
    let (a, b) = in_common_channels(a, b);
    let pairs = a.samples().iter().zip(b.samples());
    pairs.map(|(x, y)| x.abs_diff(*y)).max().unwrap_or(0)
}

/// The error map: per pixel the largest difference of its samples times `gain`, from black over
/// red and yellow to white.
///
/// # Errors
/// [`Image8Error::SampleCount`] if the sizes differ.
pub fn error_map(a: &Image8, b: &Image8, gain: f64) -> Result<Image8, Image8Error> {
    let (a, b) = in_common_channels(a, b);
    let count = a.channels().count();
    let pixels = a.samples().chunks(count).zip(b.samples().chunks(count));
    let worst = |(x, y): (&[u8], &[u8])| {
        let differences = x.iter().zip(y).map(|(p, q)| p.abs_diff(*q));
        heat(f64::from(differences.max().unwrap_or(0)) * gain)
    };
    let samples: Vec<u8> = pixels.flat_map(worst).collect();
    let same_size = (a.width(), a.height()) == (b.width(), b.height());
    let size = if same_size {
        (a.width(), a.height())
    } else {
        (0, 0)
    };
    Image8::new(size.0, size.1, Channels::Rgb, samples)
}

/// Black, red, yellow, white over 0..255, one third of the range each.
fn heat(level: f64) -> [u8; 3] {
    let ramp = |start: f64| ((level - start) * 3.0).round().clamp(0.0, 255.0) as u8;
    [ramp(0.0), ramp(85.0), ramp(170.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gray(samples: Vec<u8>) -> Image8 {
        Image8::new(samples.len() as u32, 1, Channels::Gray, samples).unwrap()
    }

    #[test]
    fn the_map_is_black_where_nothing_differs_and_white_at_the_worst() {
        let map = error_map(&gray(vec![9, 0, 0]), &gray(vec![9, 255, 10]), 1.0).unwrap();
        assert_eq!(map.samples(), [0, 0, 0, 255, 255, 255, 30, 0, 0]);
        let strong = error_map(&gray(vec![0]), &gray(vec![10]), 8.5).unwrap();
        assert_eq!(strong.samples(), [255, 0, 0]);
    }

    #[test]
    fn different_sizes_are_refused() {
        assert!(error_map(&gray(vec![1, 2]), &gray(vec![1]), 1.0).is_err());
        assert!(all_metrics(&gray(vec![1, 2]), &gray(vec![1])).is_err());
    }

    #[test]
    fn gray_and_colour_meet_in_colour() {
        let (a, b) = (gray(vec![5, 6]), gray(vec![5, 9]).to_rgb());
        assert_eq!(largest_difference(&a, &b), 3);
        assert!(all_metrics(&a, &b).is_ok());
    }
}
