//! The sizes that threads desired, over time. They are for a chart, so a few points for each thread
//! are enough.
//!
//! A thread with too many points loses every other one. From then on every other new point is kept,
//! and so on. So the points span the whole log, however long it is, and their memory has a bound.
//!
//! Refused: keeping the last points. The search for a size is most interesting at the beginning.

/// Points of a thread at which every other one is dropped. The number is odd, so that first and
/// last stay and the gaps are equal.
const MOST_POINTS: usize = 257;

/// The points of all threads.
#[derive(Clone, Debug, Default)]
pub struct History {
    threads: Vec<Points>,
}

#[derive(Clone, Debug, Default)]
struct Points {
    kept: Vec<(u64, u64)>,
    /// The number of new points per kept point, less one.
    every: usize,
    passed: usize,
}

impl History {
    /// Adds a size that a thread desires, in bytes, at a time in ns.
    pub(super) fn add(&mut self, thread: usize, time: u64, size: u64) {
        if self.threads.len() <= thread {
            self.threads.resize_with(thread + 1, Points::default);
        }
        let points = &mut self.threads[thread];
        if points.passed < points.every {
            points.passed += 1;
            return;
        }
        points.passed = 0;
        points.kept.push((time, size));
        if points.kept.len() == MOST_POINTS {
            points.kept = points.kept.iter().copied().step_by(2).collect();
            points.every = points.every * 2 + 1;
        }
    }

    /// The points of a thread, by its index among the log's accounts: times in ns, sizes in bytes.
    pub fn of(&self, thread: usize) -> &[(u64, u64)] {
        self.threads.get(thread).map_or(&[], |points| &points.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_evenly() {
        let mut history = History::default();
        (0..10_000).for_each(|time| history.add(3, time, time * 2));
        let kept = history.of(3);
        assert!((MOST_POINTS / 2..MOST_POINTS).contains(&kept.len()), "{}", kept.len());
        assert_eq!(kept[0], (0, 0));
        let gap = kept[1].0;
        assert!(kept.windows(2).all(|pair| pair[1].0 - pair[0].0 == gap), "{kept:?}");
        assert!(kept.last().unwrap().0 + gap >= 10_000 - gap);
        assert!(history.of(0).is_empty() && history.of(9).is_empty());
    }
}
