//! The work of two CPUs at once, in units of the work of the faster alone: 2 if they are two cores,
//! less if they share one.
//!
//! A host may run two CPUs of a virtual machine as two threads of one core, for seconds or minutes.
//! Neither the topology nor stolen time show it. On an AMD EPYC both then do 1.45 times the work of
//! one in arithmetic, and 1.13 times in memory accesses. Measurements of two threads are meaningless
//! at such times.

use super::pair::on_two_cpus;
use std::hint::{black_box, spin_loop};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The least work of two cores. Two threads of one core do about 1.4 times the work of one.
pub const TWO_CPUS: f64 = 1.7;

/// Rounds of a measurement, whose median counts.
const ROUNDS: usize = 3;

/// Steps of a round. They take about 0.2 ms, so it does not matter that threads begin some tens of
/// ns apart.
const STEPS: u64 = 1 << 18;

/// The work of these CPUs at once right now, in units of the work of the faster alone. `None` if
/// threads cannot be bound to them. Takes some milliseconds.
#[must_use]
pub(super) fn cpus_at_once(cpus: [usize; 2]) -> Option<f64> {
    let meeting = Meetings { slept: Barrier::new(2), awake: AtomicUsize::new(0) };
    let (first, second) = on_two_cpus(cpus, || times(&meeting, 0), || times(&meeting, 1)).ok()?;
    Some(summary(first.into_iter().zip(second)))
}

/// Waits until these CPUs do the work of two cores, at most for `at_most`, or until `given_up`.
/// Returns their last measured work.
pub fn await_two_cpus(cpus: [usize; 2], at_most: Duration, given_up: &dyn Fn() -> bool) -> Option<f64> {
    const PAUSE: Duration = Duration::from_millis(50);
    let start = Instant::now();
    loop {
        let found = cpus_at_once(cpus)?;
        if found >= TWO_CPUS || given_up() || start.elapsed() >= at_most {
            return Some(found);
        }
        std::thread::sleep(PAUSE);
    }
}

/// The median of the rounds.
fn summary(rounds: impl Iterator<Item = (Times, Times)>) -> f64 {
    let of = |(first, second): (Times, Times)| {
        first.alone.min(second.alone) * (first.beside.recip() + second.beside.recip())
    };
    let mut found: Vec<f64> = rounds.map(of).collect();
    found.sort_by(f64::total_cmp);
    found.get(found.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The times of one of two threads in a round, in ns.
#[derive(Clone, Copy, Debug)]
struct Times {
    /// While the other slept.
    alone: f64,
    /// While the other did the same.
    beside: f64,
}

/// The meeting points of the two threads.
struct Meetings {
    /// Threads sleep here: a spinning thread of the same core would take part of its work.
    slept: Barrier,
    /// The number of arrivals of both. Threads spin here, since sleepers wake up some microseconds
    /// apart.
    awake: AtomicUsize,
}

fn times(meeting: &Meetings, number: usize) -> Vec<Times> {
    let timed = || {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    };
    work();
    let round = |round: usize| {
        let mut alone = 0.0;
        for turn in 0..2 {
            meeting.slept.wait();
            if turn == number {
                alone = timed();
            }
        }
        meeting.slept.wait();
        meeting.awake.fetch_add(1, Ordering::SeqCst);
        while meeting.awake.load(Ordering::SeqCst) < 2 * (round + 1) {
            spin_loop();
        }
        Times { alone, beside: timed() }
    };
    (0..ROUNDS).map(round).collect()
}

/// Arithmetic in four chains, so that one thread keeps a core busy and two threads of a core share
/// its units. A compiler cannot compute the sums.
fn work() {
    let [mut a, mut b, mut c, mut d] = [1_u64, 2, 3, 4];
    for step in 0..STEPS {
        a = a.wrapping_add((a >> 3) ^ step);
        b = b.wrapping_add((b >> 5) ^ step);
        c ^= (c << 1).wrapping_add(step);
        d ^= (d >> 7).wrapping_add(step);
    }
    black_box([a, b, c, d]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::first_two;
    use allotment::internals::platform::Topology;

    #[test]
    fn threads_of_one_core_are_less_than_two_cpus() {
        let round = |alone, beside| (Times { alone, beside }, Times { alone, beside });
        assert_eq!(summary([round(1.0, 1.0)].into_iter()), 2.0);
        let shared = summary([round(1.0, 1.0), round(1.1, 1.5), round(1.1, 1.6)].into_iter());
        assert!((shared - 2.2 / 1.5).abs() < 1e-9 && shared < TWO_CPUS, "{shared}");
        // One of them has half of a core, with or without the other.
        let slow = (Times { alone: 1.0, beside: 1.0 }, Times { alone: 2.0, beside: 2.0 });
        assert_eq!(summary([slow].into_iter()), 1.5);
    }

    #[test]
    fn it_is_measured_where_there_are_two() {
        let found = first_two().and_then(cpus_at_once);
        assert_eq!(found.is_some(), Topology::detect().cpus().len() > 1, "{found:?}");
        assert!(found.is_none_or(|cpus| cpus > 0.0), "{found:?}");
        assert_eq!(cpus_at_once([0, usize::MAX]), None);
    }

    #[test]
    fn nobody_waits_longer_than_he_wants() {
        let two = Topology::detect().cpus().len() > 1;
        let wait = |at_most, given_up: bool| {
            first_two().and_then(|cpus| await_two_cpus(cpus, at_most, &|| given_up))
        };
        assert_eq!(wait(Duration::ZERO, false).is_some(), two);
        assert_eq!(wait(Duration::MAX, true).is_some(), two);
    }
}
