//! The residual that one free atom stands for (`spec/bitstream.md`, "Reconstruction").

use super::{add_atom, finish_spectrum, inverse_cosine};
use crate::simd::kernel;
use tessera_dict::basis::Rotation;

/// Writes the residual of an atom of amplitude `value` to `out`; `weights` are those of the shape's frequencies.
pub(crate) fn synthesise_atom(
    atoms: &Rotation,
    index: usize,
    weights: Option<&[u16]>,
    value: i32,
    out: &mut [i32],
) {
    let (width, height) = (atoms.shape.width(), atoms.shape.height());
    match (width, height) {
        (4, 4) => synthesise::<4, 4>(atoms, index, weights, value, out),
        (4, _) => synthesise::<4, 8>(atoms, index, weights, value, out),
        (8, 4) => synthesise::<8, 4>(atoms, index, weights, value, out),
        (8, 8) => synthesise::<8, 8>(atoms, index, weights, value, out),
        (8, _) => synthesise::<8, 16>(atoms, index, weights, value, out),
        (_, 8) => synthesise::<16, 8>(atoms, index, weights, value, out),
        _ => synthesise::<16, 16>(atoms, index, weights, value, out),
    }
}

kernel! {
    /// [`synthesise_atom`] for patches of `W` columns and `H` rows.
    fn synthesise<const W: usize, const H: usize>(
        atoms: &Rotation,
        index: usize,
        weights: Option<&[u16]>,
        value: i32,
        out: &mut [i32],
    ) {
        let mut spectrum = [[0i32; W]; H];
        add_atom(atoms, index, value, spectrum.as_flattened_mut());
        finish_spectrum(spectrum.as_flattened_mut(), weights);
        inverse_cosine(&mut spectrum, &mut out.as_chunks_mut::<W>().0[..H]);
    }
}
