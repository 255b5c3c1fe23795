//! The view of an attached thread for code without the safe API: runtimes with their own object
//! access, compilers, and the C API.
//!
//! The view is the same pointer as the [`Mutator`], and adds methods to those of the mutator. So
//! generic code may take either, and to change the view costs nothing. The methods lie beside what
//! they work on: `alloc/`, `barrier/`, `handles/`, `stop/`, `identity.rs` and `generated.rs`.
//!
//! Refused: these methods on the `Mutator` itself. A reader of the safe API then met forty methods,
//! most of them with conditions that the safe API exists to keep.

use super::Mutator;
use std::ops::{Deref, DerefMut};

/// A [`Mutator`], with the methods of the layer below the safe API.
///
/// [`Mutator::raw`] and [`Mutator::raw_mut`] make one. It dereferences to the `Mutator`.
///
/// ```
/// use allotment::{Heap, raw::Shape};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let shape = heap.register(Shape::fixed("Cell", 16))?;
/// heap.attach(|mutator| {
///     let raw = mutator.raw_mut();
///     // SAFETY: the shape is this heap's.
///     let cell = unsafe { raw.alloc_raw(shape, 0) };
///     raw.collect(); // a method of `Mutator`
///     cell.map(|_| ())
/// })??;
/// # Ok(())
/// # }
/// ```
#[repr(transparent)]
pub struct RawMutator<'t>(Mutator<'t>);

impl<'t> Mutator<'t> {
    /// This thread, with the methods of the [raw layer](crate::raw).
    #[inline(always)]
    pub fn raw(&self) -> &RawMutator<'t> {
        // SAFETY: `RawMutator` is transparent, so both types have the same layout.
        unsafe { &*(&raw const *self).cast() }
    }

    /// This thread, with the methods of the [raw layer](crate::raw) that may reach a safepoint.
    #[inline(always)]
    pub fn raw_mut(&mut self) -> &mut RawMutator<'t> {
        // SAFETY: as for `raw`.
        unsafe { &mut *(&raw mut *self).cast() }
    }
}

impl<'t> Deref for RawMutator<'t> {
    type Target = Mutator<'t>;

    #[inline(always)]
    fn deref(&self) -> &Mutator<'t> {
        &self.0
    }
}

impl<'t> DerefMut for RawMutator<'t> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Mutator<'t> {
        &mut self.0
    }
}
