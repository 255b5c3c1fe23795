//! The setting that serves a log's threads best, and what to expect of it.
//!
//! Refills, slow allocations and waste pull in different directions: larger buffers spare the
//! first two and waste more. So each replayed setting gets one cost in bytes:
//!
//! ```text
//! cost = waste + (refills + slow allocations) * 1 KiB
//! ```
//!
//! The factor is an assumption: a thread leaves compiled code at a refill and at a slow allocation
//! alike, for some hundred nanoseconds, and waste brings the next collection nearer. A setting is
//! proposed if it has at most two thirds of the cost of the JVM's own, which is more than the
//! replay is usually wrong by ([`Advice::of`] checks that on the JVM's own settings). Among settings
//! of nearly the same cost the first of the list is taken, which departs least from the defaults.
//!
//! Refused: a rule for each verdict. The setting for slow allocations is the right one only if it
//! does not waste more than they cost.

use super::candidate::{Candidate, JVMS};
use super::log::Log;
use super::replay::{Replay, Replayed};

/// Bytes of waste that cost as much as a refill or a slow allocation.
const CALL: u64 = 1 << 10;

/// The least cost, as a part of the bytes allocated, that a setting is looked for.
const LEAST: f64 = 0.03;

/// The most cost of a proposed setting, as a part of the cost now.
const BETTER: f64 = 2.0 / 3.0;

/// Costs that differ by less are equal.
const NEARLY: f64 = 1.1;

/// The factor by which the replay of the JVM's own settings may differ from its log in refills and
/// slow allocations together, and the factor for waste.
const CALLS_WITHIN: f64 = 1.5;
const WASTE_WITHIN: f64 = 2.0;

/// The costs of buffers between the collections of a log, as logged or as replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllocationCosts {
    /// Buffers given.
    pub refills: u64,
    /// Objects allocated outside of kept buffers.
    pub slow_allocations: u64,
    /// Bytes wasted.
    pub waste: u64,
}

impl AllocationCosts {
    fn calls(&self) -> u64 {
        self.refills.saturating_add(self.slow_allocations)
    }

    fn cost(&self) -> f64 {
        self.waste as f64 + self.calls() as f64 * CALL as f64
    }
}

impl Replayed {
    fn found(&self) -> Option<AllocationCosts> {
        let slow_allocations = self.slow_allocations?;
        Some(AllocationCosts { refills: self.refills, slow_allocations, waste: self.waste() })
    }
}

/// The advice for a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Advice {
    /// Set the flags of a candidate.
    Set {
        /// The setting.
        candidate: Candidate,
        /// The costs to expect.
        expected: AllocationCosts,
        /// The costs in the log.
        found: AllocationCosts,
    },
    /// Change nothing: the JVM's settings are right.
    Keep {
        /// The JVM's settings.
        own: Candidate,
    },
    /// Nothing can be said, for this reason.
    Unknown(String),
}

impl Advice {
    /// Chooses from the settings that a JVM has. `own` are those of the log's JVM.
    pub fn of(log: &Log, replay: &Replay<'_>, own: &Candidate) -> Advice {
        let found = log.cycles.found;
        if log.cycles.is_empty() {
            return Advice::Unknown("it takes a collection to know what buffers cost".into());
        }
        let cost = found.cost() / log.cycles.allocated().max(1) as f64;
        if cost < LEAST {
            return Advice::Keep { own: own.clone() };
        }
        let Some(now) = replay.run(own).found() else {
            return Advice::Unknown(
                "too few lines tell the sizes of objects (`compute_size`, with -Xlog:gc+tlab=trace since JDK 9)"
                    .into(),
            );
        };
        if !is_within(now.calls(), found.calls(), CALLS_WITHIN)
            || !is_within(now.waste, found.waste, WASTE_WITHIN)
        {
            let why = if log.jvms() > 1 {
                "the log is of several JVMs, whose settings may differ; give each one's by itself, such as \
                 `cat tlab.log | allotment tlab-log -`"
            } else {
                "if the JVM did not run with the defaults, name its settings, such as --settings=MinTLABSize=8k"
            };
            return Advice::Unknown(format!(
                "a replay of {} gives {} refills, {} slow allocations and {} of waste, where the log has {}, {} and {}, \
                 so the effect of other settings cannot be predicted; {why}",
                own.name,
                about(now.refills),
                about(now.slow_allocations),
                bytes(now.waste),
                found.refills,
                found.slow_allocations,
                bytes(found.waste),
            ));
        }
        // A list of this file's own, whose settings go with any that were checked.
        let tried: Vec<(Candidate, AllocationCosts)> = JVMS
            .split(';')
            .filter_map(|text| own.with(text).ok()?.pop())
            .filter_map(|candidate| Some((replay.run(&candidate).found()?, candidate)))
            .map(|(found, candidate)| (candidate, found))
            .collect();
        let least = tried.iter().map(|(_, found)| found.cost()).fold(f64::INFINITY, f64::min);
        let better = |(_, found): &(Candidate, AllocationCosts)| {
            found.cost() <= least * NEARLY && found.cost() <= now.cost() * BETTER
        };
        match tried.into_iter().find(better) {
            Some((candidate, expected)) => Advice::Set { candidate, expected, found },
            None => Advice::Keep { own: own.clone() },
        }
    }

