//! How a patch lies before its basis (`spec/bitstream.md`, "Bases").

use tessera_dict::PlaneKind;
use tessera_patch::Shape;

/// How a patch is turned so that its basis fits: mode class, and whether rows and columns are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BasisOrientation {
    pub(crate) class: usize,
    pub(crate) transposed: bool,
}

impl BasisOrientation {
    /// As it is.
    #[cfg(feature = "encoder")]
    pub(crate) const NONE: Self = Self {
        class: 0,
        transposed: false,
    };

    /// Directions from the left are mirrored onto those from above; flat modes lie on their longer side.
    pub(crate) fn new(kind: PlaneKind, mode: usize, shape: Shape) -> Self {
        if kind == PlaneKind::Chroma || mode < 2 {
            return Self {
                class: 0,
                transposed: shape.height() > shape.width(),
            };
        }
        let transposed = mode < 18;
        let class = match if transposed { 36 - mode } else { mode } {
            25..=27 => 1,
            28..=30 => 2,
            31..=34 => 3,
            22..=24 => 4,
            _ => 5,
        };
        let class = class.min(kind.classes(shape) - 1);
        Self { class, transposed }
    }

    /// The shape the basis sees.
    pub(crate) fn apply(self, shape: Shape) -> Shape {
        if self.transposed {
            shape.transposed()
        } else {
            shape
        }
    }
}
