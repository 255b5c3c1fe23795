//! Pointers with the number of a variant: the second kind of word that `#[derive(Word)]` makes.
//! `immediate.rs` has the first.
//!
//! ```text
//!   63       48   47      3   2         1   0
//! | variant / 4 |  address  | variant % 4 | 0 |
//! ```

use super::gc::{Gc, Object};
use super::word::{Bare, Word};
use crate::object::ADDRESS_MASK;

/// A pointer that a variant of a `#[derive(Word)]` enum may hold: `Gc<'g, T>` or an `Option` of it.
///
/// # Safety
/// - The word is the address of a header, or 0.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a pointer that a word can hold",
    note = "`derive(Word)` takes a variant that holds something called `Gc` or `Option` for a pointer of `allotment`"
)]
pub unsafe trait Pointer<'g>: Bare<'g> {}

// SAFETY: the address of a header.
unsafe impl<'g, T: Object> Pointer<'g> for Gc<'g, T> {}

// SAFETY: the address of a header, or 0.
unsafe impl<'g, T: Object> Pointer<'g> for Option<Gc<'g, T>> {}

/// The word of a pointer variant.
#[inline(always)]
pub fn encode_pointer<'g, P: Pointer<'g>>(variant: u64, pointer: P) -> u64 {
    pointer.encode() | (variant & 3) << 1 | (variant >> 2) << 48
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
    unsafe { <P::Word as Word>::decode(bits & ADDRESS_MASK) }
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
