//! Stop requests from another thread at any moment: no allocated object is lost.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use super::model::Model;
use crate::mutator::Mutator;
use std::sync::atomic::{AtomicBool, Ordering};

/// Safepoints that must be reached before a test has seen enough.
const SAFEPOINTS: u64 = 300;

/// Runs `turn` again and again, while another thread asks for safepoints without pause.
fn while_requested(options: &str, mut turn: impl FnMut(&mut Mutator<'_>, &Kit, &mut Model)) {
    let heap = heap(4096, 64, options);
    let kit = Kit::new(&heap);
    let mut model = Model::new(&heap, &kit, 0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                heap.request_safepoint();
                std::thread::yield_now();
            }
        });
        let outcome = heap.attach(|mutator| {
            let _done = SetOnDrop(&done);
            // An object that stays, if no request came first.
            if let Some(object) = kit.allocate(&*mutator, SIZES[0]) {
                model.born(SIZES[0], object);
            }
            let kept = model.len();
            let mark = mutator.raw_mut().mark();
            while mutator.state().safepoints.get() < SAFEPOINTS {
                if heap.memory().used_bytes > heap.geometry().heap_bytes() / 2 {
                    model.check();
                    model.keep(kept);
                    // SAFETY: the model has forgotten all objects after the mark.
                    unsafe { mutator.raw_mut().recycle(mark) };
                }
                turn(mutator, &kit, &mut model);
            }
        });
        outcome.unwrap();
    });
    model.check_heap();
}

/// Ends the other thread also when an assertion fails.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

const SIZES: [What; 4] = [
    What { kind: Kind::Fixed(0), by: By::Object },
    What { kind: Kind::Array(0, 100), by: By::Window },
    What { kind: Kind::Fixed(3), by: By::Caller },
    What { kind: Kind::Array(2, 60), by: By::Window },
];

const OPTIONS: [&str; 3] =
    ["MinTLABSize=256,TLABSize=1k", "-UseTLAB", "MinTLABSize=64,TLABSize=128,ZeroWindowSize=64"];

/// One object, through a reservation if a request is in the way.
fn allocate(mutator: &mut Mutator<'_>, kit: &Kit, model: &mut Model, what: What) {
    let object = kit.allocate(&*mutator, what).unwrap_or_else(|| {
        let mut room = mutator.make_room(kit.bytes(what.kind)).expect("half the heap is free");
        kit.allocate((&*mutator, &mut room), what).expect("it is reserved")
    });
    model.born(what, object);
}

#[test]
fn plain_allocation_is_stopped_and_goes_on() {
    for options in OPTIONS {
        while_requested(options, |mutator, kit, model| {
            SIZES.iter().for_each(|what| allocate(mutator, kit, model, *what));
        });
    }
}

#[test]
fn a_burst_is_stopped_and_goes_on() {
    for options in OPTIONS {
        while_requested(options, |mutator, kit, model| {
            mutator.raw_mut().burst(|burst| {
                for what in SIZES.iter().cycle().take(30) {
                    let Some(object) = kit.allocate(burst, *what) else { break };
                    model.born(*what, object);
                }
            });
            allocate(mutator, kit, model, SIZES[0]);
        });
    }
}

#[test]
fn reservations_serve_whatever_is_requested() {
    for options in OPTIONS {
        while_requested(options, |mutator, kit, model| {
            let bytes = SIZES.iter().map(|what| kit.bytes(what.kind)).sum();
            let mut room = mutator.make_room(bytes).expect("half the heap is free");
            for what in SIZES {
                let object = kit.allocate((&*mutator, &mut room), what).expect("it is reserved");
                model.born(what, object);
            }
            assert_eq!(room.bytes(), 0);
        });
    }
}
