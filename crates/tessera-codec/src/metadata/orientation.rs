//! The orientation that EXIF and XMP state. Pixels are upright (`spec/container.md`, "Orientation"), so both are set to 1.

/// The tag of EXIF that says which way up.
const TAG: u16 = 0x0112;
/// One number of 16 bits.
const SHORT: u16 = 3;
const ENTRY_LEN: usize = 12;
const UPRIGHT: u16 = 1;

/// The attribute or element in which XMP repeats it.
const XMP_NAME: &[u8] = b"tiff:Orientation";

/// Sets the orientation of the first directory to 1, if it can be found.
pub(crate) fn reset_exif(exif: &mut [u8]) {
    let big = exif.starts_with(b"MM\0*");
    if !big && !exif.starts_with(b"II*\0") {
        return;
    }
    let upright = if big {
        UPRIGHT.to_be_bytes()
    } else {
        UPRIGHT.to_le_bytes()
    };
    for at in places_in_exif(exif, big).unwrap_or_default() {
        exif[at..at + 2].copy_from_slice(&upright);
    }
}

/// Where the value stands in the first directory: once, if all is well.
fn places_in_exif(exif: &[u8], big: bool) -> Option<Vec<usize>> {
    let short = |at: usize| {
        let pair = *exif.get(at..)?.first_chunk()?;
        Some(if big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        })
    };
    let word = *exif.get(4..)?.first_chunk()?;
    let start = if big {
        u32::from_be_bytes(word)
    } else {
        u32::from_le_bytes(word)
    } as usize;
    let first = start.checked_add(2)?;
    let entries = (0..usize::from(short(start)?)).map(|entry| first + entry * ENTRY_LEN);
    let found = entries.filter(|&at| short(at) == Some(TAG) && short(at + 2) == Some(SHORT));
    let values = found.map(|at| at + 8).filter(|&at| short(at).is_some());
    Some(values.collect())
}

/// Sets the orientation to 1 in either spelling, `tiff:Orientation="6"` or `<tiff:Orientation>6<`.
pub(crate) fn reset_xmp(xmp: &mut [u8]) {
    let mut start = 0;
    while let Some(at) = digit_in_xmp(xmp, start) {
        xmp[at] = b'1';
        start = at;
    }
}

/// The orientation in XMP as EXIF numbers it, if there is one.
pub(crate) fn in_xmp(xmp: &[u8]) -> Option<u8> {
    Some(xmp[digit_in_xmp(xmp, 0)?] - b'0')
}

/// Where the next orientation from `start` on has its digit.
fn digit_in_xmp(xmp: &[u8], mut start: usize) -> Option<usize> {
    loop {
        start += find(&xmp[start..], XMP_NAME)? + XMP_NAME.len();
        let offset = match &xmp[start..] {
            [b'=', b'"' | b'\'', b'0'..=b'9', ..] => 2,
            [b'>', b'0'..=b'9', ..] => 1,
            _ => continue,
        };
        return Some(start + offset);
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// EXIF with another tag before the orientation.
    fn exif(big: bool, value: u16) -> Vec<u8> {
        let short = |v: u16| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let word = |v: u32| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let mut exif = if big { b"MM\0*" } else { b"II*\0" }.to_vec();
        exif.extend(word(8));
        exif.extend(short(2));
        for (tag, value) in [(0x0100, 640), (TAG, value)] {
            exif.extend(short(tag));
            exif.extend(short(SHORT));
            exif.extend(word(1));
            exif.extend(short(value));
            exif.extend([0; 2]);
        }
        exif.extend([0; 4]);
        exif
    }

    #[test]
    fn both_byte_orders_are_reset() {
        for big in [false, true] {
            for value in 0..=9 {
                let mut block = exif(big, value);
                reset_exif(&mut block);
                assert_eq!(block, exif(big, 1));
            }
        }
    }

    #[test]
    fn damaged_blocks_stay_as_they_are() {
        let whole = exif(true, 6);
        // A block that ends behind the value is as good as a whole one.
        for len in 0..8 + 2 + ENTRY_LEN + 10 {
            let mut cut = whole[..len].to_vec();
            reset_exif(&mut cut);
            assert_eq!(cut, whole[..len]);
        }
        for start in [9u32, 1000, u32::MAX] {
            let mut astray = whole.clone();
            astray[4..8].copy_from_slice(&start.to_be_bytes());
            let before = astray.clone();
            reset_exif(&mut astray);
            assert_eq!(astray, before);
        }
    }

    #[test]
    fn both_spellings_of_xmp_are_reset_and_nothing_else() {
        let mut xmp =
            b"<a tiff:Orientation=\"6\"/><tiff:Orientation>8</tiff:Orientation> 6".to_vec();
        assert_eq!(in_xmp(&xmp), Some(6));
        reset_xmp(&mut xmp);
        assert_eq!(
            xmp,
            b"<a tiff:Orientation=\"1\"/><tiff:Orientation>1</tiff:Orientation> 6"
        );
    }
}
