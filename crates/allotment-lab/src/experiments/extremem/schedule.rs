//! The schedule of the threads: absolute release times, which are never skipped and never moved.
//!
//! All times are nanoseconds since the start of the run. A thread that is late works through its
//! backlog at full speed, and each of its latencies is measured against the schedule. So a pause is
//! seen by every thread whose release falls into it, and not by one (no coordinated omission).

use super::workload::Workload;
use allotment::Mutator;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The schedule that all threads share.
#[derive(Debug)]
pub(super) struct Schedule {
    /// Set when the run starts.
    start: OnceLock<Instant>,
    /// The time from which latencies are logged.
    pub(super) log_start: i64,
    end: i64,
    /// Set when the run is given up. Sleeping threads are unparked then.
    given_up: AtomicBool,
}

/// Nanoseconds of a duration.
pub(super) fn nanoseconds(time: Duration) -> i64 {
    time.as_nanos() as i64
}

impl Schedule {
    /// The schedule of a workload that has not started.
    pub(super) fn new(workload: &Workload) -> Schedule {
        Schedule {
            start: OnceLock::new(),
            log_start: nanoseconds(workload.warmup),
            end: nanoseconds(workload.duration()),
            given_up: AtomicBool::new(false),
        }
    }

    /// Starts the run at `instant`. A second call has no effect.
    pub(super) fn start(&self, instant: Instant) {
        self.start.get_or_init(|| instant);
    }

    /// The time since the start.
    pub(super) fn now(&self) -> i64 {
        self.start.get().map_or(0, |start| nanoseconds(start.elapsed()))
    }

    /// Gives the run up.
    pub(super) fn give_up(&self) {
        self.given_up.store(true, Ordering::Relaxed);
    }

    /// Whether the run is given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// Sleeps until `time`, unless it has passed. Returns what counts as the time afterwards:
    /// `time` itself after a sleep, else the real one.
    pub(super) fn sleep(&self, mutator: &mut Mutator<'_>, time: i64) -> i64 {
        let now = self.now();
        if now >= time {
            // A thread with a backlog does not sleep, so it checks for stops here.
            mutator.safepoint();
            return now;
        }
        mutator.blocking(|| {
            let mut left = time - now;
            while left > 0 && !self.is_given_up() {
                thread::park_timeout(Duration::from_nanos(left as u64));
                left = time - self.now();
            }
        });
        time
    }

    /// Sleeps until the release; `None` if the run is over for this thread.
    pub(super) fn release(&self, mutator: &mut Mutator<'_>, release: i64) -> Option<i64> {
        if release >= self.end {
            return None;
        }
        let now = self.sleep(mutator, release);
        (now < self.end && !self.is_given_up()).then_some(now)
    }

    /// The lateness of this moment against `planned`, in microseconds, truncated.
    pub(super) fn late(&self, planned: i64) -> i64 {
        (self.now() - planned) / 1000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::Heap;

    #[test]
    fn a_late_thread_does_not_sleep_and_a_punctual_one_is_on_time() {
        let workload = Workload { simulation: Duration::from_secs(3600), ..Workload::new() };
        let schedule = Schedule::new(&workload);
        schedule.start(Instant::now() - Duration::from_secs(60));
        let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
        heap.attach(|mutator| {
            let second = 1_000_000_000;
            assert!(schedule.release(mutator, second).unwrap() >= 60 * second, "the real time");
            let soon = schedule.now() + 2_000_000;
            assert_eq!(schedule.release(mutator, soon), Some(soon), "the scheduled time");
            assert!(schedule.now() >= soon && schedule.late(soon - second) >= 1_000_000);
            assert_eq!(schedule.release(mutator, 3600 * second), None, "at the end nobody begins");
            schedule.give_up();
            assert_eq!(schedule.release(mutator, 3000 * second), None, "nobody waits for a lost run");
        })
        .unwrap();
    }
}
