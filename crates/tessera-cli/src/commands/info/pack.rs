//! `tessera info` of a pack.

use crate::packs;
use anyhow::{Context, Result};
use rayon::prelude::*;
use serde::Serialize;
use std::fs::File;
use std::path::Path;
use tessera_codec::Decoder;
use tessera_pack::{Entry, PackReader};

/// Everything `info` reports of a pack; the names are those of the JSON output.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    file: String,
    pub(super) intact: bool,
    bytes: u64,
    /// Those of earlier indexes, before pictures were added, included.
    index_bytes: u64,
    dictionary: Option<String>,
    dictionary_bytes: u64,
    picture_bytes: u64,
    /// Behind the index: adding pictures was interrupted.
    unfinished_bytes: u64,
    damaged: usize,
    pictures: Vec<PictureReport>,
}

/// One picture of a pack. Of one whose header is damaged only the place is known.
#[derive(Debug, Serialize)]
struct PictureReport {
    name: String,
    bytes: u64,
    /// The picture it is predicted from.
    key: Option<String>,
    width: Option<u32>,
    height: Option<u32>,
    lossless: Option<bool>,
    damage: Option<String>,
}

impl Report {
    /// Looks a pack over and compares all its checksums.
    ///
    /// # Errors
    /// If it cannot be read, or its index or dictionary is damaged.
    pub(super) fn new(path: &Path) -> Result<Self> {
        let pack = packs::open(path)?;
        let dictionary = (pack.dictionary()).with_context(|| path.display().to_string())?;
        let entries: Vec<Entry<'_>> = pack.entries().collect();
        let pictures: Vec<PictureReport> = (entries.par_iter())
            .map(|entry| PictureReport::new(&pack, entry))
            .collect();
        let damaged = pictures.iter().filter(|one| one.damage.is_some()).count();
        let picture_bytes = entries.iter().map(|entry| entry.bytes).sum();
        // Entries of a pack that somebody has tampered with may overlap.
        let others = [
            picture_bytes,
            pack.dictionary_bytes(),
            pack.unfinished_bytes(),
        ];
        let rest = others
            .into_iter()
            .fold(pack.file_len(), u64::saturating_sub);
        Ok(Self {
            file: path.display().to_string(),
            intact: damaged == 0,
            bytes: pack.file_len(),
            index_bytes: rest,
            dictionary: dictionary.map(|own| own.id().to_string()),
            dictionary_bytes: pack.dictionary_bytes(),
            picture_bytes,
            unfinished_bytes: pack.unfinished_bytes(),
            damaged,
            pictures,
        })
    }

    pub(super) fn state(&self) -> String {
        match self.damaged {
            0 => "intact".to_owned(),
            count => format!(
                "damaged: {count} of {} pictures; fetch it again",
                self.pictures.len()
            ),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let count = |lossless| {
            let alike = |one: &&PictureReport| one.lossless == Some(lossless);
            self.pictures.iter().filter(alike).count()
        };
        let dictionary = match &self.dictionary {
            Some(own) => format!("{own}, {} bytes", self.dictionary_bytes),
            None => "none but the default".to_owned(),
        };
        let predicted = match self.pictures.iter().filter(|one| one.key.is_some()).count() {
            0 => String::new(),
            count => format!(", {count} predicted from others"),
        };
        let mut lines = vec![
            format!("state       {}", self.state()),
            format!(
                "pictures    {} ({} lossy, {} lossless{predicted}), {} bytes",
                self.pictures.len(),
                count(false),
                count(true),
                self.picture_bytes
            ),
            format!("dictionary  {dictionary}"),
            format!("index       {} bytes", self.index_bytes),
            format!("file        {} bytes", self.bytes),
        ];
        if self.unfinished_bytes > 0 {
            lines.push(format!(
                "unfinished  {} bytes at the end: adding pictures was interrupted; --append writes over them",
                self.unfinished_bytes
            ));
        }
        let damage = |one: &PictureReport| {
            let damage = one.damage.as_ref()?;
            Some(format!("damage      {}: {damage}", one.name))
        };
        lines.extend(self.pictures.iter().filter_map(damage));
        lines.join("\n") + "\n"
    }
}

impl PictureReport {
    fn new(pack: &PackReader<File>, entry: &Entry<'_>) -> Self {
        let mut report = Self {
            name: entry.name.to_owned(),
            bytes: entry.bytes,
            key: entry.key.map(str::to_owned),
            width: None,
            height: None,
            lossless: None,
            damage: None,
        };
        report.damage = report.check(pack).err().map(|error| error.to_string());
        report
    }

    fn check(&mut self, pack: &PackReader<File>) -> Result<(), tessera_pack::Error> {
        let coded = pack.picture(&self.name, Decoder::new().threads(1))?;
        let header = coded.header();
        self.width = Some(header.width);
        self.height = Some(header.height);
        self.lossless = Some(header.lossless == Some(0));
        coded.check()?;
        coded.metadata()?;
        Ok(())
    }
}
