//! Sampling points of a thread: where one is passed, an allocation is sampled.
//!
//! The distance to the next point is kept in allocated bytes, wherever they lie. The point is
//! placed in the buffer as an address, which the limit then includes. When the buffer changes, the
//! point is lifted. Objects outside buffers are counted against the distance. Between points
//! sampling costs nothing, as in JEP 331, and a refill costs the same as without.
//!
//! [`sampling`](crate::mutator::sampling) says how distances are drawn, and what a sample is. The
//! distance after a sampled block begins at the block's end. Where the block holds several
//! objects, the same happens again among them, once they are complete: each object is sampled as if
//! it had been allocated alone.
//!
//! A change of the interval is adopted at a safepoint. The next distance is drawn anew then, so
//! each point belongs to one interval. (HotSpot keeps the drawn point, and counts it as one of the
//! new interval.)

use super::attachment::own_state;
use super::handle::Mutator;
use super::hot::Hot;
use super::shared::Shared;
use super::state::State;
use crate::mutator::safepoint::AbortOnUnwind;
use crate::mutator::sampling::{
    Distances, FrameSink, Pending, PendingSample, SampleMemory, SampleStore, Samples, SettledSample, frames,
};
use crate::object::{Header, Kind, Shapes, settle, size_of_object};
use crate::platform::{frame_pointer, own_stack};
use crate::probes::probe;
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The position of the next sampling point, and the samples. Owner only; a stopper uses the samples
/// while the owner is held.
#[derive(Debug)]
pub(in crate::mutator) struct Sampling {
    /// The address of the next point in the buffer, where an allocation must take the slow path.
    /// `NEVER` if sampling is off or there is no buffer.
    pub(in crate::mutator) point: Cell<usize>,
    /// Bytes from the start of the buffer to the point. Without a buffer, bytes from now on.
    distance: Cell<usize>,
    /// Mean bytes from one point to the next; 0: off.
    interval: Cell<usize>,
    /// Points passed.
    passed: Cell<u64>,
    distances: Distances,
    /// Distances among the objects of one block.
    inside: Distances,
    /// Samples since the last safepoint.
    pub(in crate::mutator) pending: Pending,
    /// The thread's own stack. Looked up at the first sample; `None`: the system does not tell.
    stack: OnceCell<Option<Range<usize>>>,
}

const NEVER: usize = usize::MAX;

const PANICKED: &str =
    "a StackWalker panicked (see above): the object that was being allocated would have no header";

impl Sampling {
    /// The sampling of the `thread`-th thread of a heap with this seed, switched off.
    pub(in crate::mutator) fn new(seed: u64, thread: u64) -> Sampling {
        Sampling {
            point: Cell::new(NEVER),
            distance: Cell::new(0),
            interval: Cell::new(0),
            passed: Cell::new(0),
            distances: Distances::new(seed, thread),
            inside: Distances::new(!seed, thread),
            pending: Pending::default(),
            stack: OnceCell::new(),
        }
    }

    /// Whether there are points.
    pub(in crate::mutator) fn is_on(&self) -> bool {
        self.interval.get() != 0
    }

    /// Points passed.
    pub(in crate::mutator) fn passed(&self) -> u64 {
        self.passed.get()
    }

    /// Places points every `interval` bytes on average from here on; 0: none. `hot` holds the
    /// buffer.
    pub(in crate::mutator) fn restart(&self, hot: &Hot, interval: usize) {
        if interval == self.interval.get() {
            return;
        }
        hot.pointer.close();
        self.point.set(NEVER);
        self.interval.set(interval);
        self.draw();
        self.place(hot);
    }

