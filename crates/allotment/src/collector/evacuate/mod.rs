//! Evacuation: copies the live objects out of a set of regions, and frees these regions.
//!
//! The caller has chosen the set. The work grows with the live objects; an evacuation never looks
//! at dead ones:
//!
//! ```text
//! roots    slots of threads, handles and providers that refer into the set            (mod.rs)
//! cards    slots of old objects that may, found by the cards that mutators dirtied    (cards.rs)
//! copy     what they reach, by a stack of slots  (group.rs, worker.rs, forwarding.rs, overflow.rs)
//! weak     slots whose referent was not reached are cleared                           (weak.rs)
//! finish   regions of the set are freed; those in which something stayed become old   (finish.rs)
//! ```
//!
//! An object cannot be moved if it is pinned, if it is larger than a region, or if there is no
//! memory. Such an object stays in place and makes its region old. So an evacuation always ends
//! well. When memory runs out, an evacuation frees less and tells the caller, which then slides the
//! heap together. Refused: a reserve of memory for the worst case (half of the young regions would
//! stand idle for a rare event).

mod adopt;
mod buffers;
mod cards;
mod finish;
mod group;
mod header_cache;
mod lines;
mod overflow;
mod plab;
mod ranges;
mod set;
mod statistics;
#[cfg(all(test, not(loom)))]
mod tests;
mod to_space;
mod weak;
mod worker;

pub(crate) use adopt::{adopt_all, end_of_last};
pub(crate) use ranges::OldRanges;
pub(crate) use set::{CollectionSet, Role};
pub(crate) use statistics::{EvacuationStatistics, WorkerStatistics};
pub(crate) use to_space::{SpaceKind, ToSpace};

use super::kernel::{OldTables, Phase, Roots};
use super::work::{StackLimits, TaskQueuePool, TaskQueues, WorkEntry, Workers};
use crate::object::{ADDRESS_MASK, SlotVisitor};
use crate::region::Space;
use std::collections::TryReserveError;
use std::sync::Mutex;
use worker::Worker;

/// Flag in a stack entry: the slot belongs to an old object, whose card must be dirty if the
/// referent stays young.
const OLD: usize = 2;

/// The parts of an evacuation, and one for what its caller did before.
const PHASES: usize = 4;

/// The limits of an evacuation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Objects of this age become old when they are copied.
    pub(crate) tenuring_threshold: u8,
    /// Bytes that may stay young; further copies become old.
    pub(crate) survivor_bytes: usize,
    /// Largest buffer of a worker for young objects, in bytes.
    pub(crate) young_plab_bytes: usize,
    /// Largest buffer of a worker for old objects, in bytes.
    pub(crate) old_plab_bytes: usize,
    /// Sizes of the stacks.
    pub(crate) stack: StackLimits,
}

/// The inputs and tools of an evacuation.
pub(crate) struct Evacuation<'h> {
    pub(crate) space: &'h Space,
    /// The regions to empty. The caller has chosen them, and cleared the roles of free ones.
    pub(crate) set: &'h CollectionSet,
    /// The old objects that may refer into the set.
    pub(crate) ranges: &'h OldRanges,
    pub(crate) tables: OldTables<'h>,
    pub(crate) survivors: &'h ToSpace,
    pub(crate) old: &'h ToSpace,
    /// Stacks for the workers.
    pub(crate) queue_pool: &'h TaskQueuePool,
    pub(crate) limits: Limits,
}

