//! The protocols, and the states in which a core holds a line.
//!
//! MESIF is by Goodman and Hum (2009), MOESI by Sweazey and Smith (1986).

use clap::ValueEnum;

/// The protocol that keeps the copies of a line equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Protocol {
    /// A modified line that another core reads is written back; clean lines come from the shared
    /// cache.
    Mesi,
    /// One of the sharers, the newest, answers readers.
    Mesif,
    /// A modified line that another core reads stays where it is, and its core answers readers.
    Moesi,
}

/// How a core holds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The core has no copy.
    Invalid,
    /// Clean or, beside an owner, equal to the owner's copy; others may have it.
    Shared,
    /// Shared, and this core answers readers (MESIF).
    Forward,
    /// Clean, and the only copy.
    Exclusive,
    /// Modified and shared; this core answers readers and writes the line back (MOESI).
    Owned,
    /// Modified, and the only copy.
    Modified,
}

impl State {
    /// Whether a store needs no message to other cores.
    pub fn is_writable(self) -> bool {
        matches!(self, State::Exclusive | State::Modified)
    }

    /// Whether the home's copy is older than this one.
    pub fn is_dirty(self) -> bool {
        matches!(self, State::Owned | State::Modified)
    }
}