    fn draw(&self) {
        self.distance.set(self.distances.next(self.interval.get()));
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

    /// Passes the point, if the block `[start, end)` in the buffer holds it. Returns the point's
    /// offset in the block.
    #[inline]
    pub(in crate::mutator) fn pass(&self, start: usize, end: usize) -> Option<usize> {
        let point = self.point.get();
        if end <= point {
            return None;
        }
        self.passed.set(self.passed.get() + 1);
        self.draw();
        self.point.set(end.saturating_add(self.distance.get()));
        Some(point.saturating_sub(start))
    }

    /// Passes the point, if a block of `bytes` outside the buffer holds it. The block may move the
    /// point in the buffer. To be called while sampling is on.
    pub(in crate::mutator) fn pass_outside(&self, hot: &Hot, bytes: usize) -> Option<usize> {
        self.lift(hot);
        let distance = self.distance.get();
        let passed = bytes > distance;
        if passed {
            self.passed.set(self.passed.get() + 1);
            self.draw();
        } else {
            self.distance.set(distance - bytes);
        }
        self.place(hot);
        passed.then_some(distance)
    }

    /// The part of the thread's own stack from `low` on. `None` if `low` is not in it: the thread
    /// runs on another stack, such as a coroutine's, whose end is not known. A thread may change
    /// between stacks, so each sample asks.
    pub(in crate::mutator) fn stack_bounds(&self, low: usize) -> Option<Range<usize>> {
        let stack = self.stack.get_or_init(own_stack).as_ref()?;
        stack.contains(&low).then_some(low..stack.end)
    }

    /// Calls `found` with the sampled objects of an entry: address, number of the shape, bytes.
    ///
    /// # Safety
    /// - The entry's objects are complete, and none has moved.
    unsafe fn settle(
        &self,
        shapes: &Shapes,
        entry: &PendingSample,
        mut found: impl FnMut(usize, u32, usize),
    ) {
        if !entry.is_group {
            // SAFETY: the caller's predicate.
            let header = unsafe { header_at(entry.address) };
            return found(entry.address, header.shape_number(), entry.bytes);
        }
        let (mut at, end, mut left) = (entry.address, entry.address + entry.bytes, entry.offset);
        while at < end {
            // SAFETY: the caller's predicate: objects and fillers, up to the end.
            let header = unsafe { header_at(at) };
            let (bytes, is_object) = match header.kind() {
                Kind::Filler(bytes) => (bytes, false),
                Kind::Object(id) => match shapes.get(id) {
                    // SAFETY: an object of that shape.
                    Some(shape) => (unsafe { size_of_object(at, shape) }, true),
                    None => return,
                },
                Kind::Forwarded(_) | Kind::Invalid => return,
            };
            if bytes > end - at {
                return;
            }
            if bytes <= left {
                left -= bytes;
            } else {
                if is_object {
                    found(at, header.shape_number(), bytes);
                }
                left = self.inside.next(entry.interval);
            }
            at += bytes;
        }
    }
}

/// The header of an object or filler. An object whose type had no id gets its real header.
///
/// # Safety
/// - An object or filler is at `address`.
unsafe fn header_at(address: usize) -> Header {
    // SAFETY: a header is an aligned word, which is accessed atomically while mutators run.
    let word = unsafe { AtomicU64::from_ptr(ptr::with_exposed_provenance_mut(address)) };
    let header = Header::from_bits(word.load(Ordering::Relaxed));
    if header.is_early() { settle(word, header) } else { header }
}

/// When samples are handed over, and so which of their objects are complete.
#[derive(Clone, Copy, Debug)]
enum Moment {
    /// At a safepoint: all objects.
    Safepoint,
    /// Between two safepoints: objects that were allocated alone.
    Span,
    /// Before the memory of all samples after this many points is used again.
    Recycle(u64),
}

/// Sampled objects in regions of the thread's own. Owner only.
#[derive(Debug, Default)]
pub(in crate::mutator) struct Followed(Vec<Follow>);

#[derive(Clone, Copy, Debug)]
struct Follow {
    /// Points that the thread had passed.
    number: u64,
    address: usize,
    bucket: u32,
}

impl Followed {
    /// Bytes that one object takes in a list that is up to half empty.
    const BYTES: usize = 2 * size_of::<Follow>();

    fn push(&mut self, store: &mut SampleStore<'_>, follow: Follow, bytes: usize) {
        if store.take(Followed::BYTES) {
            if self.0.try_reserve(1).is_ok() {
                return self.0.push(follow);
            }
            store.memory.give(Followed::BYTES);
        }
        store.memory.drop_sample(bytes);
    }

    /// Forgets the objects of all points after the first `points`.
    fn recycle(&mut self, memory: &SampleMemory, points: u64) {
        let before = self.0.len();
        self.0.retain(|follow| follow.number <= points);
        memory.give(Followed::BYTES * (before - self.0.len()));
    }

    /// Lets the heap follow the objects: their regions are everyone's now.
    pub(in crate::mutator) fn hand_over(&mut self, shared: &Shared) {
        if self.0.is_empty() {
            return;
        }
        let mut store = shared.sample_store();
        store.memory.give(Followed::BYTES * self.0.len());
        for follow in std::mem::take(&mut self.0) {
            store.follow(follow.address, follow.bucket);
        }
    }
}

impl State {
    /// Notes a sample: the block of `bytes` at `start`, whose byte at `offset` has the point that
    /// was passed. `is_group`: several objects may be made of it, until the next safepoint.
    #[cold]
    #[inline(never)]
    pub(in crate::mutator) fn sample(&self, start: usize, bytes: usize, offset: usize, is_group: bool) {
        probe!(sample, bytes);
        let (sampling, sampler) = (&self.sampling, &self.shared.watch.sampler);
        if sampling.pending.are_many_complete() {
            self.shared.after_fork_or_abort();
            self.hand_over(Moment::Span);
        }
        let (number, interval) = (sampling.passed(), sampling.interval.get());
        let entry = PendingSample { number, address: start, bytes, offset, interval, is_group };
        if !sampling.pending.push(&sampler.memory, entry, |sink| self.walk_stack(sink)) {
            // The dead samples of the heap may have the memory.
            self.shared.after_fork_or_abort();
            self.shared.sample_store().forget_newly_dead();
        }
    }

