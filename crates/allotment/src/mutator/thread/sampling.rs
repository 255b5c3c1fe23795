//! Sampling points: once every interval of bytes, one allocation takes the slow path.
//!
//! The distance to the next point is kept in allocated bytes, wherever they lie. The point is
//! placed in the buffer as an address, which the limit then includes. When the buffer changes, the
//! point is lifted. Objects outside buffers are counted against the distance. Between points
//! sampling costs nothing, as in JEP 331.
//!
//! Points lie at the multiples of the interval, wherever objects begin and end. The bytes of an
//! object beyond a point bring the next point nearer, and a large object passes several points. So
//! the number of points times the interval is the number of allocated bytes. Counting anew from the
//! end of each object would understate it.

use super::handle::Mutator;
use super::hot::Hot;
use std::cell::Cell;

/// The position of the next sampling point. Owner only.
#[derive(Debug)]
pub(in crate::mutator) struct Sampling {
    /// Its address in the buffer. `NEVER` if sampling is off or there is no buffer.
    point: Cell<usize>,
    /// Bytes from the start of the buffer to the point. Without a buffer, bytes from now on.
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
    /// The address at which an allocation must take the slow path.
    pub(in crate::mutator) fn point(&self) -> usize {
        self.point.get()
    }

    /// Whether there are points.
    pub(in crate::mutator) fn is_on(&self) -> bool {
        self.interval.get() != 0
    }

    /// Points passed.
    pub(in crate::mutator) fn passed(&self) -> u64 {
        self.passed.get()
    }

    /// Places a point every `interval` bytes from here on; 0: none. `hot` holds the buffer.
    pub(in crate::mutator) fn restart(&self, hot: &Hot, interval: usize) {
        hot.pointer.close();
        self.lift(hot);
        self.interval.set(interval);
        self.distance.set(interval);
        self.place(hot);
    }

    /// Turns the point into a distance, before the buffer changes.
    pub(in crate::mutator) fn lift(&self, hot: &Hot) {
        let point = self.point.replace(NEVER);
        if point != NEVER {
            self.distance.set(point.saturating_sub(hot.top()));
        }
    }

    /// Turns the distance into a point in the buffer.
    pub(in crate::mutator) fn place(&self, hot: &Hot) {
        if self.is_on() && hot.has_buffer() {
            self.point.set(hot.top().saturating_add(self.distance.get()));
        }
    }

    /// Passes the points that an object crosses; the object ends at `top` in the buffer.
    pub(in crate::mutator) fn pass(&self, top: usize) {
        if let Some(beyond @ 1..) = top.checked_sub(self.point.get()) {
            self.go_beyond(beyond);
            self.point.set(top.saturating_add(self.distance.get()));
        }
    }

    /// Counts an object of `bytes` outside the buffer. Returns whether that may have moved the
    /// point.
    pub(in crate::mutator) fn count_outside(&self, hot: &Hot, bytes: usize) -> bool {
        if !self.is_on() {
            return false;
        }
        self.lift(hot);
        let distance = self.distance.get();
        if bytes > distance {
            self.go_beyond(bytes - distance);
        } else {
            self.distance.set(distance - bytes);
        }
        self.place(hot);
        true
    }

    /// Passes a point, and any further ones, for an object that ends `beyond` bytes (at least 1)
    /// behind it.
    fn go_beyond(&self, beyond: usize) {
        let interval = self.interval.get();
        let points = beyond.div_ceil(interval);
        self.passed.set(self.passed.get() + points as u64);
        self.distance.set(points * interval - beyond);
    }
}

impl Mutator<'_> {
    /// Sets the sampling interval: from here on the thread passes a sampling point every `bytes`
    /// allocated bytes, as soon as more than that are allocated; 0: none. The fast path costs the
    /// same either way.
    pub fn set_sampling_interval(&mut self, bytes: usize) {
        let state = self.state();
        state.sampling.restart(&state.hot, bytes);
        state.arm();
    }

    /// Sampling points this thread has passed since it attached.
    pub fn sampling_points(&self) -> u64 {
        self.state().sampling.passed()
    }
}
