//! Random programs on [webs](super::web), whose nodes have one holder each and change it all the
//! time: several threads that work, others that mostly sleep, and collections without end.

use super::large_arrays::Random;
use super::places::Frame;
use super::web::{Parcel, Web, WebShapes, Worker};
use super::{heap, modes, verified};
use crate::Heap;
use crate::mutator::PIECE_BYTES;
use crate::object::WORD;
use crate::stress_seed;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Programs that the test runs if `ALLOTMENT_STRESS_SECONDS` does not say how long it lasts.
const PROGRAMS: u64 = 24;

/// Steps of a thread that works, where each allocation may bring a collection and where it may not,
/// and of a thread that mostly sleeps.
const STEPS: usize = 1500;
const STEPS_WITHOUT_ZEAL: usize = 8000;
const SLEEPER_STEPS: usize = 12;

/// Bytes of a region, and how many there are.
const GEOMETRIES: [(usize, usize); 4] = [(4096, 200), (8192, 300), (32_768, 60), (262_144, 14)];

/// The parts of a program that all of its threads share.
struct Common {
    heap: Heap,
    shapes: WebShapes,
    most_nodes: usize,
    /// Slots of the largest tables.
    most_slots: usize,
    exchange: Mutex<Vec<Parcel>>,
    /// Threads that still work.
    working: AtomicUsize,
}

impl Common {
    /// Runs a thread, whose nodes have numbers from `number << 32` on, as long as `goes_on` lets it.
    fn run(&self, number: u64, seed: u64, mut goes_on: impl FnMut(&mut Worker<'_, '_, '_>) -> bool) {
        let mut random = Random((seed ^ number << 40).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let mut web = Web::new(self.shapes, number << 32 | 1, self.most_nodes);
        let mut frame = Frame::new();
        let run = self.heap.attach(|mutator| {
            let (frame, _link) = frame.link(mutator);
            let mut worker = Worker { web: &mut web, mutator, frame, random: &mut random };
            while worker.add_table(8, 1).is_err() {
                worker.mutator.blocking(thread::yield_now);
            }
            while goes_on(&mut worker) {}
            worker.check();
        });
        run.expect("not attached");
    }

    /// Does something to the web. Lets a part of it die if there is no memory.
    fn step(&self, worker: &mut Worker<'_, '_, '_>) {
        let made = match worker.random.below(100) {
            0..21 => worker.push(),
            21..23 => {
                let most = if worker.random.below(3) == 0 { 600 } else { 24 };
                let length = 1 + worker.random.below(most);
                worker.add_table(length, 6)
            }
            23 => {
                // Most are a little larger than what is written at once.
                let most = if worker.random.below(4) == 0 { self.most_slots } else { 2 * PIECE_BYTES / WORD };
                let length = PIECE_BYTES / WORD + worker.random.below(most - PIECE_BYTES / WORD);
                worker.add_table(length, 6)
            }
            24..28 => {
                let most = if worker.random.below(8) == 0 { 20_000 } else { 400 };
                let bytes = worker.random.below(most);
                worker.waste(bytes)
            }
            _ => {
                self.change(worker);
                Ok(())
            }
        };
        if made.is_err() {
            worker.drop_some();
        }
    }

    /// Changes the web as it is.
    fn change(&self, worker: &mut Worker<'_, '_, '_>) {
        match worker.random.below(100) {
            0..40 => worker.shift(),
            40..43 => worker.drop_some(),
            43..54 => worker.lay_aside(),
            54..65 => worker.take_back(),
            65..77 => worker.look_weakly(),
            77..87 => worker.shift_range(),
            87 => worker.fill(),
            88..91 => self.exchange(worker),
            // Seldom: it ends the marking of old objects, which takes several cycles.
            91 if worker.random.below(6) == 0 => assert!(worker.mutator.collect()),
            91..96 => worker.mutator.safepoint(),
            96..98 => worker.mutator.blocking(thread::yield_now),
            _ => worker.check(),
        }
    }

    /// Gives a part of the web to another thread, or takes one.
    fn exchange(&self, worker: &mut Worker<'_, '_, '_>) {
        let gives = worker.random.below(2) == 0;
        // No thread waits for this lock in a stop: nobody comes to a safepoint with the lock.
        let mut exchange = self.exchange.lock().expect("no thread failed");
        if gives && exchange.len() < 8 {
            exchange.extend(worker.give());
        } else if let Some(parcel) = exchange.pop() {
            drop(exchange);
            worker.accept(parcel);
        }
    }
}

/// Runs a program: all that it does follows from the seed, and from how its threads meet.
fn program(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let modes = modes();
    let mode = modes[random.below(modes.len())];
    let (region_bytes, regions) = GEOMETRIES[random.below(GEOMETRIES.len())];
    let (threads, sleepers) = (1 + random.below(3), random.below(4));
    let steps = if mode.contains("ZealInterval") { STEPS } else { STEPS_WITHOUT_ZEAL };
    // Shown if the test fails.
    println!("seed {seed}: {mode}, {regions} of {region_bytes}, {threads} threads, {sleepers} sleep");
    // With checks each error shows soon, without them more of the program comes beside collections.
    let options = if random.below(2) == 0 { verified(mode) } else { mode.to_owned() };
    let heap = heap(region_bytes, regions, &options);
    let heap_bytes = region_bytes * regions;
    let common = Common {
        shapes: WebShapes::new(&heap),
        most_nodes: heap_bytes / (400 * (threads + sleepers)),
        most_slots: (heap_bytes / 12).max(2 * PIECE_BYTES).min(heap_bytes / 8) / WORD,
        exchange: Mutex::default(),
        working: AtomicUsize::new(threads),
        heap,
    };
    thread::scope(|scope| {
        let common = &common;
        let working: Vec<_> = (1..=threads as u64)
            .map(|number| {
                scope.spawn(move || {
                    let _leaves = Leaves(&common.working);
                    let mut left = steps;
                    common.run(number, seed, |worker| {
                        common.step(worker);
                        left -= 1;
                        left > 0
                    });
                })
            })
            .collect();
        for number in 0..sleepers as u64 {
            scope.spawn(move || {
                common.run(100 + number, seed, |worker| {
                    (0..SLEEPER_STEPS).for_each(|_| common.step(worker));
                    let time = Duration::from_micros(worker.random.below(5000) as u64);
                    worker.mutator.blocking(|| thread::sleep(time));
                    common.working.load(Ordering::Relaxed) > 0
                });
            });
        }
        for thread in working {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    common.exchange.lock().expect("no thread failed").clear();
    common.heap.verify().expect("a heap in order");
}

/// Counts a thread out when it is dropped, even if it fails.
struct Leaves<'a>(&'a AtomicUsize);

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn nodes_that_one_place_holds_live_wherever_they_go() {
    let first = stress_seed::of_hunt();
    let end = stress_seed::number("ALLOTMENT_STRESS_SECONDS")
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for round in 0.. {
        let goes_on = end.map_or(round < PROGRAMS, |end| Instant::now() < end);
        if round > 0 && !goes_on {
            break;
        }
        let seed = first.wrapping_add(round);
        stress_seed::show(seed);
        program(seed);
    }
}
