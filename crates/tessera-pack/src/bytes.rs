//! Numbers of variable length, as in `spec/container.md`.

use crate::error::Error;

const CUT: Error = Error::Damaged("the index ends too early");

pub(crate) fn put(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn get(data: &mut &[u8]) -> Result<u64, Error> {
    let mut value = 0u64;
    for index in 0..10 {
        let (&byte, rest) = data.split_first().ok_or(CUT)?;
        *data = rest;
        let bits = u64::from(byte & 0x7F);
        if index == 9 && bits > 1 {
            break;
        }
        value |= bits << (7 * index);
        if byte & 0x80 == 0 {
            return match byte == 0 && index > 0 {
                true => Err(Error::Damaged("a number is not in its shortest form")),
                false => Ok(value),
            };
        }
    }
    Err(Error::Damaged("a number is too large"))
}

/// A number of things that take a byte each at least.
pub(crate) fn get_count(data: &mut &[u8]) -> Result<usize, Error> {
    let count = usize::try_from(get(data)?).ok();
    count.filter(|&count| count <= data.len()).ok_or(CUT)
}

pub(crate) fn take<'a>(data: &mut &'a [u8], count: usize) -> Result<&'a [u8], Error> {
    let (taken, rest) = data.split_at_checked(count).ok_or(CUT)?;
    *data = rest;
    Ok(taken)
}

/// Signed numbers: even ones are not negative.
pub(crate) fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

pub(crate) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift, u64::MAX >> shift] {
                let mut out = Vec::new();
                put(&mut out, value);
                let mut rest = &out[..];
                assert_eq!(get(&mut rest).unwrap(), value);
                assert!(rest.is_empty());
                assert_eq!(zigzag(unzigzag(value)), value);
            }
        }
        assert!(get(&mut &[0x80, 0][..]).is_err() && get(&mut &[0x80][..]).is_err());
    }
}
