//! Stopping the world while threads allocate: by the heap, and by one flag, a lock and two
//! condition variables.
//!
//! One stop is measured: the request, the arrival of all threads, and their release. A stopped
//! thread has to wake up before the next stop. Otherwise the next stop would find the thread asleep
//! and wait for nothing. So each stop is a shot, and every thread allocates between two stops.
//! Shots are few, so each shot stops the threads some more times. The times until the last thread
//! arrived are secondary metrics.

use super::Way;
use super::limits::{STOP_HEAP, heap};
use super::node::{BYTES, NewNode};
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker, keep};
use crate::hold::hold;
use allotment::{Heap, alloc};
use anyhow::{Context, bail};
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Objects that a thread allocates before it counts a burst and yields to another thread.
const BURST: usize = 1024;

/// The number of further stops beside a shot, and the time after which no more are made.
const MORE: usize = 50;
const ENOUGH: Duration = Duration::from_millis(100);

/// Mode `stop`.
pub(super) fn run(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let scene = Scene::new(case.size("mutators")?);
    match way {
        Way::Safe => {
            let heap = heap(case, STOP_HEAP)?;
            let mutate = |own: &AtomicU64| {
                let attached = heap.attach(|mutator| {
                    scene.bursts(own, || {
                        for key in 0..BURST as u64 {
                            let Ok(node) = alloc!(mutator, NewNode { left: None, right: None, key }) else {
                                return false;
                            };
                            keep(node.as_ref());
                        }
                        true
                    });
                });
                keep(&raw const attached);
            };
            scene.measure(bench, mutate, || Ok(by_heap(&heap)?))
        }
        Way::Raw => {
            let textbook = Textbook::new(scene.progress.len());
            let mutate = |own: &AtomicU64| {
                let mut buffer = vec![[0_u8; BYTES]; BURST];
                scene.bursts(own, || {
                    for (key, object) in buffer.iter_mut().enumerate() {
                        *object = [key as u8; BYTES];
                        keep(object);
                        textbook.poll();
                    }
                    true
                });
            };
            scene.measure(bench, mutate, || Ok(textbook.stop()))
        }
    }
}

/// Stops the world. Returns the time until the last thread arrived.
fn by_heap(heap: &Heap) -> Result<Duration, allotment::raw::StopError> {
    loop {
        // A thread that collects may have stopped the world first.
        if let Some(time) = heap.stop_the_world(|world| world.time_to_safepoint())? {
            return Ok(time);
        }
    }
}

/// The threads to stop.
struct Scene {
    /// For each thread its number of bursts. Only the thread itself writes its number.
    progress: Vec<CachePadded<AtomicU64>>,
    /// Set when the threads are to end.
    over: AtomicBool,
}

impl Scene {
    fn new(threads: usize) -> Scene {
        Scene {
            progress: (0..threads).map(|_| CachePadded::default()).collect(),
            over: AtomicBool::new(false),
        }
    }

    /// The loop of each thread: runs until the scene is over or `burst` fails. A failure ends the
    /// scene for all threads.
    fn bursts(&self, own: &AtomicU64, mut burst: impl FnMut() -> bool) {
        let _end = SetWhenDropped(&self.over);
        while !self.over.load(Ordering::Relaxed) && burst() {
            own.fetch_add(1, Ordering::Relaxed);
            thread::yield_now();
        }
    }

    /// Measures `stop` with all threads at work. The threads are started here and not by the
    /// worker, whose thread may be bound to a CPU.
    fn measure(
        &self,
        bench: &mut Bench<'_>,
        mutate: impl Fn(&AtomicU64) + Sync,
        stop: impl Fn() -> anyhow::Result<Duration> + Sync,
    ) -> anyhow::Result<()> {
        thread::scope(|scope| {
            let _end = SetWhenDropped(&self.over);
            for (index, own) in self.progress.iter().enumerate() {
                let mutate = &mutate;
                thread::Builder::new()
                    .name(format!("mutator {index}"))
                    .spawn_scoped(scope, move || mutate(own))
                    .with_context(|| {
                        format!("cannot start thread {} of {}", index + 1, self.progress.len())
                    })?;
            }
            bench.measure(|_| Ok(Stopping { scene: self, stop: &stop, times: Vec::new() }))
        })
    }

    /// Waits until every thread has done a burst. Returns an error if a thread has failed.
    fn wait_for_all(&self) -> anyhow::Result<()> {
        let seen: Vec<u64> = self.progress.iter().map(|own| own.load(Ordering::Relaxed)).collect();
        for (own, seen) in self.progress.iter().zip(seen) {
            while own.load(Ordering::Relaxed) == seen {
                if self.over.load(Ordering::Relaxed) {
                    bail!("a thread that was to allocate could not go on");
                }
                thread::yield_now();
            }
        }
        Ok(())
    }
}

