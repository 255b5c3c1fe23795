//! One range of addresses per heap. Memory backs parts of it as the heap grows and shrinks.
//!
//! A heap wants its addresses in one piece: a region is then an index, and one subtraction tests
//! whether a pointer is in the heap. Addresses are free and memory is not. So the whole range is
//! mapped inaccessible and without a claim to memory (`MAP_NORESERVE`). `commit` allows access, and
//! pages appear at the first write.
//!
//! - *Alignment.* The kernel aligns to pages only. So the mapping is made one alignment too long,
//!   and both ends are cut off. Trying addresses until one fits would race with other threads.
//! - *Uncommit* is `MADV_DONTNEED`, then removal of the access. Mapping fresh pages over the range
//!   would do both in one call, but it would lose the advice for huge pages and the name. The
//!   price: with `vm.overcommit_memory=2` the pages stay counted as committed until the reservation
//!   is dropped.
//! - *Name.* `PR_SET_VMA_ANON_NAME` is an option of the kernel's build. So one inaccessible page of
//!   an empty memory file lies directly below the range, and `/proc/self/maps` shows
//!   `/memfd:allotment-<name>` on every kernel. An access that runs off the lower end of the heap
//!   faults on this page.
//!
//! The reservation does not record which parts are committed. The region table does, and a second
//! record could only disagree.

use std::ptr::NonNull;

use super::error::{ADDRESS_SPACE_BYTES, MemoryError, Operation};
use super::{linux, page_size};

/// A reserved range of addresses; dropping it unmaps all of it.
///
/// All methods take `&self`, and several threads may call them at once; the kernel orders calls on
/// the same pages. Pointers into the range are raw: code that dereferences one vouches that its
/// pages are committed.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), allotment::heap::MemoryError> {
/// use allotment::internals::platform::Reservation;
///
/// let range = Reservation::reserve(64 << 20, 2 << 20, "example")?;
/// assert_eq!(range.base().addr() % (2 << 20), 0);
/// range.commit(0, 1 << 20)?;
/// // SAFETY: the first MiB is committed and no other code has the range.
/// unsafe { range.base().write(1) };
/// range.uncommit(0, 1 << 20)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Reservation {
    /// First usable address; a multiple of the alignment asked for.
    base: NonNull<u8>,
    /// Usable length in bytes, whole pages.
    bytes: usize,
    /// Whether the page below `base` is ours and carries the name.
    labelled: bool,
}

// SAFETY: the value owns a range of addresses, not memory of one thread. No method reads or writes
// through it except `pretouch`, which changes no contents.
unsafe impl Send for Reservation {}
// SAFETY: as above; every method is a system call that the kernel serialises.
unsafe impl Sync for Reservation {}

impl Reservation {
    /// Reserves `bytes`, rounded up to whole pages, at a multiple of `alignment` bytes. Nothing is
    /// committed.
    ///
    /// `alignment` is a power of two; below the page size it means the page size. `name` shows in
    /// `/proc/self/maps` as `allotment-<name>`: its first 64 characters, with `-` for each that is
    /// not an ASCII letter or digit, `.`, `_` or `-`. If the kernel cannot name the range (no file
    /// descriptor left, say), it stays unnamed.
    ///
    /// # Errors
    /// [`MemoryError::Empty`], [`MemoryError::Alignment`] and [`MemoryError::TooLarge`] for
    /// requests that can never be met; [`MemoryError::Reserve`] if the kernel refuses.
    pub fn reserve(bytes: usize, alignment: usize, name: &str) -> Result<Reservation, MemoryError> {
        let page = page_size();
        if bytes == 0 {
            return Err(MemoryError::Empty { page });
        }
        if !alignment.is_power_of_two() {
            return Err(MemoryError::Alignment { alignment });
        }
        let too_large = MemoryError::TooLarge { bytes, alignment };
        let alignment = alignment.max(page);
        let Some(bytes) = bytes.checked_next_multiple_of(page) else { return Err(too_large) };
        // The label and the aligned base fit into one alignment: start + page rounds up to start +
        // alignment at most.
        let Some(span) = bytes.checked_add(alignment).filter(|&span| span <= ADDRESS_SPACE_BYTES) else {
            return Err(too_large);
        };
        let refused = |errno: rustix::io::Errno| MemoryError::Reserve { bytes, cause: errno.into() };

        let start = linux::map_inaccessible(span).map_err(refused)?.as_ptr();
        let base = start.map_addr(|address| (address + page).next_multiple_of(alignment));
        let label = base.wrapping_sub(page);
        let end = base.wrapping_add(bytes);
        let head = label.addr() - start.addr();
        let tail = start.addr() + span - end.addr();
        // The tail goes first: if a cut fails, everything from `start` up to the cut is still ours.
        // SAFETY: head and tail are the ends of the fresh mapping, and no other code knows them.
        unsafe { linux::unmap(end, tail) }.map_err(|errno| {
            // SAFETY: a refused cut leaves the fresh mapping whole.
            let _ = unsafe { linux::unmap(start, span) };
            refused(errno)
        })?;
        // SAFETY: as above.
        unsafe { linux::unmap(start, head) }.map_err(|errno| {
            // SAFETY: the mapping is whole except for the tail.
            let _ = unsafe { linux::unmap(start, span - tail) };
            refused(errno)
        })?;

        let name = linux::mapping_name(name);
        // SAFETY: the label page is part of the fresh mapping and outside the range handed out. If
        // the kernel fails halfway, the page may be unmapped and then mapped by other code: in that
        // case it is never touched again.
        let labelled = unsafe { linux::map_label(label, page, &name) }.is_ok();
        // A failure is ignored: many kernels are built without this call, and the label page is
        // there.
        let _ = linux::name_range(base, bytes, &name);
        // SAFETY: `base` lies inside a mapping, and no mapping includes address 0.
        let base = unsafe { NonNull::new_unchecked(base) };
        Ok(Reservation { base, bytes, labelled })
    }

