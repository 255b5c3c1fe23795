//! Looking on for a while before going to sleep.
//!
//! To sleep and to be woken takes a thread 5 to 50 us, more than most young collections take. So while no more threads are
//! attached than there are CPUs, the stopper looks on until all have arrived, and they look on until the stop is over, for as
//! long as sleep would cost: at most twice what the better of the two would have (Karlin, Li, Manasse and Owicki, SOSP
//! 1991). Where there are more threads, who looks on has the CPU of one that is waited for: there nobody does.

#[cfg(not(loom))]
use std::time::{Duration, Instant};

/// How long a thread looks on.
#[cfg(not(loom))]
const LONGEST: Duration = Duration::from_micros(50);

/// Looks between two readings of the clock.
#[cfg(not(loom))]
const LOOKS: u32 = 16;

/// Whether to look on at all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    pub(super) cpus: usize,
}

impl Patience {
    /// Whether so many threads may look on.
    pub(super) fn suits(self, threads: usize) -> bool {
        threads <= self.cpus
    }

    /// Returns when it is `over`, with `true`, or has taken too long.
    #[cfg(not(loom))]
    pub(super) fn look_on(self, over: impl Fn() -> bool) -> bool {
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

    /// The same, in a model: one look.
    #[cfg(loom)]
    pub(super) fn look_on(self, over: impl Fn() -> bool) -> bool {
        over()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn nobody_looks_on_where_cpus_are_fewer_and_nobody_for_ever() {
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
