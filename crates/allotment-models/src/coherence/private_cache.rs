//! A core's copies of lines: states and data.
//!
//! Every copy has its own data, so a protocol that forgets to update a copy is detected by the
//! values read from the copy. The second cache includes the first. The first cache has tags only,
//! which decide the cost of a hit.

use super::latencies::Geometry;
use super::protocol::State;
use super::tags::Tags;

/// Words of a line.
pub(super) const WORDS: usize = 8;

/// The data of a line.
pub(super) type Line = [u64; WORDS];

/// A core's copy of a line.
#[derive(Clone, Debug)]
pub(super) struct LineCopy {
    pub(super) state: State,
    /// The cycle in which the data will have arrived.
    pub(super) ready: u64,
    pub(super) data: Line,
}

#[derive(Clone, Debug)]
pub(super) struct PrivateCache {
    l1: Tags,
    l2: Tags,
    /// By slot of the second cache.
    pub(super) copies: Vec<LineCopy>,
}

impl PrivateCache {
    pub(super) fn new(geometry: &Geometry) -> PrivateCache {
        let (l1, l2) = (Tags::new(geometry.l1_lines, 8), Tags::new(geometry.l2_lines, 8));
        let none = LineCopy { state: State::Invalid, ready: 0, data: [0; WORDS] };
        PrivateCache { l1, copies: vec![none; l2.slots()], l2 }
    }

    /// The slot of a line.
    #[inline]
    pub(super) fn find(&self, line: u32) -> Option<usize> {
        self.l2.find(line)
    }

    pub(super) fn state(&self, line: u32) -> State {
        self.find(line).map_or(State::Invalid, |slot| self.copies[slot].state)
    }

    /// Uses a line that the core holds, and returns whether the first cache had the line.
    #[inline]
    pub(super) fn touch(&mut self, slot: usize, line: u32) -> bool {
        self.l2.touch(slot);
        self.l1.keep(line)
    }

    /// The line that must leave before `line` can come.
    pub(super) fn victim(&self, line: u32) -> Option<u32> {
        self.l2.victim(line).1
    }

    /// Puts a line into its victim's slot. The victim has already left.
    pub(super) fn fill(&mut self, line: u32, state: State, data: Line) {
        let (slot, _) = self.l2.victim(line);
        self.l2.put(slot, line);
        self.copies[slot] = LineCopy { state, ready: 0, data };
        self.touch(slot, line);
    }

    /// Forgets a line. Its tag in the first cache stays, but has no effect without the tag in the
    /// second.
    pub(super) fn drop_line(&mut self, slot: usize) {
        self.copies[slot].state = State::Invalid;
        self.l2.clear(slot);
    }
}