    /// First address of the range.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Length of the range in bytes, whole pages.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Makes the `bytes` at `offset` readable and writable. Committed parts stay as they are; the
    /// rest reads zero. 0 bytes cost no system call.
    ///
    /// No memory is used before the first write to a page; see [`pretouch`](Self::pretouch).
    ///
    /// # Errors
    /// [`MemoryError::Misaligned`] unless both are multiples of the page size,
    /// [`MemoryError::OutOfRange`] if the range leaves the reservation, [`MemoryError::Refused`] if
    /// the kernel refuses.
    pub fn commit(&self, offset: usize, bytes: usize) -> Result<(), MemoryError> {
        let start = self.check(Operation::Commit, offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: `check` put the page-aligned range inside the reservation.
        unsafe { linux::allow_access(start, bytes) }
            .map_err(|errno| self.refused(Operation::Commit, offset, bytes, errno))
    }

    /// Gives the memory of the `bytes` at `offset` back and makes every access to them a fault.
    /// After a later [`commit`](Self::commit) they read zero.
    ///
    /// No thread may use the range meanwhile: a thread that writes into it gets `SIGSEGV`, or its
    /// writes are lost. On an error the range is still accessible.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn uncommit(&self, offset: usize, bytes: usize) -> Result<(), MemoryError> {
        let start = self.check(Operation::Uncommit, offset, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        // The memory goes first: if access went first and the second step failed, a later commit
        // would show old bytes.
        // SAFETY: `check` put the page-aligned range inside the reservation, a private anonymous
        // mapping. The layers above make references into it, in unsafe code that vouches for the
        // pages being committed.
        unsafe { linux::discard(start, bytes).and_then(|()| linux::forbid_access(start, bytes)) }
            .map_err(|errno| self.refused(Operation::Uncommit, offset, bytes, errno))
    }

    /// Asks once for transparent huge pages for the whole range, committed or not.
    ///
    /// The advice matters if the kernel's mode is `madvise`
    /// ([`transparent_huge_pages`](super::transparent_huge_pages)).
    ///
    /// # Errors
    /// [`MemoryError::Refused`], usually because the kernel is built without huge pages.
    pub fn advise_huge_pages(&self) -> Result<(), MemoryError> {
        // SAFETY: the range is the reservation itself.
        unsafe { linux::advise_huge_pages(self.base(), self.bytes) }
            .map_err(|errno| self.refused(Operation::AdviseHugePages, 0, self.bytes, errno))
    }

    /// The first address of a page-aligned range inside the reservation, or the error in the range.
    pub(super) fn check(
        &self,
        operation: Operation,
        offset: usize,
        bytes: usize,
    ) -> Result<*mut u8, MemoryError> {
        let page = page_size();
        if !offset.is_multiple_of(page) || !bytes.is_multiple_of(page) {
            return Err(MemoryError::Misaligned { operation, offset, bytes, page });
        }
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.base().wrapping_add(offset)),
            _ => Err(MemoryError::OutOfRange { operation, offset, bytes, reserved: self.bytes }),
        }
    }

    /// The kernel's refusal as an error of this layer.
    pub(super) fn refused(
        &self,
        operation: Operation,
        offset: usize,
        bytes: usize,
        errno: rustix::io::Errno,
    ) -> MemoryError {
        let address = self.base.addr().get() + offset;
        MemoryError::Refused { operation, address, bytes, cause: errno.into() }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let label = if self.labelled { page_size() } else { 0 };
        // SAFETY: the range and, if `labelled`, the page below it belong to this value, which is
        // gone now. A failure cannot be handled; only the addresses are lost then.
        let _ = unsafe { linux::unmap(self.base().wrapping_sub(label), self.bytes + label) };
    }
}

#[cfg(test)]
#[path = "reservation_tests.rs"]
pub(super) mod tests;
