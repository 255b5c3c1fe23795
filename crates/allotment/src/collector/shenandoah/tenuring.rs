//! The age from which an object becomes old when it is copied.
//!
//! An object that will live long should become old soon, because each cycle copies it again. An
//! object that will die soon should stay young, because only a cycle that ends the marking of old
//! objects frees these. So the threshold is the least age above which hardly any object dies. This
//! is HotSpot's rule, with its numbers: marking counts live bytes by age (a *census*), and two
//! censuses in a row tell the mortality of each age.
//!
//! Refused: the rule of `sizing/tenuring.rs`. It weighs copies against full collections, whose cost
//! all threads pay. Here workers pay for both.
//!
//! Numbers only.

use crate::collector::sizing::AGES;
use crate::options::Options;

/// Fewer bytes of an age tell nothing about its mortality: 4 Ki words.
const FEW: u64 = if cfg!(test) { 64 } else { 32 << 10 };
/// The part of the bytes of an age that dies, above which the age is too low.
const MORTALITY: f64 = 0.1;
/// No object becomes old before it has survived a cycle, unless `MaxTenuringThreshold` is 0.
const LEAST: usize = 1;

/// The threshold, and the last census.
#[derive(Clone, Debug)]
pub(super) struct Tenuring {
    threshold: usize,
    /// The highest threshold: `MaxTenuringThreshold`.
    most: usize,
    /// Live bytes by age.
    before: [u64; AGES],
}

impl Tenuring {
    /// Begins with `InitialTenuringThreshold`, or with `MaxTenuringThreshold` if it is lower.
    pub(super) fn new(options: &Options) -> Tenuring {
        let most = options.max_tenuring_threshold.min(AGES - 1);
        Tenuring { threshold: options.initial_tenuring_threshold.min(most), most, before: [0; AGES] }
    }

    /// Cycles that an object survives before it becomes old.
    pub(super) fn threshold(&self) -> u8 {
        self.threshold as u8
    }

    /// Learns from a census: live bytes of young objects by the cycles that they have survived.
    /// Returns the new threshold.
    pub(super) fn observe(&mut self, census: &[u64; AGES]) -> u8 {
        let most = self.most.min(self.threshold + 1);
        let dying = (LEAST..=most).rev().find(|&age| self.dies(age, census));
        self.threshold = dying.map_or(LEAST, |age| age + 1).min(most);
        self.before = *census;
        self.threshold()
    }

    /// Whether many of the objects that would have this age by now have died.
    fn dies(&self, age: usize, census: &[u64; AGES]) -> bool {
        let (before, now) = (self.before[age - 1], census[age]);
        before > FEW && (before.saturating_sub(now)) as f64 > MORTALITY * before as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census(ages: &[u64]) -> [u64; AGES] {
        let mut census = [0; AGES];
        census[..ages.len()].copy_from_slice(ages);
        census
    }

    /// The thresholds after censuses of these bytes.
    fn thresholds(censuses: &[&[u64]]) -> Vec<u8> {
        thresholds_with(&Options::default(), censuses)
    }

    fn thresholds_with(options: &Options, censuses: &[&[u64]]) -> Vec<u8> {
        let mut tenuring = Tenuring::new(options);
        censuses.iter().map(|ages| tenuring.observe(&census(ages))).collect()
    }

    #[test]
    fn the_threshold_is_above_the_last_age_that_dies() {
        const M: u64 = 1 << 20;
        // Nothing is known of any age: one cycle must be enough.
        assert_eq!(thresholds(&[&[M]]), [1]);
        // It rises one by one while the oldest known age still dies.
        let halves: &[u64] = &[8 * M, 4 * M, 2 * M, M];
        assert_eq!(thresholds(&[halves, halves, halves, halves]), [1, 2, 3, 4]);
        // All of age 2 and more survive.
        let survive: &[u64] = &[8 * M, 4 * M, 4 * M, 4 * M];
        assert_eq!(thresholds(&[survive, survive, survive, survive]), [1, 2, 2, 2]);
        // Nobody dies.
        let all: &[u64] = &[M, M, M, M];
        assert_eq!(thresholds(&[all, all, all]), [1, 1, 1]);
        // It falls at once.
        let all_ages: &[u64] = &[8 * M, 4 * M, 4 * M, 4 * M, 4 * M, 4 * M];
        assert_eq!(thresholds(&[halves, halves, halves, halves, all_ages])[3..], [4, 2]);
    }

    #[test]
    fn options_bound_the_threshold() {
        let options = |initial_tenuring_threshold, max_tenuring_threshold| Options {
            initial_tenuring_threshold,
            max_tenuring_threshold,
            ..Options::default()
        };
        for (initial, max, first) in [(7, 15, 7), (3, 15, 3), (7, 2, 2), (7, 0, 0), (0, 15, 0)] {
            assert_eq!(Tenuring::new(&options(initial, max)).threshold(), first, "{initial} {max}");
        }
        let halves: &[u64] = &[8 << 20, 4 << 20, 2 << 20, 1 << 20];
        assert_eq!(thresholds_with(&options(7, 2), &[halves; 4]), [1, 2, 2, 2]);
        assert_eq!(thresholds_with(&options(7, 0), &[halves; 4]), [0, 0, 0, 0]);
    }

    #[test]
    fn few_bytes_say_nothing() {
        assert_eq!(thresholds(&[&[FEW, 0], &[FEW, 0]]), [1, 1]);
        assert_eq!(thresholds(&[&[FEW + 1, 0], &[FEW + 1, 0]]), [1, 2]);
    }
}
