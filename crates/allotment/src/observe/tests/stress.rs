//! Random programs under every mode: alone, and several threads with roots of their own and shared
//! ones.

use super::interpreter::{Program, Shapes, Thread};
use super::places::Frame;
use super::programs::{Step, program};
use super::{BUFFERS, GEOMETRIES, heap, modes, verified};
use crate::Heap;
use crate::collector::{CollectionKind, CycleScope, OldMarking};
use crate::stress_seed;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cell::Cell;
use std::fmt::Debug;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Rounds that a test adds at most until all that it counts was there.
const MOST_ROUNDS: u64 = 10;

/// Checks `cases` of them, a round, and further rounds until `missing` finds nothing, or as many as
/// `ALLOTMENT_STRESS_SECONDS` has time for. What `missing` finds after that fails the test: a count
/// that is 0 once in thirty rounds by chance is hardly 0 in ten.
fn stress<S: Strategy>(
    cases: u32,
    strategy: S,
    check: impl Fn(S::Value),
    missing: impl Fn() -> Option<String>,
) where
    S::Value: Debug,
{
    let first = stress_seed::of_hunt();
    let end = stress_seed::number("ALLOTMENT_STRESS_SECONDS")
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    for seed in (0..).map(|round| first.wrapping_add(round)) {
        stress_seed::show(seed);
        let bytes: Vec<u8> = (0..4).flat_map(|part| (seed ^ part).to_le_bytes()).collect();
        let config = Config { cases, max_shrink_iters: 400, failure_persistence: None, ..Config::default() };
        let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let mut runner = TestRunner::new_with_rng(config, random);
        let outcome = runner.run(&strategy, |value| {
            check(value);
            Ok(())
        });
        if let Err(error) = outcome {
            panic!("ALLOTMENT_STRESS_SEED={seed}: {error}");
        }
        match end {
            Some(end) if Instant::now() < end => {}
            None if missing().is_some() && seed.wrapping_sub(first) + 1 < MOST_ROUNDS => {}
            _ => break,
        }
    }
    if let Some(what) = missing() {
        panic!("ALLOTMENT_STRESS_SEED={first}: {what}");
    }
}

/// A heap: geometry, mode, buffers.
#[derive(Clone, Copy, Debug)]
struct Setting {
    geometry: (usize, usize),
    mode: &'static str,
    buffers: &'static str,
}

impl Setting {
    fn heap(self) -> Heap {
        let (region_bytes, regions) = self.geometry;
        let options = format!("{},{}", verified(self.mode), self.buffers);
        heap(region_bytes, regions, options.trim_end_matches(','))
    }
}

fn setting() -> impl Strategy<Value = Setting> {
    (prop::sample::select(GEOMETRIES), prop::sample::select(modes()), prop::sample::select(BUFFERS))
        .prop_map(|(geometry, mode, buffers)| Setting { geometry, mode, buffers })
}

/// Runs the steps on a thread of its own roots, which sleeps in `blocking` after each of them for
/// up to `sleep`; its program, which has no frame any more.
fn run(
    heap: &Heap,
    shapes: Shapes,
    number: u64,
    steps: &[Step],
    shared: Option<&Mutex<Program>>,
    sleep: Duration,
) -> Program {
    let mut program = Program::new(heap, shapes, number, true);
    let mut frame = Frame::new();
    heap.attach(|mutator| {
        let (frame, _link) = frame.link(mutator);
        let mut thread = Thread { program: &mut program, mutator, frame: Some(frame) };
        for (index, step) in steps.iter().enumerate() {
            match shared {
                Some(shared) if index % 3 == 0 => {
                    // The thread that holds the lock may collect, and must not wait for a thread
                    // that wants the lock.
                    let mut program = thread.mutator.blocking(|| shared.lock().expect("no thread failed"));
                    Thread { program: &mut program, mutator: thread.mutator, frame: None }.step(step);
                }
                _ => thread.step(step),
            }
            if !sleep.is_zero() {
                let sleep = sleep * (index as u32 * 7 % 5) / 4;
                thread.mutator.blocking(|| std::thread::sleep(sleep));
            }
        }
        thread.check();
    })
    .expect("not attached");
    program.forget_frame();
    program
}

