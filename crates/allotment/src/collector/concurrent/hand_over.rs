//! Old objects that a marker of young ones has met, on their way to the markers of old ones.
//!
//! Many young objects refer to the same old ones. The marker does not look at old objects, and so
//! does not mark them. It remembers the last few instead, and hands each of these over once.
//! Refused: to mark them here, because that needs the size of an object, which is in its header.

use super::leftover::Leftover;
use crate::collector::work::WorkEntry;
use crate::object::WORD;

/// Objects that are remembered.
const REMEMBERED: usize = if cfg!(test) { 2 } else { 128 };

/// Objects that are handed over together.
const TOGETHER: usize = if cfg!(test) { 4 } else { 256 };

/// The old objects of one marker.
pub(super) struct HandOver<'m> {
    /// The receiver. `None` in a heap without generations, where no object is handed over.
    to: Option<&'m Leftover>,
    entries: Vec<usize>,
    /// The latest objects, by some bits of their addresses.
    last: [usize; REMEMBERED],
}

impl<'m> HandOver<'m> {
    pub(super) fn new(to: Option<&'m Leftover>) -> HandOver<'m> {
        HandOver { to, entries: Vec::new(), last: [0; REMEMBERED] }
    }

    /// Hands over the object at `address`, now or together with others. If there is no memory, the
    /// receiver learns that an object was lost.
    #[cold]
    pub(super) fn add(&mut self, address: usize) {
        let last = &mut self.last[address / WORD % REMEMBERED];
        if std::mem::replace(last, address) == address {
            return;
        }
        if self.entries.len() >= TOGETHER {
            self.give();
        }
        if self.entries.try_reserve(1).is_ok() {
            self.entries.push(WorkEntry::Plain(address).encode());
        } else if let Some(to) = self.to {
            to.lose();
        }
    }

    /// Hands over the objects that were added.
    pub(super) fn give(&mut self) {
        if let Some(to) = self.to {
            to.leave(std::mem::take(&mut self.entries));
        }
    }
}
