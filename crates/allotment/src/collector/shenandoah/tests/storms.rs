//! Threads that do what a concurrent collector fears, while cycles follow each other without pause.
//! Whatever is held has its contents, as a model knows them.

use super::kit::{BY_HAND, Ends, Kit, Lists, Random, in_both_modes};
use crate::Heap;
use crate::collector::verify::{Level, verify_handles};
use crate::mutator::{Mutator, Pin, RootHandle, RootWord};
use crate::stress_seed;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

/// How often each thread of a storm does what it does.
const ROUNDS: usize = 300;

/// Options under which storms are run.
const WAYS: [&str; 3] =
    ["", "-UseTLAB,+ZealMove", "MinTLABSize=64,TLABSize=512,+ZealMove,ZealEvacuationFailure=3"];

fn kit(way: &str) -> Kit {
    Kit::new(4096, 160, format!("+ZealPoison,{BY_HAND},{way}").trim_end_matches(','))
}

/// Runs `threads` threads beside cycles. Some cycles must have ended.
fn storm(kit: &Kit, threads: usize, body: impl Fn(usize, &mut Random) + Sync) {
    let seed = stress_seed::of_hunt();
    stress_seed::show(seed);
    let cycles = kit.beside_cycles(|| {
        thread::scope(|scope| {
            for number in 0..threads {
                let body = &body;
                scope.spawn(move || body(number, &mut Random((seed ^ (number as u64) << 40) | 1)));
            }
        });
    });
    println!("{cycles} cycles");
    assert!(cycles > 0);
    kit.heap.verify().unwrap();
}

/// The first number of a thread's nodes.
fn first(number: usize) -> u64 {
    (number as u64 + 1) << 32
}

/// Threads come and go, and leave buffers behind.
#[test]
fn threads_attach_and_detach_while_cycles_run() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            storm(&kit, 3, |number, random| {
                let mut lists =
                    kit.heap.attach(|mutator| Lists::new(&kit, mutator, 8, first(number))).unwrap();
                for _ in 0..ROUNDS {
                    let visit = kit.heap.attach(|mutator| {
                        lists.check(mutator);
                        (0..random.below(20)).for_each(|_| lists.change(&kit, mutator, random));
                        lists.check(mutator);
                    });
                    visit.unwrap();
                }
            });
        }
    });
}

/// A pool of what threads hand to each other.
struct Pool<T>(Mutex<Vec<T>>);

impl<T> Pool<T> {
    /// Takes something out, if there is anything.
    fn take(&self, random: &mut Random) -> Option<T> {
        let mut pool = self.0.lock().unwrap();
        let place = random.below(pool.len());
        if pool.is_empty() { None } else { Some(pool.swap_remove(place)) }
    }

    /// Puts something in, or gives it back if there is much already.
    fn put(&self, held: T) -> Option<T> {
        let mut pool = self.0.lock().unwrap();
        if pool.len() < 40 {
            pool.push(held);
            return None;
        }
        Some(held)
    }
}

/// What a handle holds: a list.
type Held = (RootHandle, Vec<u64>);

/// Threads that are not attached clone and drop handles. Attached ones move what is held
/// from a handle to a slot and back, drop the handle, and set others.
#[test]
fn handles_are_cloned_dropped_and_set_while_cycles_run() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            let pool: Pool<Held> = Pool(Mutex::default());
            let attached = AtomicUsize::new(2);
            storm(&kit, 4, |number, random| {
                if number >= 2 {
                    clone_and_drop(&pool, &attached, random);
                    return;
                }
                let _leaves = Leaves(&attached);
                let run = kit.heap.attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 8, first(number));
                    for _ in 0..4 * ROUNDS {
                        exchange(&kit, mutator, &mut lists, &pool, random);
                    }
                    lists.check(mutator);
                    // What others hold is checked, too.
                    while let Some((handle, numbers)) = pool.take(random) {
                        Lists::check_nodes(mutator, handle.get(mutator).unwrap(), &numbers);
                    }
                });
                run.unwrap();
            });
        }
    });
}

