//! Slots that are linked to one full cycle. Each holds the address of the next, so no hop can begin
//! before the previous one has ended. The time of a hop is a latency.
//!
//! Slots hold addresses instead of indices, since an index costs an addition and a shift on the way
//! to the next load. There are three ways to link:
//!
//! - In the order of addresses, which the processor predicts.
//! - By Sattolo's shuffle ("An algorithm to generate a random cyclic permutation", Inf. Process.
//!   Lett. 22, 1986), which makes one cycle of all slots. Fisher and Yates' shuffle makes several
//!   cycles, and a walk would stay in one of them.
//! - By a shuffle within a window that slides over the memory: each step goes to one of the next
//!   `w` unvisited slots. The order has no pattern, but the pages in use at any time are about as
//!   many as the window has. So it misses caches and not the TLB. After the sliding window of
//!   pstream (github.com/spikebike/pstream).

use super::{Mapping, Random};
use anyhow::ensure;
use std::hint::black_box;

/// The order in which slots follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// In the order of addresses.
    Sequential,
    /// In random order.
    Shuffled,
    /// In random order within a window of that many slots.
    Window(usize),
}

/// A walker on a cycle.
#[derive(Debug)]
pub(crate) struct Cycle {
    /// Every slot, one each `stride` bytes, holds the address of another slot.
    memory: Mapping,
    /// The current slot.
    at: *const u8,
}

/// Hops of an unrolled turn.
const TURN: usize = 16;

impl Cycle {
    /// Links the slots of `memory`, one each `stride` bytes, and thereby touches the memory.
    ///
    /// # Errors
    /// There is no room for two slots, or the stride is not a multiple of the size of an address.
    pub(crate) fn new(
        memory: Mapping,
        stride: usize,
        way: Way,
        random: &mut Random,
    ) -> anyhow::Result<Cycle> {
        let word = size_of::<*const u8>();
        ensure!(
            stride >= word && stride.is_multiple_of(word),
            "slots {stride} bytes apart cannot hold addresses; write a multiple of {word}"
        );
        let slots = memory.bytes() / stride;
        ensure!(slots >= 2, "{} bytes hold fewer than two slots of {stride}", memory.bytes());
        let links = Links { base: memory.base(), stride, slots };
        match way {
            Way::Sequential => links.in_order(0..slots),
            Way::Shuffled => links.sattolo(random),
            Way::Window(width) => links.in_order(within_window(slots, width, random).into_iter()),
        }
        Ok(Cycle { at: memory.base(), memory })
    }

    /// The memory that is walked.
    pub(crate) fn memory(&self) -> &Mapping {
        &self.memory
    }

    /// Walks `turns` times 16 hops, each a load and nothing else.
    #[inline]
    pub(crate) fn walk(&mut self, turns: usize) -> u64 {
        let mut at = self.at;
        for _ in 0..turns {
            for _ in 0..TURN {
                // SAFETY: `at` is a slot, which holds the address of a slot of the same mapping.
                at = unsafe { at.cast::<*const u8>().read() };
            }
        }
        // Made opaque once; otherwise the compiler may remove a walk whose end is not used.
        self.at = black_box(at);
        (turns * TURN) as u64
    }
}

/// The places of the slots to link.
struct Links {
    base: *mut u8,
    stride: usize,
    slots: usize,
}

impl Links {
    fn slot(&self, index: usize) -> *mut *const u8 {
        debug_assert!(index < self.slots);
        // SAFETY: callers pass an index below `slots`, and `slots` times `stride` bytes are mapped.
        // Base and stride are multiples of a word.
        unsafe { self.base.add(index * self.stride).cast() }
    }

    /// Links slots in the given order, which has each slot once, and the last to the first.
    fn in_order(&self, mut order: impl Iterator<Item = usize>) {
        let Some(first) = order.next() else { return };
        let mut last = first;
        for next in order.chain([first]) {
            // SAFETY: a slot of the mapping, which no other code knows of.
            unsafe { self.slot(last).write(self.slot(next).cast()) };
            last = next;
        }
    }

