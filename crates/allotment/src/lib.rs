//! A garbage-collected heap that a program embeds.
//!
//! Every thread gets an allotment of the heap of its own, a thread-local allocation buffer (TLAB), and
//! allocates there by bumping a pointer, with nobody to ask.
//!
//! The layers, lowest first; a module may use only modules before it:
//! [`options`], [`memory`], [`object`], [`region`], [`tlab`], [`mutator`], [`collector`], [`heap`], [`observe`].

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

pub use heap::Heap;
