//! `tessera dict info`: what a dictionary holds and where it comes from.

use crate::files::print_report;
use anyhow::Result;
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use tessera_dict::{BasisSet, difference, format};

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
    /// Of the file.
    bytes: usize,
    /// The base of a dictionary that is stored as a difference.
    difference_from: Option<String>,
    /// Of the dictionary without a base; the sections are those of this form.
    full_bytes: usize,
    luma_bases: usize,
    chroma_bases: usize,
    free_atoms: usize,
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
    let base = difference::head(&bytes).ok().map(|head| head.base);
    let size = bytes.len();
    let full = match base {
        Some(_) => dictionary.to_bytes(),
        None => bytes,
    };
    let sections = format::sections(&full)?.into_iter();
    let report = Report {
        identity: dictionary.id().to_string(),
        version: format::VERSION,
        bytes: size,
        difference_from: base.map(|base| base.to_string()),
        full_bytes: full.len(),
        luma_bases: learned(dictionary.luma()),
        chroma_bases: learned(dictionary.chroma()),
        free_atoms: dictionary.luma().atoms().total(),
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
    fn difference(&self) -> String {
        let base = self.difference_from.as_ref();
        base.map_or_else(String::new, |base| {
            let full = self.full_bytes;
            format!("; a difference from {base} that stands for {full} bytes")
        })
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "identity    {}\nfile        {} bytes, format version {}{}\nbases       {} luma, {} chroma, beside the cosine basis\natoms       {} free\nreferences  {}\n",
            self.identity,
            self.bytes,
            self.version,
            self.difference(),
            self.luma_bases,
            self.chroma_bases,
            self.free_atoms,
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
        "ATOM" => "free atoms",
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
