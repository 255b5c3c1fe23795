//! The hits that true LRU caches of this machine's sizes would have in a walk, as an expectation
//! beside the scores.
//!
//! Real caches are not quite LRU, are shared with strangers on a virtual machine, and processors
//! prefetch. The expectation is therefore a landmark, and not a model to be fitted.

use crate::machine::placement;
use allotment::internals::platform::{CacheKind, Topology};

/// A way to walk, as a cache sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Half of the bytes are read in order. For each 32-bit number in them a number of the other
    /// half is read, at a random place.
    Gather,
    /// Both halves are read in order.
    Stream,
    /// Every line once, and then again in the same order.
    Cycle,
}

/// A level of data caches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The level's number; 1 is closest to the core.
    pub(super) level: u8,
    /// Bytes of one cache.
    pub(super) bytes: usize,
    /// For one thread, two and so on: the number of threads on the most used cache. The list ends
    /// at the number of CPUs.
    users: Vec<usize>,
}

impl Level {
    /// The level with these caches, each given by its CPUs, on a machine that binds threads to CPUs
    /// in the order `placement`.
    fn new(level: u8, bytes: usize, caches: &[&[usize]], placement: &[usize]) -> Level {
        let on = |cpus: &[usize], threads: usize| {
            placement[..threads].iter().filter(|cpu| cpus.contains(cpu)).count()
        };
        let most = |threads| caches.iter().map(|cpus| on(cpus, threads)).max().unwrap_or(1).max(1);
        Level { level, bytes, users: (1..=placement.len()).map(most).collect() }
    }

    /// The bytes of each of `threads` threads, divided evenly. Threads beyond the number of CPUs
    /// take turns with the others.
    pub(super) fn bytes_of_each(&self, threads: usize) -> usize {
        let most = self.users.get(threads.saturating_sub(1)).or(self.users.last());
        self.bytes / most.copied().unwrap_or(1)
    }
}

/// The caches of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Machine {
    /// Ascending by level.
    pub(super) levels: Vec<Level>,
    /// Bytes of a cache line.
    pub(super) line: usize,
}

/// The possible levels.
const LEVELS: std::ops::RangeInclusive<u8> = 1..=4;

impl Machine {
    /// This machine.
    pub(super) fn detect() -> Machine {
        let topology = Topology::detect();
        let placement = placement(topology.cpus());
        let data = || topology.caches().iter().filter(|cache| cache.kind != CacheKind::Instruction);
        let levels = LEVELS.filter_map(|level| {
            let bytes = topology.data_caches(level)?.bytes;
            let caches: Vec<&[usize]> = data()
                .filter(|cache| cache.level == level)
                .map(|cache| cache.shared_cpus.as_slice())
                .collect();
            Some(Level::new(level, bytes, &caches, &placement))
        });
        let line = data().map(|cache| cache.line_bytes).max().unwrap_or(64);
        Machine { levels: levels.collect(), line }
    }

    /// The share of reads, from 0 to 1, that hit the last cache or one before it when each of
    /// `threads` walks `bytes` bytes. `None` if no cache is known. The last cache is divided evenly
    /// among its threads.
    pub(super) fn hits(&self, pattern: Pattern, bytes: usize, threads: usize) -> Option<f64> {
        let cache = self.levels.last()?.bytes_of_each(threads);
        Some(match pattern {
            _ if bytes <= cache => 1.0,
            Pattern::Gather => gather_hits(cache as f64 / (bytes as f64 / 2.0)),
            // The first number in each line misses.
            Pattern::Stream => 1.0 - 4.0 / self.line as f64,
            // The next line of a cycle is the least recently used one, which a cache that is too
            // small has dropped.
            Pattern::Cycle => 0.0,
        })
    }
}

/// The hit ratio of random reads in an array while a stream of as many bytes passes. The cache
/// would hold `fit` times the array.
///
/// A line of 16 numbers is touched 16 times in a pass over `L` lines, so the gap between two
/// touches is `x L` reads with an exponentially distributed `x`. In that gap `L (1 - e^-x)` other
/// lines of the array and `x L / 16` lines of the stream pass. A read hits where these are no more
/// than the cache holds:
///
/// ```text
/// 1 - e^-x + x/16 = fit        hits = 1 - e^-x
/// ```
fn gather_hits(fit: f64) -> f64 {
    // The left side grows with x, and is at least `fit` at `x = 16 fit`.
    let (mut low, mut high) = (0.0, 16.0 * fit);
    for _ in 0..60 {
        let x: f64 = (low + high) / 2.0;
        if 1.0 - (-x).exp() + x / 16.0 < fit {
            low = x;
        } else {
            high = x;
        }
    }
    1.0 - (-low).exp()
}