/// Counts a thread out when it is dropped.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A thread that is not attached.
fn clone_and_drop(pool: &Pool<Held>, attached: &AtomicUsize, random: &mut Random) {
    while attached.load(Ordering::Relaxed) > 0 {
        let Some((handle, numbers)) = pool.take(random) else {
            thread::yield_now();
            continue;
        };
        // The clone takes a slot that was free, perhaps where a visit has been. Then the first one
        // goes, where it has not been.
        let clone = handle.clone();
        if random.below(2) == 0 {
            drop((handle.clone(), handle));
        } else {
            drop(pool.put((handle, numbers.clone())));
        }
        drop(pool.put((clone, numbers)));
    }
}

/// An attached thread: a list goes from a slot to a handle, or back.
fn exchange(kit: &Kit, mutator: &mut Mutator<'_>, lists: &mut Lists, pool: &Pool<Held>, random: &mut Random) {
    let list = random.below(lists.numbers.len());
    match random.below(8) {
        0 | 1 => {
            // SAFETY: the word of a slot, live until the next safepoint.
            let handle = unsafe { mutator.raw().new_root(lists.first(mutator, list)) };
            drop(pool.put((handle, lists.numbers[list].clone())));
            lists.clear(mutator, list);
        }
        2 | 3 => {
            let Some((handle, numbers)) = pool.take(random) else { return };
            let held = handle.get(mutator).unwrap();
            lists.adopt(mutator, list, held);
            lists.numbers[list] = numbers;
            drop(handle);
        }
        4 => {
            let Some((handle, _)) = pool.take(random) else { return };
            // SAFETY: as above.
            assert!(unsafe { handle.set(mutator, lists.first(mutator, list)) });
            drop(pool.put((handle, lists.numbers[list].clone())));
            lists.clear(mutator, list);
        }
        5 => {
            let Some((handle, numbers)) = pool.take(random) else { return };
            Lists::check_nodes(mutator, handle.get(mutator).unwrap(), &numbers);
            drop(pool.put((handle, numbers)));
        }
        _ => (0..8).for_each(|_| lists.change(kit, mutator, random)),
    }
    mutator.safepoint();
}

/// Threads that sleep in `blocking` with a list in a frame. Others have hundreds of handles, which
/// they make, set, clone and drop. Now and then one of them looks for a handle that young cycles
/// would miss.
#[test]
fn many_threads_sleep_and_handles_are_many_while_cycles_run() {
    const SLEEPERS: usize = 10;
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            storm(&kit, SLEEPERS + 2, |number, random| {
                let run = kit.heap.attach(|mutator| match number {
                    0..SLEEPERS => sleep_with_a_list(&kit, mutator, first(number), random),
                    _ => have_many_handles(&kit, mutator, first(number), random),
                });
                run.unwrap();
            });
        }
    });
}

/// A list that a word of a frame holds, before and after each of many times in `blocking`.
fn sleep_with_a_list(kit: &Kit, mutator: &mut Mutator<'_>, first: u64, random: &mut Random) {
    let mut lists = Lists::new(kit, mutator, 1, first);
    let word = Box::new(RootWord::new(0));
    // SAFETY: the box outlives the link.
    let _linked = unsafe { mutator.raw().link_word(NonNull::from(&*word)) };
    let mut numbers = Vec::new();
    for round in 0..ROUNDS / 10 {
        if round % 4 == 0 {
            lists.clear(mutator, 0);
            (0..6).for_each(|_| _ = lists.push(kit, mutator, 0));
            // SAFETY: a live object.
            unsafe { word.set(lists.first(mutator, 0)) };
            numbers = lists.numbers[0].clone();
            lists.clear(mutator, 0);
        }
        let pause = Duration::from_micros(random.below(2000) as u64);
        mutator.blocking(|| thread::sleep(pause));
        Lists::check_nodes(mutator, word.get(), &numbers);
    }
}

