//! The entries that a marker has found and not looked at yet.
//!
//! Each worker has a stack, from which other workers take. A mutator that helps for a moment has
//! room for a few entries, and takes those that workers leave.

use crate::collector::work::WorkStack;

/// Entries that a marker has yet to look at.
pub(in crate::collector) trait Entries {
    /// Keeps an entry. Returns `false` if there is no room.
    fn push(&mut self, entry: usize) -> bool;
    /// The entry that was kept last, if one is within reach.
    fn pop_at_hand(&mut self) -> Option<usize>;
    /// Brings further entries within reach. Returns `false` if there are none.
    fn refill(&mut self) -> bool;
    /// Lets other markers take some entries, if one of them wants some.
    fn share(&mut self);
}

impl Entries for WorkStack<'_> {
    #[inline(always)]
    fn push(&mut self, entry: usize) -> bool {
        WorkStack::push(self, entry)
    }

    #[inline(always)]
    fn pop_at_hand(&mut self) -> Option<usize> {
        WorkStack::pop_at_hand(self)
    }

    #[inline(always)]
    fn refill(&mut self) -> bool {
        WorkStack::refill(self)
    }

    #[inline(always)]
    fn share(&mut self) {
        WorkStack::share(self);
    }
}

/// The entries of a mutator that marks for a moment.
pub(in crate::collector) struct BoundedStack(Vec<usize>);

impl BoundedStack {
    /// The most entries of such a marker.
    const MOST: usize = if cfg!(test) { 8 } else { 1024 };

    /// Room for entries. `None` if the system has no memory.
    pub(in crate::collector) fn new() -> Option<BoundedStack> {
        let mut entries = Vec::new();
        entries.try_reserve_exact(BoundedStack::MOST).ok()?;
        Some(BoundedStack(entries))
    }
}

impl Entries for BoundedStack {
    fn push(&mut self, entry: usize) -> bool {
        let has_room = self.0.len() < BoundedStack::MOST;
        if has_room {
            self.0.push(entry);
        }
        has_room
    }

    fn pop_at_hand(&mut self) -> Option<usize> {
        self.0.pop()
    }

    fn refill(&mut self) -> bool {
        false
    }

    fn share(&mut self) {}
}
