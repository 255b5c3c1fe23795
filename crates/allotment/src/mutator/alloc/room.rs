//! The slow path that may reach a safepoint, and the reservation that it hands out.
//!
//! The limit can move at any time (a stop request, a sampling point, a window). So a slow path that
//! only reported room could be wrong before the next line runs. A [`Reservation`] is memory that
//! already belongs to the thread, and a later request cannot take it away. An initialiser saved
//! across the safepoint is written into it without another check of the limit. Until it is used, a
//! reservation is a filler. So a dropped reservation costs its bytes and nothing else.

use super::fast::{initialise, initialise_array};
use super::initialise::zero;
use super::refill::Content;
use super::stall::stall;
use crate::mutator::safepoint::share_collection;
use crate::mutator::thread::state::State;
use crate::mutator::{ArraySite, Cause, Mutator, OutOfMemory, Outcome, Prefetch, RawMutator, Site, Zeroing};
use crate::object::{Header, Kind, WORD, fill};
use crate::region::Carve;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

/// Memory that one thread may initialise without another check, until its next safepoint.
#[derive(Debug)]
#[must_use = "the reserved bytes are wasted unless something is allocated in them"]
pub struct Reservation<'t> {
    /// The memory, covered by fillers, whose headers may lie in the part that is zero.
    memory: Carve,
    /// The safepoint count at its creation. The reservation lapses with the next safepoint.
    safepoint: u64,
    /// The attachment: a reservation cannot outlive it, nor reach another thread.
    attached: PhantomData<&'t State>,
}

impl Reservation<'_> {
    /// Bytes left in the reservation.
    ///
    /// ```
    /// # use allotment::{Heap, New, NewStr, OutOfMemory};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let new = NewStr::from("text");
    /// let mut room = mu.make_room(2 * new.bytes())?;
    /// assert_eq!(room.bytes(), 2 * new.bytes());
    /// assert!(mu.try_alloc_in(&mut room, new).is_ok());
    /// assert_eq!(room.bytes(), NewStr::from("text").bytes());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bytes(&self) -> usize {
        self.memory.end - self.memory.start
    }

    /// This reservation without the lifetime of the attachment, for code that keeps it between two
    /// calls, such as a function that C code calls. A reservation lapses with the next safepoint all
    /// the same.
    ///
    /// # Safety
    /// - The result is used with mutators of this attachment only, and dropped before its end.
    pub unsafe fn without_lifetime(self) -> Reservation<'static> {
        Reservation { memory: self.memory, safepoint: self.safepoint, attached: PhantomData }
    }

    fn take(&mut self, bytes: usize, zeroed: bool) -> Option<NonNull<u8>> {
        if bytes > self.bytes() {
            return None;
        }
        let Carve { start, end, dirty } = self.memory;
        let next = start + bytes;
        // SAFETY: the reservation is this thread's memory and covered; the rest is covered again.
        unsafe {
            uncover(start, end);
            if zeroed {
                zero(start, dirty.min(next));
            }
            fill(next, end);
        }
        self.memory = Carve { start: next, end, dirty: dirty.max(next) };
        NonNull::new(start as *mut u8)
    }
}

/// Zeroes the headers of the fillers that cover `[start, end)`. A large range has more than one.
///
/// # Safety
/// - `[start, end)` is memory of the caller's alone, and begins with a filler.
unsafe fn uncover(start: usize, end: usize) {
    let mut at = start;
    while at < end {
        // SAFETY: a word of the caller's range.
        let header = unsafe { (at as *mut u64).replace(0) };
        let Kind::Filler(bytes) = Header::from_bits(header).kind() else { return };
        at += bytes;
    }
}

