//! A cycle: its steps in order, what each leaves to the next, and the steps that run beside
//! mutators.
//!
//! ```text
//! Reset      beside  the live map of the last cycle is cleared
//! InitMark   STOP    borders of regions; barriers on, duties            (pauses.rs)
//! Mark       beside  roots of threads in `blocking`, handles, pins; trace
//! FinalMark  STOP    what mutators recorded last; goes back to Mark if that is much
//! Weak       beside  weak slots and handles; the set is chosen
//! BeginMove  STOP    the set is final; barriers on, duties; ends here if nothing is worth a move
//! Evacuate   beside  empty regions are free; handles are healed; the set is copied     (moving.rs)
//! Update     beside  slots that refer to the set
//! EndMove    STOP    barriers off
//! Free       beside  the set is free
//! ```
//!
//! Each step can be interrupted and gone on with, by this thread or by one that has stopped the
//! world (`stopped.rs`). The work that is left is always in the cycle, never on a stack.

use super::POISONED;
use super::bytes::percent_of;
use super::choose::{
    Candidate, ChooseSettings, Space, all_copy_regions, choose, choose_old, old_reserve, shrink,
};
use super::engine::Engine;
use crate::collector::concurrent::{Clearing, Found, MarkShared, Marker, passage};
use crate::collector::kernel::Phase;
use crate::collector::record::CycleDetails;
use crate::collector::work::{Team, Turns, WorkStack};
use crate::mutator::{Cause, Shared};
use crate::object::reference;
use crate::region::State;
use crate::sync::{AtomicU64, Mutex, Ordering, Waiting, yield_now};
use std::time::Duration;

/// The next step of a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// No cycle is under way.
    Idle,
    Reset,
    InitMark,
    Mark,
    FinalMark,
    Weak,
    BeginMove,
    Evacuate,
    Update,
    EndMove,
    Free,
}

impl Step {
    /// Whether the step needs a stop.
    pub(super) fn is_pause(self) -> bool {
        matches!(self, Step::InitMark | Step::FinalMark | Step::BeginMove | Step::EndMove)
    }

    /// The step's name in records and logs, as HotSpot's.
    pub(super) fn name(self) -> &'static str {
        match self {
            Step::Idle => "Idle",
            Step::Reset => "Concurrent reset",
            Step::InitMark => "Pause Init Mark",
            Step::Mark => "Concurrent marking",
            Step::FinalMark => "Pause Final Mark",
            Step::Weak => "Concurrent weak references",
            Step::BeginMove => "Pause Init Evacuation",
            Step::Evacuate => "Concurrent evacuation",
            Step::Update => "Concurrent update references",
            Step::EndMove => "Pause Final Update Refs",
            Step::Free => "Concurrent cleanup",
        }
    }
}

/// A cycle under way, or the next one.
pub(super) struct Cycle {
    pub(super) step: Step,
    pub(super) cause: Cause,
    /// When the cycle began, in the heap's age.
    pub(super) start: Duration,
    pub(super) used_before: usize,
    /// Pauses and what ran between them.
    pub(super) phases: Vec<Phase>,
    pub(super) record: CycleDetails,
    pub(super) found: Found,
    pub(super) weak_cleared: u64,
    /// Marking has lost something in a stop: a full collection follows there.
    pub(super) lost: bool,
    /// Whether every region with garbage is worth a move.
    pub(super) thorough: bool,
    /// Whether the marking of old objects begins with this cycle, and whether it ends. Without
    /// generations, and in a global cycle: both. A cycle that does not end it takes all old objects
    /// for live.
    pub(super) begins_old: bool,
    pub(super) ends_old: bool,
    /// Regions, and first regions of runs, without a live object.
    pub(super) immediate: Vec<usize>,
    pub(super) set: Vec<usize>,
    /// Cycles after which objects become old, from the choice of the set on.
    pub(super) tenuring_threshold: Option<u8>,
    /// Young regions that become old as they are.
    pub(super) promoted: Vec<usize>,
    pub(super) promoted_regions: usize,
    /// Old regions that are worth a move, most garbage first, where marking has found them.
    pub(super) old_candidates: Vec<Candidate>,
    /// Old regions in the final set.
    pub(super) old_set_regions: usize,
    /// Bytes that copies took in old regions.
    pub(super) old_copied_bytes: usize,
    /// Regions whose slots are to be updated, and whether only those in dirty cards, until that
    /// begins.
    pub(super) to_update: Vec<(usize, bool)>,
    /// Regions without a reference to them, whose memory is free.
    pub(super) to_free: Vec<usize>,
}

