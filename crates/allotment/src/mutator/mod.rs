//! A thread's side of the heap: its buffer, the fast path, and what happens when that fails.
//!
//! The fast path is load, add, compare, store, header. Everything that must ever stop it (the end of
//! the buffer, a window of zeroed memory, a sampling point, a request to come to a safepoint) lowers
//! the one number it compares with; see [`limit`](self) in ARCHITECTURE.md for the protocol.
//!
//! This layer does not know which collector there is: it asks the [`Collector`] trait for room.
//!
//! # For runtimes with their own object access
//!
//! The safe API is written on this layer, and a runtime that has its own layout, roots or compiler uses the same. What it
//! owes the heap is listed as predicates at each function:
//!
//! | to | use |
//! |---|---|
//! | describe objects | [`Heap::register`](crate::Heap::register) with a [`Shape`](crate::object::Shape): slots as data, or a trace function |
//! | allocate | [`Mutator::try_alloc_raw`] with a [`Site`], [`alloc_raw`](Mutator::alloc_raw), [`make_room`](Mutator::make_room) and [`alloc_in_raw`](Mutator::alloc_in_raw) |
//! | read and write slots | [`Mutator::load`], [`Mutator::store`]; a word is as [`object::reference`](crate::object::reference) says |
//! | keep objects alive | [`Mutator::new_root`], [`link_word`](Mutator::link_word), [`link_root`](Mutator::link_root), [`new_weak_root`](Mutator::new_weak_root), [`RootProvider`] |
//! | keep one in place | [`Mutator::pin`] |
//! | compile | [`Hot`], what generated code reads and writes; [`GeneratedCalls`], what it calls; the crate `allotment-jit` emits it |
//! | stop | [`Mutator::safepoint`], [`blocking`](Mutator::blocking), [`stop_the_world`](Mutator::stop_the_world) |
//!
//! ```
//! use allotment::{Heap, object::{Shape, SlotKind, reference}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let heap = Heap::builder().max_heap_size(16 << 20).build()?;
//! let pair = heap.register(Shape::fixed("Pair", 24).slot("next", 8, SlotKind::Strong))?;
//! let length = heap.attach(|mutator| {
//!     // SAFETY: null refers to nothing.
//!     let list = unsafe { mutator.new_root(0) };
//!     for _ in 0..1000 {
//!         // SAFETY: the shape is this heap's. A safepoint: what is not in a root is gone.
//!         let new = unsafe { mutator.alloc_raw(pair, 0)? };
//!         let next = list.get(mutator).expect("a root of this heap");
//!         // SAFETY: a slot of the new object; both words are references to live objects, or null.
//!         unsafe {
//!             mutator.store(new.as_ptr().byte_add(8).cast(), next);
//!             list.set(mutator, new.as_ptr() as u64);
//!         }
//!     }
//!     mutator.collect();
//!     let (mut length, mut at) = (0, list.get(mutator).expect("a root of this heap"));
//!     while let Some(address) = reference(at) {
//!         length += 1;
//!         // SAFETY: a slot of a live object.
//!         at = unsafe { mutator.load((address as *const u64).add(1)) };
//!     }
//!     Ok::<usize, allotment::mutator::OutOfMemory>(length)
//! })??;
//! assert_eq!(length, 1000);
//! # Ok(())
//! # }
//! ```

mod alloc;
mod barrier;
mod gc_overhead;
mod generated;
mod handles;
mod identity;
mod out_of_memory;
mod roots;
mod safepoint;
mod stop;
#[cfg(all(test, not(loom)))]
mod tests;
mod thread;
mod zeal;

pub(crate) use alloc::hot_bytes;
pub use alloc::{
    Ahead, ArraySite, Burst, ByCaller, BySize, Mark, NoPrefetch, PerObject, Prefetch, Reservation, Site,
    Write, Zeroing,
};
pub use gc_overhead::GcOverhead;
pub use generated::{AllocateArraySlow, AllocateSlow, GeneratedCalls, SafepointSlow};
pub use handles::{LinkedRoot, Pin, RootHandle};
pub use out_of_memory::OutOfMemory;
pub(crate) use roots::Roots;
pub use roots::{GeneratedFrame, ProviderId, RootLink, RootProvider, RootVisitor, RootWord};
pub(crate) use safepoint::{AbortOnUnwind, Hook as LateThreadHook, Late, Volunteers};
pub use safepoint::{LateThread, SafepointStatistics, ThreadIdentity};
pub use stop::{StopError, World};
pub use thread::{AttachError, Attachments, BufferSizes, Cause, Collector, ForkError, Hot, Mutator, Outcome};
pub(crate) use thread::{Committer, HERE, HeapLimitHook, Registry, Shared, attach};
pub(crate) use zeal::ZealSchedule;
