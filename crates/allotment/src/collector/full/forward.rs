//! The new addresses of objects.

use crate::collector::kernel::{BLOCK_BYTES, Destination, LiveMap};
use crate::object::WORD;

/// A place where an object does not follow its predecessor: the end of a region, or a pinned
/// object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Break {
    /// Address of the object.
    pub(super) from: usize,
    /// New address of the object.
    pub(super) to: usize,
}

/// New addresses of live objects, once the plan is complete.
#[derive(Clone, Copy)]
pub(super) struct Forwarding<'p> {
    pub(super) map: &'p LiveMap,
    /// In order of `from`.
    breaks: &'p [Break],
}

impl<'p> Forwarding<'p> {
    pub(super) fn new(map: &'p LiveMap, breaks: &'p [Break]) -> Forwarding<'p> {
        Forwarding { map, breaks }
    }

    /// The new address of the live object at `address`.
    #[inline(always)]
    pub(super) fn of(&self, address: usize) -> usize {
        let block = self.map.block(address);
        match block.destination() {
            Destination::At(to) => to + self.map.live_words_below(address, block) * WORD,
            Destination::InPlace => address,
            Destination::Broken(to) => self.after_break(address, to),
            Destination::Whole(to) => to + address % BLOCK_BYTES,
        }
    }

    #[cold]
    fn after_break(&self, address: usize, to: usize) -> usize {
        let block = self.map.block(address);
        let words = self.map.live_words_below(address, block);
        match self.breaks_around(address).0.last() {
            Some(last) if std::ptr::eq(self.map.block(last.from), block) => {
                last.to + (words - self.map.live_words_below(last.from, block)) * WORD
            }
            _ => to + words * WORD,
        }
    }

    /// The breaks up to `address`, and those after it.
    pub(super) fn breaks_around(&self, address: usize) -> (&'p [Break], &'p [Break]) {
        self.breaks.split_at(self.breaks.partition_point(|each| each.from <= address))
    }
}
