//! `dictionary.md`, "File" and "Packing".

use super::{Content, atoms, bases, networks, priors, references};
use crate::bytes::{Reader, crc32};
use crate::error::{Result, ensure, refuse};

pub(super) const MAGIC: [u8; 3] = *b"TSD";
const VERSION: u8 = 5;
/// "Packing": no body is longer.
const MAX_BODY: usize = 1 << 24;
/// "Filters": bands, classes and weights.
const FILTER: usize = 3 * 160 * 12;
const MAX_GAIN: i32 = 131_072;

/// Reads a full dictionary file.
pub(super) fn read(file: &[u8]) -> Result<Content> {
    let sections = Sections::read(file)?;
    let bases = [
        bases::read(&sections.needed(b"BASL")?, 0)?,
        bases::read(&sections.needed(b"BASC")?, 1)?,
    ];
    let atoms = sections.optional(b"ATOM", atoms::read)?;
    let references = sections
        .optional(b"REFS", references::read)?
        .unwrap_or_default();
    let tables =
        |kind: usize| priors::sizes(kind, &bases, atoms.as_deref(), !references.is_empty());
    let priors = [
        priors::read(&sections.needed(b"PRIL")?, &tables(0))?,
        priors::read(&sections.needed(b"PRIC")?, &tables(1))?,
    ];
    Ok(Content {
        filters: [
            read_filter(&sections.needed(b"FILL")?)?,
            read_filter(&sections.needed(b"FILC")?)?,
        ],
        points: read_points(&sections.needed(b"RECO")?)?,
        networks: sections
            .optional(b"NETS", networks::read)?
            .unwrap_or_default(),
        patch_networks: sections.optional(b"NETP", networks::read_patches)?,
        lossless_networks: sections
            .optional(b"NETL", networks::read_lossless)?
            .unwrap_or_default(),
        provenance: read_provenance(sections.needed(b"PROV")?)?,
        bases,
        atoms,
        priors,
        references,
    })
}

/// Writes the file that reading would give this content, as every writer does.
pub(super) fn write(content: &Content) -> Vec<u8> {
    let mut file = MAGIC.to_vec();
    file.push(VERSION);
    let mut section = |tag: &[u8; 4], body: &[u8]| {
        let packed = pack(body);
        file.extend(tag);
        file.extend((packed.len() as u32).to_le_bytes());
        file.extend(crc32(&[&packed]).to_le_bytes());
        file.extend(packed);
    };
    section(b"BASL", &bases::write(&content.bases[0]));
    section(b"BASC", &bases::write(&content.bases[1]));
    if let Some(sets) = &content.atoms {
        section(b"ATOM", &atoms::write(sets));
    }
    section(b"PRIL", &priors::write(&content.priors[0]));
    section(b"PRIC", &priors::write(&content.priors[1]));
    section(b"FILL", &i16_bytes(&content.filters[0]));
    section(b"FILC", &i16_bytes(&content.filters[1]));
    section(b"RECO", content.points.as_flattened());
    if content.networks.iter().any(Option::is_some) {
        section(b"NETS", &networks::write(&content.networks));
    }
    if let Some(patches) = &content.patch_networks {
        section(b"NETP", &networks::write_patches(patches));
    }
    if content.lossless_networks.iter().any(Option::is_some) {
        section(
            b"NETL",
            &networks::write_lossless(&content.lossless_networks),
        );
    }
    if !content.references.is_empty() {
        section(b"REFS", &references::write(&content.references));
    }
    section(b"PROV", &content.provenance);
    file
}

pub(super) fn i16_bytes(numbers: &[i16]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

pub(super) fn u16_bytes(numbers: &[u16]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

/// The packed bodies by their tags.
struct Sections<'a>(Vec<([u8; 4], &'a [u8])>);

impl<'a> Sections<'a> {
    fn read(file: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(file);
        ensure(reader.array()? == MAGIC, "this is no dictionary")?;
        ensure(
            reader.u8()? == VERSION,
            "a version of dictionaries that is not known",
        )?;
        let mut sections = Vec::new();
        while !reader.is_done() {
            let tag = reader.array()?;
            let (length, check) = (reader.u32()?, reader.u32()?);
            let packed = reader.take(length as usize)?;
            ensure(
                crc32(&[packed]) == check,
                "a section of the dictionary is damaged",
            )?;
            sections.push((tag, packed));
        }
        Ok(Self(sections))
    }

    /// Of a tag that appears twice the first counts.
    fn body(&self, tag: &[u8; 4]) -> Result<Option<Vec<u8>>> {
        let found = self.0.iter().find(|section| section.0 == *tag);
        found.map(|section| unpack(section.1)).transpose()
    }

    fn needed(&self, tag: &[u8; 4]) -> Result<Vec<u8>> {
        match self.body(tag)? {
            Some(body) => Ok(body),
            None => refuse("a section of the dictionary is missing"),
        }
    }

    fn optional<T>(&self, tag: &[u8; 4], read: impl Fn(&[u8]) -> Result<T>) -> Result<Option<T>> {
        self.body(tag)?.map(|body| read(&body)).transpose()
    }
}

fn unpack(packed: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader::new(packed);
    let length = reader.u32()? as usize;
    ensure(
        length <= MAX_BODY,
        "a section of the dictionary is too long",
    )?;
    let mut body = Vec::new();
    while !reader.is_done() {
        match reader.u8()? {
            0 => body.resize(body.len() + usize::from(reader.u8()?) + 1, 0),
            byte => body.push(byte),
        }
        ensure(body.len() <= length, "a section has more bytes than stated")?;
    }
    ensure(
        body.len() == length,
        "a section has fewer bytes than stated",
    )?;
    Ok(body)
}

/// "Writers make runs as long as possible, at most 256."
fn pack(body: &[u8]) -> Vec<u8> {
    let mut packed = (body.len() as u32).to_le_bytes().to_vec();
    let mut rest = body;
    while let Some(&first) = rest.first() {
        let run = rest.iter().take(256).take_while(|&&byte| byte == 0).count();
        packed.push(first);
        if run > 0 {
            packed.push((run - 1) as u8);
        }
        rest = &rest[run.max(1)..];
    }
    packed
}

fn read_filter(body: &[u8]) -> Result<Vec<i16>> {
    let mut reader = Reader::new(body);
    let weights = reader.i16s(FILTER)?;
    reader.end("the filters")?;
    let gain = |class: &[i16]| {
        class
            .iter()
            .map(|&weight| i32::from(weight).abs())
            .sum::<i32>()
    };
    let bounded = weights
        .chunks_exact(12)
        .all(|class| gain(class) <= MAX_GAIN);
    ensure(bounded, "the weights of a filter are too large")?;
    Ok(weights)
}

fn read_provenance(body: Vec<u8>) -> Result<Vec<u8>> {
    ensure(
        std::str::from_utf8(&body).is_ok(),
        "the provenance is not UTF-8",
    )?;
    Ok(body)
}

/// "Reconstruction points".
fn read_points(body: &[u8]) -> Result<[[u8; 3]; 2]> {
    let mut reader = Reader::new(body);
    let points = [reader.array()?, reader.array()?];
    reader.end("the reconstruction points")?;
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_gives_the_file_that_was_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        for name in [
            "crates/tessera-dict/assets/default.tsd",
            "fixtures/conformance/references/references.tsd",
        ] {
            let file = std::fs::read(format!("{folder}/{name}")).unwrap();
            assert!(write(&read(&file).unwrap()) == file, "{name}");
        }
    }
}
