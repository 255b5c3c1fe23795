//! The heap without the safe API: for runtimes with their own object access, and for compilers.
//!
//! The safe API is written on this layer. A runtime with its own layout, roots or compiler uses the
//! same layer. An attached thread is then a [`RawMutator`]: [`Mutator::raw`], [`Mutator::raw_mut`].
//! Each function lists the caller's obligations as predicates:
//!
//! | to | use |
//! |---|---|
//! | describe objects | [`Heap::register`] with a [`Shape`]: slots as data, or a trace function |
//! | allocate | [`try_alloc_raw`] with a [`Site`], [`alloc_raw`], [`alloc_in_raw`] after [`make_room`] |
//! | access slots | [`RawMutator::load`], [`RawMutator::store`]; words: [`reference`](fn@reference) |
//! | keep alive | [`new_root`], [`link_word`], [`link_range`], [`new_weak_root`], [`RootProvider`] |
//! | keep one in place | [`RawMutator::pin`] |
//! | compile | [`Hot`], [`BarrierKind`] and [`GeneratedCalls`] for generated code; `allotment-jit` emits it |
//! | stop | [`Mutator::safepoint`], [`blocking`], [`stop_the_world`] |
//!
//! [`Heap::register`]: crate::Heap::register
//! [`try_alloc_raw`]: RawMutator::try_alloc_raw
//! [`alloc_raw`]: RawMutator::alloc_raw
//! [`make_room`]: Mutator::make_room
//! [`alloc_in_raw`]: RawMutator::alloc_in_raw
//! [`new_root`]: RawMutator::new_root
//! [`link_word`]: RawMutator::link_word
//! [`link_range`]: RawMutator::link_range
//! [`new_weak_root`]: RawMutator::new_weak_root
//! [`blocking`]: Mutator::blocking
//! [`stop_the_world`]: RawMutator::stop_the_world
//!
//! ```
//! use allotment::{Heap, raw::{Shape, SlotKind, reference}};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let heap = Heap::builder().max_heap_size(16 << 20).build()?;
//! let pair = heap.register(Shape::fixed("Pair", 24).slot("next", 8, SlotKind::Strong))?;
//! let length = heap.attach(|mutator| {
//!     let raw = mutator.raw_mut();
//!     // SAFETY: null refers to nothing.
//!     let list = unsafe { raw.new_root(0) };
//!     for _ in 0..1000 {
//!         // SAFETY: the shape is this heap's. A safepoint: what is not in a root is gone.
//!         let new = unsafe { raw.alloc_raw(pair, 0)? };
//!         let next = list.get(raw).expect("a root of this heap");
//!         // SAFETY: a slot of the new object; both words are references to live objects, or null.
//!         unsafe {
//!             raw.store(new.as_ptr().byte_add(8).cast(), next);
//!             list.set(raw, new.as_ptr() as u64);
//!         }
//!     }
//!     raw.collect();
//!     let (mut length, mut at) = (0, list.get(raw).expect("a root of this heap"));
//!     while let Some(address) = reference(at) {
//!         length += 1;
//!         // SAFETY: a slot of a live object.
//!         at = unsafe { raw.load((address as *const u64).add(1)) };
//!     }
//!     Ok::<usize, allotment::OutOfMemory>(length)
//! })??;
//! assert_eq!(length, 1000);
//! # Ok(())
//! # }
//! ```

#[doc(no_inline)]
pub use crate::Mutator;
pub use crate::mutator::{
    AfterAccess, Ahead, AllocateArrayObjectSlow, AllocateArraySlow, AllocateObjectSlow, AllocateSlow,
    ArraySite, BarrierCalls, BarrierKind, BlockingError, Burst, ByCaller, BySize, CompareExchangeSlow,
    FrameName, FrameSink, GeneratedCalls, GeneratedFrame, Hot, HotField, LinkedRoot, LoadSlow, MAX_FRAMES,
    Mark, NoPrefetch, PerObject, Pin, Prefetch, ProviderId, RawMutator, RootHandle, RootLink, RootProvider,
    RootRange, RootVisitor, RootWord, SafepointSlow, Site, StackWalker, StopError, StoreSlow, World,
    WorldObject, WorldRoot, Write, Zeroing,
};
pub use crate::object::{
    ADDRESS_MASK, CTraceFn, Element, HEADER_BYTES, Header, IMMEDIATE_BIT, Kind, LENGTH_OFFSET, MAX_AGE,
    MIN_OBJECT_BYTES, Shape, ShapeError, ShapeId, ShapeRef, Shapes, Slot, SlotKind, SlotVisitor, TraceFn,
    TypeShape, WORD, reference, with_reference,
};
pub use crate::platform::{
    AArch64, PrefetchError, PrefetchInstruction, PrefetchSettings, PrefetchStyle, Processor, Vendor, X86_64,
};
pub use crate::type_shape;
