//! The plan of a case: its heap, its time, and the threads that work in it.

use super::graph::change;
use super::large::Long;
use super::shot::Part;
use super::{crowd, full, idle, large, light};
use crate::experiments::collectors::{self, heap_of};
use crate::experiments::crew::STACK;
use crate::experiments::graph::Alone;
use crate::experiments::memory;
use crate::format::phrase::count;
use crate::harness::{Case, check_threads};
use allotment::Heap;
use allotment::heap::HeapBuilder;
use allotment::options::OptionError;
use anyhow::{bail, ensure};
use std::time::Duration;

/// The most handles.
const MAX_HANDLES: usize = 100_000_000;

/// The longest shot.
const MAX_DURATION: Duration = Duration::from_secs(3600);

/// Threads beside those that sleep: an upper bound for each case.
const OTHER_THREADS: usize = 16;

/// The work of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    GiveUp,
    Humongous,
    Innocent,
    Burst,
    Tight,
    Threads { sleepers: usize },
    LongOperations(Long),
    Handles(usize),
    Requests,
    Shrink,
    Graph { live: usize },
}

/// Everything that is decided before a heap is made.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PressurePlan {
    work: Work,
    /// Bytes of the heap.
    pub(super) heap: usize,
    /// The time of a shot.
    pub(super) lasts: Duration,
    /// The heap's collector.
    collector: String,
}

