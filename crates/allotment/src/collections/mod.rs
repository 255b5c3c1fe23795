//! Collections that live in the heap: lists, maps by content and by identity, interned strings.
//!
//! Each is an object like any other: a field, a root or another collection holds it, it moves, and it dies with its last
//! reference. What may allocate takes `&mut Mutator` and [`Local`](crate::Local)s, so [`pass!`](crate::pass) calls it with bare
//! values; what only reads, removes or replaces takes `&Mutator` and gives bare values, and is called on the pointer.
//!
//! | | [`List`] | [`Map`], [`IdMap`] | [`Interner`] |
//! |---|---|---|---|
//! | read or replace one | O(1) | O(1) expected | O(1) expected, and O(text) |
//! | add one | O(1) amortised at the end, O(n) within | O(1) expected, amortised | O(1) expected, amortised, and O(text) |
//! | remove one | O(1) at the end, O(n) within | O(1) expected | the collector does |
//! | iterate | O(n) | O(n + removed), in the order of insertion | |
//! | clear | O(1), gives up the room | O(1), gives up the room | |
//! | words for each, as it grows | 1 to 2 | 3.2 to 8.5 | 5 to 6.7 beside the text |
//!
//! An operation that finds no memory says so and has changed nothing.
//!
//! **Threads.** A collection may be seen by all threads, and changed by one at a time while no other reads it; see to that with
//! a lock that is taken in [`Mutator::blocking`](crate::Mutator::blocking). A program that does not gets wrong answers or loses
//! entries; it does not break the heap.
//!
//! Refused: collections that a collector knows (these are written with the public interface and no `unsafe`, which
//! `tests/collections_public.rs` compiles to be sure), a lock in each (most are one thread's).

mod entries;
mod id_map;
mod interner;
mod key;
mod list;
mod map;
mod maps;
mod table;

pub use id_map::{IdMap, NewIdMap};
pub use interner::{Interner, NewInterner};
pub use key::Key;
pub use list::{List, NewList};
pub use map::{Map, NewMap};
