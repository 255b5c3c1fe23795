//! Entries that wait for their lines of memory: the last ones, in order of request, each by itself
//! or in groups.
//!
//! A thread that follows references spends most of its time waiting for memory. With lines
//! requested some entries ahead, several misses overlap (Cher, Hosking and Vitek, ASPLOS 2004). A
//! ring should be a variable of the loop that uses it: elsewhere the compiler stores its number
//! each time. Refused: `VecDeque`, because it may grow and checks whether it has to. Refused:
//! separate counts of arrivals and departures, which were a twentieth of all instructions that copy
//! a small object.

/// At most `N` groups (a power of two) of up to `G` entries; the oldest leaves first.
/// **Invariant:** the waiting groups are the last ones added, without a gap.
pub(crate) struct Ring<const N: usize, const G: usize> {
    /// A group whose first entry is 0 is empty. Another entry of 0 ends its group.
    groups: [[usize; G]; N],
    /// Number of groups ever added, wrapping. The next group's place is this number modulo `N`.
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

    /// Adds a group, whose first entry is not 0. Returns the oldest if there is no room for both,
    /// else zeroes.
    // No `Option`, for which the compiler would copy the group once more.
    #[inline(always)]
    pub(crate) fn add(&mut self, group: [usize; G]) -> [usize; G] {
        debug_assert!(group[0] != 0);
        let due = std::mem::replace(&mut self.groups[self.came & Self::MASK], group);
        self.came = self.came.wrapping_add(1);
        due
    }

    /// Removes the oldest group; zeroes if there is none. The search starts at the newest group,
    /// because only one waits when a worker follows a list.
    #[inline]
    pub(crate) fn take(&mut self) -> [usize; G] {
        let place = |age| self.came.wrapping_sub(age) & Self::MASK;
        let waiting = (1..=N).take_while(|&age| self.groups[place(age)][0] != 0).count();
        // If no group waits, this is an empty place.
        std::mem::replace(&mut self.groups[place(waiting)], [0; G])
    }

    /// Whether nothing waits: then the newest place is empty, too.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.groups[self.came.wrapping_sub(1) & Self::MASK][0] == 0
    }

    /// Number of groups ever added, wrapping.
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
