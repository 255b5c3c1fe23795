//! Pacing in numbers: the work that a thread owes for the memory that it takes while a cycle runs.
//!
//! A cycle ends in time if the work that is left falls as fast as the free memory. So each byte
//! that a thread takes costs some bytes of work: the *rate* of the levy. This is HotSpot's pacer
//! (`shenandoahPacer.cpp`, up to JDK 25). For a step of the cycle:
//!
//! ```text
//! slack  = free * ShenandoahPacingCycleSlack / 100        half of it costs nothing; for the other
//!                                                        half threads may owe without a wait
//! taxed  = (free - slack) / share of the step
//! rate   = work of the step / taxed * ShenandoahPacingSurcharge
//! ```
//!
//! The work that workers do is *credit*, from which threads pay. A thread that finds too little
//! credit works itself (`assist.rs`), or waits until workers have done more.
//!
//! **Promise.** If threads wait whenever they owe, they take at most `free` bytes in the step, and
//! what a thread takes at once. Proof: the credit of a step is at most its work. So threads pay for
//! at most `work / rate = taxed / surcharge` bytes, and have taken at most `slack` bytes beside.
//!
//! Two things differ from HotSpot. There the credit is one number for all threads, so each thread
//! waits once one thread has taken too much. Here each thread has its part of the slack and a debt
//! of its own, as in Go (Clements and Hudson, 2015). And steps share the memory: in HotSpot marking
//! may use all of it, and nothing is left for the move.
//!
//! Numbers only: no clock, no heap, no thread.

use super::bytes::percent_of;
use crate::mutator::Debt;
use crate::options::Options;
use std::time::Duration;

/// A thread waits in any case when it owes as many bytes of work.
const MOST_OWED: u64 = 64 << 10;

/// Parts of a byte of work in which rates are counted.
const PARTS: u64 = 1 << 10;

/// The options of pacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PacingSettings {
    /// `ShenandoahPacing`.
    pub(super) is_on: bool,
    /// `ShenandoahPacingMaxDelay`: a thread waits at most so long at a safepoint.
    pub(super) max_delay: Duration,
    /// `ShenandoahPacingCycleSlack`: percentage of the free memory.
    pub(super) slack_percent: usize,
    /// `ShenandoahPacingSurcharge`.
    pub(super) surcharge: f64,
}

/// With `ZealCycles` waits are short: many of them begin and end in a small program.
const ZEAL_DELAY: Duration = Duration::from_micros(20);

impl From<&Options> for PacingSettings {
    fn from(options: &Options) -> PacingSettings {
        let delay = Duration::from_millis(options.shenandoah_pacing_max_delay);
        PacingSettings {
            is_on: options.shenandoah_pacing,
            max_delay: if options.zeal_cycles { delay.min(ZEAL_DELAY) } else { delay },
            slack_percent: options.shenandoah_pacing_cycle_slack,
            surcharge: options.shenandoah_pacing_surcharge,
        }
    }
}

/// A step of a cycle for which threads pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacedStep {
    Mark,
    /// Weak slots are cleared, and the set is chosen. No thread can help.
    Choose,
    Evacuate,
    Update,
}

impl PacedStep {
    /// The step may use one part in this many of the memory that is free when it begins. Marking
    /// mostly takes half of the time of a cycle, and an update twice that of the copies before it.
    pub(super) fn share(self) -> usize {
        match self {
            PacedStep::Mark => 2,
            PacedStep::Choose | PacedStep::Evacuate => 3,
            PacedStep::Update => 1,
        }
    }
}

/// The heap when a step begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outlook {
    /// Bytes that threads may yet take. The reserve for copies is not among them.
    pub(super) free_bytes: usize,
    /// Bytes of the objects that the step has to look at.
    pub(super) work_bytes: usize,
    /// Attached threads.
    pub(super) threads: usize,
}

/// The prices of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Levy {
    /// The number of the levy, which differs from those of all recent ones.
    pub(super) number: u32,
    /// Bytes of work for a byte that a thread takes, in [`PARTS`].
    pub(super) rate: u32,
    /// Bytes that each thread takes without paying.
    pub(super) exempt_bytes: u64,
}

impl Levy {
    /// The levy of a step that begins.
    pub(super) fn new(number: u32, step: PacedStep, outlook: Outlook, settings: &PacingSettings) -> Levy {
        let Outlook { free_bytes, work_bytes, threads } = outlook;
        let slack = percent_of(free_bytes, settings.slack_percent);
        let taxed = ((free_bytes - slack) / step.share()).max(1);
        let parts = work_bytes as f64 / taxed as f64 * settings.surcharge * PARTS as f64;
        // Rounded up, and never 0: a thread that pays too little could take too much.
        let rate = (parts.ceil() as u32).max(1);
        Levy { number, rate, exempt_bytes: (slack / step.share() / threads.max(1) / 2) as u64 }
    }

    /// The bytes of work of a debt that is worth a wait. Smaller ones grow.
    pub(super) fn worth_a_wait(&self) -> u64 {
        self.work_for(self.exempt_bytes).clamp(1, MOST_OWED)
    }

    /// Bytes of work for `bytes` that a thread takes.
    fn work_for(&self, bytes: u64) -> u64 {
        let work = (u128::from(bytes) * u128::from(self.rate)).div_ceil(u128::from(PARTS));
        u64::try_from(work).unwrap_or(u64::MAX)
    }

    /// Charges a thread that has ever taken `taken_bytes`, and now takes `bytes` more. Of the bytes
    /// before these, those since the last charge count if that was by the same levy: others may
    /// have been taken before the step.
    pub(super) fn charge(&self, debt: &mut Debt, taken_bytes: u64, bytes: u64) {
        let total = taken_bytes + bytes;
        let mut charged = bytes;
        if debt.levy == self.number {
            charged = total.saturating_sub(debt.charged_bytes);
        } else {
            *debt = Debt { levy: self.number, exempt_bytes: self.exempt_bytes, ..Debt::default() };
        }
        let exempt = charged.min(debt.exempt_bytes);
        debt.exempt_bytes -= exempt;
        debt.charged_bytes = total;
        debt.owed_bytes = debt.owed_bytes.saturating_add(self.work_for(charged - exempt));
    }
}

/// The work of a marking that has done more than was expected: as much again.
pub(super) fn work_beyond(done_bytes: usize, used_bytes: usize) -> usize {
    done_bytes.min(used_bytes.saturating_sub(done_bytes)).max(1)
}
