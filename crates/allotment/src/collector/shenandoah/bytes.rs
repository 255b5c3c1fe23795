//! Percentages of sizes, and sizes in words.
//!
//! Log lines show sizes as HotSpot's do: whole numbers, in the largest unit of which there are at
//! least ten. Refused: the notation of the option table, which is exact. `50331647` is hard to read
//! in a log, and no program reads it back.

use std::fmt;

/// `percent` percent of `bytes`, rounded down.
pub(super) fn percent_of(bytes: usize, percent: usize) -> usize {
    (bytes as u128 * percent as u128 / 100).min(usize::MAX as u128) as usize
}

/// A number of bytes as log lines show it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shown(pub(super) usize);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("G", 30), ("M", 20), ("K", 10)];
        match units.iter().find(|(_, shift)| self.0 >> shift >= 10) {
            Some((unit, shift)) => write!(f, "{}{unit}", self.0 >> shift),
            None => write!(f, "{}B", self.0),
        }
    }
}
