//! A cache by header: it answers an evacuation's questions on an object by the lower half of its
//! header.
//!
//! Nearly all objects of a heap have few shapes and ages. `Worker::evacuate` examines the first
//! object with a header in full. For each later one, one comparison tells that no worker has
//! reached it, its size, the space of its copy, and its slots. The cache holds only objects of one
//! size whose slots are words of bits or none: each array has a size of its own. Refused: the last
//! shape alone, because two alternating shapes would be looked up for each object.

use super::WorkerStatistics;
use crate::object::Header;

/// Number of places, a power of two: 1 KiB, with shapes and ages together.
const PLACES: usize = if cfg!(test) { 2 } else { 32 };

/// The largest cached objects, in bytes: a group of them fits well into a buffer.
pub(super) const MOST_BYTES: usize = 512;

/// An entry for the objects with one header, whatever their hash.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct KnownHeader {
    /// Lower half of the header, which says that the object is unmarked; or [`NOBODY`].
    header: u32,
    bytes: u32,
    /// Slots of the objects, as in [`Layout::words`](crate::object::Layout::words).
    pub(super) words: u64,
    /// Number of copied objects.
    pub(super) copied: u64,
    /// Whether copies are old.
    pub(super) old: bool,
}

/// The lower half of no header.
const NOBODY: u32 = u32::MAX;

impl KnownHeader {
    const NONE: KnownHeader = KnownHeader { header: NOBODY, bytes: 0, words: 0, copied: 0, old: false };

    #[inline(always)]
    pub(super) fn has(&self, header: Header) -> bool {
        self.header == header.lower()
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// Adds the copies to the statistics, at the age that copies have.
    fn count(&self, statistics: &mut WorkerStatistics) {
        if self.header != NOBODY {
            let age = Header::from_bits(u64::from(self.header)).age();
            statistics.copied(self.copied, u64::from(self.bytes), (!self.old).then_some(age + 1));
        }
    }
}

/// The headers that one worker met last.
pub(super) struct HeaderCache {
    places: [KnownHeader; PLACES],
}

impl HeaderCache {
    pub(super) fn new() -> HeaderCache {
        HeaderCache { places: [KnownHeader::NONE; PLACES] }
    }

    /// The place of objects with this header (multiplicative hashing, Knuth 6.4).
    #[inline(always)]
    pub(super) fn place_of(header: Header) -> usize {
        (header.lower().wrapping_mul(0x9e37_79b1) >> (u32::BITS - PLACES.ilog2())) as usize
    }

    #[inline(always)]
    pub(super) fn at(&mut self, place: usize) -> &mut KnownHeader {
        &mut self.places[place]
    }

    /// Makes objects with this unmarked header known. An entry that had this place is forgotten.
    pub(super) fn learn(
        &mut self,
        header: Header,
        old: bool,
        (bytes, words): (usize, u64),
        statistics: &mut WorkerStatistics,
    ) {
        debug_assert!(header.is_unmarked_object() && bytes <= MOST_BYTES);
        let known = self.at(HeaderCache::place_of(header));
        known.count(statistics);
        *known = KnownHeader { header: header.lower(), bytes: bytes as u32, words, copied: 0, old };
    }

    /// Forgets all entries, and counts their copies.
    pub(super) fn forget(&mut self, statistics: &mut WorkerStatistics) {
        self.places.iter().for_each(|known| known.count(statistics));
        self.places.fill(KnownHeader::NONE);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::object::ShapeId;
    use std::num::NonZeroU32;

    fn header(shape: u32, age: u8) -> Header {
        Header::new(ShapeId::from_raw(NonZeroU32::new(shape).expect("not 0"))).with_age(age)
    }

    #[test]
    fn a_header_is_known_whatever_its_hash() {
        let (mut headers, mut statistics) = (HeaderCache::new(), WorkerStatistics::default());
        let first = header(7, 2);
        let hashed = Header::from_bits(first.bits() | 0xABCD << 32);
        assert!(!headers.at(HeaderCache::place_of(first)).has(first));
        headers.learn(hashed, false, (48, 0b110), &mut statistics);
        assert_eq!(HeaderCache::place_of(first), HeaderCache::place_of(hashed));
        let known = headers.at(HeaderCache::place_of(first));
        assert_eq!((known.bytes(), known.words, known.old), (48, 0b110, false));
        assert!(known.has(first) && known.has(hashed));
        let others = [
            header(8, 2),
            header(7, 3),
            first.with_mark(3),
            Header::forwarded(first.lower() as usize),
            Header::filler(64),
            Header::from_bits(0),
            Header::from_bits(u64::MAX),
        ];
        for other in others {
            assert!(!headers.at(HeaderCache::place_of(other)).has(other), "{:#x}", other.bits());
        }
    }

    #[test]
    fn copies_are_counted_once_even_if_an_entry_lost_its_place() {
        let (mut headers, mut statistics) = (HeaderCache::new(), WorkerStatistics::default());
        let copied_of_each = 5;
        // More headers than places.
        for shape in 1..20 {
            let (young, old) = (header(shape, 3), header(shape, 9));
            for (header, becomes_old) in [(young, false), (old, true)] {
                headers.learn(header, becomes_old, (16, 0), &mut statistics);
                headers.at(HeaderCache::place_of(header)).copied += copied_of_each;
            }
        }
        for _ in 0..2 {
            headers.forget(&mut statistics);
            assert_eq!(statistics.objects, 19 * 2 * copied_of_each);
            assert_eq!(statistics.survived[4], 19 * copied_of_each * 16);
            assert_eq!(statistics.promoted_bytes, 19 * copied_of_each * 16);
        }
        assert!(!headers.at(HeaderCache::place_of(header(19, 9))).has(header(19, 9)));
    }
}
