//! Traps of a concurrent collector, one by one: each test is a situation in which an object could
//! be lost, or found at its old place.

use super::super::cycle::Stage;
use super::kit::{BY_HAND, Kit, Lists, Random, STAGES, in_both_modes};
use crate::mutator::{Hot, RootProvider, RootVisitor};
use crate::object::{Shape, SlotVisitor};
use crate::stress_seed;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// More heaps: how memory is taken, and what happens to copies.
const WAYS: [&str; 6] = [
    "",
    "-UseTLAB",
    "MinTLABSize=64,TLABSize=128,MaxTLABSize=512,ZealEvacuationFailure=2",
    "+ZealMove,ZealEvacuationFailure=7",
    "+ZealMove,RefillStrategy=lock",
    "+ZealProtect,ZealQuarantine=2,ZealEvacuationFailure=5",
];

/// Lists keep their contents, with any work of a thread between the steps of a cycle. Their table
/// is larger than a region at times.
#[test]
fn contents_stay_whatever_comes_between_the_steps() {
    in_both_modes(|| {
        for seed in 1..36_u64 {
            let way = WAYS[seed as usize % WAYS.len()];
            let options = format!("+VerifyBeforeGC,+VerifyAfterGC,+ZealPoison,{BY_HAND},{way}");
            let kit = Kit::new(4096, 60, options.trim_end_matches(','));
            let mut random = Random(stress_seed::of_part(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            kit.heap
                .attach(|mutator| {
                    let count = if seed % 4 == 0 { 1000 } else { 16 };
                    let mut lists = Lists::new(&kit, mutator, count, 1);
                    for _ in 0..200 {
                        for _ in 0..random.below(40) {
                            lists.change(&kit, mutator, &mut random);
                        }
                        // Several steps at once: then a worker visits this thread's roots.
                        let steps = random.below(4);
                        let next = || (0..steps).for_each(|_| kit.next());
                        match random.below(4) {
                            0 => {
                                let node = kit.reserved_node(mutator, next);
                                node.into_iter().for_each(|node| lists.link(mutator, 0, node));
                            }
                            1 => {
                                let mark = mutator.raw_mut().mark();
                                kit.waste(mutator, random.below(3000));
                                mutator.blocking(next);
                                kit.waste(mutator, random.below(9000));
                                // SAFETY: nothing that is used was allocated since.
                                unsafe { mutator.raw_mut().recycle(mark) };
                            }
                            _ => mutator.blocking(next),
                        }
                        kit.check_borders();
                        lists.check(mutator);
                    }
                    mutator.blocking(|| kit.end_cycle());
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// A thread that stops the world ends the cycle first, at whichever step it is.
#[test]
fn a_cycle_is_ended_at_each_step() {
    in_both_modes(|| {
        for step in STAGES {
            for way in 0..4 {
                let kit =
                    Kit::new(4096, 40, &format!("+VerifyBeforeGC,+VerifyAfterGC,+ZealPoison,{BY_HAND}"));
                let mut random = Random(stress_seed::of_part(0x1234_5678 + step as u64 * 7 + way));
                kit.heap
                    .attach(|mutator| {
                        let mut lists = Lists::new(&kit, mutator, 16, 1);
                        let mut reached = false;
                        for _ in 0..6 {
                            (0..200).for_each(|_| lists.change(&kit, mutator, &mut random));
                            mutator.blocking(|| kit.advance_to(step));
                            reached |= kit.stage() == step;
                            lists.check(mutator);
                            match way {
                                0 => assert!(mutator.collect()),
                                1 => mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread"),
                                2 => {
                                    // Degenerated, and full if that is not enough.
                                    while lists.push(&kit, mutator, 0) && kit.stage() != Stage::Idle {}
                                }
                                _ => _ = mutator.blocking(|| kit.heap.stop_the_world(|_| ())).unwrap(),
                            }
                            assert_eq!(
                                (kit.stage(), kit.shared().threads.barriers()),
                                (Stage::Idle, kit.collector().engine.resting_barriers()),
                                "{step:?} {way}"
                            );
                            lists.check(mutator);
                            lists.clear(mutator, 0);
                        }
                        assert!(reached, "{step:?} {way}");
                    })
                    .unwrap();
                kit.heap.verify().unwrap();
            }
        }
    });
}

/// A step with workers that are interrupted is the next one again. Mutators that help, other
/// workers or a stop do the rest.
#[test]
fn an_interrupted_step_is_continued_wherever_the_cycle_ends() {
    in_both_modes(|| {
        for step in STAGES.into_iter().filter(|step| !step.is_pause()) {
            for way in 0..3 {
                let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
                let mut random = Random(stress_seed::of_part(0x5151 + step as u64 * 5 + way));
                let run = kit.heap.attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 16, 1);
                    let mut interrupted = 0;
                    for _ in 0..6 {
                        (0..200).for_each(|_| lists.change(&kit, mutator, &mut random));
                        mutator.blocking(|| kit.advance_to(step));
                        for _ in 0..3 {
                            if kit.stage() == step {
                                mutator.blocking(|| kit.interrupted());
                                interrupted += 1;
                            }
                            lists.check(mutator);
                            (0..20).for_each(|_| lists.change(&kit, mutator, &mut random));
                        }
                        match way {
                            0 => mutator.blocking(|| kit.end_cycle()),
                            1 => mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread"),
                            _ => assert!(mutator.collect()),
                        }
                        lists.check(mutator);
                    }
                    assert!(interrupted > 0, "{step:?} {way}");
                });
                run.unwrap();
                kit.heap.verify().unwrap();
            }
        }
    });
}

/// A pause marks for a short time only. The rest is marked beside threads, or in a stop.
#[test]
fn a_pause_leaves_long_marking_to_the_next_step() {
    in_both_modes(|| {
        for way in 0..3 {
            let kit = Kit::new(16 << 10, 200, &format!("+ZealPoison,{BY_HAND}"));
            let run = kit.heap.attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 4, 1);
                (0..10_000).for_each(|_| assert!(lists.push(&kit, mutator, 0)));
                // SAFETY: a live object.
                let weak = unsafe { mutator.raw().new_weak_root(lists.first(mutator, 0)) };
                let numbers = lists.numbers[0].clone();
                lists.clear(mutator, 0);
                mutator.blocking(|| kit.advance_to(Stage::FinalMark));
                let node = kit.node(mutator).unwrap();
                let held = weak.get(mutator).unwrap();
                assert_ne!(held, 0, "nothing is dead yet");
                lists.link_before(mutator, 2, node, (held, numbers));
                mutator.blocking(|| kit.next());
                assert_eq!(kit.stage(), Stage::Mark);
                match way {
                    0 => mutator.blocking(|| kit.end_cycle()),
                    1 => mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread"),
                    _ => assert!(mutator.collect()),
                }
                lists.check(mutator);
                assert_eq!(kit.stage(), Stage::Idle);
            });
            run.unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// A full collection follows a pause that finds marks lost.
#[test]
fn a_pause_that_finds_marks_lost_ends_in_a_full_collection() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
        let run = kit.heap.attach(|mutator| {
            let fulls = || kit.heap.collections().recent.iter().filter(|one| one.full().is_some()).count();
            let mut lists = Lists::new(&kit, mutator, 4, 1);
            // The second time, old objects are being marked in a heap with generations.
            for count in 1..3 {
                lists.add_half_dead(&kit, mutator, 200);
                mutator.blocking(|| kit.cycle());
                mutator.blocking(|| kit.advance_to(Stage::FinalMark));
                let engine = &kit.collector().engine;
                engine.left.found.lose();
                mutator.blocking(|| kit.next());
                assert_eq!((kit.stage(), fulls()), (Stage::Idle, count));
                assert_eq!((engine.marks_old(), kit.shared().threads.barriers()), (false, 0));
                lists.check(mutator);
            }
            mutator.blocking(|| kit.cycle());
            lists.check(mutator);
        });
        run.unwrap();
        kit.heap.verify().unwrap();
    });
}

/// A thread that is asked for its buffer during a cycle gives it back, but not after
/// the stop in which the borders were drawn.
#[test]
fn a_buffer_that_is_asked_for_lowers_no_border() {
    in_both_modes(|| {
        for (step, next) in [(Stage::InitMark, Stage::Mark), (Stage::BeginMove, Stage::Evacuate)] {
            let kit = Kit::new(4096, 16, &format!("MinTLABSize=512,TLABSize=1k,{BY_HAND}"));
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 4, 1);
                    lists.add_half_dead(&kit, mutator, 200);
                    mutator.blocking(|| kit.advance_to(Stage::InitMark));
                    for list in 0..4 {
                        assert!(lists.push(&kit, mutator, list));
                    }
                    mutator.blocking(|| kit.advance_to(step));
                    // A buffer that is in use.
                    assert!(lists.push(&kit, mutator, 0));
                    mutator.blocking(|| {
                        kit.heap.request_safepoint();
                        kit.next();
                    });
                    assert_eq!(kit.stage(), next);
                    kit.check_borders();
                    assert!(lists.push(&kit, mutator, 1));
                    kit.check_borders();
                    mutator.blocking(|| kit.end_cycle());
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// A heap without threads is emptied at whichever step its cycle is.
#[test]
fn a_reset_ends_the_cycle() {
    in_both_modes(|| {
        for step in STAGES {
            let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
            let mut random = Random(stress_seed::of_part(0x7777 + step as u64));
            let mut reached = false;
            for round in 0..4 {
                kit.heap
                    .attach(|mutator| {
                        assert_eq!(kit.shared().threads.barriers(), 0, "{step:?}, round {round}");
                        let mut lists = Lists::new(&kit, mutator, 16, 1);
                        (0..400).for_each(|_| lists.change(&kit, mutator, &mut random));
                        lists.check(mutator);
                        mutator.blocking(|| kit.advance_to(step));
                        reached |= kit.stage() == step;
                        lists.check(mutator);
                    })
                    .unwrap();
                kit.heap.reset().unwrap();
                kit.heap.verify().unwrap();
            }
            assert!(reached, "{step:?}");
        }
    });
}

/// A provider that has another thread reset the heap, which is refused, while a stopped world asks
/// for roots.
struct Disturbing {
    kit: Weak<Kit>,
    /// Visits until it happens.
    visits: AtomicUsize,
    disturber: Mutex<Option<JoinHandle<()>>>,
}

struct Provider(Arc<Disturbing>);

// SAFETY: it has no roots.
unsafe impl RootProvider for Provider {
    fn visit_roots(&self, _roots: &mut RootVisitor<'_, '_>) {
        let Some(kit) = self.0.kit.upgrade() else { return };
        if self.0.visits.fetch_sub(1, Ordering::Relaxed) == 1 {
            let before = kit.collector().halts.load(Ordering::Relaxed);
            let other = kit.clone();
            let disturber = thread::spawn(move || assert!(other.heap.reset().is_err()));
            *self.0.disturber.lock().unwrap() = Some(disturber);
            // From then on it waits for the end of the stop.
            while kit.collector().halts.load(Ordering::Relaxed) == before {
                thread::yield_now();
            }
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// A thread that may not reset the heap, because threads are attached, does no harm to a collection
/// in a stop, whatever step that is at.
#[test]
fn a_refused_reset_disturbs_no_collection() {
    in_both_modes(|| {
        for visits in 1..6 {
            let kit = Arc::new(Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}")));
            let disturbing = Arc::new(Disturbing {
                kit: Arc::downgrade(&kit),
                visits: AtomicUsize::new(0),
                disturber: Mutex::new(None),
            });
            let provider = kit.heap.add_root_provider(Box::new(Provider(disturbing.clone())));
            kit.heap
                .attach(|mutator| {
                    let mut random = Random(stress_seed::of_part(0xABCD_EF01 + visits as u64));
                    let mut lists = Lists::new(&kit, mutator, 16, 1);
                    let mut disturbed = 0;
                    for _ in 0..20 {
                        (0..200).for_each(|_| lists.change(&kit, mutator, &mut random));
                        disturbing.visits.store(visits, Ordering::Relaxed);
                        assert!(mutator.collect());
                        lists.check(mutator);
                        let disturber = disturbing.disturber.lock().unwrap().take();
                        if let Some(disturber) = disturber {
                            mutator.blocking(|| disturber.join().unwrap());
                            disturbed += 1;
                        }
                    }
                    assert!(disturbed > 0, "visit {visits}");
                })
                .unwrap();
            kit.heap.remove_root_provider(provider);
            kit.heap.verify().unwrap();
        }
    });
}

/// The embedder's bit outlives the end of a cycle in a stop.
#[test]
fn the_load_hook_stays_on() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 16, BY_HAND);
        kit.heap
            .attach(|mutator| {
                mutator.raw_mut().stop_the_world(|world| world.set_load_hook(true)).expect("no other thread");
                let mut lists = Lists::new(&kit, mutator, 2, 1);
                for step in STAGES {
                    lists.add_half_dead(&kit, mutator, 60);
                    mutator.blocking(|| kit.advance_to(step));
                    assert_eq!((kit.stage(), kit.shared().threads.barriers() & Hot::HOOK), (step, Hot::HOOK));
                    mutator.raw_mut().stop_the_world(|_| ()).expect("no other thread");
                    let others = kit.collector().engine.resting_barriers();
                    assert_eq!(kit.shared().threads.barriers(), Hot::HOOK | others, "{step:?}");
                }
            })
            .unwrap();
    });
}

/// A reservation from before a stop is void after it, even for a thread that was in
/// `blocking`.
#[test]
fn a_reservation_ends_with_each_stop() {
    in_both_modes(|| {
        let kit = Kit::new(4096, 16, BY_HAND);
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 2, 1);
                lists.add_half_dead(&kit, mutator, 200);
                for step in STAGES.into_iter().filter(|step| step.is_pause()) {
                    mutator.blocking(|| kit.advance_to(step));
                    assert_eq!(kit.stage(), step);
                    assert_eq!(kit.reserved_node(mutator, || kit.next()), None, "{step:?}");
                }
            })
            .unwrap();
    });
}

/// A region in which objects are allocated while others of it are marked is not emptied, and
/// what was allocated stays.
#[test]
fn objects_above_the_border_stay_whatever_becomes_of_those_below() {
    in_both_modes(|| {
        for step in
            [Stage::Mark, Stage::FinalMark, Stage::Weak, Stage::BeginMove, Stage::Evacuate, Stage::EndMove]
        {
            let kit = Kit::new(4096, 16, &format!("-UseTLAB,+ZealPoison,{BY_HAND}"));
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 4, 1);
                    // Half of a region, half of it dead.
                    lists.add_half_dead(&kit, mutator, 40);
                    mutator.blocking(|| kit.advance_to(step));
                    assert!(lists.push(&kit, mutator, 2) && lists.push(&kit, mutator, 0));
                    lists.clear(mutator, 0);
                    assert!(lists.push(&kit, mutator, 3));
                    mutator.blocking(|| kit.end_cycle());
                    lists.check(mutator);
                    mutator.blocking(|| (0..20).for_each(|_| kit.next()));
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// A shape that may hide a slot is refused.
#[test]
fn a_shape_whose_slots_may_change_is_refused() {
    in_both_modes(|| {
        /// # Safety
        /// As for [`TraceFn`](crate::object::TraceFn).
        unsafe fn nothing(_: NonNull<u8>, _: &mut SlotVisitor<'_>) {}
        let kit = Kit::new(4096, 16, BY_HAND);
        assert!(kit.heap.register(Shape::fixed("Pops", 32).traced_by(nothing)).is_err());
        assert!(kit.heap.register(Shape::fixed("Stays", 32).traced_by(nothing).slots_never_change()).is_ok());
    });
}

/// A run of regions may hold several objects: those of one reservation. The large one need not be
/// the first.
#[test]
fn a_large_array_after_other_objects_is_updated() {
    in_both_modes(|| {
        for early in [true, false] {
            let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
            let run = kit.heap.attach(|mutator| {
                // Born before the cycle, or between its first and its last stop.
                mutator.blocking(|| {
                    if !early {
                        kit.advance_to(Stage::Mark)
                    }
                });
                let mut lists = Lists::behind_a_node(&kit, mutator, 600);
                (0..600).for_each(|list| assert!(lists.push(&kit, mutator, list)));
                (0..600).step_by(3).for_each(|list| lists.clear(mutator, list));
                mutator.blocking(|| kit.end_cycle());
                mutator.blocking(|| kit.advance_to(Stage::InitMark));
                mutator.blocking(|| kit.end_cycle());
                lists.check(mutator);
            });
            run.unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// A large array may be dead while its run is not. Then its elements lead anywhere, and no update
/// may follow them.
#[test]
fn a_dead_array_in_a_live_run_is_not_updated() {
    in_both_modes(|| {
        for seed in 1..10_u64 {
            let kit = Kit::new(4096, 60, &format!("+ZealPoison,{BY_HAND}"));
            let mut random = Random(stress_seed::of_part(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let run = kit.heap.attach(|mutator| {
                let (mut lists, node) = Lists::before_a_node(&kit, mutator, 600);
                (0..600).for_each(|list| assert!(lists.push(&kit, mutator, list)));
                // The table dies, and the node does not.
                drop(lists);
                let mut lists = Lists::new(&kit, mutator, 16, 10_000);
                for _ in 0..20 {
                    // Freed memory is used again, with objects of other sizes.
                    for _ in 0..200 {
                        kit.waste(mutator, random.below(100));
                        lists.change(&kit, mutator, &mut random);
                    }
                    mutator.blocking(|| {
                        kit.next();
                        kit.end_cycle();
                    });
                    lists.check(mutator);
                }
                drop(node);
            });
            run.unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// `collect` finds what was garbage before it, even if an older cycle ends meanwhile.
#[test]
fn a_collection_finds_all_that_was_dropped_before_it() {
    in_both_modes(|| {
        for step in STAGES {
            let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 2, 1);
                    assert!(lists.push(&kit, mutator, 0));
                    // SAFETY: a live object.
                    let weak = unsafe { mutator.raw().new_weak_root(lists.first(mutator, 0)) };
                    mutator.blocking(|| kit.advance_to(step));
                    lists.clear(mutator, 0);
                    thread::scope(|scope| {
                        // It ends the older cycle when this thread comes to a safepoint.
                        let stopper = scope.spawn(|| kit.heap.stop_the_world(|_| ()).unwrap());
                        thread::sleep(Duration::from_millis(5));
                        assert!(mutator.collect());
                        assert_eq!(weak.get(mutator), Some(0), "{step:?}");
                        mutator.blocking(|| stopper.join().unwrap());
                    });
                })
                .unwrap();
        }
    });
}
