//! What only a young collection has to tell.

use super::workers::imbalance;
use crate::object::MAX_AGE;

/// What a young collection did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YoungRecord {
    /// Bytes that stayed young, by the number of collections they have survived now.
    pub survived_bytes: [usize; MAX_AGE as usize + 1],
    /// Bytes that were copied to old regions.
    pub promoted_bytes: usize,
    /// Bytes that became old where they were: pinned, humongous, or for want of memory.
    pub kept_bytes: usize,
    /// Age at which an object became old.
    pub tenuring_threshold: u8,
    /// Regions that were taken for allocation since the collection before.
    pub eden_regions: usize,
    /// Bytes of workers' buffers that no object was put into.
    pub plab_waste_bytes: usize,
    /// Pieces of work that one worker took from another.
    pub steals: u64,
    /// Cards of old regions that were looked at.
    pub cards_scanned: usize,
    /// Those that were dirty.
    pub cards_dirty: usize,
    /// Objects that each worker copied, in the order they finished.
    pub worker_objects: Vec<u64>,
    /// Whether who stopped the world left the work to others, because more threads were attached than there are CPUs.
    pub caller_rested: bool,
}

impl YoungRecord {
    /// What the busiest worker copied, in relation to what each would have, if all had copied as many: 1 is perfect.
    pub fn imbalance(&self) -> f64 {
        imbalance(&self.worker_objects)
    }
}
