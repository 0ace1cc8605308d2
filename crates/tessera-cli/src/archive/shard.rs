//! A part of an archive, so that several machines share the work without talking to each other.

use std::path::Path;
use std::str::FromStr;

/// One of several parts that are disjoint and together everything.
///
/// Which part a file belongs to hangs on its name below the folder and on nothing else: not on what other files there
/// are, nor on where the folder is mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shard {
    /// From zero.
    index: u64,
    count: u64,
}

impl Shard {
    /// Whether a file of this name is in this part.
    pub(crate) fn holds(self, name: &Path) -> bool {
        let mut hasher = blake3::Hasher::new();
        for part in name.components() {
            hasher.update(part.as_os_str().as_encoded_bytes());
            hasher.update(b"/");
        }
        let [a, b, c, d, e, f, g, h, ..] = *hasher.finalize().as_bytes();
        u64::from_le_bytes([a, b, c, d, e, f, g, h]) % self.count == self.index
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((number, count)) if (1..=count).contains(&number) => Ok(Self {
                index: number - 1,
                count,
            }),
            _ => Err("a shard is I/N, with I from 1 to N, such as 3/16".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shard(text: &str) -> Shard {
        text.parse().unwrap()
    }

    #[test]
    fn every_name_is_in_one_part_and_parts_are_even() {
        let names: Vec<String> = (0..3000).map(|i| format!("{}/{i}.jpg", i % 7)).collect();
        let parts: Vec<Shard> = (1..=6).map(|i| shard(&format!("{i}/6"))).collect();
        let mut sizes = [0; 6];
        for name in &names {
            let holders: Vec<usize> = (0..6).filter(|&i| parts[i].holds(name.as_ref())).collect();
            assert_eq!(holders.len(), 1, "{name}");
            sizes[holders[0]] += 1;
        }
        assert!(
            sizes.iter().all(|size| (400..600).contains(size)),
            "{sizes:?}"
        );
    }

    /// Runs of different versions may share an output folder.
    #[test]
    fn assignment_never_changes() {
        let found = ["a.png", "b/c.jpg", "b/d.jpg", "é.webp"]
            .map(|name| (1..=5).find(|i| shard(&format!("{i}/5")).holds(name.as_ref())));
        assert_eq!(found, [2, 1, 2, 2].map(Some));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "3", "0/4", "5/4", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
