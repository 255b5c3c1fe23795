//! Pointers with the number of a variant: the second kind of word that `#[derive(Word)]` makes.
//! `immediate.rs` has the first.
//!
//! ```text
//!   63       48   47      3   2         1   0
//! | variant / 4 |  address  | variant % 4 | 0 |
//! ```

use super::gc::{Gc, Object};
use crate::object::ADDRESS_MASK;

/// A pointer that a variant of a `#[derive(Word)]` enum may hold: `Gc<'g, T>` or an `Option` of it.
///
/// # Safety
/// - `address` is that of a header, or 0, and `from_address` inverts it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no pointer that a word can hold",
    note = "`derive(Word)` takes a variant that holds something called `Gc` or `Option` for a pointer of `allotment`"
)]
pub unsafe trait Pointer<'g>: Copy {
    /// The header's address.
    fn address(self) -> u64;

    /// The pointer with that address.
    ///
    /// # Safety
    /// - `address` is a result of [`address`](Self::address), and its referent lives for all of
    ///   `'g`.
    unsafe fn from_address(address: u64) -> Self;
}

// SAFETY: the address of a header.
unsafe impl<'g, T: Object> Pointer<'g> for Gc<'g, T> {
    #[inline(always)]
    fn address(self) -> u64 {
        self.bits()
    }

    #[inline(always)]
    unsafe fn from_address(address: u64) -> Self {
        // SAFETY: the caller's predicates.
        unsafe { Gc::from_bits(address) }
    }
}

// SAFETY: the address of a header, or 0.
unsafe impl<'g, T: Object> Pointer<'g> for Option<Gc<'g, T>> {
    #[inline(always)]
    fn address(self) -> u64 {
        self.map_or(0, Gc::bits)
    }

    #[inline(always)]
    unsafe fn from_address(address: u64) -> Self {
        // SAFETY: the caller's predicates.
        (address != 0).then(|| unsafe { Gc::from_bits(address) })
    }
}

/// The word of a pointer variant.
#[inline(always)]
pub fn encode_pointer<'g, P: Pointer<'g>>(variant: u64, pointer: P) -> u64 {
    pointer.address() | (variant & 3) << 1 | (variant >> 2) << 48
}

/// The number of a word's pointer variant; the word has `variants` such variants.
#[inline(always)]
pub const fn pointer_variant(bits: u64, variants: u64) -> u64 {
    let low = bits >> 1 & 3;
    if variants <= 4 { low } else { low | bits >> 48 << 2 }
}

/// The pointer of a word, for the span `'g`.
///
/// # Safety
/// - `bits` encode a `P`, whose referent lives for all of `'g`.
#[inline(always)]
pub unsafe fn decode_pointer<'g, P: Pointer<'g>>(bits: u64) -> P {
    // SAFETY: the caller's predicates.
    unsafe { P::from_address(bits & ADDRESS_MASK) }
}

/// The arm for a word of no variant.
///
/// # Safety
/// - Never called.
#[inline(always)]
pub unsafe fn no_variant(bits: u64) -> ! {
    debug_assert!(false, "no variant has the word {bits:#x}");
    // SAFETY: the caller's predicate.
    unsafe { std::hint::unreachable_unchecked() }
}