/// Young collections, by the number of their workers.
#[derive(Default)]
struct Young([Cell<usize>; 5]);

impl Young {
    /// Counts those of a heap.
    fn count(&self, heap: &Heap) {
        for record in heap.collections().recent {
            if let (CollectionKind::Young, Some(count)) = (record.kind(), self.0.get(record.workers)) {
                count.set(count.get() + 1);
            }
        }
    }

    /// Told if there were none with one of the numbers that the modes have.
    fn missing(&self) -> Option<String> {
        let is_there = modes().iter().any(|mode| mode.starts_with("Collector=parallel"));
        let all = self.0[1..].iter().all(|count| count.get() > 0);
        (is_there && !all).then(|| format!("young collections by workers: {:?}", self.0))
    }
}

/// The work of concurrent cycles.
#[derive(Debug, Default)]
struct Cycles(Cell<[usize; 11]>);

impl Cycles {
    /// Counts those of a heap.
    fn count(&self, heap: &Heap) {
        let [
            mut beside,
            mut in_stops,
            mut set,
            mut workers,
            mut mutators,
            mut kept,
            mut young,
            mut old,
            mut promoted,
            mut ended,
            mut mixed,
        ] = self.0.get();
        for record in heap.collections().recent {
            let Some(cycle) = record.cycle() else { continue };
            let (sum, other) =
                if cycle.degenerated.is_none() { (&mut beside, 0) } else { (&mut in_stops, 1) };
            *sum += 1;
            set += (1 - other) * cycle.set_regions;
            workers += cycle.moved_by_workers;
            mutators += cycle.moved_by_mutators;
            kept += cycle.kept_regions;
            let Some(generations) = &cycle.generations else { continue };
            young += usize::from(generations.scope == CycleScope::Young);
            old += generations.old_copied_bytes;
            promoted += generations.promoted_regions;
            let is_young = generations.scope == CycleScope::Young;
            ended += usize::from(is_young && generations.old_marking == OldMarking::Ended);
            mixed += usize::from(is_young && generations.old_set_regions > 0);
        }
        self.0.set([beside, in_stops, set, workers, mutators, kept, young, old, promoted, ended, mixed]);
    }

    /// Told if there was nothing of something that does not depend on luck.
    fn missing(&self) -> Option<String> {
        let [beside, in_stops, set, workers, mutators, _, young, old, _, ended, mixed] = self.0.get();
        let have = |part: &str| modes().iter().any(|mode| mode.contains(part));
        let all = |counts: &[usize]| counts.iter().all(|&count| count > 0);
        // The ends of old marking, and mixed cycles, are rare.
        let is_long = std::env::var_os("ALLOTMENT_STRESS_SECONDS").is_some();
        let is_whole = (!have("Collector=shenandoah") || all(&[beside, in_stops, set, workers + mutators]))
            && (!have("generational") || all(&[young, old]))
            && (!have("generational") || !is_long || all(&[ended, mixed]));
        (!is_whole).then(|| {
            format!(
                "cycles beside, in stops, set, by workers, by mutators, kept, young, to old, promoted, that ended the \
                 marking of old objects, that moved some: {:?}",
                self.0.get()
            )
        })
    }
}

/// Runs of regions that the last collections of a heap moved.
fn runs_moved(heap: &Heap) -> usize {
    let recent = heap.collections().recent;
    recent.iter().filter_map(|record| record.full()).map(|full| full.runs_moved).sum()
}