/// Ends the threads, even if the measurement fails.
struct SetWhenDropped<'a>(&'a AtomicBool);

impl Drop for SetWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Stopping<'a, F> {
    scene: &'a Scene,
    stop: &'a F,
    /// Times to stop in this iteration, the shot's included.
    times: Vec<Duration>,
}

impl<F: Fn() -> anyhow::Result<Duration>> Worker for Stopping<'_, F> {
    fn prepare(&mut self) -> anyhow::Result<()> {
        self.times.clear();
        self.scene.wait_for_all()
    }

    fn batch(&mut self) -> u64 {
        let stopped = (self.stop)();
        let count = u64::from(stopped.is_ok());
        self.times.extend(stopped);
        count
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        for _ in 0..MORE {
            if begun.elapsed() > ENOUGH {
                break;
            }
            self.scene.wait_for_all()?;
            self.times.push((self.stop)()?);
        }
        Ok(())
    }

    fn metrics(&mut self, _share: &Share) -> Vec<SecondaryValue> {
        self.times.sort_unstable();
        let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
        let (Some(&median), Some(&longest)) = (self.times.get(self.times.len() / 2), self.times.last())
        else {
            return Vec::new();
        };
        vec![
            SecondaryValue::average("arrival.p50", "us", microseconds(median)),
            SecondaryValue::maximum("arrival.max", "us", microseconds(longest)),
        ]
    }
}

/// A textbook way to stop the threads of a program without a heap.
struct Textbook {
    /// The flag that all threads poll.
    requested: CachePadded<AtomicBool>,
    threads: usize,
    inner: Mutex<Stopped>,
    arrived: Condvar,
    resumed: Condvar,
}

#[derive(Default)]
struct Stopped {
    requested: bool,
    /// The number of stops so far. With it, a thread that wakes up late is not mistaken for one
    /// that has arrived again.
    number: u64,
    /// Threads that have arrived.
    threads: usize,
}

impl Textbook {
    fn new(threads: usize) -> Textbook {
        Textbook {
            requested: CachePadded::default(),
            threads,
            inner: Mutex::default(),
            arrived: Condvar::new(),
            resumed: Condvar::new(),
        }
    }

    #[inline(always)]
    fn poll(&self) {
        if self.requested.load(Ordering::Relaxed) {
            self.park();
        }
    }

    #[cold]
    #[inline(never)]
    fn park(&self) {
        let mut inner = hold(&self.inner);
        if !inner.requested {
            return;
        }
        inner.threads += 1;
        if inner.threads == self.threads {
            self.arrived.notify_one();
        }
        let number = inner.number;
        let parked = self.resumed.wait_while(inner, |inner| inner.requested && inner.number == number);
        drop(parked);
    }

    /// Stops all threads. Returns the time until the last one arrived.
    fn stop(&self) -> Duration {
        let mut inner = hold(&self.inner);
        let begun = Instant::now();
        *inner = Stopped { requested: true, number: inner.number + 1, threads: 0 };
        self.requested.store(true, Ordering::Relaxed);
        let all = |inner: &mut Stopped| inner.threads < self.threads;
        let mut inner = self.arrived.wait_while(inner, all).unwrap_or_else(PoisonError::into_inner);
        let time = begun.elapsed();
        inner.requested = false;
        self.requested.store(false, Ordering::Relaxed);
        drop(inner);
        self.resumed.notify_all();
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn nobody_runs_while_the_textbook_stops_them() {
        const THREADS: usize = 3;
        let (textbook, over, turns) = (Textbook::new(THREADS), AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        turns.fetch_add(1, Ordering::Relaxed);
                        textbook.poll();
                    }
                });
            }
            for _ in 0..100 {
                textbook.stop();
                let resumed = turns.load(Ordering::Relaxed);
                while turns.load(Ordering::Relaxed) < resumed + THREADS {
                    thread::yield_now();
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(hold(&textbook.inner).threads, THREADS);
    }

    #[test]
    fn the_threads_end_when_measuring_fails() {
        let scene = Scene::new(2);
        thread::scope(|scope| {
            let end = SetWhenDropped(&scene.over);
            for own in &scene.progress {
                let scene = &scene;
                scope.spawn(move || scene.bursts(own, || true));
            }
            scene.wait_for_all().unwrap();
            drop(end);
        });
        assert!(scene.progress.iter().all(|own| own.load(Ordering::Relaxed) > 0));
        assert!(scene.wait_for_all().is_err());
    }
}
