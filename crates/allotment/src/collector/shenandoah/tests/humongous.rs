//! Large arrays that die at once, and large arrays that live and change places while cycles run.
//! A large array is known in one place only.

use super::super::cycle::Stage;
use super::kit::{BY_HAND, FIRST, Kit, NEXT, Random, in_both_modes, slot, word};
use crate::mutator::{Mutator, RootHandle};
use crate::object::{LENGTH_OFFSET, WORD};
use crate::stress_seed;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of a region. The large arrays are larger.
const REGION: usize = 4096;

/// Chains of large arrays that begin in a table, and the numbers that must be in them. The first
/// and the last slot of an array refer to the next one.
struct Chains {
    table: RootHandle,
    numbers: Vec<Vec<u64>>,
    next: u64,
}

impl Chains {
    /// This many empty chains, whose numbers begin with `first`.
    fn new(kit: &Kit, mutator: &mut Mutator<'_>, count: usize, first: u64) -> Chains {
        // SAFETY: the shape is this heap's; the object is alive.
        let table = unsafe {
            let table = mutator.raw_mut().alloc_raw(kit.table, count).expect("room for a table");
            mutator.raw().new_root(table.addr().get() as u64)
        };
        Chains { table, numbers: vec![Vec::new(); count], next: first }
    }

    fn slot(&self, mutator: &Mutator<'_>, chain: usize) -> *mut u64 {
        slot(self.table.get(mutator).expect("this heap's"), FIRST + chain * WORD)
    }

    /// The first array of a chain, or 0. Valid until the next safepoint.
    fn first(&self, mutator: &Mutator<'_>, chain: usize) -> u64 {
        // SAFETY: a slot of the table.
        unsafe { mutator.raw().load(self.slot(mutator, chain)) }
    }

    fn set_first(&self, mutator: &Mutator<'_>, chain: usize, array: u64) {
        // SAFETY: a slot of the table, and a live object or 0.
        unsafe { mutator.raw().store(self.slot(mutator, chain), array) };
    }

    /// Adds an array of this length at the beginning of a chain. Returns `false` if there is no
    /// memory.
    fn push(&mut self, kit: &Kit, mutator: &mut Mutator<'_>, chain: usize, length: usize) -> bool {
        // SAFETY: the shape is this heap's.
        let Ok(array) = (unsafe { mutator.raw_mut().alloc_raw(kit.table, length) }) else { return false };
        let array = array.addr().get() as u64;
        let rest = self.first(mutator, chain);
        word(array + (FIRST - WORD) as u64).store(self.next, Ordering::Relaxed);
        // The first word of a slot has no barrier.
        word(array + FIRST as u64).store(rest, Ordering::Relaxed);
        // SAFETY: a slot of the new array.
        unsafe { mutator.raw().store(last_slot(array), rest) };
        self.set_first(mutator, chain, array);
        self.numbers[chain].insert(0, self.next);
        self.next += 1;
        true
    }

    /// Removes the first array of a chain.
    fn pop(&mut self, mutator: &Mutator<'_>, chain: usize) {
        let first = self.first(mutator, chain);
        if first != 0 {
            // SAFETY: a slot of a live array.
            let rest = unsafe { mutator.raw().load(slot(first, FIRST)) };
            self.set_first(mutator, chain, rest);
            self.numbers[chain].remove(0);
        }
    }

    /// Moves all arrays after the first one to an empty chain: their first slot is cleared before
    /// another one refers to them.
    fn cut(&mut self, mutator: &Mutator<'_>, chain: usize, empty: usize) {
        let first = self.first(mutator, chain);
        if first == 0 || !self.numbers[empty].is_empty() || chain == empty {
            return;
        }
        // SAFETY: slots of a live array.
        let rest = unsafe {
            let rest = mutator.raw().load(slot(first, FIRST));
            mutator.raw().store(slot(first, FIRST), 0);
            mutator.raw().store(last_slot(first), 0);
            rest
        };
        self.set_first(mutator, empty, rest);
        self.numbers[empty] = self.numbers[chain].split_off(1);
    }

    /// Two chains change places.
    fn swap(&mut self, mutator: &Mutator<'_>, one: usize, other: usize) {
        let (first, second) = (self.first(mutator, one), self.first(mutator, other));
        self.set_first(mutator, one, 0);
        self.set_first(mutator, other, first);
        self.set_first(mutator, one, second);
        self.numbers.swap(one, other);
    }

    fn clear(&mut self, mutator: &Mutator<'_>, chain: usize) {
        self.set_first(mutator, chain, 0);
        self.numbers[chain].clear();
    }

