//! The counters and samples of a measuring thread, besides the clock.
//!
//! A watcher belongs to a measuring thread. It works at the beginning and at the end of the measured
//! window, and not within, so a run with counters runs the same instructions as one without.

use super::SecondaryValue;
use crate::counters::{CounterPlan, Reading, ThreadCounters, Total, Usage};
use crate::profile::{Clock, Samples, ThreadSampler};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::io;
use std::time::Duration;

/// The choice of counters and samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Counters, if any.
    pub counters: Option<CounterPlan>,
    /// Whether measuring threads are sampled, so that the fork sends a profile.
    pub profile: bool,
}

/// The time between two samples of a thread: 1500 in an iteration of the usual 300 ms.
const INTERVAL: Duration = Duration::from_micros(200);

/// The watcher of the thread that made it.
#[derive(Debug, Default)]
pub(super) struct Watcher {
    counters: Option<ThreadCounters>,
    sampler: Option<ThreadSampler>,
    seen: Seen,
    failed: Option<io::Error>,
}

/// The readings of a window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// In the order of the plan's labels.
    pub(super) readings: Vec<Reading>,
    /// The samples, and the clock that triggered them.
    pub(super) samples: Option<(Samples, Clock)>,
}

impl Watcher {
    /// Opens the counters and the sampler.
    ///
    /// # Errors
    /// A counter is no longer available, or the system gives no clock for samples.
    pub(super) fn new(watch: &Watch) -> anyhow::Result<Watcher> {
        let counters = watch.counters.as_ref().map(ThreadCounters::open).transpose();
        let sampler = watch.profile.then(|| ThreadSampler::new(INTERVAL)).transpose();
        Ok(Watcher {
            counters: counters.context("cannot open the counters")?,
            sampler: sampler.context("this system gives no clock to sample by")?,
            ..Watcher::default()
        })
    }

    /// Runs a measured window.
    pub(super) fn around<R>(&mut self, window: impl FnOnce() -> R) -> R {
        if self.counters.is_none() && self.sampler.is_none() {
            return window();
        }
        let started = self.start();
        let result = window();
        match started.and_then(|()| self.stop()) {
            Ok(seen) => self.seen = seen,
            Err(error) => self.failed = Some(error),
        }
        result
    }

    fn start(&mut self) -> io::Result<()> {
        self.sampler.as_mut().map_or(Ok(()), ThreadSampler::start)?;
        self.counters.as_mut().map_or(Ok(()), ThreadCounters::start)
    }

    fn stop(&mut self) -> io::Result<Seen> {
        let readings = self.counters.as_mut().map_or(Ok(Vec::new()), ThreadCounters::stop)?;
        let samples = match &mut self.sampler {
            Some(sampler) => Some((sampler.stop()?, sampler.clock())),
            None => None,
        };
        Ok(Seen { readings, samples })
    }

    /// The readings of the last window.
    ///
    /// # Errors
    /// A counter or the sampler could not be started, stopped or read.
    pub(super) fn seen(&mut self) -> anyhow::Result<Seen> {
        match self.failed.take() {
            Some(error) => Err(error).context("cannot count or sample"),
            None => Ok(std::mem::take(&mut self.seen)),
        }
    }
}

