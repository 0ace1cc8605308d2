//! Hot loops compiled for the widest vector instructions of the machine at hand.
//!
//! One body serves all instruction sets: it is written as plain loops in a `kernel!`, which picks the instruction set at
//! run time. Integer loops give the same bits everywhere; float
//! loops (encoder only) keep products and sums apart or join them by `mul_add`, which rounds once on every machine (slowly
//! where there is no such instruction), so that they do too. Products of pairs are the one thing
//! compilers do not find by themselves (`with_pairs`). In WebAssembly a module is built for one instruction set and refused
//! by machines without it, so there is nothing to pick.

use pulp::Arch;
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
        return body();
    }
    // One call for all, so that the body is compiled once for each instruction set.
    let arch = match SCALAR.load(Ordering::Relaxed) {
        true => Arch::Scalar,
        false => Arch::new(),
    };
    arch.dispatch(body)
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

/// Multiplies numbers and adds up neighbouring products. Sums are registers where there are some of their size, so that
/// sums that grow side by side stay there.
pub(crate) trait PairProducts: Copy + std::fmt::Debug {
    /// Eight sums of 32 bits.
    type Wide: Copy;
    /// Sixteen sums of 16 bits.
    type Narrow: Copy;

    /// Sums of two neighbouring products each.
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8];

    /// Sums of nothing.
    fn wide(self) -> Self::Wide;

    /// Adds to every sum two neighbours, the first times the first of the pair, the other times the other.
    fn add_products(self, sums: Self::Wide, numbers: &[i16; 16], pair: [i16; 2]) -> Self::Wide;

    fn wide_values(self, sums: Self::Wide) -> [i32; 8];

    /// Sums that all start with the same number.
    fn narrow(self, start: i16) -> Self::Narrow;

    /// The same for bytes, the numbers none above 127; what leaves 16 bits is lost.
    fn add_weighted(self, sums: Self::Narrow, numbers: &[u8; 32], pair: [i8; 2]) -> Self::Narrow;

    fn narrow_values(self, sums: Self::Narrow) -> [i16; 16];

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
    // What is left there has no instructions to pick from.
    #[cfg(any(
        target_arch = "x86_64",
        all(target_arch = "wasm32", not(target_feature = "simd128"))
    ))]
    operation.call(Plain);
    #[cfg(not(any(target_arch = "x86_64", target_arch = "wasm32")))]
    dispatch(
        #[inline(always)]
        move || operation.call(Plain),
    );
}

#[cfg_attr(target_feature = "simd128", allow(dead_code))]
#[derive(Clone, Copy, Debug)]
struct Plain;

impl PairProducts for Plain {
    type Wide = [i32; 8];
    type Narrow = [i16; 16];

    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i]);
        std::array::from_fn(|i| product(2 * i).wrapping_add(product(2 * i + 1)))
    }

    #[inline(always)]
    fn wide(self) -> [i32; 8] {
        [0; 8]
    }

    #[inline(always)]
    fn add_products(self, mut sums: [i32; 8], numbers: &[i16; 16], pair: [i16; 2]) -> [i32; 8] {
        let (first, second) = (i32::from(pair[0]), i32::from(pair[1]));
        for (sum, numbers) in sums.iter_mut().zip(numbers.as_chunks::<2>().0) {
            let product = i32::from(numbers[0]) * first;
            *sum += product.wrapping_add(i32::from(numbers[1]) * second);
        }
        sums
    }

    #[inline(always)]
    fn wide_values(self, sums: [i32; 8]) -> [i32; 8] {
        sums
    }

    #[inline(always)]
    fn narrow(self, start: i16) -> [i16; 16] {
        [start; 16]
    }

    #[inline(always)]
    fn add_weighted(self, mut sums: [i16; 16], numbers: &[u8; 32], pair: [i8; 2]) -> [i16; 16] {
        let (first, second) = (i16::from(pair[0]), i16::from(pair[1]));
        for (sum, numbers) in sums.iter_mut().zip(numbers.as_chunks::<2>().0) {
            // Of seven bits and a sign each, so that two products fit.
            let product = i16::from(numbers[0]) * first;
            *sum = sum.wrapping_add(product + i16::from(numbers[1]) * second);
        }
        sums
    }

    #[inline(always)]
    fn narrow_values(self, sums: [i16; 16]) -> [i16; 16] {
        sums
    }
}

