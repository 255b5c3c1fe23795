//! Traps about roots, one by one: handles, pins, weak words, and words in frames.

use super::super::cycle::Stage;
use super::kit::{BY_HAND, Kit, Lists, STAGES, TWIN, generational, in_both_modes, slot};
use crate::mutator::{Mutator, RootWord};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::thread;

/// What holds a list at the beginning of marking, and nothing else does.
#[derive(Clone, Copy, Debug)]
enum Holder {
    /// A handle that another thread drops.
    Dropped,
    /// A handle that is dropped when another thread has a clone of a clone.
    Cloned,
    /// A handle that is set.
    Set,
    Pin,
    WeakHandle,
    /// The weak slot of a node.
    WeakSlot,
}

/// T5, R7: what leaves its only root during marking, for an object that marking does not look at,
/// is marked all the same. So is what a weak slot or handle gave.
#[test]
fn what_leaves_its_root_is_marked() {
    in_both_modes(|| {
        use Holder::{Cloned, Dropped, Pin, Set, WeakHandle, WeakSlot};
        for holder in [Dropped, Cloned, Set, Pin, WeakHandle, WeakSlot] {
            // A stronger holder is visited in the step that begins with `Mark`.
            let steps: &[Stage] = match holder {
                WeakHandle | WeakSlot => &[Stage::Mark, Stage::FinalMark],
                _ => &[Stage::Mark],
            };
            for step in steps {
                leaves(holder, *step);
            }
        }
    });
}

fn leaves(holder: Holder, step: Stage) {
    let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
    let run = kit.heap.attach(|mutator| {
        let mut lists = Lists::new(&kit, mutator, 4, 1);
        (0..10).for_each(|_| assert!(lists.push(&kit, mutator, 0)));
        assert!(lists.push(&kit, mutator, 1));
        let (held, numbers) = (lists.first(mutator, 0), lists.numbers[0].clone());
        let object = NonNull::new(held as *mut u8).unwrap();
        // SAFETY: live objects and their slots.
        let (handle, weak, pin) = unsafe {
            let pin = matches!(holder, Holder::Pin).then(|| mutator.raw().pin(object));
            let weak = mutator.raw().new_weak_root(held);
            if matches!(holder, Holder::WeakSlot) {
                mutator.raw().store(slot(lists.first(mutator, 1), TWIN), held);
            }
            let is_handle = matches!(holder, Holder::Dropped | Holder::Cloned | Holder::Set);
            (is_handle.then(|| mutator.raw().new_root(held)), weak, pin)
        };
        lists.clear(mutator, 0);
        mutator.blocking(|| kit.advance_to(step));
        let node = kit.node(mutator).unwrap();
        let held = match (&handle, &pin, holder) {
            (Some(handle), ..) => handle.get(mutator).unwrap(),
            (_, Some(pin), _) => pin.object().addr().get() as u64,
            (.., Holder::WeakHandle) => weak.get(mutator).unwrap(),
            // SAFETY: a slot of a live object.
            _ => unsafe { mutator.raw().load_weak(slot(lists.first(mutator, 1), TWIN)) },
        };
        assert!(held != 0, "{holder:?}: nothing is dead yet");
        lists.link_before(mutator, 2, node, (held, numbers));
        if let (Some(handle), Holder::Set) = (&handle, holder) {
            // SAFETY: no reference.
            assert!(unsafe { handle.set(mutator, 0) });
        }
        let clone =
            handle.as_ref().filter(|_| matches!(holder, Holder::Cloned)).map(|one| one.clone().clone());
        thread::scope(|scope| {
            scope.spawn(|| drop((clone, handle, pin)));
        });
        mutator.blocking(|| kit.end_cycle());
        // Not before: a store hands over what a weak slot held, too.
        // SAFETY: as above.
        unsafe { mutator.raw().store(slot(lists.first(mutator, 1), TWIN), 0) };
        (0..60).for_each(|_| assert!(lists.push(&kit, mutator, 3)));
        lists.check(mutator);
    });
    run.unwrap();
}

/// A weak word that a thread has seen null stays so, however the cycle ends.
#[test]
fn a_weak_word_that_was_null_stays_null() {
    in_both_modes(|| {
        for step in [Stage::Weak, Stage::BeginMove] {
            let kit = Kit::new(4096, 16, BY_HAND);
            let run = kit.heap.attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 2, 1);
                (0..2).for_each(|_| assert!(lists.push(&kit, mutator, 0)));
                assert!(lists.push(&kit, mutator, 1));
                let twin = |mutator: &Mutator<'_>, lists: &Lists| slot(lists.first(mutator, 1), TWIN);
                // SAFETY: live objects and their slots.
                let weak = unsafe {
                    mutator.raw().store(twin(mutator, &lists), lists.first(mutator, 0));
                    mutator.raw().new_weak_root(lists.first(mutator, 0))
                };
                lists.clear(mutator, 0);
                mutator.blocking(|| kit.advance_to(step));
                // SAFETY: as above.
                let load = |mutator: &Mutator<'_>| unsafe { mutator.raw().load_weak(twin(mutator, &lists)) };
                assert_eq!([load(mutator), weak.get(mutator).unwrap()], [0, 0], "{step:?}");
                mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread");
                assert_eq!([load(mutator), weak.get(mutator).unwrap()], [0, 0], "{step:?}, after a stop");
            });
            run.unwrap();
        }
    });
}

