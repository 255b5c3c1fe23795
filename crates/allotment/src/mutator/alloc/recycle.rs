//! Marks: memory that one thread filled alone, used again before any collection.
//!
//! For frames, requests, and measurements that must reuse memory while other threads run. From its
//! first mark on a thread takes whole regions, each its buffer, so that what it filled since a mark is a list of regions
//! and two addresses. Recycling puts the regions on a stack of the thread's own and takes them from its
//! top: the memory written last, which is still in the caches, is written first. But memory then goes downwards from
//! region to region, where no core fetches ahead; so that of more than [`hot_bytes`] is filled in the order it was.
//!
//! A stop of the world dissolves them: a collector moves objects out of regions and into others, and what one
//! thread filled since some moment is then no list of regions any more. So in a stopped world no region is
//! exclusive, and a mark knows how often that has happened; an older one recycles nothing, since what it would free
//! is the collector's to find dead. The alternative, to leave a marked thread's regions out of collections,
//! was refused: objects in them would be garbage that no collection frees, and roots that none may move.
//!
//! ```text
//! log:  regions filled, oldest first; the last one is being filled
//! mark: length of the log, the region's top, and what was left of the buffer, at one moment
//! ```

use crate::mutator::Mutator;
use crate::mutator::thread::Private;
use crate::mutator::thread::state::State;
use crate::platform::Processor;
use std::marker::PhantomData;

/// Of how many bytes that are recycled at once the end is used first, with a second-level cache of `l2_bytes`.
///
/// Measured against the other order. Intel Xeon, 2 MiB of L2, objects of 64 bytes: 8 % more of 2 MiB, 37 of 4, 7 of 16, and 6 % less of
/// 64 where two threads have as many. Zen 4, 1 MiB of L2 and a third level that is quick: 1 % more of 1 MiB, and 1 to 3 less of 2, 4 and 8
/// MiB, since each step downwards takes 300 ns instead of 150.
pub(crate) fn hot_bytes(processor: &Processor, l2_bytes: usize) -> usize {
    if processor.is_zen() { l2_bytes } else { 8 * l2_bytes }
}

/// A moment of one thread's allocation; see [`Mutator::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark<'t> {
    /// How often the thread's regions had been dissolved: older marks are void.
    dissolved: u64,
    /// Entries of the log, and the top of the region that was being filled; 0: none was.
    moment: (usize, usize),
    /// What was left of the buffer; `top = end = 0`: there was none.
    top: usize,
    end: usize,
    /// The attachment: it cannot be kept longer, nor reach another thread.
    attached: PhantomData<&'t State>,
}

impl<'t> Mutator<'t> {
    /// Notes this moment, so that what is allocated from here on can be recycled. From the first mark
    /// until it detaches or the world is stopped the thread fills regions of its own, and looks for room nowhere
    /// else: not in holes of regions that others share. Its buffer is what is left of its region, whatever the options for buffers
    /// say of sizes: a smaller one would leave nothing to anybody else. Marks nest: a frame's mark is recycled before its caller's.
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
            moment: private.moment(&state.shared),
            top: state.hot.top(),
            end: state.hot.end(),
            attached: PhantomData,
        }
    }

    /// Frees at once everything this thread allocated since `mark`, and uses its memory next. Frees nothing if the
    /// world was stopped since: a collection may have moved the objects, and the next one finds them dead.
    ///
    /// # Safety
    /// - No object this thread allocated since `mark` is used any more, by anybody.
    /// - No older mark was recycled since this one was taken (this one may have been, any number of times).
    /// - No reservation made since `mark` is used afterwards.
    pub unsafe fn recycle(&mut self, mark: Mark<'t>) {
        let state = self.state();
        let shared = &*state.shared;
        if mark.dissolved != state.owned.borrow().dissolved {
            return;
        }
        state.sampling.lift(&state.hot);
        {
            let mut owned = state.owned.borrow_mut();
            let private =
                owned.private.as_mut().expect("a mark was taken, and they were not dissolved since");
            // What the buffer has not come to stays as clean as it is.
            private.undo(shared, state.hot.top(), state.hot.end());
            private.return_to(shared, mark.moment);
        }
        if mark.end == 0 {
            state.hot.clear();
        } else if state.hot.holds(mark.top, mark.end) {
            state.hot.rewind(mark.top, mark.end);
        } else {
            // Given up meanwhile, and nobody knows what was written there since.
            state.hot.install(mark.top, mark.end, mark.end);
        }
        state.sampling.place(&state.hot);
        state.arm();
    }
}
