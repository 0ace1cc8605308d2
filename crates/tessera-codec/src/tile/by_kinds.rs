//! Reads a tile on two threads: luma on one, chroma right behind it on the other.

use crate::prepared::PreparedDictionary;
use crate::tile::canvas::CanvasRows;
use crate::tile::decoder::{Decoder, Exhausted, decode_tile};
use crate::tile::entropy::coder::Reader;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::entropy::streams::split;
use crate::tile::graphics::{GraphicsLayer, read_graphics};
use crate::tile::quantiser_map::QuantiserMap;
use crate::tile::{PlaneLayout, TileConfig, superblocks};
use std::sync::mpsc::{self, Receiver, Sender};
use tessera_patch::Plane;

/// [`decode_tile`] on two threads where chroma has a stream of its own.
///
/// # Errors
/// If `data` is shorter than what it describes.
pub(crate) fn decode_tile_by_kinds(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
) -> Result<Vec<Plane>, Exhausted> {
    if !config.has_two_streams() {
        return decode_tile(data, config, dictionary);
    }
    let (graphics, data) = read_graphics(data, config)?;
    let [luma, chroma] = split(data, config)?[..] else {
        return Err(Exhausted);
    };
    let drawn = graphics.clone();
    let (sender, receiver) = mpsc::channel();
    // Luma never waits, so that chroma may: at worst it begins when luma is done.
    let (luma, chroma) = rayon::join(
        move || read_luma(luma, config, dictionary, (graphics, sender)),
        move || read_chroma(chroma, config, dictionary, (drawn, receiver)),
    );
    let mut planes = luma?;
    planes.append(&mut chroma?);
    Ok(planes)
}

/// What chroma needs of a row of superblocks of luma.
struct LumaRow {
    rows: CanvasRows,
    offsets: Option<QuantiserMap>,
    references: bool,
}

/// Decodes the luma of a tile and tells `sender` of every row of superblocks.
fn read_luma(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    (graphics, sender): (Option<GraphicsLayer>, Sender<LumaRow>),
) -> Result<Vec<Plane>, Exhausted> {
    const KIND: PlaneKind = PlaneKind::Luma;
    let alone = TileConfig {
        layout: PlaneLayout::Gray,
        ..*config
    };
    let mut reader = Reader::of_kind(data, dictionary, KIND);
    let mut decoder = Decoder::new(&alone, dictionary, &mut reader);
    decoder.state.draw_graphics(graphics);
    decoder.state.code_references_in_use(decoder.reader, false);
    for row in superblocks(config)
        .collect::<Vec<_>>()
        .chunk_by(|a, b| a.y == b.y)
    {
        for &block in row {
            decoder.state.code_offsets(decoder.reader, block);
            decoder.block(KIND, block);
            decoder.state.finish_superblock();
            if decoder.reader.exhausted() {
                return Err(Exhausted);
            }
        }
        let row = LumaRow {
            rows: decoder.state.luma.superblock_row(row[0].y),
            offsets: decoder.state.offsets.clone(),
            references: decoder.state.references.is_some(),
        };
        // Nobody listens if chroma has failed, which is told there.
        let _ = sender.send(row);
    }
    drop(sender);
    decoder.filter(KIND);
    Ok(decoder.state.into_planes(&alone))
}

/// Decodes the chroma of a tile behind its luma.
fn read_chroma(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    (graphics, receiver): (Option<GraphicsLayer>, Receiver<LumaRow>),
) -> Result<Vec<Plane>, Exhausted> {
    const KIND: PlaneKind = PlaneKind::Chroma;
    let mut reader = Reader::of_kind(data, dictionary, KIND);
    let mut decoder = Decoder::new(config, dictionary, &mut reader);
    decoder.state.draw_graphics(graphics);
    for row in superblocks(config)
        .collect::<Vec<_>>()
        .chunk_by(|a, b| a.y == b.y)
    {
        let luma = receiver.recv().map_err(|_| Exhausted)?;
        decoder.state.luma.put_superblock_row(&luma.rows);
        decoder.state.offsets = luma.offsets;
        if !luma.references {
            decoder.state.references = None;
        }
        for &block in row {
            decoder.block(KIND, block);
            if decoder.reader.exhausted() {
                return Err(Exhausted);
            }
        }
    }
    decoder.filter(KIND);
    Ok(decoder.state.into_planes(config).split_off(1))
}
