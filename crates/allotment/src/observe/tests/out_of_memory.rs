//! Each allocation of a program fails in turn: the program sees an error value, and the heap stays
//! in order.

use super::interpreter::{Program, Shapes, Thread};
use super::places::Frame;
use super::programs::{Step, program};
use super::{COLLECTORS, MODES, heap, verified};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Runs the steps in a heap with these options. Returns the number of allocations that found no
/// memory.
fn run(steps: &[Step], options: &str, geometry: (usize, usize)) -> usize {
    // Shown if the test fails.
    println!("{geometry:?} {options}");
    let heap = heap(geometry.0, geometry.1, options);
    let mut program = Program::new(&heap, Shapes::new(&heap), 0, true);
    let mut frame = Frame::new();
    heap.attach(|mutator| {
        let (frame, _link) = frame.link(mutator);
        let mut thread = Thread { program: &mut program, mutator, frame: Some(frame) };
        for step in steps {
            let before = thread.program.out_of_memory;
            thread.step(step);
            if thread.program.out_of_memory > before {
                thread.check();
            }
        }
        thread.check();
        thread.drop_all(|_| true);
        assert!(thread.mutator.collect());
    })
    .expect("not attached");
    assert_eq!(heap.verify().expect("a heap in order").all_objects(), 0);
    program.out_of_memory
}

fn programs(longest: usize, steps: usize) -> impl Iterator<Item = Vec<Step>> {
    let mut runner = TestRunner::deterministic();
    std::iter::from_fn(move || Some(program(longest, steps).new_tree(&mut runner).ok()?.current()))
}

#[test]
fn at_every_allocation_in_turn() {
    let modes = ["", "ZealInterval=2,+ZealMove,+ZealPoison", "ZealInterval=1"];
    let modes = modes.iter().flat_map(|mode| COLLECTORS.map(|kind| format!("Collector={kind},{mode}")));
    for (steps, mode) in programs(40, 60).zip(modes) {
        let options = verified(&mode);
        assert_eq!(run(&steps, &options, (4096, 64)), 0, "there is memory enough");
        let failed = (1..).take_while(|nth| {
            let failures = run(&steps, &format!("{options},ZealOutOfMemory={nth}"), (4096, 64));
            assert!(failures <= 1);
            failures == 1
        });
        let allocations = steps.iter().filter(|step| matches!(step, Step::Allocate(..) | Step::Reserve(..)));
        assert_eq!(failed.count(), allocations.count());
    }
}

#[test]
fn when_the_heap_is_full() {
    let mut failures = 0;
    for ((steps, regions), first) in
        programs(1500, 300).take(24).zip([2, 3, 4, 6].into_iter().cycle()).zip((0..3).cycle())
    {
        for mode in MODES.iter().skip(first).step_by(3) {
            failures += run(&steps, &verified(mode), (4096, regions));
        }
    }
    assert!(failures > 20, "{failures} allocations found the heap full");
}
