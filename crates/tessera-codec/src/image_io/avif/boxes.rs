//! Boxes of the ISO base media format, and the numbers in them.

/// The boxes one after the other, as type and content; ends at the first that is not whole.
pub(super) fn boxes(mut rest: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    std::iter::from_fn(move || {
        let mut numbers = Numbers(rest);
        let size = numbers.take(4)?;
        let kind: [u8; 4] = *rest.get(4..)?.first_chunk()?;
        let (head, size) = match size {
            0 => (8, rest.len()),
            1 => (16, Numbers(rest.get(8..)?).take(8)? as usize),
            size => (8, size as usize),
        };
        let content = rest.get(head..size)?;
        rest = &rest[size..];
        Some((kind, content))
    })
}

/// The content of the first box of a type.
pub(super) fn find<'a>(rest: &'a [u8], wanted: &[u8; 4]) -> Option<&'a [u8]> {
    boxes(rest)
        .find(|(kind, _)| kind == wanted)
        .map(|(_, content)| content)
}

/// Bytes that are read as numbers from the front, highest byte first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'a>(pub(super) &'a [u8]);

impl Numbers<'_> {
    /// The next number of up to eight bytes; zero bytes give zero.
    pub(super) fn take(&mut self, len: usize) -> Option<u64> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(
            bytes
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_walked_and_damage_ends_the_walk() {
        let file = b"\0\0\0\x0cftypavif\0\0\0\x0bmdatxyz";
        assert_eq!(find(file, b"mdat"), Some(&b"xyz"[..]));
        assert_eq!(find(&file[..20], b"mdat"), None);
        assert_eq!(find(b"\0\0\0\x02oops", b"oops"), None);
        let long = b"\0\0\0\x01mdat\0\0\0\0\0\0\0\x11x";
        assert_eq!(find(long, b"mdat"), Some(&b"x"[..]));
        assert_eq!(find(b"\0\0\0\0mdatrest", b"mdat"), Some(&b"rest"[..]));
    }
}
