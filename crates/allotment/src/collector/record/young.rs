//! The part of a record that only a young collection has.

use super::workers::imbalance;
use crate::object::MAX_AGE;

/// The details of a young collection:
/// [`CollectionRecord::young`](super::CollectionRecord::young).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct YoungDetails {
    /// Bytes that stayed young, by the number of collections that they have survived now.
    pub survived_bytes: [usize; MAX_AGE as usize + 1],
    /// Bytes that were copied to old regions.
    pub promoted_bytes: usize,
    /// Bytes that became old in place: pinned, humongous, or without memory for copies.
    pub kept_bytes: usize,
    /// Age at which an object became old.
    pub tenuring_threshold: u8,
    /// Regions that were taken for allocation since the collection before.
    pub eden_regions: usize,
    /// Bytes of workers' buffers that hold no object.
    pub plab_waste_bytes: usize,
    /// Pieces of work that one worker took from another.
    pub steals: u64,
    /// Cards of old regions that workers looked at.
    pub cards_scanned: usize,
    /// The dirty ones among these cards.
    pub cards_dirty: usize,
    /// Objects that each worker copied, in the order in which workers finished.
    pub worker_objects: Vec<u64>,
    /// Whether the stopping thread left the work to others, because more threads were attached than
    /// there are CPUs.
    pub caller_rested: bool,
}

impl YoungDetails {
    /// The busiest worker's objects, relative to an even share: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.worker_objects)
    }
}
