//! Turns early headers into real ones, before a collector, a verifier or a heap walk meets them.
//!
//! An object has an early header if its type got its id after the object was allocated: see
//! `object/types.rs`. That happens when a library is loaded while threads allocate, and its code
//! runs before its initialisers. So this module searches only if types were added since the last
//! search. Mutators allocate in regions of two states and in humongous runs, so only these are
//! walked.

use super::{Space, State};
use crate::object::{Header, Kind, MIN_OBJECT_BYTES, size_of_object};
use std::collections::HashMap;

impl Space {
    /// Gives the real header to each object that was allocated before its type had an id.
    ///
    /// # Safety
    /// - No mutator is between two safepoints until this returns, and no buffer has an uncovered
    ///   tail.
    pub(crate) unsafe fn settle_early_headers(&self) {
        let Some(headers) = self.early_types.take() else { return };
        let table = self.free.table();
        let written = [State::Shared, State::Exclusive, State::HumongousStart];
        for index in (0..table.len()).filter(|&index| written.contains(&table.get(index).state())) {
            // SAFETY: a region in use is committed up to its top, and no thread allocates.
            unsafe { self.settle_range(table.bottom(index), self.free.object_end(index), &headers) };
        }
    }

    /// Ends early where the range is not parsable. The verifier reports such a range, and a
    /// collection ends the process.
    ///
    /// # Safety
    /// - `[start, end)` is committed memory, whole words, in which no thread allocates meanwhile.
    unsafe fn settle_range(&self, start: usize, end: usize, headers: &HashMap<u64, Header>) {
        let mut address = start;
        while address < end {
            let word = address as *mut u64;
            // SAFETY: an aligned word inside the caller's range.
            let mut header = Header::from_bits(unsafe { word.read() });
            if let Some(real) = headers.get(&header.bits()).filter(|_| header.is_early()) {
                header = *real;
                // SAFETY: as above.
                unsafe { word.write(header.bits()) };
            }
            let bytes = match header.kind() {
                Kind::Filler(bytes) => bytes,
                Kind::Object(id) => {
                    let Some(shape) = self.shapes.get(id).filter(|_| end - address >= MIN_OBJECT_BYTES)
                    else {
                        return;
                    };
                    // SAFETY: the smallest object fits, so its length field is inside the range.
                    unsafe { size_of_object(address, shape) }
                }
                Kind::Forwarded(_) | Kind::Invalid => return,
            };
            if bytes > end - address {
                return;
            }
            address += bytes;
        }
    }
}
