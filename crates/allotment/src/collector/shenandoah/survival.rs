//! Whether young cycles pay.
//!
//! A young cycle pays if most young objects die. If they survive as old objects do, the cycle marks
//! and copies nearly all objects that it looks at, and the garbage is elsewhere. A cycle after
//! which more than half of the young bytes are alive is *poor*. After a poor cycle, the next one is
//! a global cycle, or ends the marking of old objects that is under way.
//!
//! A program that only grows has no garbage anywhere. So each look at old objects that gains little
//! doubles the number of poor cycles before the next look.
//!
//! Refused: to wait until little is free (the only rule before). Copies need room, and so a cycle
//! that begins then ends in a stop.

/// Poor cycles before the first look at old objects. More in tests, which have little memory:
/// hardly any of their cycles would be young otherwise.
const LEAST_WAIT: usize = if cfg!(test) { 4 } else { 1 };

/// The most poor cycles before a look at old objects.
const MOST_WAIT: usize = 16;

/// The gains of cycles. A part of the plan of old objects.
#[derive(Debug)]
pub(super) struct Survival {
    /// Bytes of old regions after the last cycle.
    old_bytes: usize,
    /// Poor cycles since old objects were looked at.
    poor: usize,
    /// Poor cycles after which they are looked at.
    wait: usize,
}

impl Survival {
    pub(super) fn new() -> Survival {
        Survival { old_bytes: 0, poor: 0, wait: LEAST_WAIT }
    }

    /// Notes that a cycle of young objects has ended. It began with `used` bytes, found `live`
    /// bytes of young objects alive, and leaves `old_bytes` in old regions. Returns whether the
    /// next cycle should look at old objects.
    pub(super) fn young_ended(&mut self, used: usize, live: usize, old_bytes: usize) -> bool {
        let young = used.saturating_sub(std::mem::replace(&mut self.old_bytes, old_bytes));
        self.poor += usize::from(live > young / 2);
        self.poor >= self.wait
    }

    /// Notes that a cycle of all objects has ended, which leaves `old_bytes` in old regions.
    pub(super) fn old_ended(&mut self, gained_much: bool, old_bytes: usize) {
        self.old_bytes = old_bytes;
        self.poor = 0;
        self.wait = if gained_much { LEAST_WAIT } else { (2 * self.wait).min(MOST_WAIT) };
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Cycles of a heap with 100 bytes in use, of which 40 are old: the numbers of those that look
    /// at old objects.
    fn looks(cycles: usize, live_of_young: usize, gains_much: bool) -> Vec<usize> {
        let mut survival = Survival::new();
        survival.young_ended(0, 0, 40);
        let (mut is_next, mut found) = (false, Vec::new());
        for cycle in 0..cycles {
            if is_next {
                found.push(cycle);
                survival.old_ended(gains_much, 40);
                is_next = false;
            } else {
                is_next = survival.young_ended(100, live_of_young, 40);
            }
        }
        found
    }

    #[test]
    fn old_objects_are_looked_at_where_young_ones_survive() {
        assert!(looks(100, 30, true).is_empty(), "half of the young objects die");
        let turn = LEAST_WAIT + 1;
        let turns: Vec<usize> = (1..=100 / turn).map(|number| number * turn - 1).collect();
        assert_eq!(looks(100, 31, true), turns);
    }

    #[test]
    fn looks_at_old_objects_become_rare_where_nothing_dies() {
        let found = looks(200, 60, false);
        let mut wait = LEAST_WAIT;
        for two in found.windows(2) {
            wait = (2 * wait).min(MOST_WAIT);
            assert_eq!(two[1] - two[0] - 1, wait);
        }
        assert_eq!(wait, MOST_WAIT);
    }
}
