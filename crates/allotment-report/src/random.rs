//! Pseudo-random numbers that are the same in every run.
//!
//! A workload draws numbers within the measured code, and its figures are compared with those of
//! other days. So the generator is Marsaglia's xorshift (2003), which has three shifts. Refused: a
//! crate, whose generator may change.

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence number `seed`.
    pub fn new(seed: u64) -> Random {
        // Odd, and so not 0 for any seed; a generator with state 0 would stay at 0.
        Random(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed.wrapping_mul(2).wrapping_add(1)))
    }

    /// A number except 0.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`; 0 if that is 0. Uses the upper half of a drawn number, so for limits
    /// far below 2^32.
    #[inline]
    pub fn below(&mut self, limit: usize) -> usize {
        (((self.draw() >> 32) * limit as u64) >> 32) as usize
    }

    /// A number from `low` to `high`, as often between 8 and 16 as between 512 and 1024.
    pub fn logarithmic(&mut self, low: usize, high: usize) -> usize {
        let part = (self.draw() >> 11) as f64 / (1_u64 << 53) as f64;
        let drawn = low as f64 * (high as f64 / low as f64).powf(part);
        (drawn as usize).clamp(low, high)
    }

    /// Fisher and Yates' shuffle.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, (self.draw() % (last as u64 + 1)) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_stay_in_their_limits(seed in 0..1_u64 << 63, limit in 1..1_usize << 20, low in 1..5000_usize) {
            let mut random = Random::new(seed);
            for _ in 0..50 {
                prop_assert!(random.below(limit) < limit);
                let drawn = random.logarithmic(low, low + limit);
                prop_assert!((low..=low + limit).contains(&drawn));
            }
            prop_assert_eq!(random.below(0), 0);
        }

        #[test]
        fn a_seed_is_a_sequence(seed in 0..1_u64 << 63) {
            let draw = |seed| { let mut random = Random::new(seed); [random.draw(), random.draw()] };
            prop_assert_eq!(draw(seed), draw(seed));
            prop_assert_ne!(draw(seed), draw(seed ^ 1));
        }
    }

    #[test]
    fn small_and_large_are_equally_often() {
        let mut random = Random::new(1);
        let large = (0..10_000).filter(|_| random.logarithmic(8, 2048) > 128).count();
        assert!((4500..5500).contains(&large), "{large}");
        let low = (0..10_000).filter(|_| random.below(1000) < 500).count();
        assert!((4500..5500).contains(&low), "{low}");
    }

    #[test]
    fn a_shuffle_loses_nothing() {
        let mut values: Vec<u32> = (0..1000).collect();
        Random::new(2).shuffle(&mut values);
        let displaced = values.iter().zip(0..).filter(|&(&value, place)| value != place).count();
        assert!(displaced > 900, "{displaced}");
        values.sort_unstable();
        assert!(values.into_iter().eq(0..1000));
    }
}
