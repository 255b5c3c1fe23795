//! The number of threads that work on a collection, and how evenly they share the work.

use super::CollectionRecord;

/// The number of threads that a collection should have had, and why:
/// [`CollectionRecord::wanted`]. Fewer work if the system gives no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WantedWorkers {
    /// Number of threads that the collection was worth.
    pub workers: usize,
    /// The most threads that there may be: `ParallelGCThreads`.
    pub most: usize,
    /// Bytes that decided the number. A young collection counts the bytes that it was expected to
    /// copy and to look at; a full one counts the bytes in use before it.
    pub bytes: usize,
}

impl CollectionRecord {
    /// The warning of a collection that had fewer workers than it wanted: `1 worker instead of 2:
    /// the system started no more threads (...)`. `None` if enough workers worked.
    pub(in crate::collector) fn shortage(&self) -> Option<String> {
        let (workers, wanted) = (self.workers, self.wanted.workers);
        let plural = if workers == 1 { "" } else { "s" };
        (workers < wanted).then(|| {
            format!(
                "{workers} worker{plural} instead of {wanted}: the system started no more threads (see `ulimit -u`, \
                 pids.max, and free memory); this warning comes once"
            )
        })
    }
}

/// The busiest worker's share, relative to an even share: 1 is perfect.
pub(super) fn imbalance(worker_objects: &[u64]) -> f64 {
    let (most, sum) = (worker_objects.iter().max(), worker_objects.iter().sum::<u64>());
    let mean = sum as f64 / worker_objects.len().max(1) as f64;
    if sum == 0 { 1.0 } else { most.copied().unwrap_or(0) as f64 / mean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_in_balance_when_each_did_as_much() {
        let table: [(&[u64], f64); 5] =
            [(&[], 1.0), (&[0, 0], 1.0), (&[5], 1.0), (&[7, 7, 7], 1.0), (&[30, 0, 10, 0], 3.0)];
        for (objects, expected) in table {
            assert_eq!(imbalance(objects), expected, "{objects:?}");
        }
    }
}
