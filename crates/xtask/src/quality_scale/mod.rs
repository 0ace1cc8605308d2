//! The quality scale: what a look over a photo measures, beside what SSIMULACRA2 says of the decoded photo.

mod fit;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use fit::{Observation, Table};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tessera_codec::{
    Decoder, Downscaler, Encoder, Picture, PictureInfo, PixelFormat, Samples, Scale, Target,
};
use tessera_eval::codec::{Quality, Registry};
use tessera_eval::image8::Image8;
use tessera_eval::metrics::ssimulacra2;

/// Our qualities, and those of JPEG whose means are near.
const QUALITIES: [(u8, &str); 4] = [(25, "25"), (50, "50"), (75, "82"), (90, "94")];

/// Which pictures are judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Judged {
    /// Those the fit does not see.
    LeftOut,
    /// All of them, as they are.
    All,
}

/// Fits the scale, or judges it.
pub(crate) fn run(folder: &Path, judge: Option<Judged>) -> Result<()> {
    let photos = photos(folder)?;
    match judge {
        None => fit(&photos),
        Some(which) => self::judge(&photos, which),
    }
}

/// The pictures of a folder in the order of their names.
fn photos(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut paths = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.retain(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|ending| ["png", "webp", "jpg"].contains(&ending))
    });
    paths.sort();
    if paths.is_empty() {
        bail!("there is no picture in {}", folder.display());
    }
    Ok(paths)
}

/// One photo of three is kept for judging; three in a row, so that all sizes are.
fn is_left_out(index: usize) -> bool {
    index / 3 % 3 == 2
}

fn fit(photos: &[PathBuf]) -> Result<()> {
    let seen = photos
        .iter()
        .enumerate()
        .filter(|(at, _)| !is_left_out(*at));
    let seen: Vec<_> = seen.collect();
    let observed = seen
        .par_iter()
        .map(|(at, path)| observe(&varied(path, *at)?))
        .collect::<Result<Vec<_>>>()?;
    print!("{}", Table::fitted(&observed.concat()));
    Ok(())
}

/// The photo at every quantiser of the table.
fn observe(picture: &Picture) -> Result<Vec<Observation>> {
    let original = Image8::from_picture(picture.clone())?;
    let encoder = Encoder::new().threads(1);
    let at = |(quantiser, measures)| {
        let target = Target::Quantiser(quantiser);
        let file = encoder.clone().target(target).encode(picture)?.bytes;
        Ok(Observation {
            quantiser,
            measures,
            visible_loss: 100.0 - score(&original, Decoder::new().threads(1).decode(&file)?)?,
        })
    };
    let measures = encoder.appearance_measures(picture)?;
    measures.into_iter().map(at).collect()
}

fn score(original: &Image8, decoded: Picture) -> Result<f64> {
    let score = ssimulacra2(original, &Image8::from_picture(decoded)?)?;
    score.context("a picture is too small")
}

fn judge(photos: &[PathBuf], which: Judged) -> Result<()> {
    let all = which == Judged::All;
    let judged = photos
        .iter()
        .enumerate()
        .filter(|(at, _)| all || is_left_out(*at));
    let judged: Vec<_> = judged.collect();
    let jpeg = Registry::new().get("jpeg444")?;
    let scores = judged
        .par_iter()
        .map(|(at, path)| {
            let picture = if all { read(path)? } else { varied(path, *at)? };
            let original = Image8::from_picture(picture.clone())?;
            let of = |(ours, theirs): (u8, &str)| {
                let file = Encoder::new()
                    .threads(1)
                    .quality(ours)
                    .encode(&picture)?
                    .bytes;
                let coded = jpeg.encode(&original, &Quality::new(theirs))?.value;
                let decoded = jpeg.decode(&coded)?.value;
                let theirs = ssimulacra2(&original, &decoded)?.context("too small")?;
                Ok([score(&original, Decoder::new().decode(&file)?)?, theirs])
            };
            QUALITIES.into_iter().map(of).collect::<Result<Vec<_>>>()
        })
        .collect::<Result<Vec<_>>>()?;
    println!(
        "{} pictures: mean and deviation of SSIMULACRA2",
        scores.len()
    );
    for (at, (ours, theirs)) in QUALITIES.into_iter().enumerate() {
        let told = |codec: usize| {
            let (mean, deviation) = spread(scores.iter().map(|scores| scores[at][codec]));
            format!("{mean:.1} ({deviation:.2})")
        };
        println!("quality {ours}: {}; JPEG at {theirs}: {}", told(0), told(1));
    }
    Ok(())
}

fn spread(values: impl ExactSizeIterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

fn read(path: &Path) -> Result<Picture> {
    let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
    let picture = Image8::from_encoded(&bytes).with_context(|| path.display().to_string())?;
    let rgb = picture.to_rgb();
    let samples = rgb.samples().to_vec();
    Ok(Picture::rgb8(rgb.width(), rgb.height(), samples)?)
}

/// A photo as it is, made smaller, or its middle: details come in all sizes.
fn varied(path: &Path, index: usize) -> Result<Picture> {
    let picture = read(path)?;
    let info = PictureInfo::from(&picture);
    match index % 3 {
        0 => Ok(picture),
        1 => {
            let longest = info.width().max(info.height());
            let mut scaler = Downscaler::new(info, Scale::MaxSide(longest * 3 / 5))?;
            scaler.push(&picture)?.context("a picture has rows")
        }
        _ => middle(&picture, 448),
    }
}

/// The middle of a picture, with sides of at most this many pixels.
fn middle(picture: &Picture, side: u32) -> Result<Picture> {
    let (width, height) = (picture.width().min(side), picture.height().min(side));
    let (left, top) = (
        (picture.width() - width) / 2,
        (picture.height() - height) / 2,
    );
    let Samples::U8(samples) = picture.samples() else {
        bail!("photos have 8 bits");
    };
    let rows = samples.chunks(picture.width() as usize * 3);
    let (start, end) = (left as usize * 3, (left + width) as usize * 3);
    let rows = rows.skip(top as usize).take(height as usize);
    let cut = rows.flat_map(|row| &row[start..end]).copied().collect();
    Ok(Picture::new(
        width,
        height,
        PixelFormat::RGB8,
        Samples::U8(cut),
    )?)
}
