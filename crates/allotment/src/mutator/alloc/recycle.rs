//! Marks: a thread reuses memory that it filled alone, before any collection.
//!
//! Marks serve frames, requests, and measurements that must reuse memory while other threads run.
//! From its first mark on, a thread takes whole regions, each as its buffer. So the memory filled
//! since a mark is a list of regions and two addresses. Recycling pushes the regions on the
//! thread's own stack, and later takes them from its top. The memory written last, which is still
//! in the caches, is then written first. But memory then goes downwards from region to region,
//! where no core prefetches. So more than [`hot_bytes`] is filled in its original order.
//!
//! A stop of the world dissolves the thread's own regions. A collector moves objects out of regions
//! and into others, so the memory that one thread filled is then no list of regions. In a stopped
//! world no region is exclusive. A mark records how often that has happened, and an older mark
//! recycles nothing: the collector finds those objects dead.
//!
//! Refused: to leave a marked thread's regions out of collections. Objects in them would be garbage
//! that no collection frees, and roots that no collection may move.
//!
//! ```text
//! log:  regions filled, oldest first; the last one is being filled
//! mark: length of the log, the region's top, and what was left of the buffer, at one moment
//! ```

use crate::mutator::RawMutator;
use crate::mutator::thread::state::State;
use crate::mutator::thread::{LogPosition, Private};
use crate::platform::Processor;
use std::marker::PhantomData;

/// The number of recycled bytes up to which the last regions are reused first, for a second-level
/// cache of `l2_bytes`.
///
/// Measured against the other order. Intel Xeon, 2 MiB of L2, objects of 64 bytes: 8 % more of 2
/// MiB, 37 of 4, 7 of 16, and 6 % less of 64 where two threads have as many. Zen 4, 1 MiB of L2 and
/// a quick third level: 1 % more of 1 MiB, and 1 to 3 less of 2, 4 and 8 MiB, since each step
/// downwards takes 300 ns instead of 150. AArch64 is not measured, and has the smaller number.
pub(crate) fn hot_bytes(processor: &Processor, l2_bytes: usize) -> usize {
    match processor {
        Processor::X86_64(processor) if !processor.is_zen() => 8 * l2_bytes,
        _ => l2_bytes,
    }
}

/// A moment of one thread's allocation; see [`RawMutator::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark<'t> {
    /// How often the thread's regions had been dissolved. Older marks are void.
    dissolved: u64,
    moment: LogPosition,
    /// The rest of the buffer; `top = end = 0` if there was none.
    top: usize,
    end: usize,
    /// Sampling points that the thread had passed.
    points: u64,
    /// The attachment: a mark cannot outlive it, nor reach another thread.
    attached: PhantomData<&'t State>,
}

impl<'t> RawMutator<'t> {
    /// Records this moment, so that later allocations can be recycled. From the first mark until it
    /// detaches or the world is stopped, the thread fills regions of its own. It looks for room
    /// nowhere else, so not in holes of shared regions. Its buffer is the rest of its region,
    /// whatever the options for buffers say about sizes: the rest of a smaller buffer would be of
    /// use to no other thread. Marks nest: a frame's mark is recycled before its caller's.
    ///
    /// ```
    /// # use allotment::{Heap, NewSlots, OutOfMemory, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// # heap.attach(|mu| {
    /// let before = mu.raw_mut().mark();
    /// let scratch = alloc!(mu, NewSlots::new(100, 0_u64))?;
    /// assert_eq!(scratch.len(), 100);
    /// // SAFETY: nothing refers to the array, and no other mark was recycled.
    /// unsafe { mu.raw_mut().recycle(before) };
    /// # Ok::<(), OutOfMemory>(())
    /// # })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mark(&mut self) -> Mark<'t> {
        if self.state().owned.borrow().private.is_none() {
            self.state().give_up_buffer();
            self.state().owned.borrow_mut().private = Some(Private::default());
        }
        let state = self.state();
        let owned = state.owned.borrow();
        let private = owned.private.as_ref().expect("set above");
        Mark {
            dissolved: owned.dissolved,
            moment: private.moment(&state.shared.space),
            top: state.hot.top(),
            end: state.hot.end(),
            points: state.sampling.passed(),
            attached: PhantomData,
        }
    }

    /// Frees at once everything that this thread allocated since `mark`, and uses that memory next.
    /// Frees nothing if the world was stopped since: a collection may have moved the objects, and
    /// the next one finds them dead.
    ///
    /// # Safety
    /// - No object that this thread allocated since `mark` is used any more, by any thread.
    /// - Nothing refers to such an object: no root, weak ones included, no pin, and no slot of an
    ///   older object or of another thread's, weak ones and those of dead objects included.
    /// - No older mark was recycled since this one was taken (this one may have been, any number of
    ///   times).
    /// - No reservation made since `mark` is used afterwards.
    pub unsafe fn recycle(&mut self, mark: Mark<'t>) {
        let state = self.state();
        let shared = &*state.shared;
        if mark.dissolved != state.owned.borrow().dissolved {
            return;
        }
        state.recycle_samples(mark.points);
        state.sampling.lift(&state.hot);
        {
            let mut owned = state.owned.borrow_mut();
            let private =
                owned.private.as_mut().expect("a mark was taken, and they were not dissolved since");
            // The part of the buffer that was never used stays as clean as it is.
            private.undo(&shared.space, state.hot.top(), state.hot.end());
            private.return_to(&shared.space, mark.moment, shared.policy.hot_bytes);
        }
        let rewinds = mark.end != 0 && state.hot.holds(mark.top, mark.end);
        let first = if rewinds { mark.top } else { state.hot.start() };
        state.counters.filled(state.hot.top() - first);
        if rewinds {
            state.hot.rewind(mark.top, mark.end);
        } else if mark.end == 0 {
            state.hot.clear();
        } else {
            // The buffer was given up meanwhile, and it is unknown what was written there since.
            state.hot.install(mark.top, mark.end, mark.end);
        }
        state.sampling.place(&state.hot);
        state.arm();
    }
}
