//! The shared data of all steps of a cycle: tables, memory for copies, and lists of work.
//!
//! Barriers of mutators use the engine, too. So the lock of the cycle protects nothing in it.

use super::assisted::Assisted;
use super::choose::ChooseSettings;
use super::freed::Freed;
use super::levy::{Levy, Outlook, PacedStep, work_beyond};
use super::old::Old;
use super::pacer::Pacer;
use super::scope::Scope;
use super::work_list::WorkList;
use crate::collector::concurrent::{
    Copier, CopySpace, Evacuator, Found, Generations, Interrupt, MarkLeftover, MarkShared, Marker, OldShared,
    Part, Sought, Tables, UpdatePiece, Updater,
};
use crate::collector::work::{StackLimits, TaskQueuePool, WorkStack, Workers};
use crate::mutator::Shared;
use crate::object::{reference, with_reference};
use crate::region::Space;
use crate::sync::{AtomicU64, Mutex, POISONED};
use std::cell::RefCell;

/// The parts of a heap's concurrent collections.
pub(super) struct Engine {
    pub(super) tables: Tables,
    pub(super) copies: CopySpace,
    /// The work that markers of a cycle have left.
    pub(super) left: MarkLeftover,
    /// The interrupt of work beside mutators.
    pub(super) interrupt: Interrupt,
    /// Regions of the set that are to be evacuated.
    pub(super) to_evacuate: WorkList<Part>,
    /// Regions whose slots are to be updated.
    pub(super) to_update: WorkList<UpdatePiece>,
    pub(super) assisted: Assisted,
    pub(super) freed: Freed,
    pub(super) pacer: Pacer,
    /// Bytes of live objects that the last marking found: of young objects alone, and of all. 0:
    /// there was none. Written by the thread that ends a marking. Relaxed: a hint.
    pub(super) last_marked: [AtomicU64; 2],
    pub(super) queue_pool: TaskQueuePool,
    pub(super) stack: StackLimits,
    pub(super) choice: ChooseSettings,
    /// `ZealCycles`: mutators help each cycle, even if it is not behind.
    pub(super) eager_assists: bool,
    /// `ZealMove`: all regions with live objects are worth a move.
    pub(super) move_all: bool,
    /// Regions that mutators leave for copies.
    pub(super) reserve: usize,
    /// In a heap with generations (`ShenandoahGCMode=generational`).
    pub(super) old: Option<Old>,
}

