//! Identity hashes: a number that an object keeps wherever it moves.
//!
//! The hash is made when it is first asked for, and kept in the header's upper half. Each thread
//! has a generator, as in HotSpot's hashCode=5. So threads share no cache line, and the hash
//! reveals nothing of the address.

use super::RawMutator;
use crate::object::{Header, settle};
use std::num::NonZeroU32;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

impl RawMutator<'_> {
    /// The object's identity hash: the same for the object's whole life.
    ///
    /// # Safety
    /// - `object` is the header of a live object of this heap.
    pub unsafe fn identity_hash_raw(&self, object: NonNull<u8>) -> NonZeroU32 {
        // SAFETY: the header is an aligned word; while mutators run it is accessed atomically.
        let word = unsafe { AtomicU64::from_ptr(object.as_ptr().cast()) };
        let mut bits = word.load(Ordering::Relaxed);
        loop {
            let header = Header::from_bits(bits);
            if header.is_early() {
                bits = settle(word, header).bits();
                continue;
            }
            if let Some(hash) = header.identity_hash() {
                return hash;
            }
            let random = (self.state().hashes.next() >> 32) as u32;
            let hash = NonZeroU32::new(random).unwrap_or(NonZeroU32::MIN);
            let with_hash = header.with_identity_hash(hash).bits();
            match word.compare_exchange_weak(bits, with_hash, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return hash,
                Err(now) => bits = now,
            }
        }
    }
}
