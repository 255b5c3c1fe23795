//! The answer to a stack that could not grow: look at all copied objects once more.
//!
//! A slot that found no room on the stack lies in an object that was copied, or that stayed. So the
//! worker walks all of these objects, and handles slots that still refer into the set one by one,
//! until a walk finds none. The worker does not push these slots: slots that refer to an object
//! that stayed refer into the set permanently, and would find no room again and again. The walk is
//! slow and done by one worker; it is for heaps that ran out of memory. Refused: a list of the
//! objects (there is no memory for it).

use super::OLD;
use super::Role;
use super::finish::size_of_original;
use super::worker::Worker;
use crate::collector::kernel::{KEPT, walk_or_abort};
use crate::object::{Header, Kind, for_each_slot};
use crate::region::State;

impl<const SHARED: bool> Worker<'_, '_, SHARED> {
    /// Looks at the slots of copied objects until none refers to an unreached object of the set.
    /// Returns the number of walks.
    ///
    /// # Safety
    /// - No other worker runs. Every region is parsable up to its top, except that originals of
    ///   copies are forwarded.
    pub(super) unsafe fn look_again(&mut self) -> u64 {
        let mut turns = 0;
        while std::mem::take(&mut self.overflowed) {
            turns += 1;
            let table = self.heap.space.free.table();
            let mut next = 0;
            while next < table.len() {
                let index = next;
                next += table.get(index).run().max(1);
                let role = self.heap.set.role(index);
                // In a run, an object that stayed may begin in any of its regions.
                let has_kept = |index| self.heap.set.role(index).has_kept();
                // SAFETY: the caller's predicate, and buffers are given back before the walk of the
                // next region.
                unsafe {
                    if role == Role::SURVIVORS {
                        self.scan_copies(table.bottom(index), table.get(index).top(), 0);
                    } else if table.get(index).state() == State::Old {
                        let from =
                            self.heap.ranges.top_of(table.bottom(index)).unwrap_or(table.bottom(index));
                        self.scan_copies(from, table.get(index).top(), OLD);
                    } else if (index..next).any(has_kept) {
                        self.scan_kept(index);
                    }
                }
                self.finish();
            }
        }
        turns
    }

    /// Handles the slots of all copies in `[from, to)`.
    ///
    /// # Safety
    /// - As for [`look_again`](Self::look_again); `[from, to)` is objects and fillers.
    unsafe fn scan_copies(&mut self, from: usize, to: usize, old: usize) {
        let shapes = &self.heap.space.shapes;
        // SAFETY: the caller's predicate.
        unsafe {
            walk_or_abort(shapes, from, to, |object| {
                if let Some((_, shape)) = object.shape {
                    for_each_slot(object.address, shape, |slot, kind| self.meet_at_once(slot, kind, old));
                }
            });
        }
    }

    /// Handles the slots of all objects that stayed in region `index`.
    ///
    /// # Safety
    /// - As for [`look_again`](Self::look_again).
    unsafe fn scan_kept(&mut self, index: usize) {
        let space = self.heap.space;
        let (mut at, end) = (space.free.table().bottom(index), space.free.object_end(index));
        while at < end {
            // SAFETY: the caller's predicate.
            let header = Header::from_bits(unsafe { (at as *const u64).read() });
            if let Kind::Object(_) = header.kind()
                && header.mark() == KEPT
            {
                let shape = self.shape(header, at);
                // SAFETY: an object that stayed, of that shape.
                unsafe { for_each_slot(at, shape, |slot, kind| self.meet_at_once(slot, kind, OLD)) };
            }
            // SAFETY: as above.
            at += unsafe { size_of_original(&space.shapes, at, header) };
        }
    }
}
