//! The protocols, and the states in which a core holds a line.

use clap::ValueEnum;
use std::fmt;

/// Which messages keep the copies of a line equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Protocol {
    /// A modified line that another core reads is written back; clean lines come from the shared cache.
    Mesi,
    /// One of the sharers, the newest, answers readers.
    Mesif,
    /// A modified line that another core reads stays where it is, and its core answers readers.
    Moesi,
}

impl fmt::Display for Protocol {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Protocol::Mesi => "mesi",
            Protocol::Mesif => "mesif",
            Protocol::Moesi => "moesi",
        })
    }
}

/// How a core holds a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum State {
    /// Not at all.
    Invalid,
    /// Clean or, beside an owner, equal to the owner's copy; others may have it.
    Shared,
    /// Shared, and the one that answers readers (MESIF).
    Forward,
    /// Clean, and the only copy.
    Exclusive,
    /// Modified and shared: the one that answers readers, and that writes back (MOESI).
    Owned,
    /// Modified, and the only copy.
    Modified,
}

impl State {
    /// Number of states.
    pub const COUNT: usize = 6;

    /// Whether a store needs no message.
    pub fn is_writable(self) -> bool {
        matches!(self, State::Exclusive | State::Modified)
    }

    /// Whether the home's copy is older.
    pub fn is_dirty(self) -> bool {
        matches!(self, State::Owned | State::Modified)
    }
}
