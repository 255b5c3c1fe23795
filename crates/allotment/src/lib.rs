//! A garbage-collected heap that a program embeds.
//!
//! Every thread gets its own allotment of the heap, a thread-local allocation buffer (TLAB). It
//! allocates there by bumping a pointer, without synchronisation.
//!
//! ```
//! use allotment::{Field, Heap, Object, OutOfMemory, alloc, root};
//!
//! #[derive(Object)]
//! struct Pair {
//!     next: Field<Option<Pair>>,
//!     key: u64,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let heap = Heap::builder().max_heap_size(16 << 20).build()?;
//! let sum = heap.attach(|mu| {
//!     // A root lives as long as its frame, wherever its object is moved to.
//!     root!(mu, mut list = alloc!(mu, NewPair { next: None, key: 0 })?);
//!     for key in 1..=1000 {
//!         // A safepoint: everything may move. The initialiser goes along.
//!         let pair = alloc!(mu, NewPair { next: Some(list.get(mu)), key })?;
//!         list.set(mu, pair);
//!     }
//!     let (mut sum, mut at) = (0, Some(list.get(mu)));
//!     while let Some(pair) = at {
//!         sum += pair.key;
//!         at = pair.next.load(mu);
//!     }
//!     Ok::<u64, OutOfMemory>(sum)
//! })??;
//! assert_eq!(sum, 500_500);
//! # Ok(())
//! # }
//! ```
//!
//! Five types carry a program:
//!
//! | type | meaning |
//! |---|---|
//! | [`Heap`] | the heap; [`Heap::builder`] makes one, [`Heap::attach`] lets a thread in |
//! | [`Mutator`] | an attached thread; functions that may collect take `&mut Mutator` |
//! | [`Gc<T>`](Gc) | a pointer to an object; it borrows the mutator; ends where objects may move |
//! | [`Field<W>`](Field) | a slot in an object, which holds a pointer or another [`Word`] |
//! | [`Root<W>`](Root) | an owned reference; survives collections; other threads can read it |
//!
//! [`#[derive(Object)]`](macro@Object) makes object types, [`alloc!`] allocates, and [`root!`]
//! keeps a value in a frame. The module [`api`] has the whole safe API, and its rule. [`Array`],
//! [`Str`], [`List`] and [`Map`] are ready-made objects. [`heap::HeapBuilder`] and [`options`] have
//! the settings; [`stats`] has the statistics of a heap. [`raw`] serves compilers, and runtimes
//! with their own object access.
//!
//! Pages in the repository: `docs/E0502.md` (the meaning of the borrow checker's messages here),
//! `docs/threads.md` (sharing, locks, races), `docs/observe.md` (profiles, metrics, timelines),
//! `docs/snapshots.md`,
//! `docs/tutorial` (a Lisp from an empty crate), `ARCHITECTURE.md`.

// In a build for the model checker only models call the code.
#![cfg_attr(loom, allow(dead_code, unreachable_pub, unused_imports))]

// The derives name the library `::allotment`, in this crate too.
extern crate self as allotment;

pub mod api;
pub mod collections;
mod collector;
mod debug;
pub mod heap;
#[doc(hidden)]
pub mod internals;
mod mutator;
mod object;
mod observe;
pub mod options;
#[cfg(test)]
#[path = "../tests/own_program/mod.rs"]
mod own_program;
mod platform;
mod probes;
mod random;
pub mod raw;
mod region;
pub mod stats;
#[cfg(all(test, not(loom)))]
mod stress_seed;
#[cfg(test)]
use own_program::own_program;
mod sync;
mod time_histogram;
mod timeline;
mod tlab;

pub use allotment_macros::{Carry, Object, Word};
#[doc(hidden)]
pub use api::rt;
pub use api::{
    Any, Array, Bare, Bytes, Call, Carry, Downcast, Field, Fixnum, Gc, Immediate, Local, LocalMut, Maybe,
    New, NewArray, NewBytes, NewSlots, NewStr, Object, Plain, Pointer, Root, Scalar, SlotField, Slots, Stack,
    Str, Unboxed, WeakField, WeakRoot, Word, WrongHeap,
};
pub use collections::{IdMap, Interner, Key, List, Map, NewIdMap, NewInterner, NewList, NewMap};
pub use heap::{Attachment, Heap};
pub use mutator::{AttachError, ForkError, Mutator, OutOfMemory, Reservation};

/// The pages whose examples are programs: rustdoc compiles and runs them.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/threads.md")]
#[doc = include_str!("../../../docs/observe.md")]
#[doc = include_str!("../README.md")]
mod pages {}
