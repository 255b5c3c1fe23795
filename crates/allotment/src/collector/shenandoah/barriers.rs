//! What barriers and duties ask of the collector.

use super::Shenandoah;
use crate::mutator::{Concurrent, Hot, Mutator, Shared, World};
use crate::object::SlotVisitor;
use std::sync::atomic::AtomicU64;

impl Concurrent for Shenandoah {
    fn is_live(&self, shared: &Shared, address: usize) -> bool {
        self.engine.tables.is_live(&shared.space.free, address)
    }

    fn hidden_by_store(&self, shared: &Shared, slot: &AtomicU64) -> Option<u64> {
        self.engine.tables.hidden_by_store(&shared.space.free, slot)
    }

    fn is_sought(&self, shared: &Shared, address: usize) -> bool {
        self.engine.tables.is_sought(&shared.space.free, address)
    }

    fn forward(&self, shared: &Shared, address: usize) -> usize {
        self.engine.evacuator(shared).forward(address, shared.space.home())
    }

    fn visit_roots(&self, shared: &Shared, visit: &mut dyn FnMut(&mut SlotVisitor<'_>)) {
        let barriers = shared.threads.barriers();
        // First: old objects may be marked while young ones move.
        if barriers & Hot::FORWARDING != 0 {
            visit(&mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: a root of a thread that is here or safe.
                unsafe { self.engine.forward_slot(shared, slot) };
            }));
        } else if barriers & Hot::MARKING != 0 {
            let mut roots = Vec::new();
            visit(&mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: as above.
                self.engine.note_root(shared, &mut roots, unsafe { slot.read() });
            }));
            shared.threads.satb.give(roots);
        }
    }

    fn refilled(&self, mutator: &Mutator<'_>) {
        // Not while only old objects are marked.
        let is_moving = mutator.shared().threads.barriers() & Hot::FORWARDING != 0;
        if is_moving || self.engine.tables.marks_young() {
            self.engine.assist(mutator);
        } else {
            self.look(mutator);
        }
    }

    fn halt(&self) {
        self.halt_workers();
    }

    fn world_stopped(&self, world: &mut World<'_>) {
        self.end_cycle(world);
    }

    fn go_on(&self) {
        self.let_workers_go_on();
    }
}
