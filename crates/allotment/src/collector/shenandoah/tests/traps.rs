//! Traps of a concurrent collector, one by one: each test is a situation in which an object could be
//! lost, or found where it is no more.

use super::super::cycle::Step;
use super::kit::{BY_HAND, Kit, Lists, Random, STEPS};
use crate::mutator::{Hot, RootProvider, RootVisitor};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Whatever a thread does between the steps of a cycle, lists have their contents.
#[test]
fn contents_stay_whatever_comes_between_the_steps() {
    for seed in 1..20_u64 {
        let kit = Kit::new(4096, 40, &format!("+VerifyBeforeGC,+VerifyAfterGC,+ZealPoison,{BY_HAND}"));
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 16, 1);
                for _ in 0..300 {
                    for _ in 0..random.below(40) {
                        lists.change(&kit, mutator, &mut random);
                    }
                    // Several steps at once: then a worker visits this thread's roots.
                    let steps = 1 + random.below(4);
                    mutator.blocking(|| (0..steps).for_each(|_| kit.advance()));
                    kit.check_borders();
                    lists.check(mutator);
                }
                mutator.blocking(|| kit.end_cycle());
                lists.check(mutator);
            })
            .unwrap();
        kit.heap.verify().unwrap();
    }
}

/// T19: whoever stops the world ends the cycle first, at whichever step it is.
#[test]
fn a_cycle_is_ended_at_each_step() {
    for step in STEPS {
        for way in 0..4 {
            let kit = Kit::new(4096, 40, &format!("+VerifyBeforeGC,+VerifyAfterGC,+ZealPoison,{BY_HAND}"));
            let mut random = Random(0x1234_5678 + step as u64 * 7 + way);
            kit.heap
                .attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 16, 1);
                    for _ in 0..6 {
                        (0..200).for_each(|_| lists.change(&kit, mutator, &mut random));
                        mutator.blocking(|| kit.advance_to(step));
                        lists.check(mutator);
                        match way {
                            0 => assert!(mutator.collect()),
                            1 => _ = mutator.stop_the_world(|_| ()).expect("no other thread"),
                            2 => {
                                // Degenerated, and full if that is not enough.
                                while lists.push(&kit, mutator, 0) && kit.step() != Step::Idle {}
                            }
                            _ => _ = mutator.blocking(|| kit.heap.stop_the_world(|_| ())).unwrap(),
                        }
                        assert_eq!((kit.step(), kit.shared().barriers()), (Step::Idle, 0), "{step:?} {way}");
                        lists.check(mutator);
                        lists.clear(mutator, 0);
                    }
                })
                .unwrap();
            kit.heap.verify().unwrap();
        }
    }
}

/// T1: a thread that is asked for its buffer in the midst of a cycle gives it back, but not behind
/// the stop in which the borders were drawn.
#[test]
#[ignore = "finds: the duty gives a buffer back below the border of its region"]
fn a_buffer_that_is_asked_for_lowers_no_border() {
    for step in [Step::InitMark, Step::BeginMove] {
        let kit = Kit::new(4096, 16, &format!("MinTLABSize=512,TLABSize=1k,{BY_HAND}"));
        kit.heap
            .attach(|mutator| {
                let mut lists = Lists::new(&kit, mutator, 4, 1);
                mutator.blocking(|| kit.advance_to(Step::InitMark));
                for list in 0..4 {
                    assert!(lists.push(&kit, mutator, list));
                }
                mutator.blocking(|| kit.advance_to(step));
                // A buffer that is in use.
                assert!(lists.push(&kit, mutator, 0));
                mutator.blocking(|| {
                    kit.heap.request_safepoint();
                    kit.advance();
                });
                kit.check_borders();
                assert!(lists.push(&kit, mutator, 1));
                kit.check_borders();
                mutator.blocking(|| kit.end_cycle());
                lists.check(mutator);
            })
            .unwrap();
        kit.heap.verify().unwrap();
    }
}

/// T17: a heap without threads is emptied at whichever step its cycle is.
#[test]
#[ignore = "finds: a reset leaves barriers, set and copy space of the cycle"]
fn a_reset_ends_the_cycle() {
    for step in STEPS {
        let kit = Kit::new(4096, 40, &format!("+ZealPoison,{BY_HAND}"));
        let mut random = Random(0x7777 + step as u64);
        for round in 0..4 {
            kit.heap
                .attach(|mutator| {
                    assert_eq!(kit.shared().barriers(), 0, "{step:?}, round {round}");
                    let mut lists = Lists::new(&kit, mutator, 16, 1);
                    (0..400).for_each(|_| lists.change(&kit, mutator, &mut random));
                    lists.check(mutator);
                    mutator.blocking(|| kit.advance_to(step));
                    lists.check(mutator);
                })
                .unwrap();
            kit.heap.reset().unwrap();
            kit.heap.verify().unwrap();
        }
    }
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
#[ignore = "finds: a refused reset interrupts the steps of a stopped cycle"]
fn a_refused_reset_disturbs_no_collection() {
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
                let mut random = Random(0xABCD_EF01 + visits as u64);
                let mut lists = Lists::new(&kit, mutator, 16, 1);
                for _ in 0..20 {
                    (0..200).for_each(|_| lists.change(&kit, mutator, &mut random));
                    disturbing.visits.store(visits, Ordering::Relaxed);
                    assert!(mutator.collect());
                    lists.check(mutator);
                    let disturber = disturbing.disturber.lock().unwrap().take();
                    disturber
                        .into_iter()
                        .for_each(|disturber| mutator.blocking(|| disturber.join().unwrap()));
                }
            })
            .unwrap();
        kit.heap.remove_root_provider(provider);
        kit.heap.verify().unwrap();
    }
}

/// The embedder's bit outlives the end of a cycle in a stop.
#[test]
#[ignore = "finds: a stop that ends a cycle clears the embedder's bit"]
fn the_load_hook_stays_on() {
    let kit = Kit::new(4096, 16, BY_HAND);
    kit.heap
        .attach(|mutator| {
            mutator.stop_the_world(|world| world.set_load_hook(true)).expect("no other thread");
            for step in STEPS {
                mutator.blocking(|| kit.advance_to(step));
                assert_eq!(kit.shared().barriers() & Hot::HOOK, Hot::HOOK, "{step:?}");
                mutator.stop_the_world(|_| ()).expect("no other thread");
                assert_eq!(kit.shared().barriers(), Hot::HOOK, "{step:?}");
            }
        })
        .unwrap();
}
