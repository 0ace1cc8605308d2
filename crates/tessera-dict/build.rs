//! Names the default dictionary, and unpacks it for programs that carry it, so that they need not do so whenever they
//! start.

use std::path::Path;
use std::{env, fs};

#[allow(dead_code)]
#[path = "src/pack.rs"]
mod pack;

/// What `pack` calls its errors.
mod error {
    #[derive(Debug)]
    pub(crate) enum Error {
        Truncated,
        #[allow(dead_code)]
        Corrupt(&'static str),
    }
}

const PACKED: &str = "assets/default.tsd";
/// Magic and version.
const HEAD: usize = 4;
/// Tag, length and checksum of a section.
const SECTION_HEAD: usize = 12;

fn main() {
    println!("cargo::rerun-if-changed={PACKED}");
    println!("cargo::rerun-if-changed=src/pack.rs");
    let packed = fs::read(PACKED).expect("the default dictionary can be read");
    // As `DictId::of`, which the crate tests.
    write("default.identity", &blake3::hash(&packed).as_bytes()[..16]);
    if env::var_os("CARGO_FEATURE_BUILTIN").is_some() {
        write("default.sections", &unpacked(&packed));
    }
}

/// The sections: tag, length and body each.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    let mut rest = &packed[HEAD..];
    let mut plain = Vec::new();
    while !rest.is_empty() {
        let (head, behind) = rest.split_at(SECTION_HEAD);
        let length = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
        let body = pack::unpack_zeros(&behind[..length]).expect("the default dictionary is valid");
        plain.extend(&head[..4]);
        plain.extend((body.len() as u32).to_le_bytes());
        plain.extend(body);
        rest = &behind[length..];
    }
    plain
}

fn write(name: &str, content: &[u8]) {
    let folder = env::var_os("OUT_DIR").expect("cargo says where to build");
    fs::write(Path::new(&folder).join(name), content).expect("the build folder can be written");
}