impl PressurePlan {
    /// The plan of a case.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn of(case: &Case) -> anyhow::Result<PressurePlan> {
        let (work, mebibytes) = match case.mode.as_str() {
            "giveup" => (Work::GiveUp, 64),
            "humongous" => (Work::Humongous, 512),
            "innocent" => (Work::Innocent, 512),
            "burst" => (Work::Burst, 512),
            "tight" => (Work::Tight, 256),
            "threads" => (Work::Threads { sleepers: case.size("sleepers")? }, 512),
            "ttsp" => (Work::LongOperations(Long::named(case.text("long")?)?), 1536),
            "rootsmany" => (Work::Handles(case.size("handles")?), 640),
            "gcstorm" => (Work::Requests, 256),
            "shrink" => (Work::Shrink, 1024),
            "graph" => (Work::Graph { live: case.size("live")? }, 0),
            other => bail!("there is no mode `{other}`"),
        };
        let heap = match work {
            Work::Graph { live } => Alone::bytes_of_heap(live, case.factor("factor")?),
            _ => match case.size("heap")? {
                0 => mebibytes << 20,
                given => given,
            },
        };
        let lasts = match work {
            Work::Requests => Duration::ZERO,
            _ => Duration::from_millis(case.count("duration")?),
        };
        let collector = case.text("collector")?.to_string();
        ensure!(work == Work::Requests || !lasts.is_zero(), "no duration: there is nothing to measure");
        ensure!(
            lasts <= MAX_DURATION,
            "a shot lasts {} s: at most {} work",
            lasts.as_secs(),
            MAX_DURATION.as_secs()
        );
        let epsilon = work == Work::Requests && collector == "epsilon";
        ensure!(!epsilon, "epsilon collects nothing, and cannot be asked to");
        match work {
            Work::Threads { sleepers } => check_threads(sleepers, "sleepers")?,
            Work::Handles(handles) => {
                ensure!(handles <= MAX_HANDLES, "{handles} handles: at most {MAX_HANDLES} work");
            }
            _ => {}
        }
        Ok(PressurePlan { work, heap, lasts, collector })
    }

    /// The builder of the heap.
    ///
    /// # Errors
    /// An option does not take its value.
    pub(super) fn builder(&self) -> Result<HeapBuilder, OptionError> {
        let builder = heap_of(&self.collector, self.heap)?;
        if self.work == Work::Shrink { builder.options("UncommitDelay=1000") } else { Ok(builder) }
    }

    /// The threads of the case.
    ///
    /// # Errors
    /// The heap is too small for what they share.
    pub(super) fn parts(&self, heap: &Heap) -> anyhow::Result<Vec<Part>> {
        let (lasts, bytes) = (self.lasts, self.heap);
        Ok(match self.work {
            Work::GiveUp => full::give_up(lasts),
            Work::Humongous => large::humongous(lasts, bytes),
            Work::Innocent => light::innocent(lasts, bytes),
            Work::Burst => light::burst(lasts, bytes),
            Work::Tight => full::tight(lasts, bytes),
            Work::Threads { sleepers } => crowd::threads(lasts, sleepers),
            Work::LongOperations(long) => large::long_operations(lasts, bytes, long),
            Work::Handles(handles) => crowd::handles(lasts, handles),
            Work::Requests => crowd::requests(bytes),
            Work::Shrink => idle::shrink(lasts, bytes),
            Work::Graph { live } => change(lasts, Alone::of(heap, live)?),
        })
    }

    /// Checks that heap and stacks fit into this machine's memory, and that the heap's options take
    /// their values.
    ///
    /// # Errors
    /// Gives the needed and the available bytes, or the option's own message.
    pub(super) fn fits(&self) -> anyhow::Result<()> {
        let sleepers = match self.work {
            Work::Threads { sleepers } => sleepers,
            _ => 0,
        };
        let threads = sleepers + OTHER_THREADS;
        let needed = self.heap.saturating_add(threads * STACK);
        let what = format!("a heap of {} and {}", memory::mebibytes(self.heap), count(threads, "thread"));
        memory::fits(&what, needed, "a smaller one or fewer --sleepers")?;
        collectors::check(&self.collector, self.heap)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::harness::{JmhMode, TimeUnit};

    /// A case in a small heap, for 150 ms.
    pub(in super::super) fn case(mode: &str, collector: &str, heap: &str) -> Case {
        let params = [
            ("collector", collector),
            ("heap", heap),
            ("duration", "150"),
            ("sleepers", "20"),
            ("long", "fill"),
            ("handles", "5000"),
            ("live", "1048576"),
            ("factor", "4"),
        ];
        Case {
            experiment: "pressure".into(),
            mode: mode.into(),
            jmh_mode: JmhMode::SingleShot,
            unit: TimeUnit::Milliseconds,
            threads: 1,
            params: params.map(|(name, value)| (name.into(), value.into())).into(),
        }
    }

    pub(in super::super) fn plan(mode: &str, collector: &str) -> PressurePlan {
        PressurePlan::of(&case(mode, collector, "16777216")).unwrap()
    }

    #[test]
    fn every_case_has_the_heap_of_its_report_unless_another_is_given() {
        for (mode, mebibytes) in [
            ("giveup", 64),
            ("humongous", 512),
            ("innocent", 512),
            ("burst", 512),
            ("tight", 256),
            ("threads", 512),
            ("ttsp", 1536),
            ("rootsmany", 640),
            ("gcstorm", 256),
            ("shrink", 1024),
        ] {
            let own = PressurePlan::of(&case(mode, "parallel", "0")).unwrap();
            assert_eq!(own.heap, mebibytes << 20, "{mode}");
            assert_eq!(plan(mode, "parallel").heap, 16 << 20, "{mode}");
        }
        let graph = PressurePlan::of(&case("graph", "parallel", "0")).unwrap();
        assert!((4 << 20..5 << 20).contains(&graph.heap), "{}", graph.heap);
    }

    #[test]
    fn a_heap_is_built_as_planned() {
        for (mode, delay) in [("shrink", "1000"), ("tight", "5000")] {
            let heap = plan(mode, "genshen").builder().unwrap().build().unwrap();
            assert_eq!((heap.collector(), heap.geometry().heap_bytes()), ("shenandoah", 16 << 20));
            let row = heap.options().rows().find(|row| row.info.name == "UncommitDelay").unwrap();
            assert_eq!(row.value == "1000", delay == "1000", "{mode}: {}", row.value);
        }
    }

    #[test]
    fn every_word_for_large_arrays_is_known() {
        let named: Vec<Long> = Long::WORDS.iter().map(|word| Long::named(word).unwrap()).collect();
        assert_eq!(named, [Long::Make, Long::MakeReferences, Long::Fill, Long::Copy]);
        assert!(Long::named("move").unwrap_err().to_string().contains("make-references"));
    }
}
