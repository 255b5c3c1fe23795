//! Scenarios like the experiments `storm` and `extremem`: their threads, their heaps, and what
//! their work costs on the machine that measured both.
//!
//! The numbers of the configurations of Extremem are those of the experiment
//! (`docs/experiments/extremem.md`): bytes of an engagement, live bytes, bytes of a rebuild. Costs
//! are rounded from measured runs of both, so these runs do not test the model:
//! `docs/simulate-tlab.md` has the comparison.

use super::scenario::{Arrival, CollectorModel, Costs, Rebuild, Scenario};
use allotment::options::TlabPolicy;
use clap::ValueEnum;
use std::time::Duration;

/// An experiment that a scenario is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// Threads that all begin at one instant.
    Storm,
    /// Threads of a shop with a schedule.
    Extremem,
}

/// A configuration of `extremem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shop {
    /// 500 threads, 4 GiB, 2 CPUs.
    Small,
    /// 500 threads, 31 GiB, 4 CPUs.
    Medium,
    /// 2,000 threads, 512 GiB, 16 CPUs.
    Huge,
    /// 500 threads at 33 times the rate of `small`, 2 GiB, 2 CPUs.
    Loaded,
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Decimal, as `extremem` counts live data.
const GB: u64 = 1_000_000_000;

const fn us(time: u64) -> Duration {
    Duration::from_micros(time)
}

/// Workers beside threads on a machine with `cpus` CPUs: as many as the heap has.
pub fn concurrent_workers(cpus: usize) -> usize {
    cpus.div_ceil(4).max(1)
}

impl Scenario {
    /// 500 threads that begin at one instant in 1 GiB, as `run storm` has them.
    pub fn storm() -> Scenario {
        Scenario {
            policy: TlabPolicy::Adaptive,
            threads: 500,
            arrival: Arrival::Instant,
            pace: Duration::from_millis(20),
            think: Duration::ZERO,
            split: 50,
            operations: 200,
            duration: Duration::from_secs(86_400),
            warm_up: Duration::ZERO,
            before: 50_000,
            bytes: 20 << 10,
            objects: (16, 144),
            cpu: us(4),
            first: us(4),
            refill: Duration::from_nanos(300),
            switch: us(4),
            wake_up: us(80),
            cpus: 2,
            time_slice: Duration::from_millis(3),
            heap: GIB,
            region: 0,
            live: 3 * MIB,
            survives: 10.0,
            keeps: 20_000,
            rebuild: None,
            collector: CollectorModel::Genshen,
            workers: 2,
            concurrent_workers: 1,
            eden: 50,
            costs: Costs {
                pause: us(100),
                thread: Duration::from_nanos(300),
                visit: us(10),
                mark: 1000.0,
                copy: 5000.0,
                update: 3000.0,
                full: 10_000.0,
            },
            tlab_size: 0,
            max_tlab_size: 0,
            idle_percent: 5.0,
            seed: 1,
        }
    }

    /// The customer threads of a shop, and the thread that rebuilds its indexes.
    pub fn extremem(shop: Shop) -> Scenario {
        let milliseconds = Duration::from_millis;
        let seconds = Duration::from_secs;
        let (threads, period, think, cpus) = match shop {
            Shop::Small => (500, seconds(5), seconds(1), 2),
            Shop::Medium => (500, seconds(5), seconds(1), 4),
            Shop::Huge => (2000, seconds(2), milliseconds(300), 16),
            Shop::Loaded => (500, milliseconds(150), milliseconds(30), 2),
        };
        // Bytes of an engagement, of the heap, of its regions, and live ones.
        let (bytes, heap, region, live) = match shop {
            Shop::Small => (77_000, 4 * GIB, 4 * MIB, 242 * GB / 100),
            Shop::Medium => (108_000, 31 * GIB, 0, 152 * GB / 10),
            Shop::Huge => (300_000, 512 * GIB, 0, 192 * GB),
            Shop::Loaded => (62_000, 2 * GIB, 4 * MIB, 27 * GB / 100),
        };
        // Megabytes that a rebuild allocates and keeps, and the time between two.
        let (rebuilt, kept, every) = match shop {
            Shop::Small => (270, 190, seconds(360)),
            Shop::Medium => (19_000, 10_500, seconds(360)),
            Shop::Huge => (190_000, 107_000, seconds(360)),
            Shop::Loaded => (270, 190, seconds(30)),
        };
        let (warm_up, duration) = match shop {
            Shop::Loaded => (seconds(20), seconds(51)),
            _ => (Duration::ZERO, seconds(1500)),
        };
        let mb = 1_000_000;
        Scenario {
            threads,
            arrival: Arrival::Staggered,
            pace: period,
            think,
            operations: 1_000_000,
            duration,
            warm_up,
            before: 0,
            bytes,
            objects: (16, 80),
            split: 33,
            cpu: Duration::from_nanos(bytes * 9 / 2),
            first: us(50),
            cpus,
            heap,
            region,
            live,
            survives: 0.5,
            keeps: 60_000,
            eden: 45,
            rebuild: Some(Rebuild {
                bytes: rebuilt * mb,
                keeps: kept * mb,
                every,
                cpu: milliseconds(rebuilt * 9),
            }),
            workers: cpus,
            concurrent_workers: concurrent_workers(cpus),
            costs: Costs {
                mark: 1600.0,
                copy: 1500.0,
                update: 1600.0,
                full: 3000.0,
                ..Scenario::storm().costs
            },
            ..Scenario::storm()
        }
    }
}