impl Cycle {
    pub(super) fn idle() -> Cycle {
        Cycle {
            step: Step::Idle,
            cause: Cause::Requested,
            start: Duration::ZERO,
            used_before: 0,
            phases: Vec::new(),
            record: CycleDetails::default(),
            found: Found::default(),
            weak_cleared: 0,
            lost: false,
            thorough: false,
            begins_old: true,
            ends_old: true,
            tenuring_threshold: None,
            promoted: Vec::new(),
            promoted_regions: 0,
            old_candidates: Vec::new(),
            old_set_regions: 0,
            old_copied_bytes: 0,
            immediate: Vec::new(),
            set: Vec::new(),
            to_update: Vec::new(),
            to_free: Vec::new(),
        }
    }

    /// Whether the cycle marks all objects by itself.
    pub(super) fn is_global(&self) -> bool {
        self.begins_old && self.ends_old
    }

    /// Adds a part that ran beside mutators. A part that was gone on with is one, from its first
    /// beginning to its last end.
    pub(super) fn add_phase(&mut self, phase: Phase) {
        match self.phases.last_mut() {
            Some(last) if last.name == phase.name => last.time = phase.end() - last.start,
            _ => self.phases.push(phase),
        }
    }

    /// Adds a stop of the cycle, and the time to its safepoint.
    pub(super) fn add_pause(&mut self, pause: Phase, time_to_safepoint: Duration) {
        self.record.pauses.push(pause);
        self.record.times_to_safepoint.push(time_to_safepoint);
    }

    /// Gives the stop that was added last its whole time, unless the cycle has ended since.
    pub(super) fn lengthen_pause(&mut self, pause: Phase) {
        let (phases, pauses) = (&mut self.phases, &mut self.record.pauses);
        for last in [phases.last_mut(), pauses.last_mut()].into_iter().flatten() {
            if last.start == pause.start {
                last.time = pause.time;
            }
        }
    }
}

impl Engine {
    /// Does a step beside mutators, and goes to the next; `false`: it was interrupted, or has to
    /// wait for threads, and is to be called again.
    pub(super) fn step(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        let (done, next) = match cycle.step {
            Step::Reset => (self.reset(cycle, shared), Step::InitMark),
            Step::Mark => (self.mark(cycle, shared, team), Step::FinalMark),
            Step::Weak => (self.weak(cycle, shared, team), Step::BeginMove),
            Step::Evacuate => (self.evacuate(cycle, shared, team), Step::Update),
            Step::Update => (self.update(cycle, shared, team), Step::EndMove),
            Step::Free => (self.free(cycle, shared, team), Step::Idle),
            step => unreachable!("{step:?} needs a stop, or is none"),
        };
        if done {
            cycle.step = next;
        }
        done
    }

    /// Clears what the last cycle left in the tables.
    pub(super) fn reset(&self, cycle: &Cycle, shared: &Shared) -> bool {
        let table = shared.space.free.table();
        for index in 0..table.len() {
            if self.interrupt.is_set() {
                return false;
            }
            if cycle.begins_old || !table.get(index).is_tenured() {
                self.tables.clear_region(table, index);
            }
        }
        true
    }

    /// Waits until the duty of every thread is done; `false`: interrupted.
    pub(super) fn await_duties(&self, shared: &Shared) -> bool {
        let mut waiting = Waiting::new();
        while !shared.visit_roots_of_safe_threads() {
            if self.interrupt.is_set() {
                return false;
            }
            waiting.longer();
        }
        true
    }

    fn mark(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        if !self.await_duties(shared) {
            return false;
        }
        let mut roots = Vec::new();
        shared.threads.roots.visit_handles(false, |slot| {
            let bits = slot.load(std::sync::atomic::Ordering::Acquire);
            self.note_root(shared, &mut roots, bits);
        });
        shared.threads.roots.visit_pins(&mut |address| self.note_root(shared, &mut roots, address as u64));
        shared.threads.satb.give(roots);
        loop {
            self.trace(cycle, shared, team);
            if self.interrupt.is_set() {
                return false;
            }
            // Mutators that help leave what they have not done, here or for the pause. With many
            // threads there is always one that helps, so nobody waits for the last.
            if self.has_lost(shared) || self.leftover.is_empty() {
                return true;
            }
            yield_now();
        }
    }