    /// Every chain has its numbers.
    fn check(&self, mutator: &Mutator<'_>) {
        for (chain, numbers) in self.numbers.iter().enumerate() {
            let mut at = self.first(mutator, chain);
            for number in numbers {
                let found = word(at + (FIRST - WORD) as u64).load(Ordering::Relaxed);
                assert_eq!(found, *number, "at {at:#x}");
                // SAFETY: slots of a live array.
                let (next, last) =
                    unsafe { (mutator.raw().load(slot(at, FIRST)), mutator.raw().load(last_slot(at))) };
                assert_eq!(next, last, "both slots of {number} at {at:#x}");
                at = next;
            }
            assert_eq!(at, 0, "after {} arrays", numbers.len());
        }
    }

    /// Does something; forgets a chain where there is no memory.
    fn change(&mut self, kit: &Kit, mutator: &mut Mutator<'_>, random: &mut Random) {
        let chains = self.numbers.len();
        let (chain, other) = (random.below(chains), random.below(chains));
        // From a few words to three regions.
        let length = 1 + random.below(3 * REGION / WORD);
        match random.below(16) {
            0..5 if self.numbers[chain].len() < 4 => {
                if !self.push(kit, mutator, chain, length) {
                    self.clear(mutator, other);
                }
            }
            5..9 => kit.waste(mutator, length * WORD),
            9 => self.pop(mutator, chain),
            10 | 11 => self.swap(mutator, chain, other),
            12 | 13 => self.cut(mutator, chain, other),
            14 => self.clear(mutator, chain),
            _ => self.check(mutator),
        }
    }
}

/// The last slot of an array, which has one.
fn last_slot(array: u64) -> *mut u64 {
    let length = word(array + LENGTH_OFFSET as u64).load(Ordering::Relaxed) as usize;
    slot(array, FIRST + (length - 1) * WORD)
}

/// A heap in which the control thread begins cycles.
fn driven(regions: usize, options: &str) -> Kit {
    let kit = Kit::new(REGION, regions, &format!("Collector=shenandoah,ParallelGCThreads=2,{options}"));
    kit.collector().passive.store(false, Ordering::Relaxed);
    kit
}

/// The cycles of a heap: those that ended beside threads, and degenerated ones.
fn cycles(kit: &Kit) -> (u64, u64) {
    let collections = kit.heap.metrics().collections;
    (collections.concurrent, collections.degenerated)
}

