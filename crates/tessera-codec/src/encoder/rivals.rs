//! Tiles that are no photos are coded by several searches, and the one that costs least is kept.
//!
//! A search decides by estimates that were fitted to photos, and by what the models have learned before the superblock it is
//! at. On regular patterns, text and the like both may be far off, and then a narrower search can be luckier than a wider
//! one. With the searches of lower efforts among its rivals no effort does worse than the one before.

use crate::encoder::graphics::{self, Easel, NOTHING_DRAWN, steps};
use crate::encoder::{EncodedTile, SpeedSettings, TileEncoder};
use crate::prepared::PreparedDictionary;
use crate::tile::TileConfig;
use tessera_patch::Plane;

/// Encodes the planes of a tile; a photo is ended by `finish`, which is given what begins its payload.
pub(super) fn encode<'d>(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &'d PreparedDictionary,
    speed: SpeedSettings,
    finish: impl FnOnce(TileEncoder<'d>, Vec<u8>) -> EncodedTile,
) -> EncodedTile {
    let encoder = TileEncoder::new(planes, config, dictionary, speed);
    let Some(mut easel) = Easel::new(&encoder.tile.source, config, speed.lambda) else {
        let mut encoder = encoder.in_closed_loop(planes, config, dictionary);
        encoder.run(config, None);
        let payload: &[u8] = if config.graphics { &NOTHING_DRAWN } else { &[] };
        return finish(encoder, payload.into());
    };
    let tiles = speed.rivals().flat_map(|speed| {
        let tiles = graphics::encode(planes, config, dictionary, speed, &mut easel);
        tiles.into_iter().flatten()
    });
    let costs = tiles.map(|tile| (cost(planes, config, speed.lambda, &tile), tile));
    let best = costs.min_by(|(one, _), (other, _)| one.total_cmp(other));
    best.expect("an effort is its own rival").1
}

/// Error of a tile in squared steps, and the price of its bits.
fn cost(planes: &[Plane], config: &TileConfig, lambda: f32, tile: &EncodedTile) -> f64 {
    let pairs = planes.iter().zip(&tile.planes).zip(steps(config));
    let errors = pairs.map(|((original, decoded), step)| {
        let square = |(&a, &b): (&u16, &u16)| u64::from(a.abs_diff(b)).pow(2);
        let error: u64 = original.data.iter().zip(&decoded.data).map(square).sum();
        error as f64 / f64::from(step).powi(2)
    });
    errors.sum::<f64>() + f64::from(lambda) * 8.0 * tile.bytes.len() as f64
}
