//! What the macros and derives expand to. Not for use by hand, and safe if it is.
//!
//! Every path in an expansion begins here, `core` included: a module of the user named `std` or `core`, or a
//! function named `drop`, is then not met.

pub use super::alloc::{alloc_reserved, initialiser, object_bytes};
pub use super::call::Call;
pub use super::carry::{erase, restore, trace_word};
pub use super::field::SlotField;
pub use super::local::{Frame, RootCell};
pub use super::tagged::{
    NO_VARIANT, decode_immediate, decode_pointer, encode_immediate, encode_pointer, no_variant,
    pointer_variant,
};
pub use crate::object::{HEADER_BYTES, Shape, Slot, SlotKind, SlotVisitor, TypeShape};
pub use core;
pub use core::option::Option;
pub use core::result::Result::{self, Err, Ok};

use crate::mutator::Mutator;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

/// A reference to a mutator, and nothing that merely dereferences to one.
///
/// # Safety
/// Nobody else implements it.
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

/// `self.mu` with a `self` that implements `Deref` might run that, and reach a safepoint between two steps
/// of a macro. For such a type both implementations apply, and inference fails.
#[diagnostic::on_unimplemented(message = "`{Self}` cannot hold the mutator of a macro")]
pub trait HasNoDeref<Route> {}
impl<T: ?Sized> HasNoDeref<()> for T {}
impl<T: ?Sized + Deref> HasNoDeref<PhantomData<()>> for T {}

/// Compiles for a reference to a mutator.
#[inline(always)]
pub fn exact<M: Exact>(_: &M) {}

/// Compiles for a `&mut` to a struct whose fields are reached without code of a user.
#[inline(always)]
pub fn place<S: ?Sized + HasNoDeref<Route>, Route>(_: &&mut S) {}

/// Drops.
#[inline(always)]
pub fn drop<T>(value: T) {
    core::mem::drop(value);
}

/// Implemented for what implements `Drop`, so that an implementation beside it forbids that.
pub trait MustNotImplDrop {}
#[allow(drop_bounds)]
impl<T: Drop> MustNotImplDrop for T {}

/// Compiles for what may lie in an object as plain data.
pub const fn plain<T: PlainData>() {}

/// What may lie in an object beside its slots.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a plain field of an object",
    label = "not `Send + Sync + 'static`",
    note = "an object is seen by all threads: a number that changes is `Plain<u64>`, a reference is `Field<T>`",
    note = "a field that refers to other objects must be written `Field<..>` or `WeakField<..>`, not by another name"
)]
pub trait PlainData: Send + Sync + 'static {}
impl<T: Send + Sync + 'static> PlainData for T {}

/// Equal to another of its kind only if `T` is, lifetimes included.
pub struct Invariant<T>(PhantomData<fn(T) -> T>);

/// The object behind a header, as a struct.
///
/// # Safety
/// - `object` heads a live object whose body is a `T`, for all of `'g`.
#[inline(always)]
pub unsafe fn body<'g, T>(object: NonNull<u8>) -> &'g T {
    // SAFETY: the body begins behind the header.
    unsafe { object.byte_add(HEADER_BYTES).cast::<T>().as_ref() }
}

/// Writes the body of a new object.
///
/// # Safety
/// - `object` heads memory of the caller's alone with room for a `T`.
#[inline(always)]
pub unsafe fn write_body<T>(object: NonNull<u8>, body: T) {
    // SAFETY: the body begins behind the header.
    unsafe { object.byte_add(HEADER_BYTES).cast::<T>().write(body) }
}

/// A type of field as far as its layout goes, where it mentions a type parameter.
pub type StrongSlot = super::field::Field<super::any::Any>;
/// As [`StrongSlot`].
pub type WeakSlot = super::field::WeakField<super::any::Any>;

/// What `keep!` shows of a kept variable to its body: a copy that cannot be assigned to, or nothing.
pub struct Shadow<'a, T>(pub &'a T);
impl<T: Copy> Shadow<'_, T> {
    /// The copy.
    #[inline(always)]
    pub fn __al_shadow(&self) -> T {
        *self.0
    }
}

/// Stands for a kept variable that is no copy.
#[derive(Debug)]
pub struct KeptAway;

/// See [`Shadow`]: the fallback for what is not `Copy`.
pub trait ShadowMoved {
    /// The variable is in the frame.
    fn __al_shadow(&self) -> KeptAway;
}
impl<T> ShadowMoved for Shadow<'_, T> {
    fn __al_shadow(&self) -> KeptAway {
        KeptAway
    }
}

/// Whether two kinds of slot are the same.
pub const fn same_kind(one: SlotKind, other: SlotKind) -> bool {
    matches!((one, other), (SlotKind::Strong, SlotKind::Strong) | (SlotKind::Weak, SlotKind::Weak))
}