#[test]
fn large_arrays_stay_whatever_comes_between_the_steps() {
    const WAYS: [&str; 4] =
        ["", "+ZealMove,ZealEvacuationFailure=3", "-UseTLAB", "+ZealProtect,ZealQuarantine=1"];
    in_both_modes(|| {
        for seed in 1..17_u64 {
            let options = format!(
                "+VerifyBeforeGC,+VerifyAfterGC,+ZealPoison,{BY_HAND},{}",
                WAYS[seed as usize % WAYS.len()]
            );
            let kit = Kit::new(REGION, 100, options.trim_end_matches(','));
            let mut random = Random(stress_seed::of_part(seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let run = kit.heap.attach(|mutator| {
                let mut chains = Chains::new(&kit, mutator, 6, 1);
                for _ in 0..200 {
                    for _ in 0..random.below(12) {
                        chains.change(&kit, mutator, &mut random);
                    }
                    let steps = random.below(4);
                    mutator.blocking(|| (0..steps).for_each(|_| kit.next()));
                    kit.check_borders();
                    chains.check(mutator);
                }
                mutator.blocking(|| kit.end_cycle());
                chains.check(mutator);
            });
            run.unwrap();
            kit.heap.verify().unwrap();
        }
    });
}

/// Threads that use up the heap with large arrays, and wait for each other's cycles.
#[test]
fn large_arrays_stay_while_threads_wait_for_runs() {
    in_both_modes(|| {
        for way in ["+VerifyBeforeGC,+VerifyAfterGC", "+ZealCycles", "+ZealMove", "-UseTLAB"] {
            let kit = driven(96, &format!("+ZealPoison,{way}"));
            let seed = stress_seed::of_hunt();
            stress_seed::show(seed);
            thread::scope(|scope| {
                for number in 0..3_u64 {
                    let kit = &kit;
                    scope.spawn(move || {
                        let mut random = Random((seed ^ number << 40) | 1);
                        let run = kit.heap.attach(|mutator| {
                            let mut chains = Chains::new(kit, mutator, 4, (number + 1) << 32);
                            for _ in 0..1500 {
                                chains.change(kit, mutator, &mut random);
                            }
                            chains.check(mutator);
                        });
                        run.unwrap();
                    });
                }
            });
            kit.heap.verify().unwrap();
            let (beside, degenerated) = cycles(&kit);
            println!("{way}: {beside} cycles beside threads, {degenerated} degenerated");
            assert!(beside > 0);
        }
    });
}

/// A list that takes 38 % of the heap, and arrays that die at once: the report's program in small.
#[test]
fn no_cycle_degenerates_for_large_arrays_that_die_at_once() {
    in_both_modes(|| {
        let kit = driven(2048, "ConcGCThreads=1");
        let run = kit.heap.attach(|mutator| {
            // SAFETY: 0 is no reference.
            let list = unsafe { mutator.raw().new_root(0) };
            let live = kit.heap.geometry().heap_bytes() * 38 / 100;
            for _ in 0..live / kit.node.bytes_for(0).unwrap() {
                let node = kit.node(mutator).expect("room for the list");
                // SAFETY: a slot of the new node, and the first node of the list.
                unsafe {
                    mutator.raw().store(slot(node, NEXT), list.get(mutator).unwrap());
                    assert!(list.set(mutator, node));
                }
            }
            let waste = |mutator: &mut Mutator<'_>| {
                for part in [11, 15, 21, 32, 77] {
                    kit.waste(mutator, 8 * REGION * part / 80);
                }
            };
            loop {
                waste(mutator);
                let (beside, degenerated) = cycles(&kit);
                if beside + degenerated >= 5 {
                    break;
                }
            }
            let before = cycles(&kit);
            (0..1000).for_each(|_| waste(mutator));
            let after = cycles(&kit);
            println!("{before:?} cycles, then {after:?}");
            assert_eq!(after.1, before.1, "cycles degenerated");
            assert!(after.0 > before.0 + 5);
        });
        run.unwrap();
    });
}

/// In a heap that is full of live objects, few threads wait, and none finds memory.
#[test]
fn a_heap_full_of_live_objects_fails_without_a_cycle_each_time() {
    in_both_modes(|| {
        let kit = driven(64, "-UseGCOverheadLimit");
        let run = kit.heap.attach(|mutator| {
            let mut chains = Chains::new(&kit, mutator, 1, 1);
            let length = 2 * REGION / WORD;
            while chains.push(&kit, mutator, 0, length) {}
            let before = cycles(&kit);
            for _ in 0..40 {
                assert!(!chains.push(&kit, mutator, 0, length));
            }
            let after = cycles(&kit);
            println!("{before:?} cycles, then {after:?}");
            assert!(after.0 - before.0 <= 12, "each wait in vain has its cycle");
            chains.check(mutator);
            chains.clear(mutator, 0);
            assert!(chains.push(&kit, mutator, 0, length));
            chains.check(mutator);
        });
        run.unwrap();
    });
}

/// If the control thread does not get on, the wait ends.
#[test]
fn a_wait_for_a_cycle_that_never_ends_is_bounded() {
    in_both_modes(|| {
        let kit = driven(64, "");
        let collector = kit.collector();
        let run = kit.heap.attach(|mutator| {
            collector.halts.fetch_add(1, Ordering::SeqCst);
            let begun = Instant::now();
            let mut attempts = 0;
            let found = collector.await_run(mutator, &mut |_| {
                attempts += 1;
                false
            });
            assert!(!found && attempts > 1 && begun.elapsed() >= Duration::from_secs(1));
            assert_eq!((kit.stage(), cycles(&kit)), (Stage::Idle, (0, 0)));
            {
                let _cycle = collector.lock();
                collector.halts.fetch_sub(1, Ordering::SeqCst);
            }
            collector.goes_on.notify_one();
            // The cycle that was asked for, and room in it.
            assert!(!collector.await_run(mutator, &mut |_| true), "the last wait was in vain");
            assert!(collector.await_run(mutator, &mut |_| true));
        });
        run.unwrap();
    });
}

/// A thread that has waited finds the memory that the cycle under way frees, or the next one.
#[test]
fn a_wait_ends_when_a_cycle_has_freed_what_was_dead_before() {
    in_both_modes(|| {
        let kit = driven(64, "");
        let run = kit.heap.attach(|mutator| {
            for turn in 0..50 {
                // Four regions each, and nothing else takes any.
                (0..turn % 20).for_each(|_| kit.waste(mutator, 4 * REGION - 64));
                let free = &kit.shared().space.free;
                let wanted = free.table().len() - 8;
                let found = kit.collector().await_run(mutator, &mut |_| free.free_regions() >= wanted);
                assert!(found, "turn {turn}: {} of {wanted}", free.free_regions());
            }
        });
        run.unwrap();
    });
}
