//! The heap that a storm needs, and the number of operations.

use super::operation::OPERATION_BYTES;
use crate::experiments::collectors::{full_heap, resolves};
use crate::experiments::crew::STACK;
use crate::experiments::memory;
use crate::format::phrase::count;
use crate::harness::{Case, check_threads};
use allotment::Heap;
use allotment::heap::HeapBuilder;
use allotment::options::OptionError;
use anyhow::ensure;
use std::time::Duration;

/// The largest number of operations of one thread, which stores the time of each.
const MAX_OPERATIONS: usize = 1_000_000;

/// Everything that is decided before a heap is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StormPlan {
    /// Threads that begin together.
    pub(super) mutators: usize,
    /// Operations of each thread.
    pub(super) operations: usize,
    /// Operations of one thread alone, before the storm.
    pub(super) before: usize,
    /// The sleep of each thread between two operations.
    pub(super) pace: Duration,
    /// Bytes of the heap.
    heap: usize,
    /// The heap's collector.
    collector: String,
    /// TLABSize in bytes; 0: the policy chooses.
    tlab: usize,
}

impl StormPlan {
    /// The heap for a case.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(case: &Case) -> anyhow::Result<StormPlan> {
        let (mutators, operations) = (case.size("mutators")?, case.size("operations")?);
        let (before, collector) = (case.size("before")?, case.text("collector")?);
        ensure!(mutators > 0, "no mutators: no thread begins");
        check_threads(mutators, "mutators")?;
        ensure!(operations > 0, "no operations: there is nothing to wait for");
        let most = operations.max(before);
        ensure!(most <= MAX_OPERATIONS, "{most} operations of a thread: at most {MAX_OPERATIONS} work");
        // Beside the objects there is a ring for each thread, and the memory that buffers and open
        // regions leave unused.
        let all = (mutators * operations + before) * OPERATION_BYTES;
        let uncollected = all + all / 8 + mutators * (64 << 10) + (64 << 20);
        let heap = match case.size("heap")? {
            0 if collector == "epsilon" => uncollected,
            0 if mutators <= 500 => 1 << 30,
            0 => 4 << 30,
            given => given,
        };
        let pace = Duration::from_millis(case.count("paced")?);
        let (collector, tlab) = (collector.to_string(), case.size("tlab")?);
        Ok(StormPlan { mutators, operations, before, pace, heap, collector, tlab })
    }

    /// The builder of the heap. The heap's pages are touched in advance. Otherwise threads would wait
    /// in the kernel for each other's page faults, longer than for memory.
    ///
    /// # Errors
    /// An option does not take its value.
    pub(super) fn builder(&self) -> Result<HeapBuilder, OptionError> {
        Ok(full_heap(&self.collector, self.heap)?.tlab_size(self.tlab).always_pre_touch(true))
    }

    /// The time that threads sleep from the instant until the last has done its operations; `None`
    /// if they do not sleep.
    pub(super) fn paced_time(&self) -> Option<Duration> {
        let pauses = u32::try_from(self.operations).ok()?;
        (!self.pace.is_zero()).then(|| self.pace.saturating_mul(pauses))
    }

    /// Checks that heap, stacks and times fit into this machine's memory, and that the heap's
    /// options take their values.
    ///
    /// # Errors
    /// Gives the needed and the available bytes, or the option's own message.
    pub(super) fn fits(&self) -> anyhow::Result<()> {
        let thread = STACK + self.operations * size_of::<Duration>();
        let what =
            format!("{} with {} each", count(self.mutators, "mutator"), count(self.operations, "operation"));
        let needed = self.heap.saturating_add(self.mutators * thread);
        memory::fits(&what, needed, "a smaller --heap, fewer --mutators or --operations")?;
        // Without the collector: the case reports a collector that this build lacks.
        resolves(Heap::builder().max_heap_size(self.heap).tlab_size(self.tlab))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::harness::{JmhMode, TimeUnit};

    pub(in super::super) fn plan(
        collector: &str,
        mutators: usize,
        operations: usize,
        heap: &str,
    ) -> StormPlan {
        let params = [
            ("collector", collector.to_string()),
            ("mutators", mutators.to_string()),
            ("paced", "1".into()),
            ("operations", operations.to_string()),
            ("before", "100".into()),
            ("heap", heap.into()),
            ("tlab", "32768".into()),
        ];
        StormPlan::of(&Case {
            experiment: "storm".into(),
            mode: "start".into(),
            jmh_mode: JmhMode::SingleShot,
            unit: TimeUnit::Milliseconds,
            threads: 1,
            params: params.map(|(name, value)| (name.into(), value)).into(),
        })
        .unwrap()
    }

    #[test]
    fn a_heap_takes_the_options_as_planned() {
        let plan = plan("mark-compact", 10, 3, "67108864");
        let heap = plan.builder().unwrap().build().unwrap();
        assert_eq!((heap.collector(), heap.geometry().heap_bytes()), ("mark-compact", 64 << 20));
        let size = heap.options().rows().find(|row| row.info.name == "TLABSize").unwrap().value;
        assert_eq!(size, "32k");
        assert_eq!(
            (plan.pace, plan.paced_time()),
            (Duration::from_millis(1), Some(Duration::from_millis(3)))
        );
    }

    #[test]
    fn the_heap_grows_with_the_mutators_unless_it_is_given() {
        assert_eq!(plan("parallel", 500, 200, "0").heap, 1 << 30);
        assert_eq!(plan("parallel", 2000, 200, "0").heap, 4 << 30);
        assert_eq!(plan("parallel", 2000, 200, "1073741824").heap, 1 << 30);
        let all = (500 * 200 + 100) * OPERATION_BYTES;
        assert!((all..2 * all).contains(&plan("epsilon", 500, 200, "0").heap));
    }
}
