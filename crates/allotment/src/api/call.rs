//! Bare arguments to a function that may collect. This is for experts; `pass!` is the general way.
//!
//! One value holds the arguments together with the exclusive borrow that keeps them valid. While
//! that value exists, no code can reach a safepoint, because the value holds the mutator. No root
//! is made: the callee decides.

use super::carry::Carry;
use crate::mutator::Mutator;
use std::mem::{ManuallyDrop, transmute, transmute_copy};

/// Arguments whose span is forgotten. [`call!`](crate::call) makes them.
pub struct Arguments<A: Carry>(A::At<'static>);

/// Forgets the span of the arguments of a call. `A` is the argument type of the function. The
/// compiler infers it later, from the call, so a literal among the arguments gets the type of the
/// function's parameter.
///
/// # Safety
/// - The result goes into a [`Call`] before the next safepoint.
#[inline(always)]
pub unsafe fn arguments<'s, A: Carry>(arguments: A::At<'s>) -> Arguments<A> {
    let arguments = ManuallyDrop::new(arguments);
    // SAFETY: `A` at two spans differs in a lifetime only.
    Arguments(unsafe { transmute_copy(&*arguments) })
}

/// A call in progress: [`call!`](crate::call) makes it, [`enter!`](crate::enter) opens it.
pub struct Call<'m, A: Carry> {
    mutator: &'m mut Mutator<'m>,
    arguments: A::At<'static>,
}

impl<'m, A: Carry> Call<'m, A> {
    /// A call with these arguments. [`call!`](crate::call) makes it.
    ///
    /// # Safety
    /// - `arguments` were erased, with no safepoint since.
    #[inline(always)]
    pub unsafe fn new(mutator: &'m mut Mutator<'_>, Arguments(arguments): Arguments<A>) -> Self {
        // SAFETY: shortens the attachment to the call. No code can put a mutator of a shorter
        // attachment there: a thread has one mutator.
        let mutator = unsafe { transmute::<&'m mut Mutator<'_>, &'m mut Mutator<'m>>(mutator) };
        Call { mutator, arguments }
    }

    /// The mutator and the arguments. [`enter!`](crate::enter) takes them.
    ///
    /// # Safety
    /// - The arguments are restored, for a span of this mutator, before anything else happens.
    #[inline(always)]
    pub unsafe fn split(self) -> (&'m mut Mutator<'m>, A::At<'static>) {
        (self.mutator, self.arguments)
    }
}

debug_is_name!(Call<'_, A: Carry>);
