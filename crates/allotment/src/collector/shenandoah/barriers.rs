//! What barriers and duties ask of the collector.

use super::Shenandoah;
use crate::mutator::{Concurrent, Hot, Mutator, Shared, World};
use crate::object::SlotVisitor;

impl Concurrent for Shenandoah {
    fn is_live(&self, shared: &Shared, address: usize) -> bool {
        self.engine.tables.is_live(&shared.free, address)
    }

    fn forward(&self, shared: &Shared, address: usize) -> usize {
        self.engine.evacuator(shared).forward(address, shared.home())
    }

    fn visit_roots(&self, shared: &Shared, visit: &mut dyn FnMut(&mut SlotVisitor<'_>)) {
        let barriers = shared.barriers();
        if barriers & Hot::MARKING != 0 {
            let mut roots = Vec::new();
            visit(&mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: a root of a thread that is here or safe.
                self.engine.note_root(shared, &mut roots, unsafe { slot.read() });
            }));
            shared.satb.give(roots);
        } else if barriers & Hot::FORWARDING != 0 {
            visit(&mut SlotVisitor::new(&mut |slot, _| {
                // SAFETY: as above.
                unsafe { self.engine.forward_slot(shared, slot) };
            }));
        }
    }

    fn refilled(&self, mutator: &Mutator<'_>) {
        if mutator.shared().barriers() & (Hot::MARKING | Hot::FORWARDING) == 0 {
            self.look(mutator);
        } else {
            self.assist(mutator);
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
