//! Values whose span can be replaced: the values that macros carry over a safepoint.
//!
//! There is one way over a safepoint. A macro forgets the span of a value. Any collection then
//! visits the value's references. Afterwards the macro gives the value the current span. The first
//! and the last step are unsafe, and the macros take them. This trait tells for which values these
//! steps are sound.
//!
//! A lifetime that is not a span stays in the type: an error that borrows source text keeps its
//! borrow.

use crate::mutator::Mutator;
use crate::object::SlotVisitor;
use std::mem::{ManuallyDrop, transmute_copy};

/// A value that live lists (of [`alloc!`](crate::alloc) and [`keep!`](crate::keep)),
/// [`rebind!`](crate::rebind) and [`call!`](crate::call) can carry: bare values, and tuples,
/// arrays, `Option`, `Result`, `Vec` and `#[derive(Carry)]` structs of them.
///
/// # Safety
/// - `At<'g>` is `Self` with the span, and nothing else, replaced by `'g`.
/// - `trace` visits every reference that the value holds for its span, and updates it.
/// - Dropping it runs no user code that sees the span.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be carried over a safepoint",
    label = "neither a bare value nor made of them",
    note = "a value without pointers into the heap needs no live list: leave it out",
    note = "a struct of bare values can be carried with `#[derive(Carry)]`"
)]
pub unsafe trait Carry: Sized {
    /// This type with another span.
    type At<'g>: Carry;

    /// Visits the references. A slot is valid during the call only.
    fn trace(&mut self, slots: &mut SlotVisitor<'_>);

    /// The place where the derives check the fields of a type at two spans: in the implementation
    /// itself, under its own predicates. It is never called.
    #[doc(hidden)]
    #[inline]
    fn __al_fields<'h>(_: Self, _: Self::At<'h>) {}
}

/// Compiles for a value that can be carried, so that the error for any other value names the trait.
#[inline(always)]
pub fn carried<C: Carry>(value: C) -> C {
    value
}

/// Forgets the span of a value.
///
/// # Safety
/// - The result is used through [`restore`] only, and is traced by every collection before that.
#[inline(always)]
pub unsafe fn erase<C: Carry>(value: C) -> C::At<'static> {
    let value = ManuallyDrop::new(value);
    // SAFETY: `At<'static>` differs from `C` in a lifetime only.
    unsafe { transmute_copy(&*value) }
}

/// Gives a value the span of this borrow of the mutator.
///
/// # Safety
/// - Every reference in `value` is good now.
#[inline(always)]
pub unsafe fn restore<'g, C: Carry>(value: C, _span: &'g Mutator<'_>) -> C::At<'g> {
    let value = ManuallyDrop::new(value);
    // SAFETY: as in `erase`; the borrow keeps safepoints away for `'g`.
    unsafe { transmute_copy(&*value) }
}

// SAFETY: as for the value.
unsafe impl<C: Carry> Carry for Option<C> {
    type At<'g> = Option<C::At<'g>>;

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        if let Some(value) = self {
            value.trace(slots);
        }
    }
}

// SAFETY: as for the value; the error keeps its type, so a reference in it keeps its span.
unsafe impl<C: Carry, E> Carry for Result<C, E> {
    type At<'g> = Result<C::At<'g>, E>;

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        if let Ok(value) = self {
            value.trace(slots);
        }
    }
}

// SAFETY: as for the elements.
unsafe impl<C: Carry, const N: usize> Carry for [C; N] {
    type At<'g> = [C::At<'g>; N];

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        self.iter_mut().for_each(|value| value.trace(slots));
    }
}

// SAFETY: as for the elements; types that differ in a lifetime have the same layout.
unsafe impl<C: Carry> Carry for Vec<C> {
    type At<'g> = Vec<C::At<'g>>;

    fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
        self.iter_mut().for_each(|value| value.trace(slots));
    }
}

// SAFETY: the type keeps its lifetime, so its referent stays borrowed.
unsafe impl<'a, T: ?Sized> Carry for &'a T {
    type At<'g> = &'a T;

    fn trace(&mut self, _: &mut SlotVisitor<'_>) {}
}

macro_rules! tuples {
    ($($($name:ident)*;)*) => {$(
        // SAFETY: as for the elements.
        #[allow(non_snake_case, unused_variables)]
        unsafe impl<$($name: Carry),*> Carry for ($($name,)*) {
            type At<'g> = ($($name::At<'g>,)*);

            fn trace(&mut self, slots: &mut SlotVisitor<'_>) {
                let ($($name,)*) = self;
                $($name.trace(slots);)*
            }
        }
    )*};
}
tuples! {
    ; A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; A B C D E F G H I;
    A B C D E F G H I J; A B C D E F G H I J K; A B C D E F G H I J K L; A B C D E F G H I J K L M;
    A B C D E F G H I J K L M N; A B C D E F G H I J K L M N O; A B C D E F G H I J K L M N O P;
}

macro_rules! plain {
    ($($type:ty),* $(,)?) => {$(
        // SAFETY: holds no reference.
        unsafe impl Carry for $type {
            type At<'g> = $type;

            fn trace(&mut self, _: &mut SlotVisitor<'_>) {}
        }
    )*};
}
plain! {
    bool, char, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, String, Box<str>,
    std::cmp::Ordering, std::num::NonZeroU32, std::num::NonZeroU64, std::num::NonZeroUsize,
}
