//! The head of an `.npy` file: a Python dictionary with three keys.

use crate::Error;
use std::io::{self, Read};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Heads of files with plain types have about a hundred bytes.
const LONGEST: usize = 1 << 16;
/// Data starts at a multiple of this.
const ALIGNMENT: usize = 64;

/// A type of numbers that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    double: bool,
    big_endian: bool,
}

impl Type {
    /// What is written.
    pub(super) const DOUBLE: Self = Self {
        double: true,
        big_endian: false,
    };

    /// The type of a `descr`, with its quotes.
    fn parse(descr: &str) -> Option<Self> {
        let (big_endian, double) = match descr.trim_matches(['\'', '"']) {
            "<f8" => (false, true),
            "<f4" => (false, false),
            ">f8" => (true, true),
            ">f4" => (true, false),
            _ => return None,
        };
        Some(Self { double, big_endian })
    }

    /// Bytes of a value.
    pub(super) fn bytes(self) -> usize {
        if self.double { 8 } else { 4 }
    }

    /// The values of consecutive bytes.
    pub(super) fn values(self, bytes: &[u8]) -> Vec<f64> {
        let value = |bytes: &[u8]| {
            let mut own = [0; 8];
            let own = &mut own[..bytes.len()];
            own.copy_from_slice(bytes);
            if self.big_endian {
                own.reverse();
            }
            match *own {
                [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                [a, b, c, d, e, f, g, h] => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
                _ => unreachable!("values have four or eight bytes"),
            }
        };
        bytes.chunks_exact(self.bytes()).map(value).collect()
    }
}

/// What a file says about its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Type,
    pub(super) column_major: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// Reads everything before the data.
    pub(super) fn read(from: &mut impl Read) -> Result<Self, Error> {
        let [.., major, _minor] = read_array::<8>(from).and_then(|start| {
            let known = start.starts_with(MAGIC) && (1..=3).contains(&start[6]);
            known.then_some(start).ok_or_else(no_npy)
        })?;
        let length = match major {
            1 => u16::from_le_bytes(read_array(from)?) as usize,
            _ => u32::from_le_bytes(read_array(from)?) as usize,
        };
        if length > LONGEST {
            return Err(no_npy());
        }
        let mut text = vec![0; length];
        from.read_exact(&mut text).map_err(early)?;
        Self::parse(std::str::from_utf8(&text).map_err(|_| no_npy())?)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let descr = value(text, "descr")?;
        let kind = Type::parse(descr)
            .ok_or_else(|| Error::Npy(format!("expected f8 or f4 values, found {descr}")))?;
        let column_major = match value(text, "fortran_order")? {
            "True" => true,
            "False" => false,
            other => return Err(Error::Npy(format!("{other} is no storage order"))),
        };
        let shape = value(text, "shape")?;
        let sizes = shape.trim_matches(['(', ')']).split(',').map(str::trim);
        let sizes: Result<_, _> = (sizes.filter(|size| !size.is_empty()))
            .map(|size| size.trim_end_matches('L').parse())
            .collect();
        Ok(Self {
            kind,
            column_major,
            shape: sizes.map_err(|_| Error::Npy(format!("{shape} is no shape")))?,
        })
    }

    /// Everything before the data of a matrix of little-endian doubles.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let order = if self.column_major { "True" } else { "False" };
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        let sizes = sizes.join(", ");
        let mut text =
            format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({sizes}), }}");
        let before = MAGIC.len() + 4;
        let whole = (before + text.len() + 1).next_multiple_of(ALIGNMENT);
        text += &" ".repeat(whole - before - text.len() - 1);
        text.push('\n');
        let length = (text.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0][..], &length, text.as_bytes()].concat()
    }
}

/// The text of a key's value in a dictionary whose values hold no commas outside brackets.
fn value<'t>(text: &'t str, key: &str) -> Result<&'t str, Error> {
    let missing = || Error::Npy(format!("the head lacks '{key}'"));
    let (_, rest) = (text.split_once(&format!("'{key}'")))
        .or_else(|| text.split_once(&format!("\"{key}\"")))
        .ok_or_else(missing)?;
    let rest = rest.trim_start().strip_prefix(':').ok_or_else(missing)?;
    let mut depth = 0usize;
    let end = rest.find(|c| {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, ',' | '}')
    });
    Ok(rest[..end.ok_or_else(missing)?].trim())
}

fn read_array<const N: usize>(from: &mut impl Read) -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).map_err(early)?;
    Ok(bytes)
}

/// A file that is too short to be one is damaged; other failures are those of the disk.
fn early(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => no_npy(),
        _ => Error::Io(error),
    }
}

fn no_npy() -> Error {
    Error::Npy("this is no .npy file".into())
}