    /// Adds a root that marking has yet to find. If there is no memory for it, marking fails.
    pub(super) fn note_root(&self, shared: &Shared, roots: &mut Vec<u64>, bits: u64) {
        let sought = |address| self.tables.is_sought(&shared.space.free, address);
        if reference(bits).is_some_and(sought) {
            if roots.try_reserve(1).is_err() {
                return shared.threads.satb.lose();
            }
            roots.push(bits);
        }
    }

    /// Traces with all workers, until nothing is left or they are interrupted. Without memory for
    /// their stacks, marking fails.
    pub(super) fn trace(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) {
        let marking = self.marking(shared, self.scope_of(cycle));
        let found = self.run_markers(shared, team, marking, |marker| {
            while !self.interrupt.is_set()
                && let Some(old) = &self.old
                && let Some(region) = old.to_scan.take()
            {
                // SAFETY: the list has old regions only, and nothing has moved.
                let done = unsafe { marker.remembered(region.0) };
                old.to_scan.end((!done).then_some(region));
            }
        });
        cycle.found.add(found);
    }

    /// Traces what `marking` has left, with all workers: each does `first`, and goes on until
    /// nothing is left or they are interrupted. Returns what they found.
    pub(super) fn run_markers(
        &self,
        shared: &Shared,
        team: Team<'_>,
        marking: MarkShared<'_>,
        first: impl Fn(&mut Marker<'_, WorkStack<'_>>) + Sync,
    ) -> Found {
        let Ok(crew) = self.crews.take(team.workers(), self.stack) else {
            marking.leftover.lose();
            return Found::default();
        };
        let found = Mutex::new(Found::default());
        team.run(&|number| {
            let mut marker = Marker::new(&shared.space, marking, crew.worker(number));
            first(&mut marker);
            marker.drain_all();
            found.lock().expect(POISONED).add(marker.finish());
        });
        self.crews.keep(crew);
        found.into_inner().expect(POISONED)
    }

    /// Whether marking lost something, so that the cycle is worth nothing.
    pub(super) fn has_lost(&self, shared: &Shared) -> bool {
        // Old objects with weak slots are found by their cards alone, and only once.
        let lost_weak = self.old.is_some() && self.weak_objects.has_lost();
        lost_weak || self.leftover.has_lost() || shared.threads.satb.has_lost()
    }

    pub(super) fn weak(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) -> bool {
        let cleared = AtomicU64::new(0);
        let regions =
            Turns::new(if self.weak_objects.has_lost() { shared.space.free.table().len() } else { 0 });
        team.run(&|_| {
            let mut clearing = Clearing::new(&shared.space, &self.tables);
            while !self.interrupt.is_set()
                && let Some(objects) = self.weak_objects.take()
            {
                // SAFETY: markers found these objects, and nothing has moved.
                objects.into_iter().for_each(|address| _ = unsafe { clearing.object(address) });
            }
            while let Some(index) = regions.take() {
                // SAFETY: nothing has moved.
                unsafe { clearing.region(index) };
            }
            cleared.fetch_add(clearing.cleared, Ordering::Relaxed);
        });
        let mut clearing = Clearing::new(&shared.space, &self.tables);
        shared.threads.roots.visit_handles(true, |slot| clearing.slot(slot));
        cycle.weak_cleared += cleared.into_inner() + clearing.cleared;
        if self.interrupt.is_set() {
            return false;
        }
        self.choose(cycle, shared, team);
        !self.interrupt.is_set()
    }