/// Handles of lists, some of which are never touched again.
fn have_many_handles(kit: &Kit, mutator: &mut Mutator<'_>, first: u64, random: &mut Random) {
    let mut lists = Lists::new(kit, mutator, 8, first);
    let mut handles: Vec<Held> = Vec::new();
    for round in 0..4 * ROUNDS {
        let (list, place) = (random.below(8), random.below(handles.len()));
        let held = (lists.first(mutator, list), lists.numbers[list].clone());
        match random.below(6) {
            // SAFETY: the word of a slot, live until the next safepoint.
            0 | 1 if handles.len() < 300 => handles.push((unsafe { mutator.raw().new_root(held.0) }, held.1)),
            2 if !handles.is_empty() => {
                // SAFETY: as above.
                assert!(unsafe { handles[place].0.set(mutator, held.0) });
                handles[place].1 = held.1;
            }
            3 if handles.len() > 100 => drop(handles.swap_remove(place)),
            4 if !handles.is_empty() && handles.len() < 300 => handles.push(handles[place].clone()),
            _ => (0..8).for_each(|_| lists.change(kit, mutator, random)),
        }
        mutator.safepoint();
        if round % 100 == 0 {
            mutator.raw_mut().stop_the_world(|world| {
                verify_handles(world.shared(), Level::References).expect("no handle is forgotten");
            });
            for (handle, numbers) in &handles {
                Lists::check_nodes(mutator, handle.get(mutator).unwrap(), numbers);
            }
        }
    }
    lists.check(mutator);
}

/// Two attached threads that do rounds of something with their lists, and a thread beside them that
/// is not attached, as long as one of them is.
fn storm_with_lists(
    kit: &Kit,
    rounds: usize,
    beside: impl Fn(&AtomicUsize, &mut Random) + Sync,
    round: impl Fn(&mut Mutator<'_>, &mut Lists, &mut Random) + Sync,
) {
    let attached = AtomicUsize::new(2);
    storm(kit, 3, |number, random| {
        if number == 2 {
            return beside(&attached, random);
        }
        let _leaves = Leaves(&attached);
        let run = kit.heap.attach(|mutator| {
            let mut lists = Lists::new(kit, mutator, 8, first(number));
            (0..rounds).for_each(|_| round(mutator, &mut lists, random));
            lists.check(mutator);
        });
        run.unwrap();
    });
}

/// A pinned list is stored in a slot, and another thread drops the pin.
#[test]
fn pins_are_dropped_after_their_object_was_stored() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            let pool: Pool<Pin> = Pool(Mutex::default());
            let drops = |attached: &AtomicUsize, random: &mut Random| {
                while attached.load(Ordering::Relaxed) > 0 {
                    drop(pool.take(random));
                    thread::yield_now();
                }
            };
            storm_with_lists(&kit, 4 * ROUNDS, drops, |mutator, lists, random| {
                let list = random.below(8);
                let turn = random.below(6);
                if turn > 1 || lists.numbers[list].is_empty() {
                    return (0..8).for_each(|_| lists.change(&kit, mutator, random));
                }
                let object = std::ptr::NonNull::new(lists.first(mutator, list) as *mut u8);
                // SAFETY: a live object.
                let pin = unsafe { mutator.raw().pin(object.unwrap()) };
                let numbers = lists.numbers[list].clone();
                lists.clear(mutator, list);
                if turn == 0 {
                    mutator.safepoint();
                } else {
                    // Held by the pin alone for a while, and then by the slot alone.
                    (0..random.below(6)).for_each(|_| lists.change(&kit, mutator, random));
                    let place = pin.object().addr().get() as u64;
                    Lists::check_nodes(mutator, place, &numbers);
                    let other = random.below(8);
                    lists.adopt(mutator, other, place);
                    lists.numbers[other] = numbers;
                }
                drop(pool.put(pin));
            });
            drop(pool);
        }
    });
}