    /// The answer, in a sentence.
    pub fn sentence(&self) -> String {
        match self {
            Advice::Unknown(why) => format!("no setting is proposed: {why}"),
            Advice::Keep { own } => format!(
                "{} right: no other setting is expected to spare a third of the refills, slow allocations and waste",
                if *own == Candidate::default() { "the defaults are" } else { "the JVM's settings are" },
            ),
            Advice::Set { candidate, expected, found } => format!(
                "set {}{}; expect about {} slow allocations instead of {}, {} refills instead of {}, and {} of waste \
                 instead of {}",
                candidate.flags,
                candidate.also(),
                about(expected.slow_allocations),
                found.slow_allocations,
                about(expected.refills),
                found.refills,
                bytes(expected.waste),
                bytes(found.waste),
            ),
        }
    }
}

/// Whether two numbers differ by at most a factor. Below a hundred calls or KiB nothing is compared.
fn is_within(one: u64, other: u64, factor: f64) -> bool {
    const LITTLE: f64 = 100.0;
    let (one, other) = (one as f64 + LITTLE, other as f64 + LITTLE);
    one <= other * factor && other <= one * factor
}

/// A number with two digits that are known.
fn about(number: u64) -> u64 {
    let unit = 10_u64.pow(number.max(1).ilog10().saturating_sub(1));
    (number.saturating_add(unit / 2)) / unit * unit
}

/// A size in readable form: three digits, binary units.
pub fn bytes(bytes: u64) -> String {
    bytes_in(["", "k", "m", "g", "t"], bytes as f64)
}

/// A size with three digits in the largest of these units that suits it, each 1024 times the one
/// before.
pub(crate) fn bytes_in(units: [&str; 5], bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, 0);
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = if unit == 0 || value >= 99.95 { 0 } else { 1 };
    format!("{value:.digits$}{}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of one thread: in each of 20 cycles of 1 MiB it takes buffers of 2 KiB and sends
    /// `outside` objects past each. Every object that waits has `object` words.
    fn log(outside: u64, object: u64) -> Log {
        let mut log = Log::default();
        let mut line = |text: String| log.line(text.as_bytes(), true);
        for gc in 0..20 {
            for refills in 1..=512_u64 {
                let slow = (refills - 1) * outside;
                line(format!(
                    "[{gc}.1s][trace][gc,tlab] ThreadLocalAllocBuffer::compute_size({object}) returns 256"
                ));
                line(format!(
                    "[{gc}.1s][trace][gc,tlab] TLAB: fill thread: 0x1 [id: 1] desired_size: 2KB slow allocs: {slow}  refill waste: 32B alloc: 0.01000     1024KB refills: {refills} waste  1.0% gc: 0B slow: {}B",
                    refills * 20
                ));
            }
            line(format!(
                "[{gc}.2s][trace][gc,tlab] GC({gc}) TLAB: gc thread: 0x1 [id: 1] desired_size: 2KB slow allocs: {}  refill waste: 32B alloc: 1.00000     1024KB refills: 512 waste  1.0% gc: 0B slow: 10240B",
                511 * outside
            ));
            line(format!(
                "[{gc}.2s][trace][gc,tlab] GC({gc}) TLAB new size: thread: 0x1 [id: 1] refills 50  alloc: 0.010000 desired_size: 256 -> 256"
            ));
        }
        log.finish();
        log
    }

    fn advice(log: &Log, own: &str) -> Advice {
        let own = Candidate::one(own).unwrap();
        Advice::of(log, &Replay::new(&log.cycles, &own, 2 << 10), &own)
    }

    #[test]
    fn buffers_that_are_too_small_get_a_larger_setting_and_others_none() {
        let tiny = log(0, 8);
        // The JVM had small buffers because its user set them.
        let own = "TLABSize=2k,ResizeTLAB=false";
        let Advice::Set { expected, found, candidate } = advice(&tiny, own) else {
            panic!("{:?}", advice(&tiny, own))
        };
        assert_eq!(found.refills, 20 * 512);
        assert!(expected.refills < found.refills / 2, "{candidate:?}: {expected:?}");
        let said = advice(&tiny, own).sentence();
        assert!(said.starts_with("set -XX:") && said.contains("refills instead of 10240"), "{said}");
        // With HotSpot's defaults that thread would have had other buffers.
        let said = advice(&tiny, "TLABPolicy=hotspot").sentence();
        assert!(said.contains("cannot be predicted") && said.contains("--settings="), "{said}");
        // Objects outside that the sizes of objects do not explain.
        let said = advice(&log(50, 8), own).sentence();
        assert!(said.contains("cannot be predicted"), "{said}");
    }

    #[test]
    fn a_log_without_collections_or_objects_has_no_proposal() {
        let mut empty = Log::default();
        empty.finish();
        assert!(advice(&empty, "TLABPolicy=hotspot").sentence().contains("it takes a collection"));
        let mut bare = log(0, 8);
        bare.cycles.waiting = super::super::objects::WaitingObjects::default();
        assert!(advice(&bare, "TLABPolicy=hotspot").sentence().contains("compute_size"));
    }

    #[test]
    fn numbers_are_rounded_to_what_is_known() {
        assert_eq!([0, 7, 42, 123, 128_072].map(about), [0, 7, 42, 120, 130_000]);
        assert!(is_within(0, 50, 1.5) && is_within(1000, 1400, 1.5) && !is_within(1000, 1700, 1.5));
    }
}
