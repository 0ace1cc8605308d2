//! Names of pictures: sorted, and each stored as what it does not share with the one before.

use crate::error::Error;
use tessera_codec::internals::container::bytes::{ByteReader, put_varint};

/// Longest name in bytes, as file systems have it.
const LONGEST: usize = 4096;

/// Refuses names that would lead out of a folder, or that no system can show.
pub(crate) fn check(name: &str) -> Result<(), Error> {
    let bad_part = |part: &str| matches!(part, "" | "." | "..");
    let bad_char = |c: char| c == '\\' || c.is_control();
    match name.len() > LONGEST || name.split('/').any(bad_part) || name.contains(bad_char) {
        true => Err(Error::BadName(name.into())),
        false => Ok(()),
    }
}

pub(crate) fn write<'a>(names: impl Iterator<Item = &'a str>, out: &mut Vec<u8>) {
    let mut before: &[u8] = &[];
    for name in names.map(str::as_bytes) {
        let pairs = name.iter().zip(before);
        let shared = pairs.take_while(|(a, b)| a == b).count();
        put_varint(out, shared as u64);
        put_varint(out, (name.len() - shared) as u64);
        out.extend(&name[shared..]);
        before = name;
    }
}

/// Reads `count` names; they must be valid and rise.
pub(crate) fn read(reader: &mut ByteReader<'_>, count: usize) -> Result<Vec<String>, Error> {
    let mut names: Vec<String> = Vec::with_capacity(count);
    for _ in 0..count {
        let before = names.last().map_or(&[][..], |name| name.as_bytes());
        let shared = before.get(..reader.length()?);
        let shared = shared.ok_or(Error::Damaged("a name shares more than there is"))?;
        let length = reader.length()?;
        let name = [shared, reader.take(length)?].concat();
        let name = String::from_utf8(name).map_err(|_| Error::Damaged("a name is not UTF-8"))?;
        check(&name).map_err(|_| Error::Damaged("a picture has a name that leads elsewhere"))?;
        if names.last().is_some_and(|before| *before >= name) {
            return Err(Error::Damaged("the names are not in order"));
        }
        names.push(name);
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(stored: &[u8], count: usize) -> Result<Vec<String>, Error> {
        read(&mut ByteReader::new(stored, 0, "names"), count)
    }

    #[test]
    fn names_come_back() {
        let names = ["a", "ab/c", "ab/d", "b", "été/1"];
        let mut out = Vec::new();
        write(names.into_iter(), &mut out);
        assert_eq!(read_all(&out, names.len()).unwrap(), names);
        for cut in 0..out.len() {
            assert!(read_all(&out[..cut], names.len()).is_err());
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "",
            "/etc/passwd",
            "a/../b",
            "..",
            "a//b",
            "a/",
            "a\\b",
            "a\0",
            "./a",
        ] {
            assert!(check(name).is_err(), "{name:?}");
            let mut out = Vec::new();
            write([name].into_iter(), &mut out);
            assert!(read_all(&out, 1).is_err(), "{name:?}");
        }
        assert!(check(&"x".repeat(5000)).is_err() && check("a..b/c d").is_ok());
    }
}
