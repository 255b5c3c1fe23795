//! The tables of old regions beside the heap: dirty cards, and starts of objects.

use crate::region::{CardTable, StartTable};

/// Both tables of a heap.
#[derive(Clone, Copy)]
pub(crate) struct OldTables<'h> {
    pub(crate) cards: &'h CardTable,
    pub(crate) starts: &'h StartTable,
}

impl OldTables<'_> {
    /// Forgets all entries for `[start, end)`, whole cards.
    pub(crate) fn clear(&self, start: usize, end: usize) {
        self.cards.clean_range(start, end);
        self.starts.clear_range(start, end);
    }
}
