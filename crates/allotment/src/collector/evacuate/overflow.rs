//! What to do when a stack could not grow: look at everything that was copied once more.
//!
//! A slot that found no room on the stack lies in an object that was copied, or that stayed. So all of these are walked, and
//! slots that still refer into the set are seen to one by one, until a walk leaves nothing behind. Those that refer to what
//! stayed refer there for ever: pushed, they would find no room again and again. It is slow, by one worker, and for
//! heaps in which memory ran out. Refused: to remember the objects (in what memory?).

use super::OLD;
use super::finish::size_of_original;
use super::ranges::OldRanges;
use super::worker::Worker;
use super::{Role, SharedMode};
use crate::collector::kernel::KEPT;
use crate::collector::kernel::broken;
use crate::object::{Header, Kind, for_each_slot, walk};
use crate::region::{Backing, State};

impl<B: Backing, M: SharedMode> Worker<'_, '_, B, M> {
    /// Looks at slots of what was copied, until none refers into the set to what was not reached; how often.
    ///
    /// # Safety
    /// - No other worker runs; every region up to its top is parsable, but that originals of copies are forwarded.
    pub(super) unsafe fn look_again(&mut self, ranges: &OldRanges) -> u64 {
        let mut turns = 0;
        while std::mem::take(&mut self.overflowed) {
            turns += 1;
            let table = self.heap.subject.free.table();
            let mut next = 0;
            while next < table.len() {
                let index = next;
                next += table.get(index).run().max(1);
                let role = self.heap.set.role(index);
                // In a run, what stayed may begin in any of its regions.
                let has_kept = |index| self.heap.set.role(index).has_kept();
                // SAFETY: the caller's predicate, and buffers are given back before the next region is looked at.
                unsafe {
                    if role == Role::SURVIVORS {
                        self.scan_copies(table.bottom(index), table.get(index).top(), 0);
                    } else if table.get(index).state() == State::Old {
                        let from = ranges.top_of(table.bottom(index)).unwrap_or(table.bottom(index));
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

    /// # Safety
    /// - As for [`look_again`](Self::look_again); `[from, to)` is objects and fillers.
    unsafe fn scan_copies(&mut self, from: usize, to: usize, old: usize) {
        let shapes = self.heap.subject.shapes;
        // SAFETY: the caller's predicate.
        let parsed = unsafe {
            walk(shapes, from, to, |object| {
                if let Some((_, shape)) = object.shape {
                    for_each_slot(object.address, shape, |slot, kind| self.meet_at_once(slot, kind, old));
                }
            })
        };
        if parsed.is_err() {
            broken(from, "a region that was copied to is not parsable");
        }
    }

    /// # Safety
    /// - As for [`look_again`](Self::look_again).
    unsafe fn scan_kept(&mut self, index: usize) {
        let subject = self.heap.subject;
        let (mut at, end) = (subject.free.table().bottom(index), subject.free.object_end(index));
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
            at += unsafe { size_of_original(subject.shapes, at, header) };
        }
    }
}
