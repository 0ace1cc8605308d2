//! What a learned dictionary gains on the test pictures of a collection, against the built-in one and against the
//! points of AVIF in a table (`file,codec,q,bytes,payload_bytes,mse`, payload only):
//!
//! ```text
//! cargo run --release -p tessera-eval --no-default-features --example collection -- \
//!     TEST_DIR POINTS.csv [LEARNED.tsd [EVERY [EFFORT]]]
//! ```
//!
//! Whole files of ours, decoded again; PSNR over all samples; BD-rate per picture, mean over every EVERY-th picture.

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::read_picture;
use tessera_codec::{Decoder, Encoder, Fingerprint, Picture};
use tessera_dict::Dictionary;
use tessera_eval::bd::{RdCurve, bd_rate};
use tessera_eval::metrics::Metric;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

const QUALITIES: [u8; 6] = [0, 20, 40, 55, 70, 85];
const PEER: &str = "avif";
const METRIC: Metric = Metric::PsnrRgb;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, points, ..] = &arguments[..] else {
        return Err("usage: collection TEST_DIR POINTS.csv [LEARNED.tsd [EVERY [EFFORT]]]".into());
    };
    let learned = match arguments.get(2) {
        Some(file) => Some(Dictionary::from_bytes(&std::fs::read(file)?)?),
        None => None,
    };
    let number = |at: usize, usual: usize| match arguments.get(at) {
        Some(text) => text.parse(),
        None => Ok(usual),
    };
    let (every, effort) = (number(3, 1)?, number(4, 5)? as u8);
    let peer = peer_curves(Path::new(points))?;
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    let changes: Vec<[Option<f64>; 3]> = files
        .par_iter()
        .step_by(every)
        .map(|file| changes(file, &peer, learned.as_ref(), effort))
        .collect::<Result<_>>()?;
    for (at, name) in [
        "default against AVIF payload",
        "learned against AVIF payload",
        "learned against default",
    ]
    .iter()
    .enumerate()
    {
        tell(name, changes.iter().filter_map(|row| row[at]).collect());
    }
    Ok(())
}

fn tell(name: &str, mut changes: Vec<f64>) {
    if changes.is_empty() {
        return;
    }
    changes.sort_by(f64::total_cmp);
    let mean = changes.iter().sum::<f64>() / changes.len() as f64;
    println!(
        "{name}: {:+.1} % (best {:+.1}, worst {:+.1}, {} pictures)",
        100.0 * mean,
        100.0 * changes[0],
        100.0 * changes[changes.len() - 1],
        changes.len()
    );
}

/// Default against peer, learned against peer, learned against default.
fn changes(
    file: &Path,
    peer: &BTreeMap<String, RdCurve>,
    learned: Option<&Dictionary>,
    effort: u8,
) -> Result<[Option<f64>; 3]> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let mut picture = read_picture(&std::fs::read(file)?)?;
    // The payload of the peer has no profile either, and some of these pictures carry one of 500 bytes.
    picture.metadata = Default::default();
    let default = curve(&picture, None, effort)?;
    let learned = learned
        .map(|dictionary| curve(&picture, Some(dictionary), effort))
        .transpose()?;
    let peer = peer.get(&*name);
    let change = |anchor: Option<&RdCurve>, test: Option<&RdCurve>| {
        bd_rate(anchor?, test?).ok().map(|bd| bd.change)
    };
    Ok([
        change(peer, Some(&default)),
        change(peer, learned.as_ref()),
        change(Some(&default), learned.as_ref()),
    ])
}

fn curve(picture: &Picture, dictionary: Option<&Dictionary>, effort: u8) -> Result<RdCurve> {
    let mut points = Vec::new();
    for quality in QUALITIES {
        let mut encoder = Encoder::new().threads(1).effort(effort).quality(quality);
        let mut decoder = Decoder::new().threads(1);
        if let Some(dictionary) = dictionary {
            encoder = encoder.dictionary(dictionary.clone());
            decoder = decoder.dictionary(dictionary.clone());
        }
        let encoded = encoder.encode(picture)?;
        let decoded = decoder.decode(&encoded.bytes[..])?;
        if Some(Fingerprint::of(&decoded)) != encoded.measured.map(|measured| measured.fingerprint)
        {
            return Err("the decoder sees something else than the encoder promised".into());
        }
        let error = mean_squared_error(picture, &decoded);
        points.push((encoded.bytes.len() as f64, psnr(error)));
    }
    Ok(RdCurve::new(METRIC, points))
}

fn mean_squared_error(a: &Picture, b: &Picture) -> f64 {
    let (stride, other) = (a.format().channels(), b.format().channels());
    let colours = a.format().colour_channels();
    let pixels = (a.width() * a.height()) as usize;
    let mut sum = 0.0;
    for pixel in 0..pixels {
        for channel in 0..colours {
            let (a, b) = (
                a.samples().get(pixel * stride + channel),
                b.samples().get(pixel * other + channel),
            );
            sum += f64::from(a.abs_diff(b)).powi(2);
        }
    }
    sum / (pixels * colours) as f64
}

fn psnr(mean_squared_error: f64) -> f64 {
    10.0 * (255.0 * 255.0 / mean_squared_error.max(1e-3)).log10()
}

/// Curves of payload bytes over PSNR, by file.
fn peer_curves(table: &Path) -> Result<BTreeMap<String, RdCurve>> {
    let mut points: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for line in std::fs::read_to_string(table)?.lines().skip(1) {
        let [file, codec, _, _, payload, error] = line.split(',').collect::<Vec<_>>()[..] else {
            return Err(format!("not a line of points: {line}").into());
        };
        if codec == PEER {
            let point = (payload.parse()?, psnr(error.parse()?));
            points.entry(file.to_string()).or_default().push(point);
        }
    }
    let curve = |(file, points)| (file, RdCurve::new(METRIC, points));
    Ok(points.into_iter().map(curve).collect())
}
