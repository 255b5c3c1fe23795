//! Items for the expansions of the macros and derives. They are not for use by hand, but safe if
//! used so.
//!
//! Every path in an expansion begins here, even those to `core`. So a user's module named `std` or
//! `core`, or a user's function named `drop`, is never picked.

pub use super::alloc::{alloc_fast, alloc_slow, initialiser, object_bytes};
pub use super::call::{Arguments, Call, arguments};
pub use super::carry::{carried, erase, restore};
pub use super::field::SlotField;
pub use super::fields::{
    Invariant, PlainData, PlainField, SlotAt, assert_layout, carried_field, init_field, init_slot, invariant,
    kind_of, layout, same_field, slot_field, stand_in, trace_carried, trace_slot,
};
pub use super::immediate::{NO_VARIANT, decode_immediate, encode_immediate};
pub use super::local::{Frame, RootCell};
pub use super::tagged::{decode_pointer, encode_pointer, no_variant, pointer_variant};
pub use super::word::{bare_of, trace_word};
pub use crate::object::{COPY, HEADER_BYTES, Shape, Slot, SlotKind, SlotVisitor, TypeShape};
pub use core;
pub use core::option::Option;
pub use core::result::Result::{self, Err, Ok};

use crate::mutator::Mutator;
use std::ptr::NonNull;

/// A reference to a mutator. A type that merely dereferences to one is not exact.
///
/// # Safety
/// It has no other implementations.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to a mutator",
    label = "not a `&mut Mutator`",
    note = "the macros take the variable that holds the `&mut Mutator`, or a field such as `self.mu` that does"
)]
pub unsafe trait Exact {}
// SAFETY: it is one.
unsafe impl Exact for &mut Mutator<'_> {}
// SAFETY: it is one.
unsafe impl Exact for &Mutator<'_> {}

mod unnamed {
    use std::marker::PhantomData;
    use std::ops::Deref;

    /// If `self` implements `Deref`, `self.mu` might run that code, which could reach a safepoint
    /// between two steps of a macro. For such a type both implementations apply, and inference
    /// fails. A bound in a `where` clause would select one of them, so the trait cannot be named
    /// outside.
    #[diagnostic::on_unimplemented(message = "`{Self}` cannot hold the mutator of a macro")]
    pub trait HasNoDeref<Route> {}
    impl<T: ?Sized> HasNoDeref<()> for T {}
    impl<T: ?Sized + Deref> HasNoDeref<PhantomData<()>> for T {}

    /// A type whose span can be replaced does not implement `Drop`. For a type that does, both
    /// implementations apply, as above.
    #[diagnostic::on_unimplemented(message = "`{Self}` must not implement `Drop`")]
    pub trait HasNoDrop<Route> {}
    impl<T: ?Sized> HasNoDrop<()> for T {}
    #[allow(drop_bounds)]
    impl<T: ?Sized + Drop> HasNoDrop<PhantomData<()>> for T {}

    /// A `&mut` to a struct without `Deref`: access to a field of it runs no user code. This trait
    /// cannot be named outside, either.
    #[diagnostic::on_unimplemented(
        message = "a macro does not take a mutator out of a `{Self}`",
        label = "not a `&mut` to a struct",
        note = "the mutator is a variable, or a field of a `&mut`: bind it first, `let mu = &mut *holder.mu;`"
    )]
    pub trait Holder<Route> {}
    impl<S: ?Sized + HasNoDeref<Route>, Route> Holder<Route> for &mut S {}
}

/// Compiles for a reference to a mutator.
#[inline(always)]
pub fn exact<M: Exact>(_: &M) {}

/// Compiles for a `&mut` to a struct whose fields are reached without user code.
///
/// The parameter is the holder's own type.
///
/// Refused: `&&mut S`. By coercion it accepts anything that dereferences to a `&mut S`.
#[inline(always)]
pub fn holder<H: unnamed::Holder<Route>, Route>(_: &H) {}

/// Panics, at compile time, unless `field` is the name or number of one field. One token may be
/// `0.1`, and a group of tokens that a procedural macro hides may be anything.
pub const fn one_field(field: &str) {
    let bytes = field.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        assert!(
            matches!(bytes[index], b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'#' | 0x80..),
            "the mutator is a variable, or a field of a `&mut`: one field, not a field of a field"
        );
        index += 1;
    }
}

/// Drops the value.
#[inline(always)]
pub fn drop<T>(value: T) {
    core::mem::drop(value);
}

/// Compiles for a type that does not implement `Drop` itself.
pub fn no_drop<T: unnamed::HasNoDrop<Route>, Route>() {}

/// Implemented for all types with `Drop`, so that a second implementation for a type forbids `Drop`
/// there. The error says more than that of [`no_drop`], on which the derives rely.
pub trait MustNotImplDrop {}
#[allow(drop_bounds)]
impl<T: Drop> MustNotImplDrop for T {}

/// Panics, at compile time, unless these numbers distinguish the variants of a word: pointers are
/// counted from 0, and no two of the others have the same number of 7 bits.
pub const fn numbered(immediates: &[u64], pointers: &[u64], count: u64) {
    let mut seen = 0u128;
    let mut index = 0;
    while index < immediates.len() {
        let number = immediates[index];
        // No variant has the last of the 7-bit numbers: `NO_VARIANT`.
        assert!(number < 127, "a word has at most 127 variants that are not pointers, numbered from 0");
        assert!(seen >> number & 1 == 0, "two variants of a word have the same number");
        seen |= 1 << number;
        index += 1;
    }
    assert!(pointers.len() as u64 == count && count <= 1 << 18, "the pointers of a word are counted");
    let mut index = 0;
    while index < pointers.len() {
        assert!(pointers[index] == index as u64, "the pointers of a word are numbered from 0");
        index += 1;
    }
}

/// The object of a header, as a struct.
///
/// # Safety
/// - `object` heads a live object whose body is a `T`, for all of `'g`.
#[inline(always)]
pub unsafe fn body<'g, T>(object: NonNull<u8>) -> &'g T {
    // SAFETY: the body follows the header.
    unsafe { object.byte_add(HEADER_BYTES).cast::<T>().as_ref() }
}

/// Writes the body of a new object.
///
/// # Safety
/// - `object` heads memory of the caller's alone with room for a `T`.
#[inline(always)]
pub unsafe fn write_body<T>(object: NonNull<u8>, body: T) {
    // SAFETY: the body follows the header.
    unsafe { object.byte_add(HEADER_BYTES).cast::<T>().write(body) }
}

/// The form in which the body of `keep!` sees a kept variable: a copy that cannot be assigned to,
/// or nothing.
pub struct Shadow<'a, T>(pub &'a T);
impl<T: Copy> Shadow<'_, T> {
    /// The copy.
    #[inline(always)]
    pub fn __al_shadow(&self) -> T {
        *self.0
    }
}

/// Stands for a kept variable whose type is not `Copy`.
#[derive(Debug)]
pub struct KeptAway;

/// See [`Shadow`]: the fallback for types that are not `Copy`.
pub trait ShadowMoved {
    /// The variable is in the frame.
    fn __al_shadow(&self) -> KeptAway;
}
impl<T> ShadowMoved for Shadow<'_, T> {
    fn __al_shadow(&self) -> KeptAway {
        KeptAway
    }
}
