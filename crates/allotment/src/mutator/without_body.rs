//! What code does that cannot pass a closure, such as a function that C code calls: it finds the
//! mutator of its thread by the hot part, and enters and leaves blocking regions.

use super::roots::OUTSIDE;
use super::thread::attachment::own_state_at;
use super::{Hot, Mutator, RawMutator};

/// Why a thread could not enter or leave a blocking region.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BlockingError {
    /// The thread is in a blocking region already.
    #[error("this thread is blocking already: leave that region before you enter the next")]
    Entered,
    /// The thread is in no blocking region.
    #[error("this thread is not blocking: enter the region before you leave it, and leave it once")]
    NotEntered,
    /// Roots were linked in the blocking region.
    #[error(
        "roots in frames were linked while this thread was blocking, and no collector sees them: link them outside of \
         the region"
    )]
    Linked,
}
crate::debug::debug_is_display!(BlockingError);

impl RawMutator<'_> {
    /// Runs `body` with the mutator of the calling thread, which its [hot part](Self::hot) names.
    /// This serves code that got the hot part as a number, such as a function that C code calls.
    /// Returns `None` if the address is not the hot part of this thread. The address is only
    /// compared, so it may be any number.
    ///
    /// ```
    /// use allotment::{Heap, raw::{Hot, RawMutator}};
    /// /// Collects, for code of another language.
    /// ///
    /// /// # Safety
    /// /// - The calling thread keeps no reference outside of roots.
    /// unsafe extern "C" fn collect(hot: *const Hot) -> bool {
    ///     // SAFETY: the caller has given up all references, as for a safepoint.
    ///     unsafe { RawMutator::with_hot(hot, |mutator| mutator.collect()) }.unwrap_or(false)
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let attachment = heap.attach_thread()?;
    /// // SAFETY: there are no references at all.
    /// assert!(unsafe { collect(attachment.hot()) });
    /// assert!(!unsafe { collect(std::ptr::null()) });
    /// # drop(attachment);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Safety
    /// - No other mutator of this thread is used before `body` returns, and no reservation, burst
    ///   or reference that another one gave is used after `body` reached a safepoint.
    /// - The thread is not [`blocking`](Mutator::blocking), unless `body` calls nothing but
    ///   [`is_blocking`](Self::is_blocking), [`leave_blocking`](Self::leave_blocking) and
    ///   [`unlink_range`](Self::unlink_range).
    pub unsafe fn with_hot<R>(
        hot: *const Hot,
        body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R,
    ) -> Option<R> {
        own_state_at(hot).map(|state| state.run(body))
    }

    /// Begins a region of code in which no stop waits for this thread, as
    /// [`blocking`](Mutator::blocking) does, without a closure to run. This is a safepoint.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     // SAFETY: the heap is not used before `leave_blocking`.
    ///     unsafe {
    ///         mu.raw_mut().enter_blocking()?;
    ///         assert_eq!(heap.stop_the_world(|world| world.threads()), Ok(Some(1)));
    ///         mu.raw_mut().leave_blocking()
    ///     }
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BlockingError::Entered`] in a blocking region. The thread stays there.
    ///
    /// # Safety
    /// - Until [`leave_blocking`](Self::leave_blocking) the thread uses nothing of the heap: of all
    ///   mutators of the thread it calls this function, [`is_blocking`](Self::is_blocking),
    ///   `leave_blocking` and [`unlink_range`](Self::unlink_range) only. A [`LinkedRoot`](crate::mutator::LinkedRoot)
    ///   may be dropped. Plain data of a pinned object may be read and written.
    pub unsafe fn enter_blocking(&mut self) -> Result<(), BlockingError> {
        if self.is_blocking() {
            return Err(BlockingError::Entered);
        }
        self.state().enter_blocking();
        Ok(())
    }

    /// Whether the thread is in a blocking region.
    pub fn is_blocking(&self) -> bool {
        // The second: code that links a root in the region, against the rules, hides the mark.
        self.state().hot.links.get() == OUTSIDE || self.state().status.is_safe()
    }

    /// Ends the region that [`enter_blocking`](Self::enter_blocking) began. Waits for the end of a
    /// stop that is under way. A thread that detaches in such a region leaves it first.
    ///
    /// # Errors
    /// [`BlockingError::NotEntered`] outside of a blocking region. [`BlockingError::Linked`] if roots
    /// are left on the thread's list that were linked in the region. The thread stays there.
    ///
    /// # Safety
    /// - The region is not that of a closure ([`blocking`](Mutator::blocking)).
    /// - The thread does not stop the world of this heap.
    pub unsafe fn leave_blocking(&mut self) -> Result<(), BlockingError> {
        if !self.is_blocking() {
            return Err(BlockingError::NotEntered);
        }
        if self.state().hot.links.get() != OUTSIDE {
            return Err(BlockingError::Linked);
        }
        self.state().leave_blocking();
        Ok(())
    }
}
