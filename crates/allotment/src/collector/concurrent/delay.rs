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
    use std::cell::Cell;
    use std::hash::{BuildHasher, RandomState};
    use std::time::Duration;

    thread_local! {
        /// State of the thread's random numbers (xorshift, Marsaglia 2003); not 0.
        static RANDOM: Cell<u64> = Cell::new(RandomState::new().hash_one(1) | 1);
    }

    pub(super) fn passage() {
        let random = RANDOM.with(|state| {
            let mut random = state.get();
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            state.set(random);
            random
        });
        match random % 256 {
            0 => std::thread::sleep(Duration::from_micros(random >> 32 & 127)),
            1..16 => std::thread::yield_now(),
            _ => {}
        }
    }
}