#[cfg(test)]
pub(super) mod examples {
    use super::*;

    /// Two cores with 32k and 512k each, and 32m for both.
    pub(in super::super) fn machine() -> Machine {
        let level = |level, bytes, caches: &[&[usize]]| Level::new(level, bytes, caches, &[0, 1]);
        let (own, both): (&[&[usize]], &[&[usize]]) = (&[&[0], &[1]], &[&[0, 1]]);
        Machine {
            levels: vec![level(1, 32 << 10, own), level(2, 512 << 10, own), level(3, 32 << 20, both)],
            line: 64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hit_ratio_of_a_gather() {
        let table = [
            (1.5, 1.0),
            (1.3, 0.99),
            (1.06, 0.91),
            (1.0, 0.87),
            (0.75, 0.68),
            (0.5, 0.46),
            (0.25, 0.23),
            (0.125, 0.12),
            (0.0625, 0.06),
        ];
        for (fit, hits) in table {
            assert!((gather_hits(fit) - hits).abs() < 0.006, "{fit}: {}", gather_hits(fit));
        }
    }

    /// Checks the formula against a simulated cache.
    #[test]
    fn an_lru_cache_agrees() {
        let lines = 512_usize;
        for capacity in [128, 256, 384, 512] {
            let mut random = crate::walk::Random::new(1);
            let mut used: std::collections::BTreeMap<u64, usize> = Default::default();
            let mut times: std::collections::HashMap<usize, u64> = Default::default();
            let (mut hits, mut reads, mut stream) = (0, 0, lines);
            for now in 0..100_000_u64 {
                let mut touch = |line: usize, time: u64| {
                    let before = times.insert(line, time);
                    if let Some(before) = before {
                        used.remove(&before);
                    }
                    used.insert(time, line);
                    if used.len() > capacity
                        && let Some((_, oldest)) = used.pop_first()
                    {
                        times.remove(&oldest);
                    }
                    before.is_some()
                };
                if now % 16 == 0 {
                    stream += 1;
                    touch(stream, 2 * now);
                }
                let hit = touch(random.below(lines), 2 * now + 1);
                if now > 20_000 {
                    reads += 1;
                    hits += u32::from(hit);
                }
            }
            let (found, formula) =
                (f64::from(hits) / f64::from(reads), gather_hits(capacity as f64 / lines as f64));
            assert!((found - formula).abs() < 0.02, "{capacity}: {found} {formula}");
        }
    }

    #[test]
    fn threads_share_what_their_cpus_share() {
        let machine = examples::machine();
        let hits = |pattern, mib: usize, threads| machine.hits(pattern, mib << 20, threads).unwrap();
        assert_eq!((hits(Pattern::Cycle, 32, 1), hits(Pattern::Cycle, 32, 2)), (1.0, 0.0));
        assert_eq!((hits(Pattern::Cycle, 16, 2), hits(Pattern::Cycle, 16, 5)), (1.0, 1.0));
        assert!((hits(Pattern::Gather, 64, 1) - 0.87).abs() < 0.01);
        assert!((hits(Pattern::Gather, 64, 2) - 0.46).abs() < 0.01);
        assert_eq!(hits(Pattern::Stream, 64, 1), 0.9375);
        assert_eq!(Machine { levels: vec![], line: 64 }.hits(Pattern::Cycle, 1, 1), None);
    }

    #[test]
    fn siblings_share_a_core_only_when_they_must() {
        // Two cores of two hardware threads each; threads get separate cores first.
        let level = Level::new(2, 1 << 20, &[&[0, 1], &[2, 3]], &[0, 2, 1, 3]);
        let each: Vec<usize> = (1..=5).map(|threads| level.bytes_of_each(threads) >> 10).collect();
        assert_eq!(each, [1024, 1024, 512, 512, 512]);
        assert_eq!(Level::new(2, 1 << 20, &[], &[0]).bytes_of_each(3), 1 << 20);
        let this = Machine::detect();
        assert!(this.levels.iter().all(|level| level.bytes_of_each(1) == level.bytes));
    }

    proptest! {
        #[test]
        fn more_cache_never_hits_less(fit in 0.001..3.0_f64, more in 0.0..1.0_f64) {
            let (less, more) = (gather_hits(fit), gather_hits(fit + more));
            prop_assert!((0.0..=1.0).contains(&less) && less <= more + 1e-9);
        }
    }
}
