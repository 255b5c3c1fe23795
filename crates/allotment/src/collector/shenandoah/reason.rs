//! Why a cycle begins, with the numbers that decided.
//!
//! A reason is a value, and becomes text only when it is printed: in the form of HotSpot's lines
//! `Trigger: ...`, which readers of its logs know. Refused: the text alone. A test could not see
//! the rule that decided, and a heap without a log would format in vain.

use super::bytes::Shown;
use std::fmt;
use std::time::Duration;

/// The rule by which a cycle begins.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Less is free than the least that should be.
    MinFree {
        /// Bytes that are free.
        free_bytes: usize,
        /// Bytes that should be free.
        least_bytes: usize,
    },
    /// One of the first cycles, from which later ones are judged.
    Learning {
        /// The number of this cycle, from 1.
        step: usize,
        /// Cycles to learn from.
        steps: usize,
        /// Bytes that are free.
        free_bytes: usize,
        /// Bytes below which such a cycle begins.
        least_bytes: usize,
    },
    /// While a recent cycle ran, mutators took more than the headroom.
    Demand {
        /// Bytes that they took.
        demand_bytes: usize,
        /// The bytes that they may allocate.
        headroom: Headroom,
    },
    /// At the mean rate, mutators would allocate the headroom before a cycle ends.
    AverageRate {
        /// The time of a cycle, with a margin.
        cycle: Duration,
        /// Bytes a second that mutators allocate, with a margin.
        rate: f64,
        /// The bytes that they may allocate.
        headroom: Headroom,
        /// The margins, in standard deviations.
        margin: f64,
    },
    /// At the rate of the last moment, which is unusual, they would.
    Spike {
        /// The time of a cycle, with a margin.
        cycle: Duration,
        /// Bytes a second that mutators allocate.
        rate: f64,
        /// The bytes that they may allocate.
        headroom: Headroom,
        /// Standard deviations above which a rate is unusual.
        threshold: f64,
    },
    /// Little is free in runs of regions for humongous objects.
    Runs {
        /// Regions of a run.
        regions: usize,
        /// Bytes that are free in such runs.
        free_bytes: usize,
        /// Bytes that should be free there.
        least_bytes: usize,
    },
    /// The last cycle was long ago.
    GuaranteedInterval {
        /// The time since it ended.
        since: Duration,
        /// The longest time between two cycles.
        interval: Duration,
    },
}

/// The memory that mutators may allocate while a cycle runs: free memory, less two parts of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Bytes that are free.
    pub free_bytes: usize,
    /// Bytes that are kept back for bursts of allocation: `ShenandoahAllocSpikeFactor`.
    pub spike_bytes: usize,
    /// Bytes that are kept back because cycles ended too late.
    pub penalty_bytes: usize,
}

impl Headroom {
    /// The bytes that mutators may allocate.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.free_bytes.saturating_sub(self.spike_bytes).saturating_sub(self.penalty_bytes)
    }
}

impl fmt::Display for Headroom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (free, spike, penalty) =
            (Shown(self.free_bytes), Shown(self.spike_bytes), Shown(self.penalty_bytes));
        write!(f, "{}: {free} free - {spike} spike - {penalty} penalties", Shown(self.bytes()))
    }
}

/// A time in milliseconds.
fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trigger: ")?;
        match self {
            Reason::MinFree { free_bytes, least_bytes } => {
                let (free, least) = (Shown(*free_bytes), Shown(*least_bytes));
                write!(f, "Free ({free}) is below minimum threshold ({least})")
            }
            Reason::Learning { step, steps, free_bytes, least_bytes } => {
                let (free, least) = (Shown(*free_bytes), Shown(*least_bytes));
                write!(f, "Learning {step} of {steps}. Free ({free}) is below initial threshold ({least})")
            }
            Reason::Demand { demand_bytes, headroom } => write!(
                f,
                "Free headroom ({headroom}) is below the allocation during a recent GC ({})",
                Shown(*demand_bytes)
            ),
            Reason::AverageRate { cycle, rate, headroom, margin } => write!(
                f,
                "Average GC time ({:.2} ms) is above the time for average allocation rate ({}/s) to deplete free headroom \
                 ({headroom}) (margin of error = {margin:.2})",
                ms(*cycle),
                Shown(*rate as usize),
            ),
            Reason::Spike { cycle, rate, headroom, threshold } => write!(
                f,
                "Average GC time ({:.2} ms) is above the time for instantaneous allocation rate ({}/s) to deplete free \
                 headroom ({headroom}) (spike threshold = {threshold:.2})",
                ms(*cycle),
                Shown(*rate as usize),
            ),
            Reason::Runs { regions, free_bytes, least_bytes } => {
                let (free, least) = (Shown(*free_bytes), Shown(*least_bytes));
                write!(f, "Free in runs of {regions} regions ({free}) is below threshold ({least})")
            }
            Reason::GuaranteedInterval { since, interval } => write!(
                f,
                "Time since last GC ({:.0} ms) is larger than guaranteed interval ({:.0} ms)",
                ms(*since),
                ms(*interval),
            ),
        }
    }
}
