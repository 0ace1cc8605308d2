//! Hot loops compiled for the widest vector instructions of the machine at hand.
//!
//! One body serves all instruction sets: it is written as plain loops, marked `inline(always)` and handed to
//! `vectorised`, which picks the instruction set at run time. Integer loops give the same bits everywhere; float
//! loops (encoder only) keep products and sums apart or join them by `mul_add`, which rounds once on every machine (slowly
//! where there is no such instruction), so that they do too. Products of pairs are the one thing
//! compilers do not find by themselves (`with_pairs`).

use pulp::{Arch, NullaryFnOnce, Scalar, Simd};
use std::sync::atomic::{AtomicBool, Ordering};

static SCALAR: AtomicBool = AtomicBool::new(false);

/// Keeps all hot loops on the baseline instruction set, for tests that compare both.
#[doc(hidden)]
pub fn force_scalar(scalar: bool) {
    SCALAR.store(scalar, Ordering::Relaxed);
}

/// Runs `operation` compiled for the best instruction set. Its `call` must be `inline(always)`.
#[inline]
pub(crate) fn vectorised<Op: NullaryFnOnce>(operation: Op) -> Op::Output {
    if SCALAR.load(Ordering::Relaxed) {
        Scalar::vectorize(Scalar, Nullary(operation))
    } else {
        Arch::new().dispatch(operation)
    }
}

/// Multiplies 16-bit numbers and adds up neighbouring products.
pub(crate) trait PairProducts: Copy {
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8];
}

/// What needs [`PairProducts`]. Its `call` must be `inline(always)`.
pub(crate) trait PairOperation {
    fn call(self, pairs: impl PairProducts);
}

/// Like [`vectorised`], with the instruction for products of pairs if there is one.
pub(crate) fn with_pairs(operation: impl PairOperation) {
    #[cfg(target_arch = "x86_64")]
    if !SCALAR.load(Ordering::Relaxed)
        && let Some(simd) = pulp::x86::V3::try_new()
    {
        return simd.vectorize(Paired(operation, simd));
    }
    vectorised(Paired(operation, Plain));
}

#[derive(Clone, Copy)]
struct Plain;

impl PairProducts for Plain {
    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i]);
        std::array::from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1)))
    }
}

#[cfg(target_arch = "x86_64")]
impl PairProducts for pulp::x86::V3 {
    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        pulp::cast(self.multiply_wrapping_add_adjacent_i16x16(pulp::cast(a), pulp::cast(b)))
    }
}

/// An operation with its products of pairs.
struct Paired<Op, P>(Op, P);

impl<Op: PairOperation, P: PairProducts> NullaryFnOnce for Paired<Op, P> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.0.call(self.1);
    }
}

/// Runs an operation on the baseline.
struct Nullary<Op>(Op);

impl<Op: NullaryFnOnce> pulp::WithSimd for Nullary<Op> {
    type Output = Op::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.0.call()
    }
}
