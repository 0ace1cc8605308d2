//! The streams of a payload (`spec/bitstream.md`, "Streams").
//!
//! Chroma of large tiles has a stream of its own, so that it can be read on another thread, right behind luma.

use crate::container::bytes::ByteReader;
#[cfg(feature = "encoder")]
use crate::container::bytes::put_varint;
use crate::tile::decoder::Exhausted;
#[cfg(feature = "encoder")]
use crate::tile::entropy::range::RangeEncoder;
use crate::tile::{PlaneLayout, TileConfig};
use tessera_dict::PlaneKind;

/// Tiles of more samples than this have two streams; in smaller ones the few bytes that takes would count.
const MOST_SHARED: u64 = 1 << 16;

impl TileConfig {
    /// Whether chroma has a stream of its own.
    pub(crate) fn has_two_streams(&self) -> bool {
        let samples = u64::from(self.width) * u64::from(self.height);
        self.layout == PlaneLayout::Ycbcr444 && samples > MOST_SHARED
    }
}

/// One range coder for both plane kinds, or one for each.
#[derive(Debug)]
pub(crate) struct Streams<R> {
    first: R,
    chroma: Option<R>,
}

impl<R> Streams<R> {
    pub(crate) fn new(config: &TileConfig, mut next: impl FnMut() -> R) -> Self {
        Self {
            first: next(),
            chroma: config.has_two_streams().then(next),
        }
    }

    #[cfg(feature = "threads")]
    pub(crate) fn shared(first: R) -> Self {
        Self {
            first,
            chroma: None,
        }
    }

    /// The stream of a plane kind.
    #[inline(always)]
    pub(crate) fn of(&mut self, kind: PlaneKind) -> &mut R {
        match (kind, &mut self.chroma) {
            (PlaneKind::Chroma, Some(chroma)) => chroma,
            _ => &mut self.first,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        std::iter::once(&self.first).chain(&self.chroma)
    }
}

#[cfg(feature = "encoder")]
impl Streams<RangeEncoder> {
    /// The payload: the length of the first stream if another one follows, then the streams.
    pub(crate) fn finish(self) -> Vec<u8> {
        let first = self.first.finish();
        let Some(chroma) = self.chroma else {
            return first;
        };
        let mut payload = Vec::new();
        put_varint(&mut payload, first.len() as u64);
        payload.extend(first);
        payload.extend(chroma.finish());
        payload
    }
}

/// The bytes of each stream of a payload.
///
/// # Errors
/// If it ends before the second one begins.
pub(crate) fn split<'a>(data: &'a [u8], config: &TileConfig) -> Result<Vec<&'a [u8]>, Exhausted> {
    if !config.has_two_streams() {
        return Ok(vec![data]);
    }
    let mut reader = ByteReader::new(data, 0, "tile");
    let length = reader.length().map_err(|_| Exhausted)?;
    let first = reader.take(length).map_err(|_| Exhausted)?;
    Ok(vec![first, &data[reader.position()..]])
}

/// The streams of a payload of which only the beginning is there.
pub(crate) struct StreamStarts<'a> {
    /// The bytes of each stream, as far as they are there.
    pub(crate) parts: Vec<&'a [u8]>,
    /// Whether the first is all there; of the last nobody can tell.
    pub(crate) first_is_complete: bool,
}

/// What there is of each stream.
pub(crate) fn split_start<'a>(data: &'a [u8], config: &TileConfig) -> StreamStarts<'a> {
    if !config.has_two_streams() {
        return StreamStarts {
            parts: vec![data],
            first_is_complete: false,
        };
    }
    let mut reader = ByteReader::new(data, 0, "tile");
    let length = reader.length().unwrap_or(usize::MAX);
    let rest = &data[reader.position()..];
    let (first, chroma) = rest.split_at(length.min(rest.len()));
    StreamStarts {
        parts: vec![first, chroma],
        first_is_complete: length <= rest.len(),
    }
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;

    fn config(width: u32) -> TileConfig {
        TileConfig {
            width,
            height: 256,
            layout: PlaneLayout::Ycbcr444,
            quantiser: 60,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            origin: (0, 0),
            alpha: false,
        }
    }

    fn payload(config: &TileConfig, bits: usize) -> Vec<u8> {
        let mut streams = Streams::new(config, RangeEncoder::new);
        for at in 0..bits {
            streams
                .of(PlaneKind::Luma)
                .encode(at % 5 < 2 || at + 1 == bits, 40000);
        }
        streams.of(PlaneKind::Chroma).encode(true, 99);
        streams.finish()
    }

    #[test]
    fn large_tiles_have_two_streams() {
        for bits in [3, 800, 40_000] {
            let large = payload(&config(257), bits);
            let parts = split(&large, &config(257)).unwrap();
            assert_eq!(parts.len(), 2);
            let shared = payload(&config(256), bits);
            assert_eq!(split(&shared, &config(256)).unwrap(), [&shared[..]]);
            let prefix = if parts[0].len() < 128 { 1 } else { 2 };
            assert_eq!(large.len(), prefix + parts[0].len() + parts[1].len());
        }
    }

    #[test]
    fn a_stream_that_is_not_there_is_missed() {
        let config = config(257);
        for bytes in [&[][..], &[128], &[5, 1, 2, 3, 4], &[255; 11]] {
            assert!(split(bytes, &config).is_err(), "{bytes:?}");
        }
    }
}
