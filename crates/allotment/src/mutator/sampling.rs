//! Sampling points: every so many bytes, one allocation takes the slow path.
//!
//! The distance to the next point is kept in bytes allocated, wherever they lie: the point is placed in
//! the buffer as an address (which the limit then includes), lifted when the buffer changes, and
//! objects outside buffers are counted against it. Between points it costs nothing, as in JEP 331.
//!
//! Points lie at the multiples of the interval, wherever objects begin and end: what an object goes
//! beyond a point brings the next one nearer, and a large object passes several. So their number times
//! the interval is what was allocated, which counting anew from the end of each object would understate.

use super::Mutator;
use super::state::State;
use std::cell::Cell;

/// Where the next sampling point is. The owner's own.
#[derive(Debug)]
pub(super) struct Sampling {
    /// Its address in the buffer, or `NEVER`: sampling is off, or there is no buffer.
    point: Cell<usize>,
    /// Bytes to the point from where the buffer begins, or, without a buffer, from now on.
    distance: Cell<usize>,
    /// Bytes from one point to the next; 0: off.
    interval: Cell<usize>,
    /// Points passed.
    passed: Cell<u64>,
}

const NEVER: usize = usize::MAX;

impl Default for Sampling {
    fn default() -> Sampling {
        let zero = || Cell::new(0);
        Sampling { point: Cell::new(NEVER), distance: zero(), interval: zero(), passed: Cell::new(0) }
    }
}

impl Sampling {
    /// The address allocation must not pass unnoticed.
    pub(super) fn point(&self) -> usize {
        self.point.get()
    }

    /// Passes a point, and any further ones, with an object that ends `beyond` bytes (at least 1) behind it.
    fn pass(&self, beyond: usize) {
        let interval = self.interval.get();
        let points = beyond.div_ceil(interval);
        self.passed.set(self.passed.get() + points as u64);
        self.distance.set(points * interval - beyond);
    }
}

impl State {
    /// Turns the point into a distance, before the buffer changes.
    pub(super) fn lift_sampling_point(&self) {
        let point = self.sampling.point.replace(NEVER);
        if point != NEVER {
            self.sampling.distance.set(point.saturating_sub(self.hot.top()));
        }
    }

    /// Turns the distance into a point in the buffer.
    pub(super) fn place_sampling_point(&self) {
        if self.sampling.interval.get() != 0 && self.hot.has_buffer() {
            self.sampling.point.set(self.hot.top().saturating_add(self.sampling.distance.get()));
        }
    }

    /// Passes the points that an object crosses which ends at `top` in the buffer.
    pub(super) fn pass_sampling_point(&self, top: usize) {
        if let Some(beyond @ 1..) = top.checked_sub(self.sampling.point.get()) {
            self.sampling.pass(beyond);
            self.sampling.point.set(top.saturating_add(self.sampling.distance.get()));
        }
    }

    /// Counts an object outside the buffer.
    pub(super) fn sample_outside(&self, bytes: usize) {
        if self.sampling.interval.get() == 0 {
            return;
        }
        self.lift_sampling_point();
        let distance = self.sampling.distance.get();
        if bytes > distance {
            self.sampling.pass(bytes - distance);
        } else {
            self.sampling.distance.set(distance - bytes);
        }
        self.place_sampling_point();
        self.arm();
    }
}

impl Mutator<'_> {
    /// From here on passes a sampling point every `bytes` allocated, as soon as more than that are; 0: none.
    /// The fast path costs the same either way.
    pub fn set_sampling_interval(&mut self, bytes: usize) {
        let state = self.state();
        state.lift_sampling_point();
        state.sampling.interval.set(bytes);
        state.sampling.distance.set(bytes);
        state.place_sampling_point();
        state.arm();
    }

    /// Sampling points this thread has passed since it attached.
    pub fn sampling_points(&self) -> u64 {
        self.state().sampling.passed.get()
    }
}
