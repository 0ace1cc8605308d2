//! Hot loops compiled for the widest vector instructions of the machine at hand.
//!
//! One body serves all instruction sets: it is written as plain loops, marked `inline(always)` and handed to
//! `vectorised`, which picks the instruction set at run time. Integer loops give the same bits everywhere; float
//! loops (encoder only) keep products and sums apart, so that they do too.

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

/// Runs an operation on the baseline.
struct Nullary<Op>(Op);

impl<Op: NullaryFnOnce> pulp::WithSimd for Nullary<Op> {
    type Output = Op::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.0.call()
    }
}
