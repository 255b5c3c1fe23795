//! A worker's steps after another worker was faster; no test can bring that about directly.

use super::*;
use crate::collector::evacuate::worker::Worker;
use crate::region::State;

#[test]
fn entries_of_other_cores_regions_are_offered_to_others() {
    let mut young = young(1, 8, limits());
    let [parent, left, right] = young.allocate([(PAIR, 0), (LEAF, 0), (LEAF, 0)]);
    young.refer(parent, 0, left);
    young.refer(parent, 1, right);
    young.root(parent);
    let table = young.graph.heap.shared.space.free.table();
    let written_by = table.get(table.index_of(young.graph.addresses[&left])).home();
    let slots = [1, 2].map(|word| young.graph.addresses[&parent] + word * crate::object::WORD);
    young.evacuate_with(|evacuation, _, _| {
        let queues = TaskQueues::new(2, DEEP).expect("stacks");
        for (home, at_hand) in [(written_by, 2), (written_by + 1, 0)] {
            let mut worker = Worker::<true>::new(evacuation, queues.worker(0));
            worker.home = home;
            assert!(slots.iter().all(|&slot| worker.stack.push(slot)));
            worker.give_to_their_cores();
            assert_eq!(worker.stack.at_hand(), at_hand, "core {home} of {written_by}");
            assert_eq!(std::iter::from_fn(|| worker.stack.pop()).count(), 2);
        }
    });
    young.collect();
}

#[test]
fn a_retracted_copy_becomes_the_pattern_of_freed_memory() {
    let mut young = Young::new((32 << 10, 4), "+ZealPoison", 1, limits());
    let [pinned] = young.allocate([(LEAF, 0)]);
    young.graph.model.pins.insert(pinned);
    young.collect();
    assert_eq!((young.state_at(pinned), young.regions(State::Old)), (State::Old, 1));
    let taken = young.evacuate_with(|evacuation, _, _| {
        evacuation.old.begin(&evacuation.space.free);
        let queues = TaskQueues::new(1, DEEP).expect("a stack");
        let mut worker = Worker::<true>::new(evacuation, queues.worker(0));
        let (to, old) = worker.allocate_old(40).expect("room");
        // SAFETY: the worker's own memory.
        unsafe { std::ptr::write_bytes(to as *mut u8, 0x11, 40) };
        worker.retract(to, 40, old);
        worker.finish();
        to
    });
    let table = young.graph.heap.shared.space.free.table();
    let index = table.index_of(taken);
    assert_eq!(table.get(index).state(), State::Old);
    assert_eq!(table.get(index).top(), taken, "the buffer went back as a whole");
    assert!(table.get(index).is_poisoned());
    young.graph.heap.verify().expect("freed memory was not written to");
}