impl Evacuation<'_> {
    /// Notes that the slot, of an old object or not, refers to `to`. If the slot is old and `to` is
    /// young, the slot's card becomes dirty.
    #[inline(always)]
    fn remember(&self, slot: *mut u64, old: bool, to: usize) {
        if old && self.set.role_at(to) == Role::SURVIVORS {
            self.tables.cards.dirty(slot.addr());
        }
    }

    /// Empties the set's regions as far as possible.
    ///
    /// # Errors
    /// If there is no memory for the workers' stacks; then only roles have changed.
    ///
    /// # Safety
    /// - No mutator is between two safepoints until this returns, and every region is parsable up
    ///   to its top.
    /// - Every reference in a live object, in a root slot and among the pinned is null, an
    ///   immediate, or the address of an object of this heap.
    /// - The card of every slot of an old object that refers into the set is dirty; starts of old
    ///   objects are recorded.
    pub(crate) unsafe fn run(
        &self,
        mut roots: Roots<'_>,
        workers: Workers<'_>,
    ) -> Result<EvacuationStatistics, TryReserveError> {
        let mut statistics = EvacuationStatistics::default();
        statistics.phases.try_reserve_exact(PHASES)?;
        let queues = self.queue_pool.take(workers.numbers(), self.limits.stack)?;
        self.space.free.forget_room();
        self.survivors.begin(&self.space.free);
        self.old.begin(&self.space.free);
        let phase = Phase::begin("Copy");
        // SAFETY: the caller's predicates.
        let weak = unsafe {
            match workers.numbers() {
                1 => self.copy::<false>(&queues, &mut roots, workers, &mut statistics),
                _ => self.copy::<true>(&queues, &mut roots, workers, &mut statistics),
            }
        };
        self.queue_pool.keep(queues);
        let phase = phase.then("Weak", &mut statistics.phases);
        // SAFETY: every reachable object was reached.
        statistics.weak_cleared = unsafe { weak::clear_dead(self, &weak, &mut roots) };
        let phase = phase.then("Free", &mut statistics.phases);
        // SAFETY: as above, and every slot has the new address of its referent.
        unsafe { finish::finish(self) };
        statistics.phases.push(phase.end());
        Ok(statistics)
    }

    /// Copies all reachable objects; returns the weak slots met on the way. `SHARED` if there are
    /// several workers.
    ///
    /// # Safety
    /// - As for [`run`](Self::run).
    unsafe fn copy<const SHARED: bool>(
        &self,
        queues: &TaskQueues,
        roots: &mut Roots<'_>,
        workers: Workers<'_>,
        statistics: &mut EvacuationStatistics,
    ) -> Vec<Vec<usize>> {
        let results = Mutex::new((Vec::new(), statistics, false, 0));
        // Only the first worker visits the roots: they are the caller's.
        let roots = Mutex::new(RootsOfFirst(roots));
        workers.run(&|number| {
            let mut worker = Worker::<SHARED>::new(self, queues.worker(number));
            worker.rests = number == 0 && workers.caller_rests();
            if number == 0 {
                let mut roots = roots.lock().expect("no other worker locks it");
                // SAFETY: root slots and pinned objects, as the caller says.
                unsafe { worker.reach_roots(roots.0) };
                worker.give_to_their_cores();
            }
            if !(worker.rests && worker.hand_over()) {
                // SAFETY: the caller's predicates.
                unsafe { worker.scan_cards() };
                worker.drain();
            }
            worker.finish();
            let mut results = results.lock().expect("a worker that panics ends the process");
            let (weak, statistics, overflowed, beside) = &mut *results;
            *overflowed |= worker.overflowed;
            worker.report(statistics);
            if worker.rests {
                *beside = worker.statistics.objects;
            } else {
                statistics.worker_objects.push(worker.statistics.objects);
            }
            weak.push(std::mem::take(&mut worker.weak));
        });
        let (mut weak, statistics, overflowed, beside) =
            results.into_inner().expect("a worker that panics ends the process");
        // Objects that a resting caller copied on its way count as one of the others'.
        if let Some(first) = statistics.worker_objects.first_mut() {
            *first += beside;
        }
        if overflowed {
            let mut worker = Worker::<false>::new(self, queues.worker(0));
            worker.overflowed = true;
            // SAFETY: the others have ended.
            statistics.overflows = unsafe { worker.look_again() };
            worker.report(statistics);
            // This worker took part, and was the last to finish.
            if let Some(last) = statistics.worker_objects.last_mut() {
                *last += worker.statistics.objects;
            }
            weak.push(worker.weak);
        }
        weak
    }
}

/// The roots, which only worker 0 uses: the thread that made them.
struct RootsOfFirst<'r, 's>(&'r mut Roots<'s>);

// SAFETY: `Workers::run` runs worker 0 on the calling thread, and no other worker takes it.
unsafe impl Send for RootsOfFirst<'_, '_> {}

impl<const SHARED: bool> Worker<'_, '_, SHARED> {
    /// Reaches all pinned objects, and updates all strong root slots.
    ///
    /// # Safety
    /// - The visited slots and addresses are root slots of the heap and its pinned objects.
    unsafe fn reach_roots(&mut self, roots: &mut Roots<'_>) {
        (roots.pinned)(&mut |address| {
            let role = self.heap.set.role_at(address);
            if role.is_in_set() {
                debug_assert!(role.stays(), "a region with a pinned object has to stay");
                // SAFETY: a pinned address is an object's.
                unsafe { self.reach(address) };
                self.drain_own();
            }
        });
        // SAFETY: a root slot holds a reference or none, as the caller says.
        (roots.slots)(&mut SlotVisitor::new(&mut |slot, kind| unsafe { self.meet_root(slot, kind) }));
    }

    /// Offers entries whose referents lie in regions that other cores wrote, one piece per core:
    /// the taker is likely to run on that core. Where cores share no cache, a line that another
    /// core wrote last takes 170 ns to arrive, not 35. Not for a worker that rests: it hands over
    /// all its entries.
    fn give_to_their_cores(&mut self) {
        if !SHARED || self.rests {
            return;
        }
        let (table, own) = (self.heap.space.free.table(), self.home);
        let home_of = |entry: usize| match WorkEntry::decode(entry) {
            WorkEntry::Plain(slot) => {
                // SAFETY: every pushed slot refers into the set.
                let bits = unsafe { ((slot & !OLD) as *const u64).read() };
                let home = table.get(table.index_of((bits & ADDRESS_MASK) as usize)).home();
                (home != own).then_some(home)
            }
            WorkEntry::Chunk { .. } => None,
        };
        while self.stack.give_kind(home_of) {}
    }

    /// Adds the worker's statistics to those of the evacuation.
    fn report(&self, to: &mut EvacuationStatistics) {
        to.sum.add(WorkerStatistics { steals: self.stack.steals(), ..self.statistics });
    }
}