    /// Finds regions without live objects, and those that are worth a move.
    fn choose(&self, cycle: &mut Cycle, shared: &Shared, team: Team<'_>) {
        let (free, table) = (&shared.space.free, shared.space.free.table());
        let region_bytes = table.geometry().region_bytes();
        cycle.found.add(self.assists.take_found());
        // Once for each cycle: this step may have been interrupted.
        if cycle.tenuring_threshold.is_none() {
            cycle.tenuring_threshold = self.old.as_ref().map(|old| old.decide_tenuring(&cycle.found));
        }
        let becomes_old = |region: usize, garbage_bytes: usize| {
            let threshold = cycle.tenuring_threshold;
            threshold.is_some_and(|threshold| self.becomes_old(shared, region, garbage_bytes, threshold))
        };
        let (live, turns) = (Mutex::new(Vec::new()), Turns::new(table.len()));
        team.run(&|_| {
            while let Some(index) = turns.take() {
                if !cycle.ends_old && table.get(index).is_tenured() {
                    continue;
                }
                let (bottom, top) = (table.bottom(index), table.get(index).top());
                // The sizes of a region are taken once: mutators allocate there, and give back.
                let found = match table.get(index).state() {
                    State::Shared | State::Old if top > bottom && top <= table.mark_start(index) => {
                        passage();
                        Some((top - bottom, self.tables.live_bytes(free, index, top)))
                    }
                    State::HumongousStart if !self.tables.is_run_live(free, index) => {
                        Some((free.object_end(index) - bottom, 0))
                    }
                    State::HumongousStart if table.mark_start(index) > bottom => {
                        let bytes = free.object_end(index) - bottom;
                        Some((bytes, bytes))
                    }
                    _ => None,
                };
                if let Some(bytes) = found {
                    let mut live = live.lock().expect(POISONED);
                    if live.try_reserve(1).is_ok() {
                        live.push((index, bytes));
                    }
                }
            }
        });
        let mut live = live.into_inner().expect(POISONED);
        live.sort_unstable();
        (cycle.immediate, cycle.set, cycle.promoted) = (Vec::new(), Vec::new(), Vec::new());
        cycle.old_candidates = Vec::new();
        let mut candidates = Vec::new();
        let mut immediate_bytes = 0;
        for (region, (used, live_bytes)) in live {
            let garbage_bytes = used - live_bytes;
            if live_bytes == 0 {
                immediate_bytes += used;
                cycle.immediate.push(region);
            } else if becomes_old(region, garbage_bytes) {
                cycle.promoted.push(region);
            } else if !self.tables.has_large(region) && table.get(region).run() == 0 {
                candidates.push(Candidate { region, live_bytes, garbage_bytes });
            }
        }
        let settings = if cycle.thorough || self.move_all {
            ChooseSettings { garbage_percent: 0, ignore_percent: 0, immediate_percent: 100, ..self.choice }
        } else {
            self.choice
        };
        if self.move_all {
            // A region without garbage is moved like one that is full of it.
            candidates.iter_mut().for_each(|candidate| candidate.garbage_bytes = region_bytes);
        }
        let free_regions = free.free_regions();
        let is_old = |candidate: &Candidate| table.get(candidate.region).is_tenured();
        let space = Space {
            region_bytes,
            capacity_bytes: table.geometry().heap_bytes(),
            free_bytes: free.regions_left() * region_bytes,
            immediate_bytes: if self.move_all { 0 } else { immediate_bytes },
            reserve_regions: if self.move_all { free_regions / 2 } else { free_regions.min(self.reserve) },
        };
        let chosen = choose(&mut candidates, &settings, &space);
        let worth = percent_of(region_bytes, self.choice.old_garbage_percent);
        cycle.old_candidates = candidates;
        cycle.old_candidates.retain(|candidate| is_old(candidate) && candidate.garbage_bytes >= worth);
        let mut old_set = match &self.old {
            Some(old) if !cycle.ends_old => {
                let spare = free_regions.saturating_sub(chosen.copy_regions) / 2;
                let budget = old_reserve(&self.choice, space.reserve_regions).min(spare);
                let plan = old.plan.lock().expect(POISONED);
                choose_old(&plan.candidates, &self.choice, region_bytes, budget)
            }
            _ => Vec::new(),
        };
        let mut set = chosen.set;
        let wanted = |set: &[Candidate], old_set: &[Candidate]| {
            all_copy_regions(&settings, region_bytes, set, old_set)
        };
        passage();
        let Ok(had) = self.copies.provide(free, wanted(&set, &old_set)) else { return };
        shrink(&mut set, &mut old_set, |set, old_set| wanted(set, old_set) <= had);
        cycle.set = set.iter().chain(&old_set).map(|candidate| candidate.region).collect();
    }
}
