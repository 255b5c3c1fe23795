//! A garbage-collected heap that a program embeds.
//!
//! Every thread gets an allotment of the heap of its own, a thread-local allocation buffer (TLAB), and
//! allocates there by bumping a pointer, with nobody to ask.
//!
//! The layers, lowest first; a module may use only modules before it:
//! [`options`], [`memory`], [`object`], [`region`], [`tlab`], [`mutator`], [`collector`], [`heap`], [`api`],
//! [`collections`], [`observe`].

// The derives name the library `::allotment`, here too.
extern crate self as allotment;

pub mod api;
pub mod collections;
pub mod collector;
pub mod heap;
pub mod memory;
pub mod mutator;
pub mod object;
pub mod observe;
pub mod options;
pub mod region;
mod sync;
pub mod tlab;

pub use allotment_macros::{Carry, Object, Word};
#[doc(hidden)]
pub use api::rt;
pub use api::{
    Any, Array, Bare, Bytes, Call, Carry, Downcast, Field, Fixnum, Gc, Immediate, Local, LocalMut, Maybe,
    New, NewArray, NewBytes, NewSlots, NewStr, Object, Plain, Pointer, Root, Scalar, SlotField, Slots, Stack,
    Str, Unboxed, WeakField, WeakRoot, Word, WrongHeap,
};
pub use collections::{IdMap, Interner, Key, List, Map, NewIdMap, NewInterner, NewList, NewMap};
pub use heap::Heap;
pub use mutator::{AttachError, Mutator, OutOfMemory, Reservation};
