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

#[derive(Clone, Debug)]
pub(super) struct PrivateCache {
    l1: Tags,
    l2: Tags,
    states: Vec<State>,
    /// The cycle in which the data will have arrived.
    ready: Vec<u64>,
    data: Vec<Line>,
}

impl PrivateCache {
    pub(super) fn new(geometry: &Geometry) -> PrivateCache {
        let (l1, l2) = (Tags::new(geometry.l1_lines, 8), Tags::new(geometry.l2_lines, 8));
        let slots = l2.slots();
        PrivateCache {
            l1,
            l2,
            states: vec![State::Invalid; slots],
            ready: vec![0; slots],
            data: vec![[0; WORDS]; slots],
        }
    }

    #[inline]
    pub(super) fn find(&self, line: u32) -> Option<usize> {
        self.l2.find(line)
    }

    pub(super) fn state(&self, line: u32) -> State {
        self.find(line).map_or(State::Invalid, |slot| self.states[slot])
    }

    #[inline]
    pub(super) fn state_at(&self, slot: usize) -> State {
        self.states[slot]
    }

    pub(super) fn set_state(&mut self, slot: usize, state: State) {
        self.states[slot] = state;
    }

    pub(super) fn ready(&self, slot: usize) -> u64 {
        self.ready[slot]
    }

    pub(super) fn set_ready(&mut self, slot: usize, time: u64) {
        self.ready[slot] = time;
    }

    pub(super) fn data(&mut self, slot: usize) -> &mut Line {
        &mut self.data[slot]
    }

    /// The data of the core's copy of a line.
    pub(super) fn clone_line(&self, line: u32) -> Option<Line> {
        self.find(line).map(|slot| self.data[slot])
    }

    /// Uses a line that the core holds, and returns whether the first cache had the line.
    #[inline]
    pub(super) fn touch(&mut self, slot: usize, line: u32) -> bool {
        self.l2.touch(slot);
        let found = self.l1.find(line);
        match found {
            Some(first) => self.l1.touch(first),
            None => self.l1.put(self.l1.victim(line).0, line),
        }
        found.is_some()
    }

    /// The line that must leave before `line` can come.
    pub(super) fn victim(&self, line: u32) -> Option<u32> {
        self.l2.victim(line).1
    }

    /// Puts a line into its victim's slot. The victim has already left.
    pub(super) fn fill(&mut self, line: u32, state: State, data: Line) {
        let (slot, _) = self.l2.victim(line);
        self.l2.put(slot, line);
        (self.states[slot], self.data[slot], self.ready[slot]) = (state, data, 0);
        self.touch(slot, line);
    }

    /// Forgets a line. Its tag in the first cache stays, but has no effect without the tag in the
    /// second.
    pub(super) fn drop_line(&mut self, slot: usize) {
        self.states[slot] = State::Invalid;
        self.l2.clear(slot);
    }
}
