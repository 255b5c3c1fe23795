//! Counts, and the scaling of counts that had to share a counter.
//!
//! If more events are requested than the processor has counters, the kernel lets them take turns.
//! It reports how long each event was requested and how long it had a counter. The count is then
//! scaled by the quotient, as `perf stat` does. This is right if the work is the same all the time,
//! as in a measured loop. The scaling is reported, in percent.

use std::iter::Sum;

/// The count of one event, and its times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The counter's value.
    pub count: u64,
    /// Nanoseconds for which the event was requested.
    pub enabled: u64,
    /// Nanoseconds for which the event had a counter.
    pub running: u64,
}

impl Reading {
    /// A count that did not share its counter.
    pub fn whole(count: u64) -> Reading {
        Reading { count, enabled: 1, running: 1 }
    }

    /// The counts between `earlier` and this reading of the same counter.
    pub fn since(&self, earlier: &Reading) -> Reading {
        Reading {
            count: self.count.wrapping_sub(earlier.count),
            enabled: self.enabled.wrapping_sub(earlier.enabled),
            running: self.running.wrapping_sub(earlier.running),
        }
    }

    /// The count, scaled to the whole time; `None` if the event never had a counter, since nothing
    /// is known then.
    pub fn scaled(&self) -> Option<f64> {
        match self {
            Reading { enabled: 0, .. } | Reading { running: 0, .. } => None,
            Reading { count, enabled, running } if running >= enabled => Some(*count as f64),
            Reading { count, enabled, running } => Some(*count as f64 * *enabled as f64 / *running as f64),
        }
    }

    /// The share of the time that is extrapolated instead of counted, 0 to 1.
    pub fn unseen(&self) -> f64 {
        if self.enabled == 0 { 0.0 } else { 1.0 - (self.running as f64 / self.enabled as f64).min(1.0) }
    }
}

/// One event on several threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// The sum of the scaled counts; meaningless if `missing`.
    pub count: f64,
    /// The largest share of a thread's time that is extrapolated, 0 to 1.
    pub unseen: f64,
    /// A thread never had a counter.
    pub missing: bool,
}

impl From<Reading> for Total {
    fn from(reading: Reading) -> Total {
        let scaled = reading.scaled();
        Total { count: scaled.unwrap_or(0.0), unseen: reading.unseen(), missing: scaled.is_none() }
    }
}

impl Sum for Total {
    fn sum<I: Iterator<Item = Total>>(totals: I) -> Total {
        totals.fold(Total::default(), |one, other| Total {
            count: one.count + other.count,
            unseen: one.unseen.max(other.unseen),
            missing: one.missing || other.missing,
        })
    }
}

impl Total {
    /// The count for each of `operations`; `None` if it is unknown.
    pub fn per_operation(&self, operations: u64) -> Option<f64> {
        (!self.missing && operations > 0).then(|| self.count / operations as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_had_half_a_counter_counts_twice() {
        let shared = Reading { count: 300, enabled: 100, running: 50 };
        assert_eq!((shared.scaled(), shared.unseen()), (Some(600.0), 0.5));
        let never = Reading { count: 0, enabled: 100, running: 0 };
        assert_eq!((never.scaled(), never.unseen()), (None, 1.0));
        assert_eq!(Reading::default().scaled(), None);
        assert_eq!((Reading::whole(7).scaled(), Reading::whole(7).unseen()), (Some(7.0), 0.0));
    }

    #[test]
    fn a_counter_that_goes_on_is_read_as_a_difference() {
        let first = Reading { count: u64::MAX, enabled: 10, running: 5 };
        let second = Reading { count: 4, enabled: 30, running: 15 };
        assert_eq!(second.since(&first), Reading { count: 5, enabled: 20, running: 10 });
    }

    #[test]
    fn a_thread_that_was_never_counted_spoils_the_sum() {
        let never = Reading { count: 0, enabled: 9, running: 0 };
        let total: Total = [Reading::whole(3), never].map(Total::from).into_iter().sum();
        assert_eq!((total.per_operation(3), total.unseen), (None, 1.0));
        assert_eq!(Total::from(Reading::whole(3)).per_operation(0), None);
    }

    proptest! {
        #[test]
        fn operations_divide_what_all_threads_counted(
            threads in prop::collection::vec((0u64..1 << 40, 1u64..1 << 30), 1..64),
            each in 1u64..1000,
        ) {
            // Counts per thread, each with a counter for some of the time. Every thread did `count`
            // operations of `each`.
            let readings = threads.iter().map(|&(operations, running)| Reading {
                count: operations * each,
                enabled: running,
                running,
            });
            let operations: u64 = threads.iter().map(|&(operations, _)| operations).sum();
            let total: Total = readings.map(Total::from).sum();
            match total.per_operation(operations) {
                None => prop_assert_eq!(operations, 0),
                Some(found) => prop_assert!((found / each as f64 - 1.0).abs() < 1e-9, "{} {}", found, each),
            }
        }

        #[test]
        fn scaling_undoes_sharing(rate in 1u64..1000, running in 1u64..1 << 30, times in 1u64..16) {
            let reading = Reading { count: rate * running, enabled: running * times, running };
            let expected = (rate * running * times) as f64;
            prop_assert!((reading.scaled().unwrap() / expected - 1.0).abs() < 1e-9);
            prop_assert!((reading.unseen() - (1.0 - 1.0 / times as f64)).abs() < 1e-9);
        }
    }
}
