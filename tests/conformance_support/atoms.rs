//! Free atoms that learned nothing but make a difference, for streams and tests.

use tessera_dict::Atoms;
use tessera_dict::basis::Rotation;
use tessera_patch::Shape;

/// The shape without atoms.
const LEFT_OUT: usize = 4;
/// Waves of an atom.
const WAVES: usize = 3;

/// Atoms of a few low frequencies each, for all shapes that can have some but one.
pub(crate) fn atoms() -> Atoms {
    let shapes = Atoms::shapes().filter(|shape| shape.index() != LEFT_OUT);
    Atoms::new(shapes.map(set)).expect("sets of a power of two of atoms")
}

fn set(shape: Shape) -> Rotation {
    let count = 16 << (shape.index() % 2);
    let mut rows = vec![0.0; count * shape.area()];
    for (j, atom) in rows.chunks_exact_mut(shape.area()).enumerate() {
        for wave in 0..WAVES {
            let sign = if (j >> wave) % 2 == 0 { 1.0 } else { -1.0 };
            atom[(j + wave * wave) % 12] += sign * [0.8, 0.5, 0.33][wave];
        }
    }
    Rotation::from_rows(&rows, shape)
}