    /// Sattolo's shuffle of slots that first hold their own address: a slot is exchanged with one
    /// strictly below.
    fn sattolo(&self, random: &mut Random) {
        for index in 0..self.slots {
            // SAFETY: as in `in_order`.
            unsafe { self.slot(index).write(self.slot(index).cast()) };
        }
        for last in (1..self.slots).rev() {
            // SAFETY: as in `in_order`; the two differ, and both were written.
            unsafe { self.slot(last).swap(self.slot(random.below(last))) };
        }
    }
}

/// All slots: each place is taken by one of the next `width` slots that have not been taken.
fn within_window(slots: usize, width: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..slots).collect();
    for place in 0..slots {
        let choice = width.clamp(1, slots - place);
        order.swap(place, place + random.below(choice));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::Pages;
    use super::*;
    use proptest::prelude::*;

    fn cycle(slots: usize, stride: usize, way: Way, seed: u64) -> Cycle {
        let memory = Mapping::new(slots * stride, 64, Pages::Base).unwrap();
        Cycle::new(memory, stride, way, &mut Random::new(seed)).unwrap()
    }

    /// The slots from the first on, until the first comes again.
    fn visited(cycle: &Cycle, stride: usize) -> Vec<usize> {
        let first = cycle.memory.base().cast_const();
        let mut seen = Vec::new();
        let mut at = first;
        while seen.is_empty() || (at != first && seen.len() * stride <= cycle.memory.bytes()) {
            seen.push((at.addr() - first.addr()) / stride);
            // SAFETY: a slot, as in `walk`.
            at = unsafe { at.cast::<*const u8>().read() };
        }
        seen
    }

    proptest! {
        #[test]
        fn every_way_is_one_cycle_of_all_slots(
            slots in 2..600_usize,
            stride in prop::sample::select(vec![8_usize, 64, 128, 256]),
            window in 1..700_usize,
            seed in 0..1_u64 << 40,
        ) {
            for way in [Way::Sequential, Way::Shuffled, Way::Window(window)] {
                let mut seen = visited(&cycle(slots, stride, way, seed), stride);
                if way == Way::Sequential {
                    prop_assert!(seen.is_sorted());
                }
                seen.sort_unstable();
                prop_assert!(seen.into_iter().eq(0..slots), "{:?}", way);
            }
        }

        #[test]
        fn a_window_never_reaches_beyond_itself(
            slots in 1..600_usize,
            width in 1..700_usize,
            seed in 0..1_u64 << 40,
        ) {
            let order = within_window(slots, width, &mut Random::new(seed));
            prop_assert!(order.iter().enumerate().all(|(place, &slot)| slot < place + width));
        }
    }

    #[test]
    fn a_shuffle_goes_everywhere_and_a_window_stays() {
        let far = |way: Way| {
            let seen = visited(&cycle(4096, 64, way, 7), 64);
            seen.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 1024).count()
        };
        assert!(far(Way::Shuffled) > 1000, "{}", far(Way::Shuffled));
        assert!(far(Way::Window(64)) < 10, "{}", far(Way::Window(64)));
    }

    #[test]
    fn a_walk_goes_on_where_it_stopped() {
        let mut cycle = cycle(48, 64, Way::Shuffled, 3);
        let start = cycle.at;
        assert_eq!(cycle.walk(1), 16);
        assert_ne!(cycle.at, start);
        assert_eq!(cycle.walk(2), 32);
        assert_eq!(cycle.at, start, "48 hops are once around");
    }

    #[test]
    fn what_cannot_be_linked_is_an_error() {
        let of = |bytes, stride| {
            let memory = Mapping::new(bytes, 0, Pages::Base).unwrap();
            Cycle::new(memory, stride, Way::Shuffled, &mut Random::new(1)).unwrap_err().to_string()
        };
        assert!(of(64, 64).contains("fewer than two slots"));
        assert!(of(640, 4).contains("multiple of 8") && of(640, 20).contains("multiple of 8"));
    }
}