/// Nothing is in the heap but what is held, after a collection; and with nothing held nothing is.
fn check_end(heap: &Heap, programs: &mut [Program]) {
    heap.verify().expect("a heap in order");
    let collect = |programs: &mut [Program], empty: bool| {
        heap.attach(|mutator| {
            for program in &mut *programs {
                let mut thread = Thread { program, mutator, frame: None };
                if empty {
                    thread.drop_all(|_| true);
                }
                thread.check();
            }
            assert!(mutator.collect());
            for program in &mut *programs {
                Thread { program, mutator, frame: None }.check();
            }
        })
        .expect("not attached");
        heap.verify().expect("a heap in order").all_objects() as usize
    };
    let found = collect(programs, false);
    let alive = programs.iter().map(Program::alive).sum::<usize>();
    // A collector that moves some regions only leaves dead objects in the others.
    let exact = heap.collector() != "shenandoah";
    assert!(
        if exact { found == alive } else { found >= alive },
        "{found} of {alive} objects after a collection"
    );
    assert_eq!(collect(programs, true), 0, "objects that nobody holds");
}

#[test]
fn one_thread_does_what_it_likes() {
    let (young, cycles) = (Young::default(), Cycles::default());
    let runs = Cell::new(0);
    stress(
        256,
        (setting(), program(1500, 150)),
        |(setting, steps)| {
            let heap = setting.heap();
            let shapes = Shapes::new(&heap);
            let program = run(&heap, shapes, 0, &steps, None, Duration::ZERO);
            young.count(&heap);
            cycles.count(&heap);
            runs.set(runs.get() + runs_moved(&heap));
            check_end(&heap, &mut [program]);
        },
        || {
            let only_some = std::env::var("ALLOTMENT_STRESS_COLLECTOR").is_ok();
            let no_run = (runs.get() == 0 && !only_some).then(|| "no run moved".to_owned());
            young.missing().or_else(|| cycles.missing()).or(no_run)
        },
    );
}

#[test]
fn several_threads_with_roots_of_their_own_and_shared_ones() {
    let (young, cycles) = (Young::default(), Cycles::default());
    let programs = prop::collection::vec(program(700, 80), 2..5);
    stress(
        64,
        (setting(), programs),
        |(setting, programs)| {
            let heap = setting.heap();
            let shapes = Shapes::new(&heap);
            let shared = Mutex::new(Program::new(&heap, shapes, 0, false));
            let mut programs: Vec<_> = std::thread::scope(|scope| {
                let (heap, shared) = (&heap, &shared);
                let threads: Vec<_> = (1..)
                    .zip(&programs)
                    .map(|(number, steps)| {
                        scope.spawn(move || run(heap, shapes, number, steps, Some(shared), Duration::ZERO))
                    })
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().expect("a thread that checks itself"))
                    .collect()
            });
            programs.push(shared.into_inner().expect("no thread failed"));
            young.count(&heap);
            cycles.count(&heap);
            check_end(&heap, &mut programs);
        },
        || young.missing().or_else(|| cycles.missing()),
    );
}

/// Threads that mostly sleep, with roots in frames and handles, beside two that collect.
#[test]
fn threads_that_sleep_find_what_they_had() {
    const SLEEP: Duration = Duration::from_micros(800);
    let cycles = Cycles::default();
    let busy = prop::collection::vec(program(700, 80), 2);
    let sleeping = prop::collection::vec(program(25, 12), 6..12);
    stress(
        32,
        (setting(), busy, sleeping),
        |(setting, busy, sleeping)| {
            let heap = setting.heap();
            let shapes = Shapes::new(&heap);
            let sleeps = std::iter::repeat_n(Duration::ZERO, busy.len()).chain(std::iter::repeat(SLEEP));
            let mut programs: Vec<_> = std::thread::scope(|scope| {
                let heap = &heap;
                let threads: Vec<_> = (1..)
                    .zip(busy.iter().chain(&sleeping))
                    .zip(sleeps)
                    .map(|((number, steps), sleep)| {
                        scope.spawn(move || run(heap, shapes, number, steps, None, sleep))
                    })
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().expect("a thread that checks itself"))
                    .collect()
            });
            cycles.count(&heap);
            check_end(&heap, &mut programs);
        },
        || None,
    );
}
