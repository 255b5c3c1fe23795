//! What to change where the trigger cannot help: a line of the log, once for each cause.
//!
//! A trigger can begin a cycle early, not make it short. If a cycle that begins at once still ends
//! too late, or frees nothing, only the user can change that, and should know what to change.
//! Refused: the line after each such cycle. A log of a thousand equal warnings is not read.

use super::bytes::Shown;
use std::fmt;
use std::time::Duration;

/// Cycles in a row that gain nothing before the log says so.
pub(super) const FRUITLESS: u32 = 4;

/// The causes for which the log has had its line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    slow: bool,
    fruitless: bool,
}

/// Why no trigger can help, with the numbers that show it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Advice {
    /// A cycle that begins as soon as the last one has ended would end too late.
    Slow {
        /// The time of a cycle beside mutators.
        cycle: Duration,
        /// Bytes that mutators allocate in this time.
        demand_bytes: usize,
        /// Bytes that the last cycle left free.
        left_bytes: usize,
    },
    /// Cycles free next to nothing: nearly all new objects live.
    Fruitless {
        /// Cycles in a row.
        cycles: u32,
        /// Bytes that the last cycle left free.
        left_bytes: usize,
    },
}

impl Told {
    /// The advice, if its cause is new.
    pub(super) fn once(&mut self, advice: Advice) -> Option<Advice> {
        let told = match advice {
            Advice::Slow { .. } => &mut self.slow,
            Advice::Fruitless { .. } => &mut self.fruitless,
        };
        (!std::mem::replace(told, true)).then_some(advice)
    }
}

/// The settings that an advice names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setup {
    pub(super) heap_bytes: usize,
    /// `ConcGCThreads`.
    pub(super) workers: usize,
    /// `ParallelGCThreads`.
    pub(super) most_workers: usize,
}

/// An advice as the line of a log.
pub(super) struct Line(pub(super) Advice, pub(super) Setup);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Line(advice, Setup { heap_bytes, workers, most_workers }) = *self;
        let heap = Shown(heap_bytes);
        match advice {
            Advice::Slow { cycle, demand_bytes, left_bytes } => {
                // Objects of one cycle are garbage for the next: both must fit.
                let missing_bytes = demand_bytes.saturating_mul(2).saturating_sub(left_bytes);
                write!(
                    f,
                    "Cycles end too late even if they begin at once: a cycle takes {:.0} ms, in which threads allocate \
                     {}, and {} are free; set MaxHeapSize to {} or more (now {heap})",
                    cycle.as_secs_f64() * 1000.0,
                    Shown(demand_bytes),
                    Shown(left_bytes),
                    Shown(heap_bytes.saturating_add(missing_bytes))
                )?;
                if workers < most_workers {
                    write!(f, ", or ConcGCThreads to up to {most_workers} (now {workers})")?;
                }
                f.write_str(", or let threads allocate less")?;
            }
            Advice::Fruitless { cycles, left_bytes } => write!(
                f,
                "{cycles} cycles in a row freed nearly nothing: nearly all new objects live, and {} are free; set \
                 MaxHeapSize to more (now {heap}), or let threads keep less",
                Shown(left_bytes)
            )?,
        }
        f.write_str("; this warning comes once")
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;
    const SLOW: Advice =
        Advice::Slow { cycle: Duration::from_millis(120), demand_bytes: 240 * MIB, left_bytes: 38 * MIB };

    #[test]
    fn a_line_says_what_to_set() {
        let setup = Setup { heap_bytes: 256 * MIB, workers: 1, most_workers: 2 };
        let expected = "Cycles end too late even if they begin at once: a cycle takes 120 ms, in which threads allocate \
                        240M, and 38M are free; set MaxHeapSize to 698M or more (now 256M), or ConcGCThreads to up to 2 \
                        (now 1), or let threads allocate less; this warning comes once";
        assert_eq!(Line(SLOW, setup).to_string(), expected);
        let all = Setup { workers: 2, ..setup };
        assert!(!Line(SLOW, all).to_string().contains("ConcGCThreads"));
        let advice = Advice::Fruitless { cycles: 4, left_bytes: 30 * MIB };
        let expected = "4 cycles in a row freed nearly nothing: nearly all new objects live, and 30M are free; set \
                        MaxHeapSize to more (now 256M), or let threads keep less; this warning comes once";
        assert_eq!(Line(advice, setup).to_string(), expected);
    }

    #[test]
    fn each_cause_is_told_once() {
        let mut told = Told::default();
        let fruitless = Advice::Fruitless { cycles: 4, left_bytes: 0 };
        assert_eq!(told.once(SLOW), Some(SLOW));
        assert_eq!(told.once(SLOW), None);
        assert_eq!(told.once(fruitless), Some(fruitless));
        assert_eq!(told.once(fruitless), None);
    }
}
