//! Hot loops compiled for the widest vector instructions of the machine at hand.
//!
//! One body serves all instruction sets: it is written as plain loops in a `kernel!`, which picks the instruction set at
//! run time. Integer loops give the same bits everywhere; float
//! loops (encoder only) keep products and sums apart or join them by `mul_add`, which rounds once on every machine (slowly
//! where there is no such instruction), so that they do too. Products of pairs are the one thing
//! compilers do not find by themselves (`with_pairs`). In WebAssembly a module is built for one instruction set and refused
//! by machines without it, so there is nothing to pick.

use pulp::{Arch, Scalar, Simd, WithSimd};
use std::sync::atomic::{AtomicBool, Ordering};

static SCALAR: AtomicBool = AtomicBool::new(false);

/// Keeps all hot loops on the baseline instruction set, for tests that compare both.
#[doc(hidden)]
pub fn force_scalar(scalar: bool) {
    SCALAR.store(scalar, Ordering::Relaxed);
}

/// Declares a function whose body is compiled for every instruction set, and which picks one of them when it is called.
///
/// Everything the body calls in its loops must be `inline(always)`: what is not inlined is compiled for the baseline.
macro_rules! kernel {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident <$(const $size:ident: usize),+>
        ($($arg:ident: $ty:ty),+ $(,)?) $(-> $out:ty)? $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name<$(const $size: usize),+>($($arg: $ty),+) $(-> $out)? {
            #[inline(always)]
            fn body<$(const $size: usize),+>($($arg: $ty),+) $(-> $out)? $body
            $crate::simd::dispatch(#[inline(always)] move || body::<$($size),+>($($arg),+))
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$param:ident: $bound:path>)?
        ($($arg:ident: $ty:ty),+ $(,)?) $(-> $out:ty)? $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name$(<$param: $bound>)?($($arg: $ty),+) $(-> $out)? {
            #[inline(always)]
            fn body$(<$param: $bound>)?($($arg: $ty),+) $(-> $out)? $body
            $crate::simd::dispatch(#[inline(always)] move || body$(::<$param>)?($($arg),+))
        }
    };
}
pub(crate) use kernel;

/// Runs the body of a [`kernel!`] compiled for the best instruction set. It must be an `inline(always)` closure: what is
/// called rather than inlined, a plain function among it, is compiled for the baseline.
#[inline]
pub(crate) fn dispatch<R>(body: impl FnOnce() -> R) -> R {
    if cfg!(target_arch = "wasm32") {
        body()
    } else if SCALAR.load(Ordering::Relaxed) {
        Scalar::vectorize(Scalar, Baseline(body))
    } else {
        Arch::new().dispatch(body)
    }
}

/// Runs a body on the baseline.
struct Baseline<F>(F);

impl<R, F: FnOnce() -> R> WithSimd for Baseline<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> R {
        (self.0)()
    }
}

/// Hands on the entries of a matrix with their place by squares of four, which are near each other on both sides.
#[inline(always)]
pub(crate) fn transpose<const W: usize, const H: usize>(
    columns: &[[i32; H]; W],
    mut put: impl FnMut(usize, usize, i32),
) {
    for x in (0..W).step_by(4) {
        for y in (0..H).step_by(4) {
            for j in 0..4 {
                for i in 0..4 {
                    put(x + i, y + j, columns[x + i][y + j]);
                }
            }
        }
    }
}

/// Multiplies 16-bit numbers and adds up neighbouring products.
pub(crate) trait PairProducts: Copy + std::fmt::Debug {
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8];

    /// The instruction set, for bodies that compilers make no vectors of.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn v3(self) -> Option<pulp::x86::V3> {
        None
    }
}

/// A body that needs [`PairProducts`]. Its `call` must be `inline(always)`.
pub(crate) trait PairOperation {
    fn call(self, pairs: impl PairProducts);
}

/// Like a [`kernel!`], with the instruction for products of pairs if there is one.
pub(crate) fn with_pairs(operation: impl PairOperation) {
    #[cfg(target_arch = "x86_64")]
    if !SCALAR.load(Ordering::Relaxed)
        && let Some(simd) = pulp::x86::V3::try_new()
    {
        return simd.vectorize(
            #[inline(always)]
            move || operation.call(simd),
        );
    }
    #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
    return operation.call(Simd128);
    #[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
    dispatch(
        #[inline(always)]
        move || operation.call(Plain),
    );
}

#[cfg_attr(target_feature = "simd128", allow(dead_code))]
#[derive(Clone, Copy, Debug)]
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

    #[inline(always)]
    fn v3(self) -> Option<pulp::x86::V3> {
        Some(self)
    }
}

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[derive(Clone, Copy, Debug)]
struct Simd128;

#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
impl PairProducts for Simd128 {
    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        use std::arch::wasm32::{i32x4_dot_i16x8, v128};
        let [a, b]: [[v128; 2]; 2] = [pulp::cast(a), pulp::cast(b)];
        pulp::cast([i32x4_dot_i16x8(a[0], b[0]), i32x4_dot_i16x8(a[1], b[1])])
    }
}
