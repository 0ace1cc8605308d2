//! What the quantiser promises, checked on what is drawn.
//!
//! A search compares ways of coding a block by estimates. If one of them were far off, a block could be coded with next to
//! nothing of what is in it; so whatever the search believes, no block is written that misses the original by more than
//! any sound choice of levels does.

use crate::encoder::source::Source;
use crate::simd::kernel;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::state::TileState;
use crate::tile::syntax::Block;
use tessera_patch::shape::MIN_SIDE;

/// Side of the squares whose error is bounded, but for smaller blocks.
const SQUARE: usize = 8;

/// Largest mean squared error of a square of 8 samples, in squared steps. Rounding leaves a twelfth; dropping what costs more bits than
/// it is worth leaves up to about one where all coefficients are that small.
const MOST: f32 = 4.0;

/// Whether what is drawn of a block is as close to the original as its quantiser promises.
pub(crate) fn within_distortion_bound(
    source: &Source,
    recon: &TileState<'_>,
    kind: PlaneKind,
    block: Block,
) -> bool {
    if block.size == MIN_SIDE {
        squares_within_bound::<MIN_SIDE>(source, recon, kind, block)
    } else {
        squares_within_bound::<SQUARE>(source, recon, kind, block)
    }
}

fn squares_within_bound<const N: usize>(
    source: &Source,
    recon: &TileState<'_>,
    kind: PlaneKind,
    block: Block,
) -> bool {
    let canvas = recon.canvas(kind);
    let most = |component: usize| {
        let step = recon.coarsest_step(kind, component, block);
        // Samples are integers, which alone is more than the finest steps promise.
        MOST * (step * step).max(1.0) * (N * N) as f32
    };
    let most = [most(0), most(canvas.components.len() - 1)];
    let bottom = (block.y + block.size).min(canvas.height);
    let right = (block.x + block.size).min(canvas.width);
    let rows = (block.y..bottom).step_by(N);
    let mut corners = rows.flat_map(|y| (block.x..right).step_by(N).map(move |x| (x, y)));
    corners.all(|(x, y)| {
        let square = Block { x, y, size: N };
        if canvas.is_left_out(square) {
            return true;
        }
        let start = y * source.stride + x;
        let mut components = canvas.components.iter().enumerate();
        components.all(|(component, drawn)| {
            let original = &source.component(kind, component)[start..];
            square_error::<N>(original, &drawn.data[start..], source.stride) <= most[component]
        })
    })
}

kernel! {
    /// Squared error of a square of `N` samples a side, rows being `stride` apart.
    fn square_error<const N: usize>(original: &[u16], drawn: &[u16], stride: usize) -> f32 {
        let mut sums = [0f32; N];
        let originals = original.chunks(stride);
        for (original, drawn) in originals.zip(drawn.chunks(stride)).take(N) {
            let row = |samples: &[u16]| -> [u16; N] {
                *samples.first_chunk().expect("squares lie in their plane")
            };
            let (original, drawn) = (row(original), row(drawn));
            for i in 0..N {
                let difference = f32::from(original[i]) - f32::from(drawn[i]);
                sums[i] += difference * difference;
            }
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{SpeedSettings, TileEncoder};
    use crate::prepared::PreparedDictionary;
    use crate::tile::{PlaneLayout, TileConfig};
    use tessera_patch::Plane;
    use tessera_patch::shape::SUPERBLOCK;

    /// Lines of one sample: all their energy lies at frequencies that large patches do not code.
    fn lines() -> Plane {
        let data = (0..SUPERBLOCK * SUPERBLOCK).map(|at| if at % 2 == 0 { 3000 } else { 1000 });
        Plane {
            width: SUPERBLOCK,
            height: SUPERBLOCK,
            data: data.collect(),
        }
    }

    /// Mean squared error of lines in squared steps, by an encoder that `spoil` has been at.
    fn error(effort: u8, spoil: impl Fn(&mut TileEncoder<'_>)) -> f32 {
        let config = TileConfig {
            width: SUPERBLOCK as u32,
            height: SUPERBLOCK as u32,
            layout: PlaneLayout::Gray,
            quantiser: 60,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            origin: (0, 0),
            alpha: false,
        };
        let plane = lines();
        let effort = SpeedSettings::preset(effort);
        let planes = std::slice::from_ref(&plane);
        let mut encoder = TileEncoder::new(planes, &config, PreparedDictionary::builtin(), effort);
        spoil(&mut encoder);
        encoder.run(&config, None);
        let whole = Block {
            x: 0,
            y: 0,
            size: SUPERBLOCK,
        };
        let step = encoder.recon.coarsest_step(PlaneKind::Luma, 0, whole);
        let decoded = encoder.recon.into_planes(&config).remove(0);
        let square = |(&a, &b): (&u16, &u16)| (f32::from(a) - f32::from(b)).powi(2);
        let sum: f32 = plane.data.iter().zip(&decoded.data).map(square).sum();
        sum / plane.data.len() as f32 / (step * step)
    }

    #[test]
    fn wrong_estimates_do_not_reach_the_file() {
        for effort in [1, 2, 5, 7, 9] {
            let spoilt = error(effort, |encoder| {
                encoder.tile.costs.estimator.pretend_all_is_coded()
            });
            assert!(spoilt < 1.0, "effort {effort}: {spoilt}");
        }
    }
}
