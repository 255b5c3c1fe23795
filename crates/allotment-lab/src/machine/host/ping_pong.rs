//! The cost of handing over a cache line on this machine: two threads on two CPUs write it in turn.

use super::pair::on_two_cpus;
use crate::machine::ticks;
use crossbeam_utils::CachePadded;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// A measurement of [`ping_pong`].
#[derive(Clone, Debug, PartialEq)]
pub struct HandOver {
    /// Nanoseconds from one CPU to the other, of the best round.
    pub min_nanoseconds: f64,
    /// Nanoseconds of the median round.
    pub median_nanoseconds: f64,
    /// Ticks of [`ticks`], of the best round. On x86-64 they differ from a core's cycles if the core
    /// has another frequency. On AArch64 they have nothing to do with cycles.
    pub min_ticks: f64,
    /// Ticks of the median round.
    pub median_ticks: f64,
}

/// Lets two threads, bound to these CPUs, write a line in turn: `rounds` times, at least once,
/// `hands` hand-overs each.
///
/// # Errors
/// A CPU is not allowed to this process.
pub fn ping_pong(cpus: [usize; 2], rounds: usize, hands: u64) -> io::Result<HandOver> {
    let (rounds, hands) = (rounds.max(1) as u64, hands.max(1));
    let line = CachePadded::new(AtomicU64::new(0));
    let time = |round: u64| {
        let (start, counter) = (Instant::now(), ticks());
        (round * hands..(round + 1) * hands).for_each(|turn| pass(&line, 2 * turn));
        let handed = 2.0 * hands as f64;
        let ticks = ticks().wrapping_sub(counter) as f64 / handed;
        (start.elapsed().as_nanos() as f64 / handed, ticks)
    };
    let (times, ()) = on_two_cpus(
        cpus,
        || (0..rounds).map(time).collect::<Vec<_>>(),
        || (0..rounds * hands).for_each(|turn| pass(&line, 2 * turn + 1)),
    )?;
    Ok(summary(&times))
}

/// Nanoseconds that a line takes from one of these CPUs to the other right now. `None` if threads
/// cannot be bound to them. Takes about a millisecond.
///
/// In a virtual machine the time shows where the CPUs are: the host moves them between cores that
/// share a cache and cores that do not.
#[must_use]
pub(super) fn hand_over(cpus: [usize; 2]) -> Option<f64> {
    ping_pong(cpus, 5, 500).ok().map(|measured| measured.median_nanoseconds)
}

/// Waits for a turn and ends it. A thread that waits for long yields: the two may share a core.
fn pass(line: &AtomicU64, turn: u64) {
    let mut waited = 0_u32;
    while line.load(Ordering::Acquire) != turn {
        waited += 1;
        if waited.is_multiple_of(100_000) {
            thread::yield_now();
        }
    }
    line.store(turn + 1, Ordering::Release);
}

fn summary(times: &[(f64, f64)]) -> HandOver {
    let sorted = |of: fn(&(f64, f64)) -> f64| {
        let mut values: Vec<f64> = times.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        (
            values.first().copied().unwrap_or(f64::NAN),
            values.get(values.len() / 2).copied().unwrap_or(f64::NAN),
        )
    };
    let ((min_nanoseconds, median_nanoseconds), (min_ticks, median_ticks)) =
        (sorted(|time| time.0), sorted(|time| time.1));
    HandOver { min_nanoseconds, median_nanoseconds, min_ticks, median_ticks }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::first_two;
    use allotment::internals::platform::Topology;

    #[test]
    fn the_summary_is_the_least_and_the_median() {
        let found = summary(&[(3.0, 30.0), (1.0, 50.0), (2.0, 40.0)]);
        assert_eq!((found.min_nanoseconds, found.median_nanoseconds), (1.0, 2.0));
        assert_eq!((found.min_ticks, found.median_ticks), (30.0, 40.0));
    }

    #[test]
    fn two_threads_hand_a_line_over() {
        let topology = Topology::detect();
        let [first, .., last] = topology.cpus() else { return };
        let found = ping_pong([first.number, last.number], 3, 100).unwrap();
        assert!(
            found.min_nanoseconds > 0.0 && found.min_nanoseconds <= found.median_nanoseconds,
            "{found:?}"
        );
    }

    #[test]
    fn a_line_is_handed_over_where_there_are_two_cpus() {
        let found = first_two().and_then(hand_over);
        assert_eq!(found.is_some(), Topology::detect().cpus().len() > 1, "{found:?}");
        assert!(found.is_none_or(|nanoseconds| nanoseconds > 0.0), "{found:?}");
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        assert!(ping_pong([0, usize::MAX], 1, 1).is_err());
        assert!(ping_pong([usize::MAX, 0], 1, 1).is_err());
    }
}
