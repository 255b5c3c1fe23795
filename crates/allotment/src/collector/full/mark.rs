//! Mark: finds all objects reachable over strong slots, and sets the bits of their words.
//!
//! Marking starts from roots and pins; markers share the work. If a marker's stack cannot grow, an
//! object that does not fit is marked and its slots are left alone. At the end, one worker looks
//! again at the slots of all marked objects, from the lowest such address on. It works alone: while
//! others mark, the map shows objects of which not all words are marked yet, and cannot be walked.

use super::FullStatistics;
use super::marker::{MarkCounts, Marker};
use crate::collector::kernel::{LiveMap, Roots, for_each_live, walk_or_abort};
use crate::collector::work::{TaskQueues, Workers};
use crate::object::{SlotKind, SlotVisitor};
use crate::region::{Space, State};
use crate::sync::POISONED;
use std::collections::TryReserveError;
use std::sync::Mutex;

/// Marks all objects that roots and pins reach; returns the addresses of pinned objects. `LOCKED`
/// if there are several workers.
///
/// # Errors
/// If there is no memory for the list of pins.
///
/// # Safety
/// - As for [`collect`](super::collect); `queues` has a stack for each of the workers.
pub(super) unsafe fn mark<const LOCKED: bool>(
    space: &Space,
    map: &LiveMap,
    workers: Workers<'_>,
    queues: &TaskQueues,
    roots: &mut Roots<'_>,
    statistics: &mut FullStatistics,
) -> Result<Vec<usize>, TryReserveError> {
    let marker = |number| Marker::<LOCKED>::new(space, map, queues.worker(number));
    let mut first = marker(0);
    // SAFETY: the caller's predicate.
    let pins = unsafe { first.reach_roots(roots) }?;
    let worker_objects = &mut statistics.details.worker_objects;
    let (first, results) =
        (Mutex::new(Some(first)), Mutex::new((MarkCounts::default(), &mut *worker_objects)));
    workers.run(&|number| {
        let own = if number == 0 { first.lock().expect(POISONED).take() } else { None };
        let mut marker = own.unwrap_or_else(|| marker(number));
        marker.drain_all();
        let own = marker.counts();
        let mut results = results.lock().expect(POISONED);
        results.0.add(own);
        results.1.push(own.objects);
    });
    let (counts, _) = results.into_inner().expect(POISONED);
    let mut last = Marker::<false>::new(space, map, queues.worker(0));
    last.counts = counts;
    queues.begin();
    last.look_again();
    let all = last.counts();
    // This marker is one of the workers, and was the last to finish.
    if let Some(worker) = worker_objects.last_mut() {
        *worker += all.objects - counts.objects;
    }
    statistics.live_objects = all.objects;
    statistics.live_bytes = all.bytes;
    statistics.weak_slots = all.weak_slots;
    statistics.details.mark_overflows = all.overflows;
    statistics.details.steals = all.steals;
    Ok(pins)
}

impl<'h, const LOCKED: bool> Marker<'h, LOCKED> {
    /// Pushes all objects that roots and pins refer to; returns the addresses of pinned objects.
    ///
    /// # Safety
    /// - As for [`mark`].
    unsafe fn reach_roots(&mut self, roots: &mut Roots<'_>) -> Result<Vec<usize>, TryReserveError> {
        let mut pins = Vec::new();
        let mut room = Ok(());
        (roots.pinned)(&mut |address| {
            room = room.clone().and_then(|()| pins.try_reserve(1));
            if room.is_ok() {
                pins.push(address);
            }
            self.reach::<false>(address);
        });
        room?;
        (roots.slots)(&mut SlotVisitor::new(&mut |slot, kind| {
            // Weak roots are updated in any case.
            if kind == SlotKind::Strong {
                // SAFETY: a root slot holds a reference or none, as the caller says.
                unsafe { self.slot::<false>(slot, kind) };
            }
        }));
        self.reach_private_objects();
        Ok(pins)
    }

    /// A thread that fills a region alone recycles it at moments that only the thread knows. So all
    /// objects in such a region stay.
    fn reach_private_objects(&mut self) {
        let table = self.space.free.table();
        for index in (0..table.len()).filter(|&index| table.get(index).state() == State::Exclusive) {
            let (bottom, top) = (table.bottom(index), table.get(index).top());
            // SAFETY: the region is parsable up to its top.
            unsafe {
                walk_or_abort(&self.space.shapes, bottom, top, |object| {
                    if object.shape.is_some() {
                        self.reach::<false>(object.address);
                    }
                });
            }
            // A lone worker would have to drain anyway, and this keeps its stack small.
            if self.stack.workers() == 1 {
                self.drain();
            }
        }
    }

    /// Repeats until nothing overflowed. Each round marks new objects, or looks at those that the
    /// last round left.
    fn look_again(&mut self) {
        let table = self.space.free.table();
        while let Some(from) = self.counts.overflowed_from.take() {
            // A run that was reserved for several objects counts as one region, wherever they
            // begin.
            let first = table.first_of_run(table.index_of(from));
            for index in first..table.len() {
                // SAFETY: nothing has moved; every marked word belongs to an object.
                unsafe {
                    for_each_live(self.space, self.map, index, from, |address, layout, _| {
                        self.scan::<false>(address, layout.shape);
                        self.drain();
                    });
                }
            }
        }
    }
}
