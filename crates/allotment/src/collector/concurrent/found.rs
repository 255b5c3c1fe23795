//! Counts of the objects and words that markers have found.

use crate::collector::sizing::AGES;

/// The counts of markers.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::collector) struct Found {
    pub(in crate::collector) objects: u64,
    pub(in crate::collector) bytes: u64,
    /// Words that mutators handed over.
    pub(in crate::collector) recorded: u64,
    /// In a heap with generations: bytes of marked young objects by age.
    pub(in crate::collector) ages: [u64; AGES],
    /// Dirty cards of old regions.
    pub(in crate::collector) cards: u64,
}

impl Found {
    pub(in crate::collector) fn add(&mut self, other: Found) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.recorded += other.recorded;
        self.ages.iter_mut().zip(other.ages).for_each(|(sum, bytes)| *sum += bytes);
        self.cards += other.cards;
    }
}