impl Mutator<'_> {
    /// Collects if the schedule says so, which is a safepoint. Returns whether the allocation may
    /// have memory.
    fn zeal_permits(&mut self) -> bool {
        if !self.state().zeal.stops() {
            return true;
        }
        if self.state().zeal.wants_collection() {
            // If there is no memory to collect with, the program goes on without a collection.
            if self.collect_as(Cause::Zeal, &mut |_| true) != Outcome::Elsewhere {
                self.state().zeal.begin_anew();
            }
        }
        !self.state().zeal.fails()
    }

    /// Has the collector make room, as [`Collector::collect`](crate::mutator::Collector::collect).
    /// The thread waits for that, or does it.
    pub(super) fn collect_as(
        &mut self,
        cause: Cause,
        satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool,
    ) -> Outcome {
        let shared = self.state().shared.clone();
        let collect = || shared.collector.collect(self, cause, satisfied);
        stall(cause, &shared.threads, &shared.watch, collect)
    }

    /// As [`collect_as`](Self::collect_as), for an allocation of `bytes`.
    fn collect_for(&mut self, bytes: usize, satisfied: &mut dyn FnMut(&Mutator<'_>) -> bool) -> Outcome {
        let shared = self.state().shared.clone();
        let cause = Cause::AllocationFailure;
        let collect = || {
            if bytes > shared.space.region_bytes() && shared.collector.await_run(self, satisfied) {
                return Outcome::Collected;
            }
            shared.collector.collect(self, cause, satisfied)
        };
        stall(cause, &shared.threads, &shared.watch, collect)
    }
}

