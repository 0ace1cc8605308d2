//! The conformance packs hold what their manifest says, and the others are refused.

#[path = "conformance_support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use support::{MANIFEST, PackPicture, REFUSED, packs_folder, sample_hash};
use tessera_codec::Decoder;
use tessera_pack::{Error, PackReader};

/// The lines of a list in the folder of the packs, in columns.
fn lines(list: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(packs_folder().join(list)).unwrap();
    let columns = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(columns).collect()
}

/// Decodes all pictures of a pack.
fn pictures_of(path: &Path) -> Result<Vec<PackPicture>, Error> {
    let pack = PackReader::open(File::open(path)?)?;
    let file = path.file_name().unwrap().to_string_lossy().into_owned();
    let picture = |name: &str| {
        Ok(PackPicture {
            file: file.clone(),
            name: name.to_owned(),
            samples: sample_hash(&pack.picture(name, Decoder::new())?.decode()?),
        })
    };
    pack.names().map(picture).collect()
}

/// All packs that lie in the folder.
fn present() -> BTreeSet<String> {
    let files = fs::read_dir(packs_folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".tsp")).collect()
}

#[test]
fn packs_hold_the_stated_pictures() {
    let refused: BTreeSet<String> = lines(REFUSED)
        .into_iter()
        .map(|mut line| line.remove(0))
        .collect();
    let mut told = String::new();
    for file in present().difference(&refused) {
        let pictures = pictures_of(&packs_folder().join(file));
        for picture in pictures.unwrap_or_else(|error| panic!("{file}: {error}")) {
            told += &format!("{picture}\n");
        }
    }
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let manifest = fs::read_to_string(packs_folder().join(MANIFEST)).unwrap();
    assert_eq!(sorted(&told), sorted(&manifest));
    assert!(sorted(&manifest).len() > 30);
}

#[test]
fn others_are_refused_in_a_sentence() {
    let refused = lines(REFUSED);
    assert!(refused.len() >= 10);
    for line in refused {
        let error = pictures_of(&packs_folder().join(&line[0])).expect_err(&line[0]);
        assert!(
            !matches!(error, Error::Io(_)) && error.to_string().contains(' '),
            "{line:?}: {error}"
        );
    }
}

#[test]
fn an_interrupted_pack_is_the_one_before() {
    let open =
        |name: &str| PackReader::open(File::open(packs_folder().join(name)).unwrap()).unwrap();
    let (before, unfinished) = (open("plain.tsp"), open("unfinished.tsp"));
    assert!(unfinished.unfinished_bytes() > 0 && before.unfinished_bytes() == 0);
    assert!(before.names().eq(unfinished.names()));
    assert_eq!(open("appended.tsp").len(), before.len() + 1);
}
