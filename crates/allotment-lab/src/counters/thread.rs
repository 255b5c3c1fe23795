//! A thread's counters. The thread itself opens them, and starts and stops them around the measured
//! window.

use super::{CounterPlan, Group, Reading, Refusal, Snapshot, Usage};
use std::io;

/// The counters of the thread that opened them.
#[derive(Debug)]
pub struct ThreadCounters {
    groups: Vec<Group>,
    usage: Vec<Usage>,
    before: Option<Snapshot>,
}

impl ThreadCounters {
    /// Opens a plan's events for the calling thread.
    ///
    /// # Errors
    /// [`Refusal`] of an event that was available when the plan was made.
    pub fn open(plan: &CounterPlan) -> Result<ThreadCounters, Refusal> {
        let group = |events: &Vec<super::Event>| {
            Group::open(&events.iter().map(|event| event.attribute).collect::<Vec<_>>())
        };
        let groups = plan.groups.iter().map(group).collect::<Result<_, _>>()?;
        Ok(ThreadCounters { groups, usage: plan.usage.clone(), before: None })
    }

    /// Begins to count.
    ///
    /// # Errors
    /// The system's error.
    pub fn start(&mut self) -> io::Result<()> {
        // The processor's counters start last: they would count the system calls in between.
        self.before = Some(Snapshot::read());
        self.groups.iter_mut().try_for_each(Group::start)
    }

    /// Ends counting. Returns the counts since the start, in the order of [`CounterPlan::labels`], without
    /// counts that are not per thread.
    ///
    /// # Errors
    /// The system's error.
    pub fn stop(&mut self) -> io::Result<Vec<Reading>> {
        // The groups stop in reverse order of their start, so a group counts only the stops of the
        // groups inside it.
        let mut readings: Vec<Vec<Reading>> =
            self.groups.iter_mut().rev().map(Group::stop).collect::<io::Result<_>>()?;
        readings.reverse();
        let (before, after) = (self.before.take(), Snapshot::read());
        let used = |usage: &Usage| before.and_then(|before| after.since(&before, *usage));
        Ok(readings.into_iter().flatten().chain(self.usage.iter().filter_map(used)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::usage::fresh_pages;
    use super::*;

    #[test]
    fn what_happens_in_between_is_counted() {
        let plan =
            CounterPlan { groups: vec![], usage: vec![Usage::MinorFaults, Usage::Steal, Usage::TaskClock] };
        let mut counters = ThreadCounters::open(&plan).unwrap();
        for pages in [100, 200] {
            counters.start().unwrap();
            fresh_pages(pages);
            let [faults, time] = counters.stop().unwrap()[..] else {
                panic!("two of three are the thread's")
            };
            assert!((pages as u64..pages as u64 + 20).contains(&faults.count), "{faults:?}");
            assert!(time.count > 0);
        }
    }

    #[test]
    fn a_plan_that_cannot_be_had_is_refused() {
        let event = super::super::Event::coded("rffffffffffffffff").unwrap();
        let plan = CounterPlan { groups: vec![vec![event]], usage: vec![] };
        assert!(ThreadCounters::open(&plan).is_err());
    }
}