/// A panic that leaves `blocking` finds a thread that has done its duty.
#[test]
fn a_panic_leaves_blocking_during_a_cycle() {
    in_both_modes(|| {
        for step in STAGES {
            let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 4, 1);
                    (0..40).for_each(|number| assert!(lists.push(&kit, mutator, number % 4)));
                    lists.clear(mutator, 1);
                    let word = Box::new(RootWord::new(0));
                    // SAFETY: the box outlives the link.
                    let _linked = unsafe { mutator.raw().link_word(NonNull::from(&*word)) };
                    // SAFETY: a live object.
                    unsafe { word.set(lists.first(mutator, 0)) };
                    mutator.blocking(|| kit.advance_to(step));
                    let outcome = catch_unwind(AssertUnwindSafe(|| {
                        mutator.blocking(|| {
                            kit.next();
                            resume_unwind(Box::new("a panic that a test wants"));
                        })
                    }));
                    assert!(outcome.is_err());
                    assert_eq!(word.get(), lists.first(mutator, 0), "{step:?}");
                    lists.check(mutator);
                    mutator.blocking(|| kit.end_cycle());
                    assert_eq!(word.get(), lists.first(mutator, 0), "{step:?}");
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// To ask whether the referent of a weak slot is alive keeps it at no step.
#[test]
fn a_question_about_a_weak_slot_keeps_nothing() {
    in_both_modes(|| {
        for step in STAGES {
            let kit = Kit::new(4096, 16, BY_HAND);
            let run = kit.heap.attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 3, 1);
                assert!(lists.push(&kit, mutator, 0) && lists.push(&kit, mutator, 1));
                lists.add_half_dead(&kit, mutator, 60);
                assert!(lists.push(&kit, mutator, 1));
                let twin = |mutator: &Mutator<'_>, lists: &Lists| slot(lists.first(mutator, 1), TWIN);
                // SAFETY: live objects and their slots.
                unsafe { mutator.raw().store(twin(mutator, &lists), lists.first(mutator, 0)) };
                lists.clear(mutator, 0);
                // SAFETY: as above.
                let asks =
                    |mutator: &Mutator<'_>| unsafe { mutator.raw().is_weak_live(twin(mutator, &lists)) };
                mutator.blocking(|| kit.advance_to(step));
                let known = matches!(step, Stage::Reset | Stage::InitMark | Stage::Mark | Stage::FinalMark);
                assert_eq!(asks(mutator), known, "{step:?}");
                mutator.blocking(|| kit.end_cycle());
                assert!(!asks(mutator), "{step:?}");
            });
            run.unwrap();
        }
    });
}

/// Cycles take no buffer from a thread except once after each of two pauses, and change no size.
#[test]
fn buffers_keep_their_size_and_little_is_wasted() {
    in_both_modes(|| {
        const CYCLES: u64 = 40;
        const SIZE: u64 = 2048;
        let kit = Kit::new(16 << 10, 40, &format!("MinTLABSize=512,TLABSize=2k,{BY_HAND}"));
        let run = kit.heap.attach(|mutator| {
            let mut lists = Lists::new(&kit, mutator, 2, 1);
            let before = kit.heap.tlab_totals().sum;
            for _ in 0..CYCLES {
                lists.add_half_dead(&kit, mutator, 100);
                lists.clear(mutator, 0);
                mutator.blocking(|| {
                    // Also pauses and steps in between take nothing.
                    kit.next();
                    kit.end_cycle();
                });
            }
            let spent = kit.heap.tlab_totals().sum.since(&before);
            assert!(spent.refills * SIZE <= spent.allocated + 2 * CYCLES * SIZE, "{spent:?}");
            assert!(
                spent.gc_waste <= 2 * CYCLES * SIZE && spent.refill_waste <= spent.refills * 64,
                "{spent:?}"
            );
        });
        run.unwrap();
    });
}

/// The fewest slots of handles that a cycle looks at, with this many handles of an old object and
/// some of young ones.
fn visited_beside_old(handles: usize) -> usize {
    let kit = Kit::new(4096, 64, BY_HAND);
    let fewest = kit.heap.attach(|mutator| {
        let mut lists = Lists::new(&kit, mutator, 2, 1);
        assert!(lists.push(&kit, mutator, 0));
        let old: Vec<_> = (0..handles).map(|_| lists.table.clone()).collect();
        let mut young = Vec::new();
        let visits: Vec<_> = (0..60)
            .map(|_| {
                let node = kit.node(mutator).expect("room");
                // SAFETY: a live object, whose words are null.
                young.push(unsafe { mutator.raw().new_root(node) });
                lists.add_half_dead(&kit, mutator, 4);
                kit.shared().threads.roots.take_visited();
                mutator.blocking(|| kit.cycle());
                lists.check(mutator);
                kit.shared().threads.roots.take_visited()
            })
            .collect();
        assert!(old.iter().all(|handle| handle.get(mutator) == lists.table.get(mutator)));
        visits.into_iter().min().expect("cycles")
    });
    kit.heap.verify().unwrap();
    fewest.unwrap()
}

/// A young cycle looks at handles of young objects, and at few others.
#[test]
fn handles_of_old_objects_cost_a_young_cycle_nothing() {
    generational(|| {
        let (few, many) = (visited_beside_old(200), visited_beside_old(10_000));
        assert!(few > 0 && many <= 2 * few, "{few} of 200, {many} of 10,000");
    });
}