impl Engine {
    /// The shared data of markers that look for `sought`, until they are interrupted.
    pub(super) fn marking<'m>(
        &'m self,
        shared: &'m Shared,
        interrupt: &'m Interrupt,
        sought: Sought,
    ) -> MarkShared<'m> {
        let old = self.old.as_ref();
        MarkShared {
            tables: &self.tables,
            satb: &shared.threads.satb,
            left: &self.left,
            interrupt,
            marked: None,
            sought,
            old: old.map(|old| OldShared { tables: old.tables(&shared.space), found: &old.left.found }),
        }
    }

    /// The parts of the heap that all threads that evacuate share.
    pub(super) fn evacuator<'e>(&'e self, space: &'e Space) -> Evacuator<'e> {
        let generations = self.old.as_ref().map(|old| Generations {
            tables: old.tables(space),
            tenuring_threshold: old.tenuring_threshold(),
        });
        Evacuator { space, tables: &self.tables, copies: &self.copies, generations }
    }

    /// Traces what `marking` has left, with all workers: each does `first`, and goes on until
    /// nothing is left or they are interrupted. Returns what they found. Without memory for their
    /// stacks, marking fails.
    pub(super) fn run_markers(
        &self,
        shared: &Shared,
        workers: Workers<'_>,
        marking: MarkShared<'_>,
        first: impl Fn(&mut Marker<'_, WorkStack<'_>>) + Sync,
    ) -> Found {
        let Ok(queues) = self.queue_pool.take(workers.count(), self.stack) else {
            marking.left.found.lose();
            return Found::default();
        };
        let found = Mutex::new(Found::default());
        workers.run(&|number| {
            let mut marker = Marker::new(&shared.space, marking, queues.worker(number));
            first(&mut marker);
            marker.drain_all();
            found.lock().expect(POISONED).add(marker.finish());
        });
        self.queue_pool.keep(queues);
        found.into_inner().expect(POISONED)
    }

    /// Whether marking lost something, so that the cycle is worth nothing.
    pub(super) fn has_lost(&self, shared: &Shared) -> bool {
        // Old objects with weak slots are found by their cards alone, and only once.
        let lost_weak = self.old.is_some() && self.left.weak_objects.has_lost();
        lost_weak || self.left.found.has_lost() || shared.threads.satb.has_lost()
    }

    /// Lets marking find the roots with which `visit` calls its function. If there is no memory for
    /// one that marking has yet to find, marking fails.
    pub(super) fn note_roots(&self, shared: &Shared, visit: impl FnOnce(&dyn Fn(u64))) {
        let sought = |address| self.tables.is_sought(&shared.space.free, address);
        let roots = RefCell::new(Vec::new());
        visit(&|bits| {
            let mut roots = roots.borrow_mut();
            match reference(bits).is_some_and(sought) {
                true if roots.try_reserve(1).is_err() => shared.threads.satb.lose(),
                true => roots.push(bits),
                false => {}
            }
        });
        shared.threads.satb.give(roots.into_inner());
    }

    /// Gives a root slot the place of its referent.
    ///
    /// # Safety
    /// - The slot may be read and written, and holds a word as a slot does.
    pub(super) unsafe fn forward_slot(&self, space: &Space, slot: *mut u64) {
        // SAFETY: the caller's predicate.
        let bits = unsafe { slot.read() };
        if let Some(address) = reference(bits) {
            let place = self.evacuator(space).forward(address, space.home());
            if place != address {
                // SAFETY: the caller's predicate.
                unsafe { slot.write(with_reference(bits, place)) };
            }
        }
    }

    /// Copies the next region of the set, or a part of it. Returns the bytes of that part, if there
    /// was one.
    pub(super) fn copy_next(
        &self,
        shared: &Shared,
        copier: &mut Copier<'_>,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<usize> {
        let table = shared.space.free.table();
        self.to_evacuate.do_next(|part| {
            let rest = copier.copy(part, halted);
            let left = rest.map_or(0, |rest| rest.bytes(table));
            (rest, part.bytes(table).saturating_sub(left))
        })
    }

    /// Updates the next piece, or a part of it. Returns the bytes of that part, if there was one.
    pub(super) fn update_next(
        &self,
        shared: &Shared,
        updater: &mut Updater<'_>,
        halted: &mut dyn FnMut() -> bool,
    ) -> Option<usize> {
        let table = shared.space.free.table();
        self.to_update.do_next(|piece| {
            // SAFETY: the list is filled when evacuation has ended and all duties are done.
            let rest = unsafe { updater.piece(piece, halted) };
            let left = rest.map_or(0, |rest| rest.bytes(table));
            (rest, piece.bytes(table).saturating_sub(left))
        })
    }

    /// Bytes of live objects that the last marking of such a scope found.
    pub(super) fn last_marked(&self, scope: Scope) -> &AtomicU64 {
        &self.last_marked[usize::from(scope == Scope::Global)]
    }

    /// Lets threads pay for a step that begins and has this work.
    pub(super) fn begin_paced(&self, shared: &Shared, step: PacedStep, work_bytes: usize) {
        self.pacer.begin(step, outlook(shared, work_bytes));
    }

    /// Lets threads pay for a step that begins, and in which no thread can help. They have credit
    /// for the step's part of the free memory. Beyond that they wait for the end of the step.
    pub(super) fn begin_paced_alone(&self, shared: &Shared, step: PacedStep) {
        let work_bytes = outlook(shared, 0).free_bytes;
        self.begin_paced(shared, step, work_bytes);
        self.worker_did(shared, work_bytes as u64);
    }

    /// Counts work of a worker in the step under way, which does not end before the worker does.
    pub(super) fn worker_did(&self, shared: &Shared, bytes: u64) {
        if let Some(Levy { number, .. }) = self.pacer.levy() {
            self.did(shared, number, bytes, 0);
        }
    }

    /// Counts work that was done under levy `number`. `paid_bytes` of it pay for the mutator that
    /// did it. Marking that does more than was expected gets a new levy.
    pub(super) fn did(&self, shared: &Shared, number: u32, bytes: u64, paid_bytes: u64) {
        if let Some(done) = self.pacer.did(number, bytes, paid_bytes)
            && self.tables.marks_young()
        {
            let table = shared.space.free.table();
            let used = shared.space.free.regions_in_use() * table.geometry().region_bytes();
            self.pacer.renew(PacedStep::Mark, outlook(shared, work_beyond(done as usize, used)));
        }
    }
}

/// The heap when a step begins that has this work.
fn outlook(shared: &Shared, work_bytes: usize) -> Outlook {
    let free = &shared.space.free;
    let free_bytes = free.regions_left() * free.table().geometry().region_bytes();
    Outlook { free_bytes, work_bytes, threads: shared.threads.registry.count() }
}