/// Weak handles are read, copied and made while what they refer to dies or does not.
#[test]
fn weak_handles_are_read_while_regions_become_free() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            let pool: Pool<Held> = Pool(Mutex::default());
            // Weak handles of all threads are copied by one that is not attached.
            let copies =
                |attached: &AtomicUsize, random: &mut Random| clone_and_drop(&pool, attached, random);
            storm_with_lists(&kit, 4 * ROUNDS, copies, |mutator, lists, random| {
                let list = random.below(8);
                match random.below(4) {
                    0 if !lists.numbers[list].is_empty() => {
                        // SAFETY: a live object.
                        let weak = unsafe { mutator.raw().new_weak_root(lists.first(mutator, list)) };
                        drop(pool.put((weak, lists.numbers[list].clone())));
                    }
                    1 => {
                        let Some((weak, numbers)) = pool.take(random) else { return };
                        let found = weak.get(mutator).unwrap();
                        if found != 0 && random.below(2) == 0 {
                            // It was held by nothing else, and is held now.
                            lists.adopt(mutator, list, found);
                            lists.numbers[list] = numbers.clone();
                        }
                        if found != 0 {
                            Lists::check_nodes(mutator, found, &numbers);
                        }
                        drop(pool.put((weak, numbers)));
                    }
                    2 => lists.clear(mutator, list),
                    _ => (0..8).for_each(|_| lists.change(&kit, mutator, random)),
                }
                mutator.safepoint();
            });
        }
    });
}

/// Stores that each hand over a word, without an allocation in between.
#[test]
fn stores_without_end_are_all_recorded() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            storm(&kit, 3, |number, random| {
                let run = kit.heap.attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 32, first(number));
                    for _ in 0..ROUNDS {
                        for _ in 0..60 {
                            lists.swap(mutator, random.below(32), random.below(32));
                        }
                        mutator.safepoint();
                        (0..10).for_each(|_| lists.change(&kit, mutator, random));
                    }
                    lists.check(mutator);
                });
                run.unwrap();
            });
        }
    });
}

/// A heap is emptied again and again, with its cycles wherever they are.
#[test]
fn a_heap_is_reset_while_cycles_run() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(way);
            storm(&kit, 1, |number, random| {
                for _ in 0..ROUNDS {
                    let run = kit.heap.attach(|mutator| {
                        let mut lists = Lists::new(&kit, mutator, 8, first(number));
                        (0..random.below(200)).for_each(|_| lists.change(&kit, mutator, random));
                        lists.check(mutator);
                    });
                    run.unwrap();
                    kit.heap.reset().unwrap();
                }
            });
        }
    });
}

/// Stopped worlds, verifications and collections come while cycles run.
#[test]
fn worlds_are_stopped_while_cycles_run() {
    in_both_modes(|| {
        for way in WAYS {
            let kit = kit(&format!("+VerifyBeforeGC,+VerifyAfterGC,{way}"));
            let stops = |attached: &AtomicUsize, random: &mut Random| {
                while attached.load(Ordering::Relaxed) > 0 {
                    (0..random.below(300)).for_each(|_| std::hint::spin_loop());
                    match random.below(3) {
                        0 => drop(kit.heap.stop_the_world(|world| world.threads()).unwrap()),
                        1 => drop(kit.heap.reset()),
                        _ => kit.heap.request_safepoint(),
                    }
                }
            };
            storm_with_lists(&kit, ROUNDS, stops, |mutator, lists, random| {
                (0..30).for_each(|_| lists.change(&kit, mutator, random));
                if random.below(30) == 0 {
                    mutator.collect();
                }
                lists.check(mutator);
            });
        }
    });
}

/// In a heap that is nearly full, mutators take the last regions and allocate in those that were
/// measured, while a cycle chooses among these. The sizes of the choice count, not those of later.
#[test]
fn the_set_is_chosen_while_mutators_use_up_the_heap() {
    in_both_modes(|| {
        for regions in [4, 6, 9] {
            let kit =
                Kit::new(4096, regions, &format!("{BY_HAND},MinTLABSize=64,TLABSize=64,MaxTLABSize=128"));
            storm(&kit, 2, |number, random| {
                let run = kit.heap.attach(|mutator| {
                    let mut lists = Lists::new(&kit, mutator, 1, first(number));
                    for _ in 0..100 * ROUNDS {
                        kit.waste(mutator, random.below(200));
                        if random.below(40) == 0 {
                            lists.pop(mutator, 0);
                            lists.push(&kit, mutator, 0);
                        }
                    }
                    lists.check(mutator);
                });
                run.unwrap();
            });
        }
    });
}

