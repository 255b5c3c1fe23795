//! What a worker does when another one was faster, which no test can make it be.

use super::*;
use crate::collector::evacuate::worker::Worker;
use crate::region::State;

#[test]
fn what_a_worker_takes_back_is_the_pattern_of_freed_memory_again() {
    let mut young = Young::new((32 << 10, 4), "+ZealPoison", 1, limits());
    let [pinned] = young.allocate([(LEAF, 0)]);
    young.graph.model.pins.insert(pinned);
    young.collect();
    assert_eq!((young.state_at(pinned), young.regions(State::Old)), (State::Old, 1));
    let taken = young.evacuate_with(|_, evacuation, _, _, _| {
        evacuation.old.begin();
        let crew = Crew::new(1, DEEP).expect("a stack");
        let mut worker = Worker::<_, Together>::new(evacuation, crew.worker(0), 0);
        let (to, old) = worker.allocate_old(40).expect("room");
        // SAFETY: the worker's own memory.
        unsafe { std::ptr::write_bytes(to as *mut u8, 0x11, 40) };
        worker.retract(to, 40, old);
        worker.finish();
        to
    });
    let table = young.graph.heap.shared.free.table();
    let index = table.index_of(taken);
    assert_eq!(table.get(index).state(), State::Old);
    assert_eq!(table.get(index).top(), taken, "the buffer went back as a whole");
    assert!(table.get(index).is_poisoned());
    young.graph.heap.verify().expect("nobody wrote to freed memory");
}
