//! The checks that `#[derive(Object)]` and `#[derive(Carry)]` make on the fields of a type. They
//! check the types themselves, not the tokens that name them.
//!
//! A wrong field is one error, at the field. So a bound stands in one place. Elsewhere the derive
//! assumes it, by a predicate that the compiler proves only where the type is used: `where for<'x>
//! Field<W>: SlotAt<'x>`.
//!
//! Refused: the bound on every item, which gives an error for each.

use super::alloc::object_bytes;
use super::any::Any;
use super::carry::Carry;
use super::field::{Field, SlotField, WeakField};
use crate::object::{HEADER_BYTES, Slot, SlotKind, SlotVisitor};
use std::marker::PhantomData;
use std::mem::{align_of, needs_drop, size_of};

/// Equals another such type only if `T` does, lifetimes included.
pub struct Invariant<T>(PhantomData<fn(T) -> T>);

impl<T> Clone for Invariant<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Invariant<T> {}

impl<T> Invariant<T> {
    /// Compiles if the argument has exactly the type `T`.
    pub const fn same(_: Invariant<T>) {}
}

/// The type of a place, lifetimes included. Under `*mut` no lifetime is shortened, and nothing is
/// dereferenced.
pub const fn invariant<T>(_: *mut T) -> Invariant<T> {
    Invariant(PhantomData)
}

/// A [`SlotField`] at one span. Every slot implements it for all spans, and code can assume a
/// predicate about all of them.
///
/// # Safety
/// - As for [`SlotField`]. It has no other implementations.
pub unsafe trait SlotAt<'g>: Sized {
    /// The initialiser's value for the slot.
    type Init: Carry;
    /// How the slot keeps its referent.
    const KIND: SlotKind;

    /// The slot of a new object.
    ///
    /// # Safety
    /// - The result goes straight into a new object.
    unsafe fn init(value: Self::Init) -> Self;
}

// SAFETY: the promise of the slot's own implementation.
unsafe impl<'g, F: SlotField> SlotAt<'g> for F {
    type Init = <F as SlotField>::Init<'g>;
    const KIND: SlotKind = <F as SlotField>::KIND;

    #[inline(always)]
    unsafe fn init(value: Self::Init) -> Self {
        // SAFETY: the caller's predicates.
        unsafe { <F as SlotField>::init(value) }
    }
}

/// Compiles for a slot, and for the values of two spans in its initialiser.
pub fn slot_field<'g: 'g, 'h: 'h, F: SlotField>(
    _: SlotKind,
    _: Invariant<F>,
    _: Invariant<<F as SlotAt<'g>>::Init>,
    _: Invariant<<F as SlotAt<'h>>::Init>,
) {
}

/// The slot of a new object. Nothing depends on the kind, which is only the derive's assumption.
///
/// # Safety
/// - The result goes straight into a new object.
#[inline(always)]
pub unsafe fn init_slot<'g, F: SlotAt<'g>>(_: SlotKind, value: F::Init) -> F {
    // SAFETY: the caller's predicates.
    unsafe { F::init(value) }
}

/// Compiles for a slot, and for its value in the object's initialiser.
pub fn init_field<'g, F: SlotAt<'g>>(_: SlotKind, _: Invariant<F>, _: Invariant<F::Init>) {}

/// Compiles for two fields of one type.
pub fn same_field<T>(_: &str, _: Invariant<T>, _: Invariant<T>) {}

/// How a slot of the object keeps its referent. The field's own type decides; the derive's
/// assumption does not count.
pub const fn kind_of<O, F: SlotAt<'static>>(_: SlotKind, _: fn(&mut O) -> Invariant<F>) -> SlotKind {
    F::KIND
}

/// Visits the initialiser's value for a slot.
#[inline]
pub fn trace_slot<C: Carry>(_: SlotKind, value: &mut C, slots: &mut SlotVisitor<'_>) {
    value.trace(slots);
}

/// Visits a field that is carried.
#[inline]
pub fn trace_carried<C: Carry>(value: &mut C, slots: &mut SlotVisitor<'_>) {
    value.trace(slots);
}

/// Compiles for a field that is carried and whose type at the span `'h` is its own type.
pub fn carried_field<'h: 'h, C: Carry>(_: Invariant<C>, _: Invariant<C::At<'h>>) {}

/// A type that may lie in an object beside its slots.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a plain field of an object",
    label = "not `Send + Sync + 'static`",
    note = "an object is seen by all threads: a number that changes is `Plain<u64>`, a reference is `Field<T>`",
    note = "a field that refers to other objects must be written `Field<..>` or `WeakField<..>`, not by another name; \
            several are a field each, or a `Field<Array<W>>`"
)]
pub trait PlainData: Send + Sync + 'static {}
#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> PlainData for T {}

/// A type that may lie in an object as plain data.
pub struct PlainField<P>(PhantomData<fn(P) -> P>);

impl<P: PlainData> PlainField<P> {
    /// Panics, at compile time, if it has drop glue.
    pub const fn new(message: &'static str) -> PlainField<P> {
        assert!(!needs_drop::<P>(), "{}", message);
        PlainField(PhantomData)
    }
}

impl<P> PlainField<P> {
    /// Compiles if the object has the type `P` here, and so has its initialiser at two spans.
    pub fn same(self, _: Invariant<P>, _: Invariant<P>, _: Invariant<P>) {}
}

/// The bytes of an object with this struct. Panics, at compile time, unless the struct can be an
/// object. A field with drop glue has its own message.
pub const fn layout<L>(a_field_is_dropped: bool) -> usize {
    assert!(
        a_field_is_dropped || !needs_drop::<L>(),
        "an object of the heap is never dropped, so it does not implement `Drop`"
    );
    assert!(
        align_of::<L>() <= 8,
        "an object of the heap is aligned to 8 bytes: no field may ask for more (`u128`, `#[repr(align(16))]`)"
    );
    object_bytes(size_of::<L>())
}

/// Panics, at compile time, unless the object has that many bytes and exactly these slots. `found`
/// has the slots of the struct, by their offsets in it.
pub const fn assert_layout<O>(bytes: usize, slots: &[Slot], found: &[(usize, SlotKind)]) {
    assert!(!needs_drop::<O>(), "an object of the heap is never dropped");
    assert!(
        align_of::<O>() <= 8 && object_bytes(size_of::<O>()) == bytes && slots.len() == found.len(),
        "the object is not laid out as its shape says: a generic object has one layout, whatever its parameters"
    );
    let mut index = 0;
    while index < found.len() {
        let (Slot { offset, kind, .. }, (in_struct, field)) = (&slots[index], &found[index]);
        let same_kind =
            matches!((kind, field), (SlotKind::Strong, SlotKind::Strong) | (SlotKind::Weak, SlotKind::Weak));
        assert!(
            *offset == HEADER_BYTES + *in_struct && *in_struct % 8 == 0 && same_kind,
            "the object is not laid out as its shape says: a generic object has one layout, whatever its parameters"
        );
        index += 1;
    }
}

/// Substitutes for fields of generic types, with the same layout.
pub mod stand_in {
    /// A `Field`.
    pub type Strong = super::Field<super::Any>;
    /// A `WeakField`.
    pub type Weak = super::WeakField<super::Any>;
}
