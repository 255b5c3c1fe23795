//! Allocation beyond the limit: the window, the sampling point, the next buffer.
//!
//! A refill first lengthens the buffer in place, if no other thread took the memory after it. This
//! always works for a thread alone on its core. It wastes nothing and writes no filler. Only if it
//! fails does the policy decide whether the buffer is kept and the object goes outside. (HotSpot
//! asks the policy first, so many objects that are large beside their buffer go outside.) Then the
//! thread takes a new buffer before it gives up the old one. A thread whose refill fails so keeps
//! its old buffer. (HotSpot retires first, and a thread that finds nothing is left without a
//! buffer.)

use super::initialise::zero;
use crate::mutator::Mutator;
use crate::mutator::thread::state::{Owned, State};
use crate::object::fill;
use crate::probes::probe;
use crate::region::{Attempts, Carve};
use crate::tlab::sizing::Request;

/// The use of memory that the slow path hands out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mutator) enum Content {
    /// One object, whose header is there when the allocation returns.
    Object,
    /// Objects that are made until the next safepoint.
    Objects,
}

impl State {
    /// Memory of `bytes` (a multiple of 8, at least 16) for that content: in the buffer, in a new
    /// buffer, or outside. This function does not check for a stop request and reaches no
    /// safepoint. `zeroed`: the thread wants zeroed memory, so the next window is zeroed too. The
    /// caller has to zero the block itself.
    pub(in crate::mutator) fn allocate_past_limit(
        &self,
        bytes: usize,
        zeroed: bool,
        content: Content,
    ) -> Option<Carve> {
        if self.hot.free() >= bytes || self.refill(bytes) {
            return Some(self.bump_past_limit(bytes, zeroed, content));
        }
        self.allocate_outside(bytes, content)
    }

    /// Takes a new buffer that has room for `bytes`; `false` if the object belongs outside. A
    /// region that the thread fills alone becomes a buffer as a whole, without asking the policy.
    fn refill(&self, bytes: usize) -> bool {
        let shared = &*self.shared;
        if !shared.policy.use_tlab || bytes > shared.policy.sizing.max_tlab_size {
            return false;
        }
        let mut owned = self.owned.borrow_mut();
        if owned.private.is_some() {
            return self.refill_from_own(&mut owned, bytes);
        }
        let least = bytes.max(shared.policy.sizing.min_tlab_size);
        let in_place = self.hot.has_buffer() && shared.space.free.can_extend(self.hot.end(), least);
        // Asked before sizes are settled. An object outside is not a refill, and only refills make
        // sizes grow and decay.
        if !in_place && self.keeps(&mut owned) {
            return false;
        }
        // A clock read is a fifth of a refill. Sizes that do not change are settled already.
        let now = if shared.policy.sizing.looks_at_time() { shared.settle(&mut owned.sizing) } else { 0 };
        let Some(Request { min, size }) = owned.sizing.request(&shared.policy.sizing, bytes, usize::MAX, now)
        else {
            return false;
        };
        let lengthened = if in_place { self.lengthen(min, size) } else { None };
        // Another thread was quicker.
        if in_place && lengthened.is_none() && self.keeps(&mut owned) {
            return false;
        }
        let Some(taken) = lengthened.or_else(|| self.replace(bytes, min, size)) else {
            owned.sizing.refused();
            return false;
        };
        owned.sizing.granted(&shared.policy.sizing, taken, now);
        self.published.publish(&owned.sizing);
        self.counters.refilled(taken);
        probe!(buffer_refill, taken);
        true
    }

    /// Takes a new buffer, for a thread that fills regions alone.
    fn refill_from_own(&self, owned: &mut Owned, bytes: usize) -> bool {
        if self.keeps(owned) {
            return false;
        }
        let shared = &*self.shared;
        let Some(rest) = owned.private.as_mut().and_then(|private| private.rest(&shared.space, bytes)) else {
            return false;
        };
        self.install(&rest);
        owned.sizing.granted_of_own(&shared.policy.sizing, rest.end - rest.start);
        self.counters.refilled(rest.end - rest.start);
        probe!(buffer_refill, rest.end - rest.start);
        true
    }

    /// Whether so much of the buffer is free that it is kept for smaller objects.
    fn keeps(&self, owned: &mut Owned) -> bool {
        let keeps = self.hot.has_buffer() && owned.sizing.keep(&self.shared.policy.sizing, self.hot.free());
        if keeps {
            self.counters.kept();
        }
        keeps
    }

    /// Gives up the buffer without a new one: at a safepoint, before a mark, at the end.
    pub(in crate::mutator) fn give_up_buffer(&self) {
        self.retire_buffer(true);
    }