impl<'t> Mutator<'t> {
    /// Reserves `bytes` (rounded up to words; several objects may share them). This is a safepoint:
    /// it collects if the collector can. Afterwards [`try_alloc_in`](Self::try_alloc_in) allocates
    /// the reserved objects without fail.
    ///
    /// ```
    /// # use allotment::{Heap, New, NewStr, OutOfMemory};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let (one, two) = (NewStr::from("one"), NewStr::from("two"));
    /// let mut room = mu.make_room(one.bytes() + two.bytes())?;
    /// // No safepoint from here on, so `one` stays where it is.
    /// let Ok(one) = mu.try_alloc_in(&mut room, one) else { unreachable!("reserved") };
    /// let Ok(two) = mu.try_alloc_in(&mut room, two) else { unreachable!("reserved") };
    /// assert_eq!(format!("{one} {two}"), "one two");
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap has no room, even after all that its collector can do. Also
    /// when the heap has hardly any room and collections take nearly all of the time
    /// (`UseGCOverheadLimit`). The hook of
    /// [`on_heap_limit`](crate::heap::HeapBuilder::on_heap_limit), if there is one, was called and
    /// released nothing.
    pub fn make_room(&mut self, bytes: usize) -> Result<Reservation<'t>, OutOfMemory> {
        self.shared().after_fork_or_abort();
        self.safepoint();
        self.state().hand_over_many();
        let rounded = bytes.checked_next_multiple_of(WORD).ok_or_else(|| self.out_of_memory(bytes))?;
        if !self.zeal_permits() {
            let mut error = self.out_of_memory(bytes);
            error.0.on_purpose = true;
            return Err(error);
        }
        loop {
            if let Some(memory) = self.allocate_covered(rounded) {
                return Ok(self.reserve(memory));
            }
            let shared = self.state().shared.clone();
            // The freed memory is taken before other threads run, so one collection by this thread
            // decides.
            let mut found = None;
            let mut satisfied = |mutator: &Mutator<'_>| {
                found = mutator.allocate_covered(rounded);
                found.is_some()
            };
            let over_limit = shared.collector.over_limit();
            let mut outcome = self.collect_for(rounded, &mut satisfied);
            if outcome == Outcome::Elsewhere {
                found = self.allocate_covered(rounded);
                if found.is_none() {
                    let Some(overhead) = shared.over_limit_since(over_limit) else { continue };
                    outcome = Outcome::OverLimit(overhead);
                }
            }
            if let Some(memory) = found {
                return Ok(self.reserve(memory));
            }
            let mut error = self.out_of_memory(bytes);
            match outcome {
                Outcome::Refused => error.0.refused_by_system = true,
                Outcome::OverLimit(overhead) => error.0.overhead = Some(overhead),
                _ => {}
            }
            if !shared.at_heap_limit(&error) {
                if let Some(hook) = &shared.watch.on_out_of_memory {
                    hook(self, &error);
                }
                return Err(error);
            }
            // The hook may claim a release each time, without end, and a collector that does not
            // collect stops no thread.
            self.safepoint();
        }
    }

    /// Memory that is a filler at once: after a collection, the embedder's hooks run before it is
    /// used, and may panic.
    fn allocate_covered(&self, bytes: usize) -> Option<Carve> {
        let memory = self.state().allocate_past_limit(bytes, false, Content::Objects)?;
        // SAFETY: the memory is this thread's alone, and nothing lies in it yet.
        unsafe { fill(memory.start, memory.end) };
        Some(memory)
    }

    /// Hands out memory from [`allocate_covered`](Self::allocate_covered).
    fn reserve(&self, memory: Carve) -> Reservation<'t> {
        Reservation { memory, safepoint: self.state().safepoints.get(), attached: PhantomData }
    }

    /// Collects all garbage now, if the heap's collector collects at all. Returns whether there was
    /// such a collection, by this thread or meanwhile by another. This is a safepoint. Threads that
    /// ask at the same time share a collection: one serves all requests that arrived before it
    /// began.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, OutOfMemory, WeakRoot, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let text = alloc!(mu, NewStr::from("garbage"))?;
    /// let weak = WeakRoot::new(mu, text);
    /// assert!(mu.collect());
    /// assert!(weak.get(mu).is_none());
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collect(&mut self) -> bool {
        let shared = self.state().shared.clone();
        let request = |mutator: &mut Self| mutator.collect_as(Cause::Requested, &mut |_| true);
        if shared.collector.concurrent().is_some() {
            return request(self) == Outcome::Collected;
        }
        let outcome = share_collection(
            self,
            |_| shared.threads.full_collections.load(Ordering::Relaxed),
            |mutator| {
                mutator.let_others_go_on();
                mutator.safepoint();
            },
            |mutator| Some(request(mutator)).filter(|outcome| *outcome != Outcome::Elsewhere),
        );
        outcome.is_none_or(|outcome| outcome == Outcome::Collected)
    }

    /// Waits, for a bounded time, for threads that the last stop held and that have yet to run.
    /// They may be about to ask for a collection, which this thread would otherwise begin without
    /// them.
    pub(crate) fn let_others_go_on(&mut self) {
        let shared = self.state().shared.clone();
        let threads = &shared.threads.registry.threads;
        if threads.is_resuming() {
            self.blocking(|| threads.await_resumption());
        }
    }

    /// Comes to a safepoint if one was requested: gives the buffer up if that was asked, and waits
    /// while threads are stopped. Otherwise costs a load and a branch. A waiting thread may be
    /// called to do a share of the collection, as the stopping thread does. That work runs on this
    /// thread's stack, trace functions included.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc, root};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// root!(mu, numbers = alloc!(mu, NewSlots::new(1000, 1_u32))?);
    /// let mut sum = 0;
    /// for index in 0..1000 {
    ///     mu.safepoint(); // a long loop that allocates nothing holds up no collection
    ///     sum += numbers.get(mu)[index].get();
    /// }
    /// assert_eq!(sum, 1000);
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn safepoint(&mut self) {
        if self.state().hot.limit.pending() {
            self.state().stop();
        }
    }

    /// Whether a stop waits for this thread.
    pub(crate) fn is_stop_requested(&self) -> bool {
        self.state().hot.limit.pending()
    }

    #[cold]
    pub(in crate::mutator) fn out_of_memory(&self, bytes: usize) -> OutOfMemory {
        OutOfMemory::new(bytes, &self.state().shared.space)
    }
}

/// Methods of the state, as in the [slow path](super::fast): polls stand in loops.
impl State {
    #[cold]
    fn stop(&self) {
        self.come_to_safepoint();
        self.shared.threads.registry.threads.park(&self.into());
        self.settle_if_due();
    }

    /// The beginning of every safepoint.
    pub(in crate::mutator) fn come_to_safepoint(&self) {
        self.shared.after_fork_or_abort();
        // Accepted first, then served: a request from here on is a new one.
        let gives_up = self.hot.limit.acknowledge();
        self.satb.give(&self.shared.threads.satb);
        self.hand_over_samples();
        // Takes over the interval of the heap.
        self.sampling.restart(&self.hot, self.shared.watch.sampler.interval());
        if gives_up {
            self.let_lapse();
        } else {
            self.safepoints.set(self.safepoints.get() + 1);
            self.hot.pointer.close();
            self.arm();
        }
    }

