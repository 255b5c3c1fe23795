//! The handles that a young collection visits: those in chunks that may refer to young objects.
//!
//! A program may have millions of handles, nearly all of which refer to old objects. A young
//! collection does not look at them, as it does not look at old objects:
//!
//! ```text
//! a handle is made or stored to   its chunk goes on the list `young`, unless it is there
//! begin_young_visit    in a stop  `young` becomes `begun`; a new epoch, in which no chunk is on
//!                                 the new `young`
//! visits                          the chunks of both lists
//! end_young_visit                 a chunk of `begun` that still refers to a young object goes on
//!                                 `young`; the others leave the lists
//! ```
//!
//! A chunk is on `young` if its epoch is the table's. No thread ever takes that mark from a chunk:
//! a new epoch takes it from all chunks at once, in a stop, where no thread is between a store and
//! its look at the mark. So `end_young_visit` runs beside threads that store.
//!
//! **Invariant:** while no thread is between two safepoints, each handle that refers to a young
//! object is in a chunk of `young` or `begun`. The verifier checks it
//! ([`forgotten`](RootTable::forgotten)).
//!
//! Refused: a list of handles instead of chunks. It takes 8 bytes for each handle, and a thread
//! that stores could not find the mark of its handle without a second word for each.

use super::chunk::Chunk;
use super::table::RootTable;
use crate::object::reference;
use crate::sync::Ordering;
use std::sync::atomic::AtomicU64;

/// The chunks that young collections visit.
#[derive(Default)]
pub(super) struct YoungChunks {
    /// Those of the table's epoch, each once.
    young: Vec<Chunk>,
    /// Those of the epoch before which have yet to be looked at, each once.
    begun: Vec<Chunk>,
}

impl YoungChunks {
    /// Makes room for this number of chunks on both lists. `None`: the system has no memory.
    pub(super) fn reserve(&mut self, chunks: usize) -> Option<()> {
        for list in [&mut self.young, &mut self.begun] {
            list.try_reserve(chunks.saturating_sub(list.len())).ok()?;
        }
        Some(())
    }

    /// Puts a chunk on the list, if it is not there.
    pub(super) fn add(&mut self, chunk: Chunk, epoch: u64) {
        if !chunk.is_of(epoch) {
            chunk.set_epoch(epoch);
            self.young.push(chunk);
        }
    }

    /// All chunks that a young visit looks at. Some come twice.
    pub(super) fn all(&self) -> impl Iterator<Item = Chunk> {
        self.begun.iter().chain(&self.young).copied()
    }

    /// The chunk with this number, in an order that stays while a visit goes on.
    pub(super) fn get(&self, number: usize) -> Option<Chunk> {
        match number.checked_sub(self.begun.len()) {
            None => Some(self.begun[number]),
            Some(number) => self.young.get(number).copied(),
        }
    }

    /// Begins a visit, in a new epoch.
    fn begin(&mut self, epoch: u64) {
        // A visit that was given up left these.
        while let Some(chunk) = self.begun.pop() {
            self.add(chunk, epoch);
        }
        std::mem::swap(&mut self.young, &mut self.begun);
    }
}

/// Whether a word of the chunk refers to a young object.
fn has_young(chunk: Chunk, is_young: &dyn Fn(usize) -> bool) -> bool {
    let refers = |word: &AtomicU64| reference(word.load(Ordering::Acquire)).is_some_and(is_young);
    chunk.words().iter().any(refers)
}

impl RootTable {
    /// Begins a visit of the handles of young objects. In a stop.
    pub(super) fn begin_young_visit(&self) {
        let mut inner = self.lock();
        let epoch = self.epoch.load(Ordering::Relaxed);
        inner.young.begin(epoch);
        self.epoch.store(epoch + 1, Ordering::Relaxed);
    }

    /// Ends the visit: chunks without a young referent leave the list. Threads may use handles
    /// meanwhile. Objects must not become young meanwhile, nor move.
    pub(super) fn end_young_visit(&self, is_young: &dyn Fn(usize) -> bool) {
        loop {
            let mut inner = self.lock();
            let Some(chunk) = inner.young.begun.pop() else { return };
            if has_young(chunk, is_young) {
                inner.young.add(chunk, self.epoch.load(Ordering::Relaxed));
            }
        }
    }

    /// Puts all chunks on the list: old objects have become young. In a stop.
    pub(super) fn all_may_be_young(&self) {
        let inner = &mut *self.lock();
        let epoch = self.epoch.load(Ordering::Relaxed);
        inner.chunks.iter().for_each(|chunk| inner.young.add(*chunk, epoch));
    }

    /// A slot that refers to a young object although its chunk is on no list, with its word.
    pub(super) fn forgotten(&self, is_young: &dyn Fn(usize) -> bool) -> Option<(usize, u64)> {
        let inner = self.lock();
        let mut listed: Vec<_> = inner.young.all().map(|chunk| chunk.words().as_ptr().addr()).collect();
        listed.sort_unstable();
        let is_listed = |chunk: &Chunk| listed.binary_search(&chunk.words().as_ptr().addr()).is_ok();
        let words = inner.chunks.iter().filter(|chunk| !is_listed(chunk)).flat_map(Chunk::words);
        words
            .map(|word| (word.as_ptr().addr(), word.load(Ordering::Acquire)))
            .find(|(_, bits)| reference(*bits).is_some_and(is_young))
    }
}
