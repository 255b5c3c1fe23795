//! Runs of free regions, as the trigger of a cycle sees them.
//!
//! A humongous object needs free regions that are neighbours, so free bytes alone do not tell how
//! many of such objects there is room for. The free set notes the longest run that an allocation
//! wanted, and a trigger asks how much of the free memory is in such runs. A program without
//! humongous objects pays nothing.

use super::committer::Backing;
use super::free_set::FreeSet;
use crate::sync::Ordering;

/// The longest run of regions that an allocation wanted of late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantedRun {
    pub(crate) regions: usize,
    /// Free bytes in runs of that length, at about this moment.
    pub(crate) free_bytes: usize,
}

impl<B: Backing> FreeSet<B> {
    /// Notes that an allocation wants a run of `regions`.
    pub(super) fn want_run(&self, regions: usize) {
        self.wanted_run.fetch_max(regions, Ordering::Relaxed);
    }

    /// The longest run that was wanted since the last call of
    /// [`forget_wanted_run`](Self::forget_wanted_run); `None` if none was.
    pub(crate) fn wanted_run(&self) -> Option<WantedRun> {
        let regions = self.wanted_run.load(Ordering::Relaxed);
        (regions > 0).then(|| {
            let words = (0..self.table.len().div_ceil(64)).map(|number| {
                self.free.iter().fold(self.untouched.word(number), |sum, free| sum | free.word(number))
            });
            let free = regions_in_runs(words, regions);
            WantedRun { regions, free_bytes: free << self.table.geometry().region_shift }
        })
    }

    /// Forgets the runs that were wanted.
    pub(crate) fn forget_wanted_run(&self) {
        self.wanted_run.store(0, Ordering::Relaxed);
    }
}

/// Ones in runs of `length`, which do not overlap. The lowest bit of a word comes first.
fn regions_in_runs(words: impl Iterator<Item = u64>, length: usize) -> usize {
    let (mut sum, mut run) = (0, 0);
    for word in words {
        let mut at = 0;
        while at < 64 {
            let ones = (!(word >> at)).trailing_zeros().min(64 - at);
            (run, at) = (run + ones as usize, at + ones);
            if at < 64 {
                sum += run / length * length;
                run = 0;
                at += (word >> at).trailing_zeros().min(64 - at);
            }
        }
    }
    sum + run / length * length
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_counted_over_the_borders_of_words(
            words in prop::collection::vec(prop_oneof![Just(u64::MAX), Just(0), any::<u64>()], 1..6),
            length in 1..100_usize,
        ) {
            let (mut run, mut expected) = (0, 0);
            for bit in 0..words.len() * 64 {
                run = if words[bit / 64] >> (bit % 64) & 1 == 1 { run + 1 } else { 0 };
                if run == length {
                    (run, expected) = (0, expected + length);
                }
            }
            prop_assert_eq!(regions_in_runs(words.into_iter(), length), expected);
        }
    }
}