    /// Lets reservations lapse and gives up the buffer. This happens at a safepoint. It happens
    /// again when the world stands still, for threads in `blocking` and for memory taken meanwhile.
    pub(in crate::mutator) fn let_lapse(&self) {
        self.hand_over_samples();
        self.safepoints.set(self.safepoints.get() + 1);
        self.give_up_buffer();
    }
}

impl<'t> RawMutator<'t> {
    /// Allocates in reserved memory. `None`: the reservation is used up, or lapsed at a safepoint.
    ///
    /// # Safety
    /// As for [`try_alloc_raw`](Self::try_alloc_raw).
    pub unsafe fn alloc_in_raw<const BYTES: usize, Z: Zeroing, P: Prefetch>(
        &self,
        room: &mut Reservation<'t>,
        site: Site<BYTES, Z, P>,
    ) -> Option<NonNull<u8>> {
        // SAFETY: the caller's predicates; the site checked the size against the shape.
        unsafe { self.alloc_in_with_header::<Z>(room, site.header, BYTES) }
    }

    /// Allocates, in reserved memory, an object whose header and size the caller knows from
    /// elsewhere. `None` as from [`alloc_in_raw`](Self::alloc_in_raw).
    ///
    /// # Safety
    /// As for [`try_alloc_with_header`](Self::try_alloc_with_header).
    pub unsafe fn alloc_in_with_header<Z: Zeroing>(
        &self,
        room: &mut Reservation<'t>,
        header: Header,
        bytes: usize,
    ) -> Option<NonNull<u8>> {
        let start = self.take(room, bytes, Z::WANTS_ZEROES)?;
        // SAFETY: `take` gave `bytes` bytes, which are this thread's alone.
        unsafe { initialise::<Z>(start, header, bytes) };
        Some(start)
    }

    /// Allocates, in reserved memory, an object whose size is known only at run time. `None` as
    /// from [`alloc_in_raw`](Self::alloc_in_raw).
    ///
    /// # Safety
    /// As for [`try_alloc_raw`](Self::try_alloc_raw).
    pub unsafe fn alloc_in_array_raw<Z: Zeroing, P: Prefetch>(
        &self,
        room: &mut Reservation<'t>,
        site: ArraySite<Z, P>,
        length: usize,
    ) -> Option<NonNull<u8>> {
        let bytes = site.shape.bytes_for(length)?;
        let start = self.take(room, bytes, Z::WANTS_ZEROES)?;
        // SAFETY: `take` gave `bytes` bytes, which are this thread's alone, as many as the shape
        // needs.
        unsafe { initialise_array::<Z>(start, site.shape, bytes, length) };
        Some(start)
    }

    /// Memory for a slow path of generated code, which makes objects of it before its next
    /// safepoint, or one object at once: `content`. `None` if the heap has no room, and then the
    /// reason is kept. This is a safepoint.
    pub(in crate::mutator) fn memory_for_generated(
        &mut self,
        bytes: usize,
        zeroed: bool,
        content: Content,
    ) -> Option<NonNull<u8>> {
        self.state().hand_over_many();
        if let Some(memory) = self.state().memory_past_limit(bytes, zeroed, content) {
            return Some(memory);
        }
        let made = self.make_room(bytes).and_then(|mut room| {
            self.take(&mut room, bytes, zeroed).ok_or_else(|| self.out_of_memory(bytes))
        });
        made.map_err(|error| self.state().out_of_memory.set(Some(error))).ok()
    }

    /// Why a function of [`GeneratedCalls`](crate::mutator::GeneratedCalls) returned null to this
    /// thread last. `None` if none did since the last call of this function.
    pub fn take_out_of_memory(&self) -> Option<OutOfMemory> {
        self.state().out_of_memory.take()
    }

    fn take(&self, room: &mut Reservation<'t>, bytes: usize, zeroed: bool) -> Option<NonNull<u8>> {
        (room.safepoint == self.state().safepoints.get()).then(|| room.take(bytes, zeroed)).flatten()
    }
}