#[cfg(target_arch = "x86_64")]
impl PairProducts for pulp::x86::V3 {
    type Wide = std::arch::x86_64::__m256i;
    type Narrow = std::arch::x86_64::__m256i;

    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        pulp::cast(self.multiply_wrapping_add_adjacent_i16x16(pulp::cast(a), pulp::cast(b)))
    }

    #[inline(always)]
    fn wide(self) -> Self::Wide {
        self.avx._mm256_setzero_si256()
    }

    #[inline(always)]
    fn add_products(self, sums: Self::Wide, numbers: &[i16; 16], pair: [i16; 2]) -> Self::Wide {
        let pair = self.avx._mm256_set1_epi32(pulp::cast(pair));
        let products = (self.avx2)._mm256_madd_epi16(pulp::cast(*numbers), pair);
        self.avx2._mm256_add_epi32(sums, products)
    }

    #[inline(always)]
    fn wide_values(self, sums: Self::Wide) -> [i32; 8] {
        pulp::cast(sums)
    }

    #[inline(always)]
    fn narrow(self, start: i16) -> Self::Narrow {
        self.avx._mm256_set1_epi16(start)
    }

    #[inline(always)]
    fn add_weighted(self, sums: Self::Narrow, numbers: &[u8; 32], pair: [i8; 2]) -> Self::Narrow {
        let pair = self.avx._mm256_set1_epi16(pulp::cast(pair));
        let products = (self.avx2)._mm256_maddubs_epi16(pulp::cast(*numbers), pair);
        self.avx2._mm256_add_epi16(sums, products)
    }

    #[inline(always)]
    fn narrow_values(self, sums: Self::Narrow) -> [i16; 16] {
        pulp::cast(sums)
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
    type Wide = [std::arch::wasm32::v128; 2];
    type Narrow = [std::arch::wasm32::v128; 2];

    #[inline(always)]
    fn pair_products(self, a: [i16; 16], b: [i16; 16]) -> [i32; 8] {
        use std::arch::wasm32::{i32x4_dot_i16x8, v128};
        let [a, b]: [[v128; 2]; 2] = [pulp::cast(a), pulp::cast(b)];
        pulp::cast([i32x4_dot_i16x8(a[0], b[0]), i32x4_dot_i16x8(a[1], b[1])])
    }

    #[inline(always)]
    fn wide(self) -> Self::Wide {
        [std::arch::wasm32::i32x4_splat(0); 2]
    }

    #[inline(always)]
    fn add_products(self, sums: Self::Wide, numbers: &[i16; 16], pair: [i16; 2]) -> Self::Wide {
        use std::arch::wasm32::{i32x4_add, i32x4_dot_i16x8, i32x4_splat, v128};
        let numbers: [v128; 2] = pulp::cast(*numbers);
        let pair = i32x4_splat(pulp::cast(pair));
        let add = |half: usize| i32x4_add(sums[half], i32x4_dot_i16x8(numbers[half], pair));
        [add(0), add(1)]
    }

    #[inline(always)]
    fn wide_values(self, sums: Self::Wide) -> [i32; 8] {
        pulp::cast(sums)
    }

    #[inline(always)]
    fn narrow(self, start: i16) -> Self::Narrow {
        [std::arch::wasm32::i16x8_splat(start); 2]
    }

    #[inline(always)]
    fn add_weighted(self, sums: Self::Narrow, numbers: &[u8; 32], pair: [i8; 2]) -> Self::Narrow {
        use std::arch::wasm32::{i16x8_add, i16x8_mul, i16x8_splat, u16x8_shr, v128, v128_and};
        let numbers: [v128; 2] = pulp::cast(*numbers);
        let (first, second) = (i16x8_splat(pair[0].into()), i16x8_splat(pair[1].into()));
        let low = i16x8_splat(0xFF);
        let add = |half: usize| {
            let of_first = i16x8_mul(v128_and(numbers[half], low), first);
            let of_second = i16x8_mul(u16x8_shr(numbers[half], 8), second);
            i16x8_add(sums[half], i16x8_add(of_first, of_second))
        };
        [add(0), add(1)]
    }

    #[inline(always)]
    fn narrow_values(self, sums: Self::Narrow) -> [i16; 16] {
        pulp::cast(sums)
    }
}
