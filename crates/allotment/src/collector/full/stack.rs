//! The mark stack: pieces of fixed size, so that it grows without copying and workers can pass pieces on.
//!
//! It may refuse to grow: the system may have no memory, and a collection that is the last resort has no
//! other. What did not fit is then found again by a search of the heap (mark.rs).

use std::collections::TryReserveError;

/// How large a stack becomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Entries of a piece, at least 2.
    pub(super) piece: usize,
    /// Pieces, at least 1.
    pub(super) pieces: usize,
}

impl Limits {
    /// Pieces of 32 KiB, and in all at most 1/32 of the heap, as much as the side tables.
    pub(super) fn for_heap(heap_bytes: usize) -> Limits {
        const PIECE: usize = 4096;
        Limits { piece: PIECE, pieces: (heap_bytes / 32 / (PIECE * size_of::<usize>())).max(4) }
    }
}

/// A stack of words.
pub(super) struct MarkStack {
    limits: Limits,
    /// Where entries are pushed and popped.
    top: Vec<usize>,
    /// Pieces below it, each with at least one entry.
    below: Vec<Vec<usize>>,
    /// An empty piece, so that a stack around the border of two does not go to the allocator each time.
    spare: Option<Vec<usize>>,
}

impl MarkStack {
    /// An empty stack with a first piece.
    pub(super) fn new(limits: Limits) -> Result<MarkStack, TryReserveError> {
        let mut top = Vec::new();
        top.try_reserve_exact(limits.piece)?;
        Ok(MarkStack { limits, top, below: Vec::new(), spare: None })
    }

    /// Pushes `entries`, the last one on top; all or, with `false`, none.
    #[inline(always)]
    pub(super) fn push<const N: usize>(&mut self, entries: [usize; N]) -> bool {
        if self.top.len() + N > self.limits.piece && !self.grow() {
            return false;
        }
        self.top.extend_from_slice(&entries);
        true
    }

    /// The entry on top.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<usize> {
        match self.top.pop() {
            Some(entry) => Some(entry),
            None => self.shrink(),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> bool {
        if self.below.len() + 1 >= self.limits.pieces || self.below.try_reserve(1).is_err() {
            return false;
        }
        let mut piece = self.spare.take().unwrap_or_default();
        if piece.try_reserve_exact(self.limits.piece).is_err() {
            return false;
        }
        self.below.push(std::mem::replace(&mut self.top, piece));
        true
    }

    #[cold]
    #[inline(never)]
    fn shrink(&mut self) -> Option<usize> {
        let below = self.below.pop()?;
        self.spare = Some(std::mem::replace(&mut self.top, below));
        self.top.pop()
    }
}
