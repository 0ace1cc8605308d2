//! What a JPEG decoder would gloss over: four colour components, and a missing end.

const SOI: u8 = 0xD8;
const EOI: u8 = 0xD9;
const SOS: u8 = 0xDA;

/// Facts read off the marker segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JpegProbe {
    /// Colour components of the frame; four means CMYK.
    pub(super) components: u8,
    /// Whether an end marker follows the start of the first scan.
    pub(super) complete: bool,
}

/// Walks the segments up to the first scan. `None` when this is no readable JPEG; the decoder
/// will say why.
pub(super) fn probe(file: &[u8]) -> Option<JpegProbe> {
    let mut rest = file.strip_prefix(&[0xFF, SOI])?;
    let mut components = 0;
    loop {
        let marker = next_marker(&mut rest)?;
        let segment = take_segment(&mut rest)?;
        if is_frame_header(marker) {
            components = *segment.get(5)?;
        }
        if marker == SOS {
            // Entropy-coded data never contains the two bytes of an end marker.
            let complete = rest.windows(2).any(|pair| pair == [0xFF, EOI]);
            return Some(JpegProbe {
                components,
                complete,
            });
        }
    }
}

/// Skips fill bytes and returns the marker code.
fn next_marker(rest: &mut &[u8]) -> Option<u8> {
    let at = rest
        .windows(2)
        .position(|p| p[0] == 0xFF && p[1] != 0xFF && p[1] != 0)?;
    let marker = rest[at + 1];
    *rest = &rest[at + 2..];
    Some(marker)
}

/// The content of a segment, without its two length bytes.
fn take_segment<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::from(u16::from_be_bytes([*rest.first()?, *rest.get(1)?]));
    let segment = rest.get(2..len)?;
    *rest = &rest[len..];
    Some(segment)
}

/// SOF0 to SOF15 except the codes that mean something else (DHT, JPG, DAC).
fn is_frame_header(marker: u8) -> bool {
    matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jpeg(components: u8, tail: &[u8]) -> Vec<u8> {
        let mut file = vec![0xFF, SOI, 0xFF, 0xE1, 0, 6, 0xFF, EOI, 0xFF, EOI];
        file.extend([0xFF, 0xC2, 0, 8, 8, 0, 1, 0, 1, components]);
        file.extend([0xFF, SOS, 0, 2, 1, 2, 3]);
        file.extend(tail);
        file
    }

    #[test]
    fn components_and_end_are_seen() {
        let probe_of = |file: Vec<u8>| probe(&file).unwrap();
        let whole = probe_of(jpeg(4, &[0xFF, EOI]));
        assert_eq!((whole.components, whole.complete), (4, true));
        let cut = probe_of(jpeg(3, &[0xFF, 0]));
        assert_eq!((cut.components, cut.complete), (3, false));
    }

    #[test]
    fn garbage_is_left_to_the_decoder() {
        let file = jpeg(3, &[]);
        for len in 0..file.len() - 3 {
            assert_eq!(probe(&file[..len]), None);
        }
    }
}