    fn walk_stack(&self, sink: &mut FrameSink<'_>) {
        let sampler = &self.shared.watch.sampler;
        if let Some(walker) = &sampler.walker {
            // The block has no header yet, and a thread that unwinds would leave it so.
            let abort = AbortOnUnwind::new(PANICKED);
            walker.walk(sink);
            return abort.disarm();
        }
        let here = 0_u8;
        let low = (&raw const here).addr();
        let bounds = self.sampling.stack_bounds(low);
        let at = if sampler.frame_pointers { frame_pointer() } else { 0 };
        let generated = ptr::with_exposed_provenance(self.hot.frame());
        // SAFETY: the stack from a variable of this function on. A call from generated code that is
        // under way has its frame on it.
        unsafe { frames(at, bounds.unwrap_or_default(), generated, sink) };
    }

    /// Hands over all samples when the thread enters `blocking`, perhaps in a child of `fork()`.
    pub(in crate::mutator) fn hand_over_before_blocking(&self) {
        if !self.sampling.pending.is_empty() {
            // A thread that is not in this process may have the lock of the samples.
            self.shared.after_fork_or_abort();
            self.hand_over(Moment::Safepoint);
        }
    }

    /// Hands over all samples, at a safepoint.
    #[inline]
    pub(in crate::mutator) fn hand_over_samples(&self) {
        if !self.sampling.pending.is_empty() {
            self.hand_over(Moment::Safepoint);
        }
    }

    /// Hands over all samples at a call that counts as a safepoint, if they are many. Generated
    /// code whose samples are all of blocks comes to no other for long. Reservations lapse then.
    #[inline]
    pub(in crate::mutator) fn hand_over_many(&self) {
        if self.sampling.pending.are_many() {
            self.hand_over_early();
        }
    }

    /// Hands over all samples at a call that counts as a safepoint. If there are any, reservations
    /// lapse.
    pub(in crate::mutator) fn hand_over_early(&self) {
        if !self.sampling.pending.is_empty() {
            self.shared.after_fork_or_abort();
            self.hand_over(Moment::Safepoint);
            self.safepoints.set(self.safepoints.get() + 1);
        }
    }

    /// Settles the samples after the first `points` points: their memory is about to be used again.
    pub(in crate::mutator) fn recycle_samples(&self, points: u64) {
        if self.sampling.passed() > points {
            self.shared.after_fork_or_abort();
            self.hand_over(Moment::Recycle(points));
            self.owned.borrow_mut().sampled.recycle(&self.shared.watch.sampler.memory, points);
        }
    }

    #[cold]
    fn hand_over(&self, moment: Moment) {
        let shared = &*self.shared;
        let (mut owned, mut store) = (self.owned.borrow_mut(), shared.sample_store());
        self.sampling.pending.drain(|entry, stack| {
            let (number, interval) = (entry.number, entry.interval);
            let is_recycled = match moment {
                Moment::Safepoint => false,
                Moment::Span if entry.is_group => return false,
                Moment::Span => false,
                Moment::Recycle(points) if number <= points => return false,
                Moment::Recycle(_) if entry.is_group => {
                    store.memory.drop_recycled();
                    return true;
                }
                Moment::Recycle(_) => true,
            };
            let found = |address, shape, bytes| {
                let sample = SettledSample { shape, bytes, interval, stack };
                match store.count(&sample) {
                    Some(bucket) if !is_recycled && owned.private.is_some() => {
                        let follow = Follow { number, address, bucket };
                        owned.sampled.push(&mut store, follow, bytes);
                    }
                    Some(bucket) if !is_recycled => store.follow(address, bucket),
                    _ => {}
                }
            };
            // SAFETY: complete at this moment; objects move in stops only.
            unsafe { self.sampling.settle(&shared.space.shapes, entry, found) };
            true
        });
    }
}

impl Shared {
    /// Locks the samples of all threads.
    fn sample_store(&self) -> SampleStore<'_> {
        self.watch.sampler.store(&self.threads.roots.sampled)
    }

    /// The samples so far, without those that other threads took since their last safepoints.
    pub(crate) fn samples(&self) -> Samples {
        // While this thread is in `blocking`, a stopper or a worker may use its state.
        if let Some(own) = own_state(self).filter(|own| !own.status.is_safe()) {
            own.hand_over(Moment::Span);
        }
        self.sample_store().read()
    }
}

impl Mutator<'_> {
    /// Sampling points this thread has passed since it attached: the number of allocations of this
    /// thread that were sampled.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// heap.set_allocation_sample_interval(1); // every object
    /// mu.safepoint();
    /// let before = mu.sampling_points();
    /// alloc!(mu, NewStr::from("text"))?;
    /// assert_eq!(mu.sampling_points() - before, 1);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sampling_points(&self) -> u64 {
        self.state().sampling.passed()
    }
}
