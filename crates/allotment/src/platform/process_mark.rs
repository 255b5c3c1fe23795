//! A word that is empty in a child of `fork()`. It shows a heap that it is in another process.
//!
//! A child has a copy of the memory, but only one thread: the thread that forked. So a heap must
//! notice the fork before it waits for a thread that does not exist. The word lies in a page of its
//! own, which the kernel wipes in a child (`MADV_WIPEONFORK`, Linux 4.14). A check is therefore one
//! load, and a child of the child finds the word empty again.
//!
//! If the kernel refuses the advice or the page, the word holds the number of the process, and
//! every check is a system call.
//!
//! Refused: a handler of `pthread_atfork`. It cannot be unregistered, and it needs a list of all
//! heaps of the process. It also takes locks in every fork, even if the child calls `exec` at once.

use super::{linux, page_size};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that is 0 in a child of the process that stored it.
pub(crate) struct ProcessMark(Place);

enum Place {
    /// A word at the start of a page that the kernel wipes. The page is unmapped with the mark.
    Wiped(NonNull<AtomicU64>),
    /// The number of the process in the high half.
    Numbered(AtomicU64),
}

// SAFETY: an atomic word, in a page that lives as long as the mark.
unsafe impl Send for ProcessMark {}
// SAFETY: as above.
unsafe impl Sync for ProcessMark {}

impl ProcessMark {
    /// A mark that holds `number` in this process.
    pub(crate) fn new(number: u32) -> ProcessMark {
        let place = match linux::map_wiped_on_fork(page_size()) {
            Ok(page) => Place::Wiped(page.cast()),
            Err(_) => Place::Numbered(AtomicU64::new(0)),
        };
        let mark = ProcessMark(place);
        mark.store(number);
        mark
    }

    /// The number that was stored last in this process; 0 if none was.
    #[inline]
    pub(crate) fn load(&self) -> u32 {
        self.decode(self.word().load(Ordering::Acquire))
    }

    /// Stores `number`.
    pub(crate) fn store(&self, number: u32) {
        self.word().store(self.encode(number), Ordering::Release);
    }

    /// Stores `number` if this process has stored none yet. Returns whether it did.
    pub(crate) fn store_first(&self, number: u32) -> bool {
        let before = self.word().load(Ordering::Acquire);
        let new = self.encode(number);
        self.decode(before) == 0
            && self.word().compare_exchange(before, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }

    fn word(&self) -> &AtomicU64 {
        match &self.0 {
            // SAFETY: the page is mapped as long as the mark lives, and holds nothing else.
            Place::Wiped(word) => unsafe { word.as_ref() },
            Place::Numbered(word) => word,
        }
    }

    /// The number in a word; 0 if another process has stored it.
    #[inline]
    fn decode(&self, word: u64) -> u32 {
        match &self.0 {
            Place::Numbered(_) if word >> 32 != u64::from(std::process::id()) => 0,
            _ => word as u32,
        }
    }

    fn encode(&self, number: u32) -> u64 {
        match &self.0 {
            Place::Wiped(_) => u64::from(number),
            Place::Numbered(_) => u64::from(std::process::id()) << 32 | u64::from(number),
        }
    }
}

impl Drop for ProcessMark {
    fn drop(&mut self) {
        if let Place::Wiped(word) = self.0 {
            // SAFETY: the page is the mark's own, and the mark is not used any more.
            let _ = unsafe { linux::unmap(word.as_ptr().cast(), page_size()) };
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn check(mark: &ProcessMark) {
        assert_eq!(mark.load(), 1);
        assert!(!mark.store_first(2), "it is not empty");
        mark.store(3);
        assert_eq!(mark.load(), 3);
    }

    #[test]
    fn a_mark_holds_what_was_stored_in_either_place() {
        check(&ProcessMark::new(1));
        let numbered = ProcessMark(Place::Numbered(AtomicU64::new(0)));
        assert!(numbered.store_first(1));
        check(&numbered);
    }

    #[test]
    fn what_another_process_stored_is_nothing() {
        let other = u64::from(std::process::id() + 1) << 32 | 1;
        let mark = ProcessMark(Place::Numbered(AtomicU64::new(other)));
        assert_eq!(mark.load(), 0);
        assert!(mark.store_first(1));
        check(&mark);
    }
}