/// The counts of all threads in an iteration, per operation of the same windows. `stolen` is the
/// stolen time of the iteration in milliseconds.
pub(super) fn metrics<'a>(
    plan: &CounterPlan,
    threads: impl Iterator<Item = &'a [Reading]> + Clone,
    operations: u64,
    stolen: Option<f64>,
) -> Vec<SecondaryValue> {
    let total = |index: usize| -> Total {
        threads.clone().filter_map(|readings| readings.get(index)).map(|reading| Total::from(*reading)).sum()
    };
    let totals: Vec<(&str, Total)> =
        plan.labels().enumerate().map(|(index, label)| (label, total(index))).collect();
    let unit =
        |label: &str| Usage::ALL.into_iter().find(|usage| usage.name() == label).map_or("#/op", Usage::unit);
    let mut values = Vec::new();
    for (label, total) in &totals {
        if let Some(each) = total.per_operation(operations) {
            values.push(SecondaryValue::average(label, unit(label), each));
        }
    }
    let count = |label| {
        let found =
            totals.iter().find(|(known, total)| *known == label && !total.missing && total.count > 0.0);
        found.map(|(_, total)| total.count)
    };
    if let (Some(cycles), Some(instructions)) = (count("cycles"), count("instructions")) {
        values.push(SecondaryValue::average("CPI", "clks/insn", cycles / instructions));
        values.push(SecondaryValue::average("IPC", "insns/clk", instructions / cycles));
    }
    let unseen = totals.iter().map(|(_, total)| total.unseen).fold(0.0, f64::max);
    if unseen > 0.0 {
        values.push(SecondaryValue::maximum("multiplexed", "%", unseen * 100.0));
    }
    if let (true, Some(stolen)) = (plan.usage.contains(&Usage::Steal), stolen) {
        values.push(SecondaryValue::sum(Usage::Steal.name(), Usage::Steal.unit(), stolen));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counters::{Event, Snapshot, wait_times};

    fn plan(names: &[&str], usage: &[Usage]) -> CounterPlan {
        let events = names.iter().map(|name| Event::named(name).unwrap()).collect();
        CounterPlan { groups: vec![events], usage: usage.to_vec() }
    }

    fn of(values: &[SecondaryValue]) -> Vec<(&str, &str, f64)> {
        values.iter().map(|value| (value.label.as_str(), value.unit.as_str(), value.value)).collect()
    }

    #[test]
    fn counts_are_divided_by_all_threads_operations() {
        let plan = plan(&["cycles", "instructions"], &[Usage::MinorFaults, Usage::TaskClock, Usage::Steal]);
        let thread = |cycles, instructions| [cycles, instructions, 5, 1000].map(Reading::whole);
        let threads = [thread(300, 600), thread(100, 200)];
        let values = metrics(&plan, threads.iter().map(|thread| &thread[..]), 100, Some(20.0));
        assert_eq!(
            of(&values),
            [
                ("cycles", "#/op", 4.0),
                ("instructions", "#/op", 8.0),
                ("minor-faults", "#/op", 0.1),
                ("task-clock", "ns/op", 20.0),
                ("CPI", "clks/insn", 0.5),
                ("IPC", "insns/clk", 2.0),
                ("steal", "ms", 20.0),
            ]
        );
    }

    #[test]
    fn what_took_turns_says_so_and_what_never_had_one_is_left_out() {
        let plan = plan(&["cycles", "instructions", "branches"], &[]);
        let thread = [
            Reading { count: 100, enabled: 10, running: 10 },
            Reading { count: 100, enabled: 10, running: 4 },
            Reading { count: 0, enabled: 10, running: 0 },
        ];
        let values = metrics(&plan, [&thread[..]].into_iter(), 50, None);
        assert_eq!(
            of(&values),
            [
                ("cycles", "#/op", 2.0),
                ("instructions", "#/op", 5.0),
                ("CPI", "clks/insn", 0.4),
                ("IPC", "insns/clk", 2.5),
                ("multiplexed", "%", 100.0),
            ]
        );
    }

    #[test]
    fn nothing_is_watched_unless_asked_for() {
        let mut watcher = Watcher::new(&Watch::default()).unwrap();
        assert_eq!(watcher.around(|| 7), 7);
        assert_eq!(watcher.seen().unwrap(), Seen::default());
    }

    #[test]
    fn the_window_alone_is_counted() {
        let plan = CounterPlan { groups: vec![], usage: vec![Usage::Voluntary] };
        let mut watcher = Watcher::new(&Watch { counters: Some(plan), profile: false }).unwrap();
        wait_times(50);
        let inside = watcher.around(|| {
            let before = Snapshot::read();
            wait_times(3);
            Snapshot::read().since(&before, Usage::Voluntary).unwrap().count
        });
        let [switches] = watcher.seen().unwrap().readings[..] else { panic!("one reading") };
        // Beginning and ending the count may wait for a page or two.
        assert!((inside..inside + 20).contains(&switches.count), "{switches:?}, inside {inside}");
        assert_eq!(watcher.seen().unwrap(), Seen::default(), "a window is read once");
    }
}
