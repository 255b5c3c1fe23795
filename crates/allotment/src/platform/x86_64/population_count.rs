//! The population count of x86-64, in builds that may not assume it.
//!
//! The first processors of the architecture lacked `POPCNT`. So without a flag the compiler emits a
//! dozen instructions for each slot that is updated.
//!
//! Refused: a second copy of the update for processors with `POPCNT`. Its closures may not be
//! compiled for these processors, and no rule guarantees that they are.

use core::arch::asm;

/// Counts bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PopulationCount {
    /// Whether this processor has `POPCNT`.
    instruction: bool,
}

impl PopulationCount {
    pub(crate) fn detect() -> PopulationCount {
        PopulationCount { instruction: std::arch::is_x86_feature_detected!("popcnt") }
    }

    /// The number of set bits.
    #[inline(always)]
    pub(crate) fn of(self, bits: u64) -> usize {
        if !self.instruction {
            return bits.count_ones() as usize;
        }
        let count: u64;
        // SAFETY: the processor has the instruction, which reads and writes registers only.
        unsafe { asm!("popcnt {}, {}", out(reg) count, in(reg) bits, options(pure, nomem, nostack)) };
        count as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn both_ways_count_the_same(bits: u64) {
            let without = PopulationCount { instruction: false };
            assert_eq!(PopulationCount::detect().of(bits), without.of(bits));
        }
    }
}
