//! A pin: it holds an object in place whose address foreign code has.

use crate::mutator::roots::Changed;
use crate::mutator::{RawMutator, Shared};
use std::ptr::NonNull;
use std::sync::Arc;

/// Keeps an object alive and at its address. Any thread may drop the pin.
pub struct Pin {
    shared: Arc<Shared>,
    object: usize,
}

impl Pin {
    /// The object: the address of its header.
    pub fn object(&self) -> NonNull<u8> {
        NonNull::new(self.object as *mut u8).expect("no object is at address 0")
    }
}

impl Drop for Pin {
    fn drop(&mut self) {
        if self.shared.after_fork().is_err() {
            return;
        }
        self.shared.threads.roots.pins.unpin(self.object, |barriers| {
            self.shared.dropped_root(Changed { barriers, word: self.object as u64 }, false);
        });
    }
}

impl RawMutator<'_> {
    /// Pins an object. Until the result is dropped, its address may be given to foreign code.
    ///
    /// # Safety
    /// - `object` is the header of a live object of this heap.
    pub unsafe fn pin(&self, object: NonNull<u8>) -> Pin {
        let shared = self.state().shared.clone();
        shared.after_fork_or_abort();
        shared.threads.roots.pins.pin(object.addr().get());
        Pin { shared, object: object.addr().get() }
    }
}
