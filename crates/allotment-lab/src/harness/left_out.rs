//! What is not measured, and why.
//!
//! A point without sense is said with the progress of a run, since the user's own values made it. A
//! point that another machine would measure is a warning, since the experiment is smaller here.

use super::Case;
use crate::machine::NeedsX86_64;
use std::fmt;

/// Points of the grid that are left out: a sentence for each benchmark and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    benchmark: String,
    reason: Reason,
}

/// Why a point of the grid is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The point makes no sense.
    Senseless(String),
    /// The point makes sense on another machine.
    Machine(NeedsX86_64),
}

impl LeftOut {
    /// A case that is left out.
    pub(super) fn new(case: &Case, reason: Reason) -> LeftOut {
        LeftOut { benchmark: case.benchmark(), reason }
    }

    /// Whether the point would be measured on another machine.
    pub fn is_for_another_machine(&self) -> bool {
        matches!(self.reason, Reason::Machine(_))
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} left out: {}", self.benchmark, self.reason)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Senseless(why) => formatter.write_str(why),
            Reason::Machine(why) => why.fmt(formatter),
        }
    }
}
