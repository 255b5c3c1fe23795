//! Entries that wait until the lines of memory they are about have come: the last ones, in the order in which they were asked for, each by
//! itself or some in a group.
//!
//! Most of the time of who follows references is spent waiting for memory; with a line asked for some entries ahead, several misses
//! overlap (Cher, Hosking and Vitek, ASPLOS 2004). Made to be a variable of the loop that uses it: elsewhere the compiler
//! stores its number each time. `VecDeque` was refused: it may grow, and looks whether it has to; and so were two numbers, of what came
//! and what left, which were a twentieth of all instructions that copy a small object.

/// At most `N` groups of up to `G` entries, a power of two; the oldest leaves first. **Invariant:** those that wait are the last that
/// came, without a gap.
pub(crate) struct Ring<const N: usize, const G: usize> {
    /// First entry 0: nothing is there. Others: the group has no more.
    groups: [[usize; G]; N],
    /// Groups that ever came, a wrapping number. The next one's place is this, modulo `N`.
    came: usize,
}

impl<const N: usize, const G: usize> Ring<N, G> {
    const MASK: usize = {
        assert!(N.is_power_of_two());
        N - 1
    };

    pub(crate) fn new() -> Ring<N, G> {
        Ring { groups: [[0; G]; N], came: 0 }
    }

    /// Adds a group, whose first entry is not 0; the oldest, if there is no room for both, else zeroes.
    // No `Option`, for which the compiler copies the group once more.
    #[inline(always)]
    pub(crate) fn add(&mut self, group: [usize; G]) -> [usize; G] {
        debug_assert!(group[0] != 0);
        let due = std::mem::replace(&mut self.groups[self.came & Self::MASK], group);
        self.came = self.came.wrapping_add(1);
        due
    }

    /// Removes the oldest group; zeroes if there is none. It is looked for from the newest on: of a list one waits.
    #[inline]
    pub(crate) fn take(&mut self) -> [usize; G] {
        let place = |age| self.came.wrapping_sub(age) & Self::MASK;
        let waiting = (1..=N).take_while(|&age| self.groups[place(age)][0] != 0).count();
        // With none it is a place that has nothing.
        std::mem::replace(&mut self.groups[place(waiting)], [0; G])
    }

    /// Whether nothing waits: not the newest either, then.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.groups[self.came.wrapping_sub(1) & Self::MASK][0] == 0
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
        fn groups_leave_in_the_order_in_which_they_came(steps: Vec<Option<(NonZero<usize>, usize)>>) {
            let (mut ring, mut model) = (Ring::<4, 2>::new(), VecDeque::new());
            ring.came = usize::MAX - 5;
            for step in steps {
                prop_assert_eq!(ring.is_empty(), model.is_empty());
                let Some(group) = step.map(|(first, second)| [first.get(), second]) else {
                    prop_assert_eq!(ring.take(), model.pop_front().unwrap_or_default());
                    continue;
                };
                model.push_back(group);
                let due = if model.len() > 4 { model.pop_front() } else { None };
                prop_assert_eq!(ring.add(group), due.unwrap_or_default());
            }
        }
    }
}
