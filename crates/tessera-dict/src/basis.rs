//! Sub-dictionaries: an orthonormal basis, its coefficient order and its magnitude model.

use crate::atoms::Atoms;
use std::borrow::Cow;
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// Which planes a basis, a prior or a filter is for; luma and chroma never share any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PlaneKind {
    /// Luma, gray and alpha.
    Luma = 0,
    /// Both chroma planes.
    Chroma = 1,
}

impl PlaneKind {
    /// Number of mode classes with bases of their own: large patches are too rare to tell directions
    /// apart, and chroma too plain to tell anything apart.
    #[inline]
    pub fn classes(self, shape: Shape) -> usize {
        match self {
            Self::Chroma => 1,
            Self::Luma if shape.width().max(shape.height()) <= 16 => 6,
            Self::Luma => 2,
        }
    }
}

/// Largest number of bases of one shape and class, the cosine basis included.
pub const MAX_BASES: usize = 4;

/// Unit atoms in fixed point, each over the leading frequencies of the scan: those of an orthonormal basis, as many as
/// there are frequencies, or free ones ([`Atoms`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The patches it is for.
    pub shape: Shape,
    /// Rows of `m` entries, signed; the value of entry (i, j) is `entries * scale[i] / 2^22`. Frequencies are in
    /// raster order where atoms have all of them, so that atoms add up to a spectrum, and else in that of the scan.
    pub entries: Cow<'static, [u8]>,
    /// Scale of each atom.
    pub scales: Vec<u16>,
}

/// Factors of a [`MagnitudeModel`] that are taken together.
pub const LANES: usize = 8;

/// Fractional bits of [`Rotation::scales`].
pub const SCALE_BITS: u32 = 22;

impl Rotation {
    /// Whether frequencies are in raster order.
    #[inline]
    pub fn is_raster(shape: Shape) -> bool {
        shape.rotated() == shape.area()
    }

    /// Where the frequencies of the scan lie in an atom.
    fn places(shape: Shape) -> Vec<usize> {
        match Self::is_raster(shape) {
            true => shape.scan().into_iter().map(usize::from).collect(),
            false => (0..shape.rotated()).collect(),
        }
    }

    /// Rounds unit atoms (rows of `m`, frequencies in the order of the scan) to fixed point.
    pub fn from_rows(rows: &[f32], shape: Shape) -> Self {
        let (m, places) = (shape.rotated(), Self::places(shape));
        let mut entries = Vec::with_capacity(rows.len());
        let mut scales = Vec::with_capacity(rows.len() / m);
        for row in rows.chunks_exact(m) {
            let peak = row.iter().fold(1e-6f32, |peak, v| peak.max(v.abs()));
            let scale = (peak / 127.0 * (1u32 << SCALE_BITS) as f32)
                .ceil()
                .min(65535.0);
            let unit = scale / (1u32 << SCALE_BITS) as f32;
            scales.push(scale as u16);
            let start = entries.len();
            entries.resize(start + m, 0);
            for (v, place) in row.iter().zip(&places) {
                entries[start + place] = (v / unit).round().clamp(-127.0, 127.0) as i8 as u8;
            }
        }
        Self {
            shape,
            entries: entries.into(),
            scales,
        }
    }

    /// The atoms as floats, row by row, frequencies in the order of the scan.
    pub fn to_rows(&self) -> Vec<f32> {
        let (m, places) = (self.shape.rotated(), Self::places(self.shape));
        let mut out = vec![0.0; self.entries.len()];
        let rows = self.entries.chunks_exact(m).zip(out.chunks_exact_mut(m));
        for ((entries, row), &scale) in rows.zip(&self.scales) {
            let unit = f32::from(scale) / (1u32 << SCALE_BITS) as f32;
            for (value, &place) in row.iter_mut().zip(&places) {
                *value = f32::from(entries[place] as i8) * unit;
            }
        }
        out
    }
}

/// Predicts the magnitude of every coefficient from those already coded and from the surroundings.
///
/// |q_j| ~ base_j + activity_j A + gradient_j G + sum over i > j of weights_ij min(|q_i|, 12).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MagnitudeModel {
    /// Constant term, 12 fractional bits.
    pub base: Vec<u16>,
    /// Factor of the neighbours' activity, 12 fractional bits.
    pub activity: Vec<u16>,
    /// Factor of the border gradient, 12 fractional bits.
    pub gradient: Vec<u16>,
    /// Row i holds the i factors of coefficient i on coefficients 0..i; 8 fractional bits.
    pub weights: Cow<'static, [u8]>,
}

impl MagnitudeModel {
    /// Factors of coefficient `i` on the coefficients before it.
    #[inline]
    pub fn row(&self, i: usize) -> &[u8] {
        let start = i * i.saturating_sub(1) / 2;
        &self.weights[start..start + i]
    }

    /// The same in lanes, the last of which may go on with factors of the next coefficient; where none follows, the
    /// factors that fill no lane come apart.
    #[inline]
    pub fn lanes(&self, i: usize) -> (&[[u8; LANES]], &[u8]) {
        let start = i * i.saturating_sub(1) / 2;
        let (lanes, _) = self.weights[start..].as_chunks();
        match lanes.get(..i.div_ceil(LANES)) {
            Some(lanes) => (lanes, &[]),
            None => (lanes, &self.weights[start + LANES * lanes.len()..start + i]),
        }
    }

