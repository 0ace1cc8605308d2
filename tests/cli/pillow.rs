//! Every picture of Pillow's own tests through the real command: none may panic, hang or come out
//! as another picture, and what cannot be read is refused in a sentence.
//!
//! The pictures are not part of this repository. Unpack the source of Pillow and run
//!
//! ```text
//! TESSERA_PILLOW_IMAGES=pillow/Tests/images cargo test -p tessera-cli --test cli pillow -- --ignored
//! ```
//!
//! with a `python3` that has Pillow, whose readings are the reference.

use image::{DynamicImage, ImageReader};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const FOLDER: &str = "TESSERA_PILLOW_IMAGES";
const LONGEST: Duration = Duration::from_secs(60);
const LOWEST_PSNR: f64 = 40.0;
const FEWEST_ENCODED: usize = 650;
const FEWEST_TIFF: usize = 85;

/// Files that Pillow and we read differently for a good reason: a path and the reason.
const DIFFERENCES: &str = include_str!("pillow_support/differences.txt");

/// Words of the decoders of others, which no message of ours may have.
const RAW_WORDS: [&str; 9] = [
    "Unknown(",
    "failed to fill",
    "Format error",
    "decoder for",
    "unexpected end",
    "panicked",
    "assertion",
    "ChunkType",
    "Some(",
];

/// What became of one file.
enum Outcome {
    Encoded,
    Refused,
    Wrong(String),
}

#[test]
#[ignore = "needs the pictures of Pillow's source, named by TESSERA_PILLOW_IMAGES, and Pillow"]
fn every_picture_is_right_or_refused() {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| panic!("{FOLDER} must name Pillow's Tests/images"));
    let files = files_below(&folder);
    assert!(
        files.len() > 1000,
        "{} files in {}",
        files.len(),
        folder.display()
    );
    let work = tempfile::tempdir().unwrap();
    write_references(&folder, work.path());
    let differences = differences();
    let mut encoded = Vec::new();
    let mut wrong = Vec::new();
    for file in &files {
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        match try_file(file, name, work.path(), differences.get(name)) {
            Outcome::Encoded => encoded.push(name),
            Outcome::Refused => {}
            Outcome::Wrong(reason) => wrong.push(format!("{name}: {reason}")),
        }
    }
    let is_tiff = |name: &&&str| name.ends_with(".tif") || name.ends_with(".tiff");
    let tiff = encoded.iter().filter(is_tiff).count();
    println!(
        "{} files, {} encoded, {tiff} of them TIFF",
        files.len(),
        encoded.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(encoded.len() >= FEWEST_ENCODED, "{} encoded", encoded.len());
    assert!(tiff >= FEWEST_TIFF, "{tiff} TIFF files");
    for name in differences.keys() {
        assert!(
            encoded.contains(name),
            "{name} is listed but was not encoded"
        );
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(files_below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

fn write_references(folder: &Path, work: &Path) {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/cli/pillow_support/references.py"
    );
    let status = Command::new("python3")
        .arg(script)
        .arg(folder)
        .arg(work)
        .status();
    let done = status.expect("python3 is needed").success();
    assert!(done, "python3 with Pillow is needed for the references");
}

/// The table of the listed files.
fn differences() -> BTreeMap<&'static str, &'static str> {
    let lines = DIFFERENCES.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| line.split_once(": ").expect("path: reason"))
        .collect()
}

fn try_file(file: &Path, name: &str, work: &Path, listed: Option<&&str>) -> Outcome {
    let (coded, decoded) = (work.join("coded.tsr"), work.join("decoded.png"));
    let command = |arguments: &[&str], from: &Path, to: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
        command
            .args(arguments)
            .arg("--force")
            .arg(from)
            .arg("-o")
            .arg(to);
        finish(
            command
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    };
    match command(&["encode", "-q", "90", "--effort", "1"], file, &coded) {
        Ok(_) => {}
        Err(message) => return judge_refusal(file, &message),
    }
    if let Err(message) = command(&["decode"], &coded, &decoded) {
        return Outcome::Wrong(format!("encoded but not decoded: {message}"));
    }
    let reference = work.join(format!("{}.png", name.replace('/', "__")));
    if listed.is_some() || !reference.exists() {
        return Outcome::Encoded;
    }
    match psnr(&open(&decoded), &open(&reference)) {
        Some(psnr) if psnr >= LOWEST_PSNR => Outcome::Encoded,
        Some(psnr) => Outcome::Wrong(format!("{psnr:.1} dB against Pillow's reading")),
        None => Outcome::Wrong("another size than in Pillow's reading".into()),
    }
}

/// Standard error of a command that failed or took too long.
fn finish(mut child: Child) -> Result<(), String> {
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > LONGEST {
            child.kill().unwrap();
            return Err("took too long".into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    match output.status.code() {
        Some(0) => Ok(()),
        code => Err(format!(
            "{code:?} {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// A refusal has one of the codes for bad input, and is one line that names the file and is ours.
fn judge_refusal(file: &Path, message: &str) -> Outcome {
    let code = ["Some(2) ", "Some(3) ", "Some(5) "].iter();
    let Some(text) = code.filter_map(|code| message.strip_prefix(code)).next() else {
        return Outcome::Wrong(message.into());
    };
    let start = format!("tessera: {}: ", file.display());
    let sentence = text.strip_prefix(&start).unwrap_or_default().trim_end();
    let says_what_to_do = sentence.contains("; ")
        || sentence == "the file is empty"
        || sentence.starts_with("not a picture in a known format");
    let raw = RAW_WORDS.iter().any(|word| sentence.contains(word));
    match says_what_to_do && !raw && !sentence.contains('\n') {
        true => Outcome::Refused,
        false => Outcome::Wrong(format!("refused with {text:?}")),
    }
}

fn open(path: &Path) -> DynamicImage {
    let mut reader = ImageReader::open(path)
        .unwrap()
        .with_guessed_format()
        .unwrap();
    reader.no_limits();
    reader.decode().unwrap()
}

/// Over colours as they are seen, that is times alpha, and alpha; `None` if the sizes differ.
fn psnr(a: &DynamicImage, b: &DynamicImage) -> Option<f64> {
    let (a, b) = (a.to_rgba16(), b.to_rgba16());
    if a.dimensions() != b.dimensions() {
        return None;
    }
    let seen = |pixel: &image::Rgba<u16>| {
        let [r, g, b, a] = pixel.0.map(|v| f64::from(v) / 65535.0);
        [r * a, g * a, b * a, a]
    };
    let pairs = a.pixels().zip(b.pixels());
    let squares = pairs.flat_map(|(a, b)| {
        let (a, b) = (seen(a), seen(b));
        (0..4).map(move |i| (a[i] - b[i]).powi(2))
    });
    let mean = squares.sum::<f64>() / (4.0 * f64::from(a.width()) * f64::from(a.height()));
    Some(-10.0 * mean.log10())
}
