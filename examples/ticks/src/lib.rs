//! An ordered store of market data that lives in a heap: an example of the safe API.
//!
//! A [`Store`] is a B+tree. Its leaves are blocks of bytes, some KiB each, that hold [`Tick`]s in
//! the order of their [`Key`]s: by instrument, then by time. Above the blocks are nodes of keys and
//! references. Blocks and nodes are objects of the heap. No code frees a block: a removed block is
//! garbage, and the collector reclaims its memory.
//!
//! ```
//! use allotment::{Heap, OutOfMemory, root};
//! use allotment_ticks::{Key, Quote, Store, Tick};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
//! heap.attach(|mu| {
//!     root!(mu, store = Store::make(mu, 4096)?);
//!     for time in 0..10_000 {
//!         let quote = Quote { price: 100_00 + time as i64 % 7, size: 10, flags: 0 };
//!         Store::put(mu, store, Tick { key: Key::new(1, time * 1000), quote })?;
//!     }
//!     // The quote that was in force at a time.
//!     let found = store.get(mu).at_or_before(mu, Key::new(1, 5_000_999));
//!     assert_eq!(found.map(|tick| tick.key.time), Some(5_000_000));
//!     // All of a millisecond, in order.
//!     let range = Key::new(1, 1_000_000)..Key::new(1, 2_000_000);
//!     assert_eq!(store.get(mu).range(mu, range).count(), 1000);
//!     // Older ticks are no longer needed.
//!     assert_eq!(Store::remove(mu, store, ..Key::new(1, 1_000_000)), 1000);
//!     assert_eq!(store.get(mu).len(), 9000);
//!     Ok::<(), OutOfMemory>(())
//! })??;
//! # Ok(())
//! # }
//! ```
//!
//! Calls that read take `&Mutator`: they reach no safepoint, so a long scan delays a collection. A
//! program with long scans reads some thousand ticks, reaches a safepoint, and goes on from the
//! last key. Calls that change the store take `&mut Mutator`.
//!
//! Several threads may share a store under a reader-writer lock that the program has.
//! [`Store::put`] may reach a safepoint, where it waits for all threads of the heap. So a thread
//! waits for the lock in [`Mutator::blocking`](allotment::Mutator::blocking). Without a lock the
//! store is wrong or panics, but memory stays safe.
//!
//! Refused:
//!
//! - A skip list: an object and several references for each tick, where a tick has 32 bytes.
//! - Compressed blocks: smaller, but a tick in the middle needs the decoding of those before it.
//! - References between neighbouring leaves: each removal would have to find the leaf before it. A
//!   reader that leaves a block goes down from the root again, once for each block.

#![forbid(unsafe_code)]

mod block;
mod inner;
mod place;
mod put;
mod range;
mod remove;
mod store;
mod tick;
mod verify;

pub use block::{MIN_BLOCK_BYTES, TICK_BYTES};
pub use range::Ticks;
pub use store::Store;
pub use tick::{Key, Quote, Tick};
pub use verify::Extent;

#[cfg(test)]
mod tests;
