//! The shared state of the workers of one task: the parts of their stacks, the deques that they
//! steal from, the number of idle ones, and the pieces of memory of their [stacks](super::stack).
//!
//! Pieces have a fixed size and a greatest number. Task queues keep some empty ones, so a
//! collection seldom asks the system's allocator.

use super::sleep::Sleepers;
use crate::sync::POISONED;
use crate::sync::{
    AtomicUsize, Mutex, Ordering,
    deque::{Stealer, Worker},
};
use crossbeam_utils::CachePadded;
use std::collections::TryReserveError;

/// The sizes of the stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StackLimits {
    /// Entries of a piece, at least 2.
    pub(crate) piece: usize,
    /// Pieces of all workers, at least 1; each worker has one in any case.
    pub(crate) pieces: usize,
}

/// Empty pieces that are kept per worker, so that a collection seldom asks the system's allocator.
const KEPT_PIECES: usize = 8;

impl StackLimits {
    /// Pieces of 32 KiB, and in all at most 1/32 of the heap, as much as the side tables.
    pub(crate) fn for_heap(heap_bytes: usize) -> StackLimits {
        const PIECE: usize = 4096;
        StackLimits { piece: PIECE, pieces: (heap_bytes / 32 / (PIECE * size_of::<usize>())).max(4) }
    }
}

/// A part of a stack: entries, in memory that was reserved for all of them.
pub(super) type Piece = Vec<usize>;

/// The stacks of workers that do one task together.
pub(crate) struct TaskQueues {
    /// The sizes of its stacks.
    pub(super) limits: StackLimits,
    /// The parts of each worker's stack. Absent while the worker has its stack.
    pub(super) parked: Box<[Mutex<Option<StackParts>>]>,
    pub(super) stealers: Box<[Stealer<Piece>]>,
    /// Number of workers that have found nothing. Written by a worker that begins to wait, or that
    /// sees a piece. Read by all, Relaxed, as a hint.
    pub(super) idle: CachePadded<AtomicUsize>,
    /// The sleeping ones among them.
    pub(super) sleepers: Sleepers,
    /// Number of pieces that workers have, empty ones included. Written when one is made or
    /// dropped.
    pieces: CachePadded<AtomicUsize>,
    /// Empty pieces that no worker has.
    kept: Mutex<Vec<Piece>>,
}

/// The parts of a stack that outlive it.
pub(super) struct StackParts {
    pub(super) top: Piece,
    pub(super) shared: Worker<Piece>,
}

impl TaskQueues {
    /// Empty stacks with a first piece, for `workers`, at least 1.
    pub(crate) fn new(workers: usize, limits: StackLimits) -> Result<TaskQueues, TryReserveError> {
        let workers = workers.max(1);
        let (mut parked, mut stealers) = (Vec::new(), Vec::new());
        for _ in 0..workers {
            let mut top = Piece::new();
            top.try_reserve_exact(limits.piece)?;
            let shared = Worker::new_lifo();
            stealers.push(shared.stealer());
            parked.push(Mutex::new(Some(StackParts { top, shared })));
        }
        Ok(TaskQueues {
            limits,
            parked: parked.into(),
            stealers: stealers.into(),
            idle: CachePadded::new(AtomicUsize::new(0)),
            sleepers: Sleepers::for_workers(workers)?,
            pieces: CachePadded::new(AtomicUsize::new(workers)),
            kept: Mutex::new(Vec::new()),
        })
    }

    /// Number of workers.
    pub(crate) fn workers(&self) -> usize {
        self.parked.len()
    }

    /// Begins another round of work, for all. Called between two rounds, when no worker is in
    /// [`WorkStack::find`].
    pub(crate) fn begin(&self) {
        self.idle.store(0, Ordering::Relaxed);
    }

    /// An empty piece, if there may be another.
    pub(super) fn make_piece(&self) -> Option<Piece> {
        let most = self.limits.pieces.max(self.workers());
        if self.pieces.fetch_add(1, Ordering::Relaxed) < most {
            if let Some(kept) = self.kept.lock().expect(POISONED).pop() {
                return Some(kept);
            }
            let mut piece = Piece::new();
            if piece.try_reserve_exact(self.limits.piece).is_ok() {
                return Some(piece);
            }
        }
        self.pieces.fetch_sub(1, Ordering::Relaxed);
        None
    }

    /// Takes back a piece of a worker.
    pub(super) fn drop_piece(&self, mut piece: Piece) {
        piece.clear();
        self.pieces.fetch_sub(1, Ordering::Relaxed);
        let mut kept = self.kept.lock().expect(POISONED);
        if kept.len() < KEPT_PIECES * self.workers() && kept.try_reserve(1).is_ok() {
            kept.push(piece);
        }
    }

    #[cfg(test)]
    pub(crate) fn kept_pieces(&self) -> usize {
        self.kept.lock().expect(POISONED).len()
    }
}
