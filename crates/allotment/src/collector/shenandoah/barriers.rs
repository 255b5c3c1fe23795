//! The collector's answers to barriers and duties.

use super::Shenandoah;
use crate::mutator::{BarrierTables, Concurrent, Hot, Mutator, Shared, World};
use crate::object::{SlotVisitor, reference, with_reference};
use crate::region::Space;
use crate::sync::Ordering;
use std::sync::atomic::AtomicU64;

impl Concurrent for Shenandoah {
    fn barrier_tables(&self, space: &Space) -> BarrierTables {
        self.engine.tables.barrier_tables(&space.free)
    }

    fn is_live(&self, space: &Space, address: usize) -> bool {
        self.engine.tables.is_live(&space.free, address)
    }

    fn hidden_by_store(&self, space: &Space, slot: &AtomicU64) -> Option<u64> {
        self.engine.tables.hidden_by_store(&space.free, slot)
    }

    fn hidden_by_stores(&self, space: &Space, slots: &[AtomicU64], found: &mut dyn FnMut(u64)) {
        self.engine.tables.hidden_by_stores(&space.free, slots, found);
    }

    fn is_sought(&self, space: &Space, address: usize) -> bool {
        self.engine.tables.is_sought(&space.free, address)
    }

    fn forward(&self, space: &Space, address: usize) -> usize {
        self.engine.evacuator(space).forward(address, space.home())
    }

    fn heal(&self, space: &Space, slots: &[AtomicU64]) {
        let (evacuator, home) = (self.engine.evacuator(space), space.home());
        for slot in slots {
            // Acquire: the referent is initialised.
            let bits = slot.load(Ordering::Acquire);
            let Some(address) = reference(bits) else { continue };
            let place = evacuator.forward(address, home);
            if place != address {
                // Otherwise another thread healed it, or stored. Release: the copy.
                let healed = with_reference(bits, place);
                let _ = slot.compare_exchange(bits, healed, Ordering::Release, Ordering::Relaxed);
            }
        }
    }

    fn visit_roots(&self, shared: &Shared, visit: &mut dyn FnMut(&mut SlotVisitor<'_>)) {
        let barriers = shared.threads.barriers();
        // First: old objects may be marked while young ones move.
        if barriers & Hot::FORWARDING != 0 {
            visit(&mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: a root of a thread that is here or safe.
                unsafe { self.engine.forward_slot(&shared.space, slot) };
            }));
        } else if barriers & Hot::MARKING != 0 {
            self.engine.note_roots(shared, |note| {
                // SAFETY: a root of a thread that is here or safe.
                visit(&mut SlotVisitor::new(&mut |slot, _| note(unsafe { slot.read() })));
            });
        }
    }

    fn refilled(&self, mutator: &Mutator<'_>, bytes: usize) {
        // Not while only old objects are marked.
        let is_moving = mutator.shared().threads.barriers() & Hot::FORWARDING != 0;
        if is_moving || self.engine.tables.marks_young() || self.engine.pacer.levy().is_some() {
            self.engine.charge(mutator, bytes);
            if self.engine.assisted.has_cycle() {
                return;
            }
            // No thread drives the cycle that is under way: in a child of `fork()` one may start.
        } else {
            self.engine.note_uncharged(mutator, bytes);
        }
        self.look(mutator);
    }

    fn settle(&self, mutator: &mut Mutator<'_>) {
        // A listener on the control thread would wait for itself.
        if !self.progress.has_no_other_driver() {
            self.engine.settle(mutator);
        }
    }

    fn halt(&self) {
        self.halts.fetch_add(1, Ordering::SeqCst);
        self.engine.interrupt.set(true);
        // The control thread holds this lock while workers are at work. It looks at the count
        // before it lets them work again.
        drop(self.lock());
        self.stopped_ns.store(self.history.clock.age().as_nanos() as u64, Ordering::Relaxed);
        self.ended_in_stop.store(false, Ordering::Relaxed);
    }

    fn world_stopped(&self, world: &mut World<'_>) {
        self.end_cycle(world);
    }

    fn go_on(&self) {
        let _cycle = self.lock();
        self.halts.fetch_sub(1, Ordering::SeqCst);
        self.goes_on.notify_one();
    }
}
