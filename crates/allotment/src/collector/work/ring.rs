//! Entries that wait until the lines of memory they are about have come: the last `N`, in the order in which they were asked for.
//!
//! Most of the time of who follows references is spent waiting for memory; with a line asked for some entries ahead, several misses
//! overlap (Cher, Hosking and Vitek, ASPLOS 2004). Made to be a variable of the loop that uses it: elsewhere the compiler
//! stores its numbers each time. `VecDeque` was refused: it may grow, and looks whether it has to.

/// At most `N` entries, a power of two; the oldest leaves first.
pub(crate) struct Ring<const N: usize> {
    entries: [usize; N],
    /// Entries that ever left; the oldest is at this, modulo `N`.
    left: usize,
    /// Entries that ever came: `left <= came <= left + N`, as wrapping numbers.
    came: usize,
}

impl<const N: usize> Ring<N> {
    const MASK: usize = {
        assert!(N.is_power_of_two());
        N - 1
    };

    pub(crate) fn new() -> Ring<N> {
        Ring { entries: [0; N], left: 0, came: 0 }
    }

    /// Adds an entry; the oldest, if there is no room for both.
    #[inline(always)]
    pub(crate) fn add(&mut self, entry: usize) -> Option<usize> {
        let due = std::mem::replace(&mut self.entries[self.came & Self::MASK], entry);
        let full = self.came.wrapping_sub(self.left) == N;
        self.came = self.came.wrapping_add(1);
        self.left = self.left.wrapping_add(usize::from(full));
        full.then_some(due)
    }

    /// Removes the oldest entry.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<usize> {
        if self.came == self.left {
            return None;
        }
        let due = self.entries[self.left & Self::MASK];
        self.left = self.left.wrapping_add(1);
        Some(due)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn entries_leave_in_the_order_in_which_they_came(steps: Vec<Option<usize>>) {
            let (mut ring, mut model) = (Ring::<4>::new(), VecDeque::new());
            (ring.left, ring.came) = (usize::MAX - 5, usize::MAX - 5);
            for step in steps {
                let Some(entry) = step else {
                    prop_assert_eq!(ring.take(), model.pop_front());
                    continue;
                };
                model.push_back(entry);
                let due = if model.len() > 4 { model.pop_front() } else { None };
                prop_assert_eq!(ring.add(entry), due);
            }
        }
    }
}
