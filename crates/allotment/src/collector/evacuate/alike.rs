//! Objects that are alike: what an evacuation asks of each, known by the lower half of its header.
//!
//! Nearly all objects of a heap are of few shapes and ages. The first of them is looked at in every way there is
//! ([`evacuate`](super::worker::Worker)); for those after it one comparison says that it is an object, that nobody has reached it, how large
//! it is, in which space its copy belongs and where its slots are. Only objects of a fixed size are here, with slots that are
//! words of bits or none. Refused: one shape, the last, which two that alternate throw out of each other's way with each object.

use super::WorkerStatistics;
use crate::object::Header;

/// How many there are room for, a power of two: 1 KiB, with shapes and ages together.
const PLACES: usize = if cfg!(test) { 2 } else { 32 };

/// The largest objects, in bytes: a group of those that are alike fits well into a buffer.
pub(super) const MOST_BYTES: usize = 512;

/// Of objects with one header but for the hash.
#[derive(Clone, Copy)]
#[repr(align(32))]
pub(super) struct Alike {
    /// Lower half of the header, which says that it is an unmarked object's; or [`NOBODY`].
    header: u32,
    bytes: u32,
    /// Their slots, as in [`Layout::words`](crate::object::Layout::words).
    pub(super) words: u64,
    /// How many were copied.
    pub(super) copied: u32,
    /// Whether copies are old.
    pub(super) old: bool,
}

/// The lower half of no header.
const NOBODY: u32 = u32::MAX;

impl Alike {
    const NONE: Alike = Alike { header: NOBODY, bytes: 0, words: 0, copied: 0, old: false };

    #[inline(always)]
    pub(super) fn has(&self, header: Header) -> bool {
        self.header == header.lower()
    }

    #[inline(always)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes as usize
    }

    /// What was copied, of the age that copies have.
    fn count(&self, statistics: &mut WorkerStatistics) {
        if self.header != NOBODY {
            let age = Header::from_bits(u64::from(self.header)).age();
            statistics.copied(u64::from(self.copied), u64::from(self.bytes), (!self.old).then_some(age + 1));
        }
    }
}

/// Those that one worker met last.
pub(super) struct Alikes {
    places: [Alike; PLACES],
}

impl Alikes {
    pub(super) fn new() -> Alikes {
        Alikes { places: [Alike::NONE; PLACES] }
    }

    /// Where objects with this header would be (multiplicative hashing, Knuth 6.4).
    #[inline(always)]
    pub(super) fn place_of(header: Header) -> usize {
        (header.lower().wrapping_mul(0x9e37_79b1) >> (u32::BITS - PLACES.ilog2())) as usize
    }

    #[inline(always)]
    pub(super) fn at(&mut self, place: usize) -> &mut Alike {
        &mut self.places[place]
    }

    /// From now on objects with this unmarked header are known, and others are not for which there was this place.
    pub(super) fn learn(
        &mut self,
        header: Header,
        old: bool,
        (bytes, words): (usize, u64),
        statistics: &mut WorkerStatistics,
    ) {
        debug_assert!(header.is_unmarked_object() && bytes <= MOST_BYTES);
        let alike = self.at(Alikes::place_of(header));
        alike.count(statistics);
        *alike = Alike { header: header.lower(), bytes: bytes as u32, words, copied: 0, old };
    }

    /// Forgets all, and counts what was copied of them.
    pub(super) fn forget(&mut self, statistics: &mut WorkerStatistics) {
        self.places.iter().for_each(|alike| alike.count(statistics));
        self.places.fill(Alike::NONE);
    }
}
