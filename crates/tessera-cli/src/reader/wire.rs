//! What the reading process sends back: one line of JSON, the blocks of metadata, the samples.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Read, Write};
use tessera_codec::{
    BitDepth, Colour, Error, MemoryError, Metadata, MetadataKind, Picture, PixelFormat, RowSource,
    Samples,
};

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Reply {
    /// A picture follows.
    Picture(Head),
    /// There is none, and this is why.
    Refused {
        /// Exit code.
        code: u8,
        /// A sentence.
        message: String,
    },
}

/// Everything but blocks and samples.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Head {
    width: u32,
    height: u32,
    gray: bool,
    alpha: bool,
    deep: bool,
    /// Lengths of the blocks of metadata, in the order of `MetadataKind::ALL`.
    blocks: [Option<usize>; MetadataKind::ALL.len()],
    warnings: Vec<String>,
}

/// Samples are converted in pieces of this many.
const PIECE: usize = 1 << 15;

/// Sends a picture.
pub(super) fn send(
    source: &mut dyn RowSource,
    warnings: Vec<String>,
    to: &mut impl Write,
) -> Result<()> {
    let (info, metadata) = (source.info(), source.metadata().clone());
    let format = info.format();
    let blocks = MetadataKind::ALL.map(|kind| metadata.get(kind));
    let head = Head {
        width: info.width(),
        height: info.height(),
        gray: format.colour == Colour::Gray,
        alpha: format.alpha,
        deep: format.depth != BitDepth::Eight,
        blocks: blocks.map(|block| block.map(<[u8]>::len)),
        warnings,
    };
    send_line(&Reply::Picture(head), to)?;
    for block in blocks.into_iter().flatten() {
        to.write_all(block)?;
    }
    source.rewind()?;
    let mut rows = 0;
    while rows < info.height() {
        let band = source.next_rows(info.height())?;
        rows += band.height();
        match band.samples() {
            Samples::U8(samples) => to.write_all(samples)?,
            Samples::U16(samples) => {
                for piece in samples.chunks(PIECE) {
                    let bytes: Vec<u8> = piece.iter().flat_map(|v| v.to_le_bytes()).collect();
                    to.write_all(&bytes)?;
                }
            }
        }
    }
    Ok(to.flush()?)
}

/// Sends the first line.
pub(super) fn send_line(reply: &Reply, to: &mut impl Write) -> Result<()> {
    let line = serde_json::to_string(reply)? + "\n";
    Ok(to.write_all(line.as_bytes())?)
}

/// Receives the first line; an error if it is not all there.
pub(super) fn receive_line(from: &mut impl BufRead) -> Result<Reply> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    serde_json::from_str(&line).context("no whole answer")
}

/// Receives the picture that a head announced, with its warnings.
pub(super) fn receive(head: Head, from: &mut impl Read) -> Result<(Picture, Vec<String>)> {
    let mut metadata = Metadata::default();
    for (kind, len) in MetadataKind::ALL.into_iter().zip(head.blocks) {
        metadata.set(kind, len.map(|len| bytes(len, from)).transpose()?)?;
    }
    let format = PixelFormat {
        colour: if head.gray { Colour::Gray } else { Colour::Rgb },
        alpha: head.alpha,
        depth: if head.deep {
            BitDepth::Sixteen
        } else {
            BitDepth::Eight
        },
    };
    let pixels = head.width as usize * head.height as usize;
    let raw = bytes(pixels * format.channels() * format.bytes_per_sample(), from)?;
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(raw),
        _ => Samples::U16(
            raw.as_chunks()
                .0
                .iter()
                .map(|b| u16::from_le_bytes(*b))
                .collect(),
        ),
    };
    let mut picture = Picture::new(head.width, head.height, format, samples)?;
    picture.metadata = metadata;
    Ok((picture, head.warnings))
}

fn bytes(len: usize, from: &mut impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let needed = len as u64;
    let reserved = bytes.try_reserve_exact(len);
    reserved.map_err(|_| Error::Memory(MemoryError { needed }))?;
    from.take(len as u64).read_to_end(&mut bytes)?;
    if bytes.len() < len {
        bail!("no whole answer");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_codec::WholePicture;

    #[test]
    fn pictures_arrive_as_they_were_sent_or_not_at_all() {
        let format = PixelFormat {
            alpha: true,
            depth: BitDepth::Sixteen,
            ..PixelFormat::RGB8
        };
        let samples = (0..24).map(|v| v * 2500).collect();
        let mut picture = Picture::new(3, 2, format, Samples::U16(samples)).unwrap();
        picture.metadata.exif = Some(b"MM\0*".to_vec());
        let mut sent = Vec::new();
        let warnings = vec!["a warning".to_owned()];
        send(
            &mut WholePicture::from(&picture),
            warnings.clone(),
            &mut sent,
        )
        .unwrap();
        for len in 0..=sent.len() {
            let mut from = &sent[..len];
            let received = receive_line(&mut from).and_then(|reply| match reply {
                Reply::Picture(head) => receive(head, &mut from),
                Reply::Refused { message, .. } => bail!(message),
            });
            match len == sent.len() {
                true => assert_eq!(received.unwrap(), (picture.clone(), warnings.clone())),
                false => assert!(received.is_err()),
            }
        }
    }
}
