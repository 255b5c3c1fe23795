//! Collections in the heap: lists, maps by content and by identity, interned strings.
//!
//! Each collection is an object like any other: a field, a root or another collection holds it, it
//! moves, and it dies with its last reference. Operations that may allocate take `&mut Mutator` and
//! [`Local`](crate::Local)s, so [`pass!`](crate::pass) calls them with bare values. Operations that
//! only read, remove or replace take `&Mutator`, give bare values, and are called on the pointer.
//!
//! | | [`List`] | [`Map`], [`IdMap`] | [`Interner`] |
//! |---|---|---|---|
//! | read or replace one | O(1) | O(1) expected | O(1) expected, and O(text) |
//! | add one | O(1) amortised at the end, O(n) inside | O(1) expected, amortised | O(text) more |
//! | remove one | O(1) at the end, O(n) within | O(1) expected | the collector does |
//! | iterate | O(n) | O(n + removed), in the order of insertion | |
//! | clear | O(1), releases the room | O(1), releases the room | |
//! | words for each, as it grows | 1 to 2 | 3.2 to 8.5 | 5 to 6.7 beside the text |
//!
//! An operation that finds no memory returns an error and has changed nothing.
//!
//! **Threads.** All threads may see a collection. Only one thread at a time may change it, while no
//! other reads it. A program ensures this with a lock that it takes in
//! [`Mutator::blocking`](crate::Mutator::blocking). A program without such a lock gets wrong
//! answers or loses entries; it does not break the heap.
//!
//! Refused:
//!
//! - Collections that a collector knows. These are written with the public interface and no
//!   `unsafe`; `tests/collections_public.rs` compiles them to prove it.
//! - A lock in each collection. Most collections belong to one thread.

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
