//! Decodes a picture: `tessera-reference FILE [--dict DICTIONARY] -o OUT`, or tries itself on the conformance files:
//! `tessera-reference --conformance FOLDER`.

use std::path::Path;
use std::process::ExitCode;
use tessera_reference::{Dictionary, Shelf, conformance, decode};

const USAGE: &str =
    "usage: tessera-reference FILE.tsr [--dict DICTIONARY.tsd] -o OUT.ppm|.pgm|.pam";
const BUILT_IN: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../tessera-dict/assets/default.tsd"
));

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let (mut file, mut dictionary, mut out) = (None, None, None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--dict" => dictionary = Some(arguments.next().ok_or(USAGE)?),
            "--conformance" => return conform(&arguments.next().ok_or(USAGE)?),
            "-o" => out = Some(arguments.next().ok_or(USAGE)?),
            _ if file.is_none() => file = Some(argument),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let (file, out) = (file.ok_or(USAGE)?, out.ok_or(USAGE)?);
    let named = |name: &str, error: &dyn std::fmt::Display| format!("{name}: {error}");
    let read = |name: &str| std::fs::read(name).map_err(|error| named(name, &error));
    let mut shelf = shelf()?;
    if let Some(name) = dictionary {
        let dictionary =
            Dictionary::read(&read(&name)?, &shelf).map_err(|error| named(&name, &error))?;
        shelf = shelf.with(dictionary);
    }
    let picture = decode(&read(&file)?, &shelf).map_err(|error| named(&file, &error))?;
    std::fs::write(&out, picture.pnm()).map_err(|error| named(&out, &error))
}

fn shelf() -> Result<Shelf, String> {
    let built_in = Dictionary::built_in(BUILT_IN);
    built_in
        .map(Shelf::new)
        .map_err(|error| format!("built-in dictionary: {error}"))
}

/// Fails with the first file that is not decoded, or refused, as it should be.
fn conform(folder: &str) -> Result<(), String> {
    let count = conformance::check(Path::new(folder), &shelf()?)?;
    println!("{count} files are decoded, or refused, as they should be");
    Ok(())
}
