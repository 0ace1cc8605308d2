//! `tessera dict info`: what a dictionary holds and where it comes from.

use crate::files::print_report;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use tessera_dict::{BasisSet, format};

/// Arguments of `tessera dict info`.
#[derive(Debug, Args)]
pub(super) struct InfoArgs {
    /// The dictionary: a file, the start of an identity in the store, or `default`.
    dictionary: PathBuf,
    /// Print JSON for machines.
    #[arg(long)]
    json: bool,
}

/// Everything that is reported; the names are those of the JSON output.
#[derive(Debug, Serialize)]
struct Report {
    identity: String,
    version: u8,
    bytes: usize,
    luma_bases: usize,
    chroma_bases: usize,
    references: usize,
    sections: Vec<Section>,
    provenance: String,
}

#[derive(Debug, Serialize)]
struct Section {
    tag: String,
    bytes: usize,
}

/// Runs the command.
pub(super) fn run(args: &InfoArgs) -> Result<()> {
    let (_, bytes, dictionary) = super::whole(&args.dictionary)?;
    let learned = |bases: &BasisSet| {
        let bases = bases.groups().iter().flatten();
        bases.filter(|basis| basis.rotation.is_some()).count()
    };
    let sections = format::sections(&bytes)?.into_iter();
    let report = Report {
        identity: dictionary.id().to_string(),
        version: format::VERSION,
        bytes: bytes.len(),
        luma_bases: learned(dictionary.luma()),
        chroma_bases: learned(dictionary.chroma()),
        references: dictionary.references().len(),
        sections: sections
            .map(|(tag, bytes)| Section { tag, bytes })
            .collect(),
        provenance: dictionary.provenance().to_owned(),
    };
    print_report(&match args.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => report.to_text(),
    })
}

impl Report {
    fn to_text(&self) -> String {
        let mut text = format!(
            "identity    {}\nfile        {} bytes, format version {}\nbases       {} luma, {} chroma, beside the cosine basis\nreferences  {}\n",
            self.identity,
            self.bytes,
            self.version,
            self.luma_bases,
            self.chroma_bases,
            self.references
        );
        for section in &self.sections {
            let Section { tag, bytes } = section;
            text += &format!("section     {tag} {:13} {bytes:>9} bytes\n", meaning(tag));
        }
        for line in self.provenance.lines() {
            text += &format!("origin      {line}\n");
        }
        text
    }
}

fn meaning(tag: &str) -> &'static str {
    match tag {
        "BASL" => "luma bases",
        "BASC" => "chroma bases",
        "PRIL" => "luma priors",
        "PRIC" => "chroma priors",
        "FILL" => "luma filter",
        "FILC" => "chroma filter",
        "RECO" => "points",
        "NETS" => "networks",
        "NETP" => "patch networks",
        "REFS" => "references",
        "PROV" => "origin",
        _ => "unknown",
    }
}