/// Many threads come back from `blocking` at once after pauses; each finds its list.
#[test]
fn many_threads_in_blocking_are_visited() {
    in_both_modes(|| {
        const THREADS: usize = 500;
        let kit =
            Kit::new(16 << 10, 200, &format!("+ZealPoison,MinTLABSize=64,TLABSize=256,+ZealMove,{BY_HAND}"));
        let (ready, begun) = (Barrier::new(THREADS + 1), AtomicBool::new(false));
        let cycles = kit.beside_cycles(|| {
            thread::scope(|scope| {
                let _ends = Ends(&begun);
                for number in 0..THREADS {
                    let (kit, ready, begun) = (&kit, &ready, &begun);
                    let body = move || {
                        let run = kit.heap.attach(|mutator| {
                            let mut lists = Lists::new(kit, mutator, 2, first(number));
                            (0..4).for_each(|_| assert!(lists.push(kit, mutator, 0)));
                            mutator.blocking(|| ready.wait());
                            while !begun.load(Ordering::Relaxed) {
                                mutator.blocking(thread::yield_now);
                                lists.pop(mutator, 0);
                                lists.push(kit, mutator, 0);
                            }
                            lists.check(mutator);
                        });
                        run.unwrap();
                    };
                    thread::Builder::new().stack_size(256 << 10).spawn_scoped(scope, body).unwrap();
                }
                ready.wait();
                let cycles = || kit.heap.collections().count;
                let before = cycles();
                while cycles() < before + 3 {
                    kit.collector().publish();
                    thread::yield_now();
                }
            });
        });
        assert!(cycles >= 3);
        kit.heap.verify().unwrap();
    });
}

/// A thread that waits for a cycle finds its record, although another thread adds it.
#[test]
fn a_collection_that_was_asked_for_has_its_record() {
    let heap = Heap::builder()
        .max_heap_size(16 << 20)
        .options("Collector=shenandoah,+ZealCycles")
        .unwrap()
        .build()
        .unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                heap.attach(|mutator| {
                    for _ in 0..100 {
                        let before = heap.collections().count;
                        assert!(mutator.collect());
                        assert!(heap.collections().count > before);
                    }
                })
                .unwrap();
            });
        }
    });
}

/// A young cycle serves no request for all garbage, although stops give up the cycles that
/// begin for it.
#[test]
fn a_request_for_all_garbage_outlives_stops() {
    let options = "Collector=shenandoah,ShenandoahGCMode=generational,+ZealCycles";
    let heap = Heap::builder().max_heap_size(16 << 20).options(options).unwrap().build().unwrap();
    let kit = Kit::of(heap);
    kit.collector().passive.store(false, Ordering::Relaxed);
    let run = kit.heap.attach(|mutator| {
        for _ in 0..30 {
            let mut lists = Lists::new(&kit, mutator, 2, 1);
            assert!(lists.push(&kit, mutator, 0));
            (0..4).for_each(|_| assert!(mutator.collect()));
            let table = kit.shared().space.free.table();
            let index = table.index_of(lists.first(mutator, 0) as usize);
            assert!(table.get(index).is_tenured());
            // SAFETY: a live object.
            let weak = unsafe { mutator.raw().new_weak_root(lists.first(mutator, 0)) };
            lists.clear(mutator, 0);
            let done = AtomicBool::new(false);
            thread::scope(|scope| {
                let ends = Ends(&done);
                let stopper = scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        kit.heap.stop_the_world(|_| ()).unwrap();
                        thread::sleep(std::time::Duration::from_micros(50));
                    }
                });
                assert!(mutator.collect());
                assert_eq!(weak.get(mutator), Some(0));
                drop(ends);
                mutator.blocking(|| stopper.join().unwrap());
            });
        }
    });
    run.unwrap();
}
