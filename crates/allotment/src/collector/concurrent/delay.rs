//! Delays in tests: threads lose their CPU where others may overtake them.
//!
//! Random passages are delayed. Outside tests a passage costs nothing.

/// A passage between two steps. Steps of other threads may come between them.
#[inline(always)]
pub(in crate::collector) fn passage() {
    #[cfg(all(test, not(loom)))]
    delayed::passage();
}

#[cfg(all(test, not(loom)))]
mod delayed {
    use crate::random::Random;
    use std::hash::{BuildHasher, RandomState};
    use std::time::Duration;

    thread_local! {
        static RANDOM: Random = Random::new(RandomState::new().hash_one(1));
    }

    pub(super) fn passage() {
        let random = RANDOM.with(Random::next);
        match random % 256 {
            0 => std::thread::sleep(Duration::from_micros(random >> 32 & 127)),
            1..16 => std::thread::yield_now(),
            _ => {}
        }
    }
}