    /// A model for untrained dictionaries: magnitudes fall along the scan and neighbours resemble each other.
    fn untrained(shape: Shape) -> Self {
        let m = shape.rotated();
        let scan = shape.scan();
        let position = |i: usize| {
            let raster = scan[i] as usize;
            (
                (raster % shape.width()) as f32,
                (raster / shape.width()) as f32,
            )
        };
        let mut weights = Vec::with_capacity(m * (m - 1) / 2);
        for i in 0..m {
            let (xi, yi) = position(i);
            for j in 0..i {
                let (xj, yj) = position(j);
                let distance = (xi - xj).powi(2) + (yi - yj).powi(2);
                weights.push((0.35 / (1.0 + 0.7 * distance) * 256.0) as u8);
            }
        }
        let fall = |j: usize| (0.5 * 4096.0 / (1.0 + 16.0 * j as f32 / m as f32)) as u16;
        Self {
            base: vec![123; m],
            activity: (0..m).map(fall).collect(),
            gradient: vec![0; m],
            weights: weights.into(),
        }
    }
}

/// One sub-dictionary of the union.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// `None` is the cosine basis itself; otherwise a rotation of its leading coefficients.
    pub rotation: Option<Rotation>,
    /// Coding order of the leading coefficients (a permutation; the identity for rotations).
    pub order: Vec<u16>,
    /// Magnitude model in coding order.
    pub model: MagnitudeModel,
    /// Index among the bases of its plane kind.
    pub id: u32,
}

/// The bases of one plane kind, by shape and class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasisSet {
    kind: PlaneKind,
    /// Index of the first group of every shape.
    first: [usize; SHAPE_COUNT],
    groups: Vec<Vec<Basis>>,
    atoms: Atoms,
    totals: crate::layout::BasisTotals,
}

impl BasisSet {
    /// The shape and class of every group of a plane kind, in order.
    pub fn keys(kind: PlaneKind) -> impl Iterator<Item = (Shape, usize)> {
        Shape::all()
            .flat_map(move |shape| (0..kind.classes(shape)).map(move |class| (shape, class)))
    }

    /// Numbers the bases of `groups`, which are in the order of [`BasisSet::keys`].
    ///
    /// # Panics
    /// If the number of groups is not that of `kind`.
    pub fn new(kind: PlaneKind, mut groups: Vec<Vec<Basis>>) -> Self {
        let mut first = [0; SHAPE_COUNT];
        let mut count = 0;
        for (index, shape) in Shape::all().enumerate() {
            first[index] = count;
            count += kind.classes(shape);
        }
        assert_eq!(groups.len(), count, "one group per shape and class");
        let mut bases = 0;
        for basis in groups.iter_mut().flatten() {
            basis.id = bases as u32;
            bases += 1;
        }
        let totals = crate::layout::BasisTotals {
            kind,
            bases,
            atoms: 0,
        };
        Self {
            kind,
            first,
            groups,
            atoms: Atoms::default(),
            totals,
        }
    }

    /// The same bases with these free atoms beside them.
    #[must_use]
    pub fn with_atoms(mut self, atoms: Atoms) -> Self {
        self.totals.atoms = atoms.total();
        self.atoms = atoms;
        self
    }

    /// Other bases, in the order of [`BasisSet::keys`], beside the same free atoms.
    ///
    /// # Panics
    /// If the number of groups is not that of the plane kind.
    #[must_use]
    pub fn regrouped(&self, groups: Vec<Vec<Basis>>) -> Self {
        Self::new(self.kind, groups).with_atoms(self.atoms.clone())
    }

    /// The cosine basis alone for every shape and class.
    pub fn untrained(kind: PlaneKind) -> Self {
        let group = |(shape, _): (Shape, usize)| {
            vec![Basis {
                rotation: None,
                order: (0..shape.rotated() as u16).collect(),
                model: MagnitudeModel::untrained(shape),
                id: 0,
            }]
        };
        Self::new(kind, Self::keys(kind).map(group).collect())
    }

    /// Which planes the bases are for.
    #[inline]
    pub fn kind(&self) -> PlaneKind {
        self.kind
    }

    /// Position of a group among [`BasisSet::groups`].
    #[inline]
    pub fn group_index(&self, shape: Shape, class: usize) -> usize {
        self.first[shape.index()] + class
    }

    /// The bases a patch of this shape and class chooses from.
    #[inline]
    pub fn group(&self, shape: Shape, class: usize) -> &[Basis] {
        &self.groups[self.group_index(shape, class)]
    }

    /// All groups in the order of [`BasisSet::keys`].
    #[inline]
    pub fn groups(&self) -> &[Vec<Basis>] {
        &self.groups
    }

    /// The free atoms.
    #[inline]
    pub fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    /// Numbers of bases and atoms.
    pub fn totals(&self) -> crate::layout::BasisTotals {
        self.totals
    }
}
