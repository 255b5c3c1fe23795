//! The account of a whole cycle: its cause, its scope, and its results so far.
//!
//! Data that only passes from one step to the next is in the value of the step (`cycle/`).

use super::scope::Scope;
use crate::collector::concurrent::Found;
use crate::collector::kernel::Phase;
use crate::collector::record::CycleDetails;
use crate::mutator::Cause;
use std::time::Duration;

/// The account of a cycle under way, or of the last one.
pub(super) struct Account {
    pub(super) cause: Cause,
    pub(super) scope: Scope,
    /// When the cycle began, in the heap's age.
    pub(super) start: Duration,
    /// Bytes in use when the cycle began.
    pub(super) used_before: usize,
    pub(super) before: Before,
    /// Pauses and the parts between them.
    pub(super) phases: Vec<Phase>,
    pub(super) record: CycleDetails,
    /// The counts of marking, after it has ended.
    pub(super) found: Found,
    /// Weak slots that became null.
    pub(super) weak_cleared: u64,
    /// Marking has lost entries: a full collection follows.
    pub(super) lost: bool,
    /// The set stays where it is: a move does not pay.
    pub(super) skips_set: bool,
    pub(super) old: OldAccount,
}

/// The heap when a collection began, for what it gains.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Before {
    /// Bytes of regions in use.
    pub(super) in_use_bytes: usize,
    /// Bytes of regions that were ever taken to be allocated in.
    pub(super) taken_bytes: u64,
    /// Regions that may be in use before a cycle begins.
    pub(super) goal_regions: usize,
}

/// The results of a cycle for old objects.
#[derive(Default)]
pub(super) struct OldAccount {
    /// Old regions in the final set.
    pub(super) set_regions: usize,
    /// Bytes that copies took in old regions.
    pub(super) copied_bytes: usize,
    /// Young regions that became old as they were.
    pub(super) promoted_regions: usize,
}

impl Account {
    /// The account of a cycle that begins at `start`, in the heap's age, with `used_before` bytes
    /// in use.
    pub(super) fn new(cause: Cause, scope: Scope, start: Duration, used_before: usize) -> Account {
        Account {
            cause,
            scope,
            start,
            used_before,
            before: Before::default(),
            phases: Vec::new(),
            record: CycleDetails::default(),
            found: Found::default(),
            weak_cleared: 0,
            lost: false,
            skips_set: false,
            old: OldAccount::default(),
        }
    }

    /// Adds a phase. The parts of an interrupted step are one phase, from the first begin to the
    /// last end.
    pub(super) fn add_phase(&mut self, phase: Phase) {
        match self.phases.last_mut() {
            Some(last) if last.name == phase.name => last.time = phase.end() - last.start,
            _ => self.phases.push(phase),
        }
    }

    /// Adds a stop of the cycle, and the time to its safepoint.
    pub(super) fn add_pause(&mut self, pause: Phase, time_to_safepoint: Duration) {
        self.record.pauses.push(pause);
        self.record.times_to_safepoint.push(time_to_safepoint);
    }

    /// Gives the last stop its whole time, unless the cycle has ended since.
    pub(super) fn lengthen_pause(&mut self, pause: Phase) {
        let (phases, pauses) = (&mut self.phases, &mut self.record.pauses);
        for last in [phases.last_mut(), pauses.last_mut()].into_iter().flatten() {
            if last.start == pause.start {
                last.time = pause.time;
            }
        }
    }
}