    /// Gives up the buffer. `give_back`: whether the heap may use the tail at once. Otherwise the
    /// tail is waste until a collection.
    pub(in crate::mutator) fn retire_buffer(&self, give_back: bool) {
        let (top, end) = (self.hot.top(), self.hot.end());
        if self.hot.has_buffer() {
            self.counters.filled(top - self.hot.start());
            let mut owned = self.owned.borrow_mut();
            owned.sizing.retired();
            let given_back = give_back
                && match &mut owned.private {
                    Some(private) => private.undo(&self.shared.space, top, end),
                    None => self.shared.space.free.undo(top, end),
                };
            if !given_back && top < end {
                // SAFETY: the tail of the buffer is this thread's, and nothing is in it.
                unsafe { fill(top, end) };
                let shared = &self.shared;
                let is_spare = give_back
                    && owned.private.is_none()
                    && shared.space.free.give_spare(shared.space.home(), top, end);
                if !is_spare {
                    self.counters.retired(end - top);
                }
            }
        }
        self.sampling.lift(&self.hot);
        self.hot.clear();
        self.arm();
    }

    /// Bumps inside the buffer, regardless of the limit, and then advances the limits.
    fn bump_past_limit(&self, bytes: usize, zeroed: bool, content: Content) -> Carve {
        let hot = &self.hot;
        let (start, end) = (hot.top(), hot.top() + bytes);
        let dirty = if end <= hot.zeroed.get() { start } else { hot.clean.get().clamp(start, end) };
        let passed = self.sampling.pass(start, end);
        hot.set_top(end);
        if zeroed && hot.zeroed.get() <= end {
            self.advance_window(end);
        }
        self.arm();
        if let Some(offset) = passed {
            self.sample(start, bytes, offset, content == Content::Objects);
        }
        Carve { start, end, dirty }
    }

    /// Zeroes the window that begins at `top`. If the window reaches memory that is clean from the
    /// system, the rest of the buffer is zero and no more windows are needed.
    fn advance_window(&self, top: usize) {
        let hot = &self.hot;
        let end = top.saturating_add(self.shared.policy.zero_window).min(hot.end());
        // SAFETY: `[top, end)` is the unused part of this thread's buffer.
        unsafe { zero(top, end.min(hot.clean.get())) };
        hot.zeroed.set(if end >= hot.clean.get() { hot.end() } else { end });
    }

    /// Takes `min` to `size` bytes after the buffer into it, if no other thread has taken them.
    /// Returns how many. Most refills of a thread that allocates much do only this.
    fn lengthen(&self, min: usize, size: usize) -> Option<usize> {
        let (free, end) = (&self.shared.space.free, self.hot.end());
        let carve = self.counted(|attempts| free.extend(end, min, size, attempts))?;
        self.hot.extend(self.cleaned(&carve), carve.end);
        Some(carve.end - carve.start)
    }

    /// Makes a buffer of `min` to `size` bytes from other memory. Returns its bytes. If the heap
    /// has no memory of a useful size, the rest of some region becomes the buffer, provided that it
    /// holds the `object`. Otherwise each object would have to find that rest again.
    #[cold]
    #[inline(never)]
    fn replace(&self, object: usize, min: usize, size: usize) -> Option<usize> {
        self.shared.after_fork_or_abort();
        let found = self.take_buffer(object, min, size);
        let carve = found.or_else(|| self.take_buffer(object, object, size))?;
        self.install(&carve);
        if let Some(collector) = self.shared.collector.concurrent() {
            collector.refilled(&Mutator::new(self), carve.end - carve.start);
        }
        Some(carve.end - carve.start)
    }

    /// A buffer of `min` to `size` bytes from the core's region. Or a spare that another thread
    /// left on this core, if it holds the `object`.
    fn take_buffer(&self, object: usize, min: usize, size: usize) -> Option<Carve> {
        let shared = &*self.shared;
        let home = shared.space.home();
        // However small the spare is: it is used up once. A spare that no thread takes blocks its
        // place for all later ones.
        if let Some(spare) = shared.space.free.take_spare(home, object) {
            return Some(spare);
        }
        self.counted(|attempts| shared.space.free.allocate(home, min, size, attempts))
    }

    /// Takes memory by `take`, and counts its compare-and-swaps.
    #[inline]
    pub(super) fn counted(&self, take: impl FnOnce(&mut Attempts) -> Option<Carve>) -> Option<Carve> {
        let mut attempts = Attempts::default();
        let carve = take(&mut attempts);
        self.counters.compare_exchange(attempts.tried, attempts.won > 0);
        carve
    }

    /// Makes `carve` the buffer, or the continuation of the buffer.
    fn install(&self, carve: &Carve) {
        let (hot, clean) = (&self.hot, self.cleaned(carve));
        if hot.has_buffer()
            && hot.end() == carve.start
            && self.shared.space.same_region(hot.end() - 1, carve.start)
        {
            hot.extend(clean, carve.end);
        } else {
            let (top, end) = (hot.top(), hot.end());
            // SAFETY: the tail of the old buffer is this thread's, and nothing is in it.
            unsafe { fill(top, end) };
            self.counters.filled(top - hot.start());
            self.counters.dropped(end - top);
            self.sampling.lift(hot);
            hot.install(carve.start, clean, carve.end);
            self.sampling.place(hot);
        }
    }

    /// Zeroes the taken memory if the heap zeroes whole buffers. Returns the address from which on
    /// the memory is zero.
    fn cleaned(&self, carve: &Carve) -> usize {
        if self.shared.policy.zero_tlab {
            // SAFETY: nothing is in it, and it is this thread's.
            unsafe { zero(carve.start, carve.dirty) };
            carve.start
        } else {
            carve.dirty
        }
    }
}
