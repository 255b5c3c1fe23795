//! Entries that wait until the lines of memory they are about have come: those of the last `N` turns, in the order in which they were
//! asked for.
//!
//! Most of the time of who follows references is spent waiting for memory; with a line asked for some entries ahead, several misses
//! overlap (Cher, Hosking and Vitek, ASPLOS 2004). Made to be a variable of the loop that uses it: elsewhere the compiler
//! stores its number each time. `VecDeque` was refused: it may grow, and looks whether it has to; and so were two numbers, of what came
//! and what left, which were a twentieth of all instructions that copy a small object.

/// At most `N` entries, a power of two. Each leaves `N` turns after it came, or waits no longer because nothing else comes.
pub(crate) struct Ring<const N: usize> {
    /// 0: nothing is there.
    entries: [usize; N],
    /// Turns that there were, a wrapping number. The next one's place is this, modulo `N`.
    turns: usize,
}

impl<const N: usize> Ring<N> {
    const MASK: usize = {
        assert!(N.is_power_of_two());
        N - 1
    };

    pub(crate) fn new() -> Ring<N> {
        Ring { entries: [0; N], turns: 0 }
    }

    /// A turn in which an entry comes, which is not 0; what leaves, if anything.
    #[inline(always)]
    pub(crate) fn add(&mut self, entry: usize) -> Option<usize> {
        debug_assert!(entry != 0);
        self.turn(entry)
    }

    /// A turn in which nothing comes; what leaves, if anything.
    #[inline(always)]
    pub(crate) fn pass(&mut self) -> Option<usize> {
        self.turn(0)
    }

    #[inline(always)]
    fn turn(&mut self, entry: usize) -> Option<usize> {
        let due = std::mem::replace(&mut self.entries[self.turns & Self::MASK], entry);
        self.turns = self.turns.wrapping_add(1);
        (due != 0).then_some(due)
    }

    /// Whether all have left.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries == [0; N]
    }

    /// How many turns there were, a wrapping number.
    #[inline(always)]
    pub(crate) fn turns(&self) -> usize {
        self.turns
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn what_came_leaves_after_as_many_turns_as_there_are_places(steps: Vec<Option<std::num::NonZero<usize>>>) {
            let (mut ring, mut model) = (Ring::<4>::new(), VecDeque::from([0; 4]));
            ring.turns = usize::MAX - 5;
            for entry in steps {
                let entry = entry.map_or(0, |entry| entry.get());
                let due = if entry == 0 { ring.pass() } else { ring.add(entry) };
                model.push_back(entry);
                prop_assert_eq!(due, model.pop_front().filter(|&due| due != 0));
                prop_assert_eq!(ring.is_empty(), model == [0; 4]);
            }
        }
    }
}
