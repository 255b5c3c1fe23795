//! Random numbers: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
//!
//! One addition and two multiplications give a number. Generators whose seeds differ in any bit
//! give unrelated numbers, so threads need no common generator. Refused: a crate of random numbers,
//! for ten lines.

use std::cell::Cell;

/// A generator. Owner only.
#[derive(Debug)]
pub(crate) struct Random(Cell<u64>);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(Cell::new(seed))
    }

    /// The next 64 random bits.
    pub(crate) fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9E37_79B9_7F4A_7C15));
        let mut word = self.0.get();
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    }
}
