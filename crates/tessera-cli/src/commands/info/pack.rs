//! `tessera info` of a pack.

use crate::exit::{DAMAGED, Told};
use crate::files::print_report;
use anyhow::{Context, Result, anyhow};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tessera_codec::Decoder;
use tessera_pack::PackReader;

/// Whether a file is a pack, whatever its name.
pub(super) fn is_pack(path: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && tessera_pack::is_pack(&start)
}

/// Tells what is in a pack and compares all its checksums.
pub(super) fn run(path: &Path) -> Result<()> {
    let named = || path.display().to_string();
    let pack = PackReader::open(File::open(path).with_context(named)?).with_context(named)?;
    let pictures: u64 = pack.entries().map(|entry| entry.bytes).sum();
    let dictionary = pack.dictionary().with_context(named)?;
    let identity = dictionary.map_or("none but the default".into(), |own| own.id().to_string());
    let damaged = damaged(&pack);
    let index = pack.file_len() - pictures - pack.dictionary_bytes() - pack.unfinished_bytes();
    let mut text = format!(
        "pictures    {}, {pictures} bytes\ndictionary  {identity}, {} bytes\nindex       {index} bytes\nfile        {} bytes\n",
        pack.len(),
        pack.dictionary_bytes(),
        pack.file_len(),
    );
    if pack.unfinished_bytes() > 0 {
        text += &format!(
            "unfinished  {} bytes at the end: adding pictures was interrupted; --append writes over them\n",
            pack.unfinished_bytes()
        );
    }
    for (name, error) in &damaged {
        text += &format!("damaged     {name}: {error}\n");
    }
    text += &format!(
        "intact      {}\n",
        if damaged.is_empty() { "yes" } else { "no" }
    );
    print_report(&text)?;
    match damaged.len() {
        0 => Ok(()),
        count => Err(anyhow!(Told {
            code: DAMAGED,
            message: format!(
                "{}: {count} of {} pictures are damaged",
                path.display(),
                pack.len()
            ),
        })),
    }
}

fn damaged(pack: &PackReader<File>) -> Vec<(String, tessera_pack::Error)> {
    let check = |name: &str| -> Result<(), tessera_pack::Error> {
        let coded = pack.picture(name, Decoder::new())?;
        coded.check()?;
        coded.metadata()?;
        Ok(())
    };
    let checked = pack.names().map(|name| (name, check(name)));
    let damaged = checked.filter_map(|(name, result)| Some((name.to_owned(), result.err()?)));
    damaged.collect()
}
