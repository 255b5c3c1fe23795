//! Spinning for a while before going to sleep.
//!
//! Going to sleep and being woken takes a thread 5 to 50 us, longer than most young collections. So
//! while there are no more attached threads than CPUs, threads spin as long as sleep would cost.
//! The stopper spins until all threads have arrived; the others spin until the stop is over. This
//! costs at most twice what the better of the two choices would have cost (Karlin, Li, Manasse and
//! Owicki, SOSP 1991). If there are more threads than CPUs, a spinning thread holds the CPU of an
//! awaited thread, so no thread spins.

use std::time::{Duration, Instant};

/// The longest time that a thread spins.
const LONGEST: Duration = Duration::from_micros(50);

/// Iterations between two readings of the clock.
const LOOKS: u32 = 16;

/// Whether to spin at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) cpus: usize,
}

impl Patience {
    /// Whether that many threads may spin.
    pub(super) fn suits(self, threads: usize) -> bool {
        threads <= self.cpus
    }

    /// Spins until `over` returns true or the time has run out. Returns the last result of `over`.
    /// In a model a thread spins for one iteration.
    pub(super) fn look_on(self, over: impl Fn() -> bool) -> bool {
        if cfg!(loom) {
            return over();
        }
        let begun = Instant::now();
        loop {
            let over = (0..LOOKS).any(|_| {
                std::hint::spin_loop();
                over()
            });
            if over || begun.elapsed() >= LONGEST {
                return over;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn no_thread_looks_on_where_cpus_are_fewer_and_none_for_ever() {
        for (threads, cpus, looks) in [(3, 2, false), (1, 0, false), (2, 2, true)] {
            assert_eq!(Patience { cpus }.suits(threads), looks, "{threads} threads, {cpus} CPUs");
        }
        let looked = Cell::new(0_u64);
        let look = |until| {
            looked.set(looked.get() + 1);
            looked.get() == until
        };
        assert!(!Patience { cpus: 1 }.look_on(|| look(0)) && looked.replace(0) > 0, "and it ended");
        assert!(Patience { cpus: 1 }.look_on(|| look(3)) && looked.get() == 3);
    }
}
