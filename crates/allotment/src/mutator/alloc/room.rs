//! The slow path that may reach a safepoint, and the reservation it hands out.
//!
//! The limit can move at any time (a stop request, a sampling point, a window), so a slow path that
//! only said "there is room now" could be proven wrong before the next line runs. A [`Reservation`] is
//! memory that already belongs to the thread: a later request cannot take it away, and an initialiser
//! that was saved across the safepoint is written into it without another look at the limit. Until it
//! is used it is a filler, so a reservation that is dropped costs its bytes and nothing else.

use super::fast::{initialise, initialise_array};
use super::initialise::zero;
use super::refill::Block;
use crate::mutator::thread::state::State;
use crate::mutator::{ArraySite, Cause, Mutator, OutOfMemory, Outcome, Prefetch, Site, Zeroing};
use crate::object::{Header, Kind, align_to_word, fill};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering;

/// Memory that one thread may initialise without asking again, until its next safepoint.
#[derive(Debug)]
#[must_use = "the reserved bytes are wasted unless something is allocated in them"]
pub struct Reservation<'t> {
    start: usize,
    end: usize,
    /// `[clean, end)` is zero but for the headers of the fillers that cover it.
    clean: usize,
    /// The safepoint it was made at: it lapses with the next one.
    safepoint: u64,
    /// The attachment: it cannot be kept longer, nor reach another thread.
    attached: PhantomData<&'t State>,
}

impl Reservation<'_> {
    /// Bytes left in it.
    pub fn bytes(&self) -> usize {
        self.end - self.start
    }

    fn take(&mut self, bytes: usize, zeroed: bool) -> Option<NonNull<u8>> {
        if bytes > self.bytes() {
            return None;
        }
        let (start, end) = (self.start, self.start + bytes);
        self.start = end;
        // SAFETY: the reservation is this thread's memory and covered; what remains is covered again.
        unsafe {
            uncover(start, self.end);
            if zeroed {
                zero(start, self.clean.min(end));
            }
            fill(end, self.end);
        }
        self.clean = self.clean.max(end);
        NonNull::new(start as *mut u8)
    }
}

/// Zeroes the headers of the fillers that cover `[start, end)`: more than one, where it is large.
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
    /// Collects if the schedule says so, which is a safepoint; whether there is to be memory.
    fn zeal_permits(&mut self) -> bool {
        if !self.state().zeal.stops() {
            return true;
        }
        if self.state().zeal.wants_collection() {
            let shared = self.state().shared.clone();
            // If there is no memory to collect with, the program gets on without.
            if shared.collector.collect(self, Cause::Zeal, &mut |_| true) != Outcome::Elsewhere {
                self.state().zeal.begin_anew();
            }
        }
        !self.state().zeal.fails()
    }
}

