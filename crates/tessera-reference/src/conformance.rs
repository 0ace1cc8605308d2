//! The conformance files, as `README.md` of the specification describes them.

use crate::{Dictionary, Pack, Picture, Shelf, decode, hash};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Tries all files of a folder such as `fixtures/conformance`, and counts them.
///
/// # Errors
/// The first that is not decoded, or refused, as it should be.
pub fn check(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    let mut count = streams(folder, shelf)?;
    count += streams(&folder.join("lossless"), shelf)?;
    count += references(folder, shelf)?;
    count += random(&folder.join("random"), shelf)?;
    count += refused(&folder.join("refused"), shelf)?;
    count += packs(&folder.join("packs"), shelf)?;
    Ok(count)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The lines of a list, in columns.
fn lines(list: &Path) -> Result<Vec<Vec<String>>, String> {
    let text = String::from_utf8(read(list)?).map_err(|error| error.to_string())?;
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
    Ok(text.lines().map(columns).collect())
}

fn sample_hash(picture: &Picture) -> String {
    hash(&picture.bytes())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The streams of a manifest: file, hash, what it covers.
fn streams(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    let manifest = lines(&folder.join("manifest.tsv"))?;
    for line in &manifest {
        let [file, expected, ..] = &line[..] else {
            return Err("manifest.tsv: a line with less than two columns".to_owned());
        };
        let picture = decode(&read(&folder.join(file))?, shelf);
        let picture = picture.map_err(|error| format!("{file}: {error}"))?;
        if sample_hash(&picture) != *expected {
            return Err(format!("{file}: other samples than the manifest says"));
        }
    }
    Ok(manifest.len())
}

/// Streams that need the dictionary that lies beside them, lossless ones too.
fn references(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    let shelf = with_dictionary(shelf, &folder.join("references/references.tsd"))?;
    let lossless = streams(&folder.join("lossless/networks"), &shelf)?;
    Ok(lossless + streams(&folder.join("references"), &shelf)?)
}

/// Random payloads, half of them with a random dictionary.
fn random(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    streams(folder, &with_dictionary(shelf, &folder.join("random.tsd"))?)
}

fn with_dictionary(shelf: &Shelf, path: &Path) -> Result<Shelf, String> {
    let dictionary = Dictionary::read(&read(path)?, shelf);
    Ok(shelf.with(dictionary.map_err(|error| format!("{}: {error}", path.display()))?))
}

/// Files that must be refused.
fn refused(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    let list = lines(&folder.join("refused.tsv"))?;
    for line in &list {
        if decode(&read(&folder.join(&line[0]))?, shelf).is_ok() {
            return Err(format!("{}: must be refused", line[0]));
        }
    }
    Ok(list.len())
}

/// Packs hold the pictures of the manifest (file, name, hash), but those of the other list, which must be refused.
fn packs(folder: &Path, shelf: &Shelf) -> Result<usize, String> {
    let refused = lines(&folder.join("refused.tsv"))?;
    let refused: BTreeSet<String> = refused
        .into_iter()
        .map(|mut line| line.swap_remove(0))
        .collect();
    let mut expected: BTreeMap<String, BTreeSet<(String, String)>> = BTreeMap::new();
    for line in lines(&folder.join("manifest.tsv"))? {
        let [file, name, hash] = <[String; 3]>::try_from(line)
            .map_err(|_| "manifest.tsv of packs: not three columns")?;
        expected.entry(file).or_default().insert((name, hash));
    }
    let all = packs_in(folder)?;
    for file in &all {
        match (
            pictures_of(&read(&folder.join(file))?, shelf),
            refused.contains(file),
        ) {
            (Ok(_), true) => return Err(format!("{file}: must be refused")),
            (Err(error), false) => return Err(format!("{file}: {error}")),
            (Ok(pictures), false) if pictures != expected.remove(file).unwrap_or_default() => {
                return Err(format!("{file}: other pictures than the manifest says"));
            }
            _ => {}
        }
    }
    Ok(all.len())
}

fn packs_in(folder: &Path) -> Result<BTreeSet<String>, String> {
    let files = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let names = files
        .flatten()
        .filter_map(|file| file.file_name().into_string().ok());
    Ok(names.filter(|name| name.ends_with(".tsp")).collect())
}

/// The names of a pack's pictures and the hashes of their samples.
fn pictures_of(file: &[u8], shelf: &Shelf) -> Result<BTreeSet<(String, String)>, crate::Error> {
    let pack = Pack::open(file, shelf)?;
    let picture = |name: &str| Ok((name.to_owned(), sample_hash(&pack.decode(name)?)));
    pack.names().map(picture).collect()
}
