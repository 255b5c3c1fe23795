//! A scenario to simulate: the threads, their machine, their heap and its collector.

use crate::scenario_error::{ScenarioError, within, wrong};
use allotment::heap::Geometry;
use allotment::options::TlabPolicy;
use clap::ValueEnum;
use std::time::Duration;

/// The most threads of a scenario.
pub const MAX_THREADS: usize = 100_000;
/// The most CPUs of a scenario.
pub const MAX_CPUS: usize = 1024;
/// The most regions of a heap. 512 GiB in regions of 512 KiB are as many.
pub const MAX_REGIONS: usize = 1 << 20;
/// The longest time of a scenario.
const LONGEST: Duration = Duration::from_secs(86_400);
/// The longest pause, visit or stop of a thread, and the most nanoseconds that a KiB costs. A heap
/// of 32 TiB is collected in little more than a year then, and no sum of times overflows.
const LONGEST_COST: Duration = Duration::from_secs(1);
const MOST_COST: f64 = 1e6;
/// The most operations of one thread.
pub const MAX_OPERATIONS: u64 = 1_000_000_000;

/// When threads begin their operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrival {
    /// All threads begin at one instant, and sleep for the pace between two operations.
    Instant,
    /// Each thread has a schedule with the pace as its period. The first operations are spread over
    /// one period.
    Staggered,
    /// Each thread has a schedule with gaps drawn at random. Their mean is the pace.
    Poisson,
    /// All threads begin at one instant, and never sleep.
    Steady,
}

impl Arrival {
    /// Whether times are counted from a schedule. Otherwise from the beginning of the operation.
    pub const fn is_scheduled(self) -> bool {
        matches!(self, Arrival::Staggered | Arrival::Poisson)
    }
}

/// How memory is made free.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CollectorModel {
    /// Stops the world when eden is full, and copies what has survived.
    Parallel,
    /// Marks all objects and moves some of them while threads run. Allocation failure ends the
    /// cycle in a stop.
    Shenandoah,
    /// Works as `shenandoah`, and most cycles look at young objects only.
    Genshen,
}

impl CollectorModel {
    /// Whether it works while threads run.
    pub const fn is_concurrent(self) -> bool {
        !matches!(self, CollectorModel::Parallel)
    }
}

/// Costs of a collector's work, for one worker.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Costs {
    /// The fixed cost of a pause.
    pub pause: Duration,
    /// The cost of a stop that takes back the buffers, for each thread.
    pub thread: Duration,
    /// A visit of the roots of a thread, beside the others or in a stop.
    pub visit: Duration,
    /// Marking, in ns for each KiB of live objects.
    pub mark: f64,
    /// Copying, in ns for each KiB.
    pub copy: f64,
    /// Updating references, in ns for each KiB of live objects.
    pub update: f64,
    /// A full collection, in ns for each KiB of live objects.
    pub full: f64,
}

/// A thread that replaces a large part of the live objects from time to time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rebuild {
    /// Bytes that one rebuild allocates.
    pub bytes: u64,
    /// Bytes of them that replace live ones.
    pub keeps: u64,
    /// The time between two rebuilds.
    pub every: Duration,
    /// CPU time of one rebuild.
    pub cpu: Duration,
}

/// A scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scenario {
    /// The policy of buffer sizes.
    pub policy: TlabPolicy,
    /// Threads that allocate.
    pub threads: usize,
    /// When they do.
    pub arrival: Arrival,
    /// The sleep between two operations, the period, or the mean gap. Not used by
    /// [`Arrival::Steady`].
    pub pace: Duration,
    /// Sleep within an operation.
    pub think: Duration,
    /// The part of an operation before that sleep, in percent.
    pub split: u32,
    /// Operations of each thread, if they end before `duration` does.
    pub operations: u64,
    /// No operation is planned for a later time. A late thread still does its own.
    pub duration: Duration,
    /// Operations that begin before this time are not counted.
    pub warm_up: Duration,
    /// Operations of one thread alone, before all others begin.
    pub before: u64,
    /// Bytes that one operation allocates.
    pub bytes: u64,
    /// Bytes of the smallest and of the largest object. All multiples of 8 between are as frequent.
    pub objects: (u64, u64),
    /// CPU time of an operation, without refills.
    pub cpu: Duration,
    /// Extra CPU time of a thread's first operation.
    pub first: Duration,
    /// CPU time of a refill.
    pub refill: Duration,
    /// CPU time from one thread to the next on a CPU.
    pub switch: Duration,
    /// From the end of a sleep until the thread wants a CPU: the mean without the latest.
    pub wake_up: Duration,
    /// CPUs, each with threads in turn.
    pub cpus: usize,
    /// How long a thread has a CPU while others want it.
    pub time_slice: Duration,
    /// Bytes of the heap.
    pub heap: u64,
    /// Bytes of a region; 0: as the heap chooses.
    pub region: u64,
    /// Bytes that stay alive.
    pub live: u64,
    /// Share of what an operation allocates that stays alive for a while, in percent.
    pub survives: f64,
    /// The most of that which one thread keeps alive, in bytes.
    pub keeps: u64,
    /// The thread that rebuilds.
    pub rebuild: Option<Rebuild>,
    /// The collector.
    pub collector: CollectorModel,
    /// Workers in a stop.
    pub workers: usize,
    /// Workers beside threads.
    pub concurrent_workers: usize,
    /// Eden of [`CollectorModel::Parallel`], in percent of the memory without live objects.
    pub eden: u32,
    /// Costs of the collector's work, for one worker.
    pub costs: Costs,
    /// `TLABSize`; 0: the policy chooses.
    pub tlab_size: u64,
    /// `MaxTLABSize`; 0: the policy chooses.
    pub max_tlab_size: u64,
    /// `TLABIdlePercent`.
    pub idle_percent: f64,
    /// The seed of sizes and gaps.
    pub seed: u64,
}