impl<'t> Mutator<'t> {
    /// Reserves `bytes` (rounded up to words; several objects may share them). A safepoint: collects
    /// where the collector can, so that afterwards the reserved objects are allocated without fail by
    /// [`alloc_in_raw`](Self::alloc_in_raw).
    ///
    /// # Errors
    /// [`OutOfMemory`] when the heap has no room, even after all that its collector can do, or when
    /// it has hardly any and collections take nearly all of the time (`UseGCOverheadLimit`). The
    /// hook of [`on_heap_limit`](crate::heap::HeapBuilder::on_heap_limit), where there is one, was
    /// asked and had nothing to give.
    pub fn make_room(&mut self, bytes: usize) -> Result<Reservation<'t>, OutOfMemory> {
        self.after_fork_or_abort();
        self.safepoint();
        let rounded = align_to_word(bytes).ok_or_else(|| self.out_of_memory(bytes))?;
        if !self.zeal_permits() {
            let mut error = self.out_of_memory(bytes);
            error.set_on_purpose();
            return Err(error);
        }
        loop {
            if let Some(block) = self.allocate_covered(rounded) {
                return Ok(self.reserve(block));
            }
            let shared = self.state().shared.clone();
            // What the collection freed is taken before others run: one collection of our own decides.
            let mut found = None;
            let mut satisfied = |mutator: &Mutator<'_>| {
                found = mutator.allocate_covered(rounded);
                found.is_some()
            };
            let over_limit = shared.collector.over_limit();
            let mut outcome = shared.collector.collect(self, Cause::AllocationFailure, &mut satisfied);
            if outcome == Outcome::Elsewhere {
                found = self.allocate_covered(rounded);
                if found.is_none() {
                    let Some(overhead) = shared.over_limit_since(over_limit) else { continue };
                    outcome = Outcome::OverLimit(overhead);
                }
            }
            if let Some(block) = found {
                return Ok(self.reserve(block));
            }
            let mut error = self.out_of_memory(bytes);
            match outcome {
                Outcome::Refused => error.set_refused_by_system(),
                Outcome::OverLimit(overhead) => error.set_gc_overhead(overhead),
                _ => {}
            }
            if !shared.at_heap_limit(&error) {
                return Err(error);
            }
            // The hook may say so for ever, and a collector that does not collect stops nobody.
            self.safepoint();
        }
    }

    /// Memory that is a filler at once: after a collection the embedder's hooks run before it is used, and may panic.
    fn allocate_covered(&self, bytes: usize) -> Option<Block> {
        let block = self.state().allocate_past_limit(bytes, false)?;
        block.cover();
        Some(block)
    }

    /// Hands out a block from [`allocate_covered`](Self::allocate_covered).
    fn reserve(&self, block: Block) -> Reservation<'t> {
        Reservation {
            start: block.start,
            end: block.end,
            clean: block.clean.min(block.end),
            safepoint: self.state().safepoints.get(),
            attached: PhantomData,
        }
    }

    /// Collects all garbage now, if the heap's collector does that at all; whether there was such a collection, by this thread or
    /// meanwhile by another. A safepoint.
    pub fn collect(&mut self) -> bool {
        let shared = self.state().shared.clone();
        let done = || shared.full_collections.load(Ordering::Relaxed);
        let before = done();
        // A stop that is asked for may be a full collection: it begins when this thread stands, so it finds all its garbage.
        // And not every collector stops the world for what follows.
        self.safepoint();
        if done() != before {
            return true;
        }
        loop {
            match shared.collector.collect(self, Cause::Requested, &mut |_| true) {
                // What the other stopped for need not be what is wanted here.
                Outcome::Elsewhere if done() == before => continue,
                outcome => return matches!(outcome, Outcome::Collected | Outcome::Elsewhere),
            }
        }
    }

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

    /// The same for an object whose header and size the caller knows from elsewhere.
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

    /// The same for an object whose size is known only at run time.
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
        // SAFETY: `take` gave `bytes` bytes, which are this thread's alone, as the shape wants them.
        unsafe { initialise_array::<Z>(start, site.shape, bytes, length) };
        Some(start)
    }

    /// Memory for a slow path of generated code, which makes objects of it before its next safepoint; null where the
    /// heap has no room. A safepoint.
    pub(in crate::mutator) fn memory_for_generated(&mut self, bytes: usize, zeroed: bool) -> *mut u8 {
        let memory = self.state().memory_past_limit(bytes, zeroed).or_else(|| {
            let mut room = self.make_room(bytes).ok()?;
            self.take(&mut room, bytes, zeroed)
        });
        memory.map_or(ptr::null_mut(), NonNull::as_ptr)
    }

    fn take(&self, room: &mut Reservation<'t>, bytes: usize, zeroed: bool) -> Option<NonNull<u8>> {
        (room.safepoint == self.state().safepoints.get()).then(|| room.take(bytes, zeroed)).flatten()
    }

    /// Comes to a safepoint if one was requested: gives the buffer up, and waits while the world is stopped.
    /// Costs a load and a branch otherwise. Who waits may be called to do a share of the collection, as who stopped the world
    /// does: on this thread's stack, trace functions included.
    #[inline]
    pub fn safepoint(&mut self) {
        if self.state().hot.limit.pending() {
            self.state().stop();
        }
    }

    #[cold]
    pub(in crate::mutator) fn out_of_memory(&self, bytes: usize) -> OutOfMemory {
        self.state().shared.out_of_memory(bytes)
    }
}

/// Of the state, as the [slow path](super::fast): polls stand in loops.
impl State {
    #[cold]
    fn stop(&self) {
        self.come_to_safepoint();
        self.shared.registry.park(self);
    }

    /// What every safepoint begins with.
    pub(in crate::mutator) fn come_to_safepoint(&self) {
        self.shared.after_fork_or_abort();
        // First accepted, then served: a request from here on is a new one.
        self.hot.limit.acknowledge();
        self.let_lapse();
    }

    /// Reservations lapse, and the buffer is given up: at a safepoint, and again when the world stands still, for threads in `blocking`
    /// and for what was held meanwhile.
    pub(in crate::mutator) fn let_lapse(&self) {
        self.safepoints.set(self.safepoints.get() + 1);
        self.give_up_buffer();
    }
}
