//! Entries that wait until the lines of memory they are about have come: the last `N`, in the order in which they were asked for.
//!
//! Most of the time of who follows references is spent waiting for memory; with a line asked for some entries ahead, several misses
//! overlap (Cher, Hosking and Vitek, ASPLOS 2004). Made to be a variable of the loop that uses it: elsewhere the compiler
//! stores its number each time. `VecDeque` was refused: it may grow, and looks whether it has to; and so were two numbers, of what came
//! and what left, which were a twentieth of all instructions that copy a small object.

/// At most `N` entries, a power of two; the oldest leaves first. **Invariant:** those that wait are the last that came, without a gap.
pub(crate) struct Ring<const N: usize> {
    /// 0: nothing is there.
    entries: [usize; N],
    /// Entries that ever came, a wrapping number. The next one's place is this, modulo `N`.
    came: usize,
}

impl<const N: usize> Ring<N> {
    const MASK: usize = {
        assert!(N.is_power_of_two());
        N - 1
    };

    pub(crate) fn new() -> Ring<N> {
        Ring { entries: [0; N], came: 0 }
    }

    /// Adds an entry, which is not 0; the oldest, if there is no room for both.
    #[inline(always)]
    pub(crate) fn add(&mut self, entry: usize) -> Option<usize> {
        debug_assert!(entry != 0);
        let due = std::mem::replace(&mut self.entries[self.came & Self::MASK], entry);
        self.came = self.came.wrapping_add(1);
        (due != 0).then_some(due)
    }

    /// Removes the oldest entry. It is looked for from the newest on: of a list one waits.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<usize> {
        let place = |age| self.came.wrapping_sub(age) & Self::MASK;
        let waiting = (1..=N).take_while(|&age| self.entries[place(age)] != 0).count();
        (waiting > 0).then(|| std::mem::take(&mut self.entries[place(waiting)]))
    }

    /// How many ever came, a wrapping number.
    #[inline(always)]
    pub(crate) fn came(&self) -> usize {
        self.came
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::num::NonZero;

    proptest! {
        #[test]
        fn entries_leave_in_the_order_in_which_they_came(steps: Vec<Option<NonZero<usize>>>) {
            let (mut ring, mut model) = (Ring::<4>::new(), VecDeque::new());
            ring.came = usize::MAX - 5;
            for step in steps {
                let Some(entry) = step else {
                    prop_assert_eq!(ring.take(), model.pop_front());
                    continue;
                };
                model.push_back(entry.get());
                let due = if model.len() > 4 { model.pop_front() } else { None };
                prop_assert_eq!(ring.add(entry.get()), due);
            }
        }
    }
}