impl Scenario {
    /// The division of the heap into regions.
    ///
    /// # Errors
    /// The heap cannot be divided into such regions.
    pub fn geometry(&self) -> Result<Geometry, ScenarioError> {
        let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Geometry::new(bytes(self.heap), bytes(self.region)).map_err(|error| ScenarioError(error.to_string()))
    }

    /// Bytes that stay alive for a while of those that a thread has allocated.
    pub(super) fn kept(&self, allocated: u64) -> u64 {
        ((allocated as f64 * self.survives / 100.0) as u64).min(self.keeps)
    }

    /// An object that stays alive for a while is dead when all threads together have allocated so
    /// many bytes more. `None`: no object stays alive for a while.
    pub(super) fn dies_after(&self) -> Option<u64> {
        let share = self.survives / 100.0;
        (share > 0.0).then(|| (self.keeps as f64 / share * self.threads as f64) as u64)
    }

    /// Checks all numbers.
    ///
    /// # Errors
    /// Says which one is wrong, and what would be right.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let (least, most) = self.objects;
        within("a number of threads", self.threads, 1..=MAX_THREADS, "")?;
        within("a number of CPUs", self.cpus, 1..=MAX_CPUS, "")?;
        within("a number of operations", self.operations, 1..=MAX_OPERATIONS, "")?;
        within("a number of operations before", self.before, 0..=MAX_OPERATIONS, "")?;
        within("a number of workers", self.workers, 1..=MAX_CPUS, "")?;
        within("a number of workers", self.concurrent_workers, 1..=MAX_CPUS, "")?;
        if least < 16 || least > most || !least.is_multiple_of(8) || !most.is_multiple_of(8) {
            return wrong(
                "an object size",
                format!("{least}..{most} bytes"),
                "multiples of 8 from 16 can, the smaller first",
            );
        }
        if self.bytes < most || self.bytes > 1 << 40 {
            return wrong(
                "an operation",
                format!("{} bytes", self.bytes),
                format!("{most} bytes (one object) to 1 TiB can"),
            );
        }
        within("a surviving share", self.survives, 0.0..=100.0, " percent")?;
        within("TLABIdlePercent", self.idle_percent, 0.0..=50.0, "")?;
        within("a split", self.split, 1..=99, " percent")?;
        within("an eden", self.eden, 1..=100, " percent")?;
        self.check_times()?;
        let geometry = self.geometry()?;
        if geometry.regions > MAX_REGIONS {
            return wrong("a number of regions", geometry.regions, format!("up to {MAX_REGIONS} can"));
        }
        let region = geometry.region_bytes() as u64;
        if most > region {
            let found = format!("{most} bytes");
            return wrong("an object", found, format!("up to a region of {region} bytes can"));
        }
        let rebuilt = self.rebuild.map_or(0, |rebuild| rebuild.keeps);
        let kept = self.keeps.saturating_mul(self.threads as u64);
        let live = self.live.saturating_add(kept).saturating_add(rebuilt);
        if live > self.heap / 10 * 9 {
            return Err(ScenarioError(format!(
                "{live} bytes of live objects leave no room in a heap of {} bytes; at most 90 % of it work",
                self.heap
            )));
        }
        Ok(())
    }

    fn check_times(&self) -> Result<(), ScenarioError> {
        if self.time_slice.is_zero() || self.cpu.is_zero() {
            return wrong("a time", "0", "a time slice and the CPU time of an operation are at least 1 ns");
        }
        let Scenario { pace, think, duration, warm_up, cpu, first, refill, switch, wake_up, .. } = *self;
        let times = [pace, think, duration, warm_up, cpu, first, refill, switch, wake_up, self.time_slice];
        if let Some(rebuild) = self.rebuild
            && (rebuild.every.is_zero() || rebuild.bytes == 0)
        {
            let found = format!("{} bytes every {:?}", rebuild.bytes, rebuild.every);
            return wrong("a rebuild", found, "one byte and 1 ns, and more, can");
        }
        let of_rebuild = self.rebuild.map(|rebuild| [rebuild.every, rebuild.cpu]).into_iter().flatten();
        if let Some(time) = times.into_iter().chain(of_rebuild).find(|time| *time > LONGEST) {
            return wrong("a time", format!("{time:?}"), "up to a day can");
        }
        let Costs { pause, thread, visit, mark, copy, update, full } = self.costs;
        if let Some(time) = [pause, thread, visit].into_iter().find(|time| *time > LONGEST_COST) {
            return wrong("a cost", format!("{time:?}"), format!("up to {LONGEST_COST:?} can"));
        }
        for cost in [mark, copy, update, full] {
            within("a cost", cost, 0.0..=MOST_COST, " ns for a KiB")?;
        }
        let scheduled = self.arrival != Arrival::Steady;
        if scheduled == self.pace.is_zero() {
            let works = if scheduled {
                "threads that never sleep are --arrival steady"
            } else {
                "--arrival steady has none"
            };
            return wrong("a pace", format!("{:?}", self.pace), works);
        }
        if self.arrival.is_scheduled() && self.think >= self.pace {
            return wrong("a think time", format!("{:?}", self.think), "less than the pace can");
        }
        if self.warm_up >= self.duration {
            return wrong(
                "a warm-up",
                format!("{:?}", self.warm_up),
                format!("less than the duration of {:?} can, 0 is none", self.duration),
            );
        }
        Ok(())
    }
}
