//! The counts of a check that found no fault.

use crate::object::{Object, ShapeId};
use crate::region::State;
use std::collections::BTreeMap;

/// The counts of a heap that [`Heap::verify`](crate::Heap::verify) found sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifySummary {
    /// Objects and their bytes, by shape.
    pub shapes: BTreeMap<ShapeId, (u64, u64)>,
    /// Fillers, and their bytes.
    pub fillers: (u64, u64),
    /// Regions by state: free, shared, exclusive, humongous (starts and continuations),
    /// uncommitted.
    pub regions: [usize; 5],
    /// Regions of young objects that survived a collection, and regions of old ones.
    pub generations: [usize; 2],
    /// Regions that are kept from use (`ZealQuarantine`).
    pub quarantined: usize,
}

impl VerifySummary {
    /// Objects of that shape.
    pub fn objects(&self, shape: ShapeId) -> u64 {
        self.shapes.get(&shape).map_or(0, |(objects, _)| *objects)
    }

    /// Objects of all shapes.
    pub fn all_objects(&self) -> u64 {
        self.shapes.values().map(|(objects, _)| objects).sum()
    }

    /// Bytes of all objects, headers included, fillers not.
    pub fn object_bytes(&self) -> u64 {
        self.shapes.values().map(|(_, bytes)| bytes).sum()
    }

    pub(super) fn count_region(&mut self, state: State) {
        let column = match state {
            State::Free => 0,
            State::Shared => 1,
            State::Exclusive => 2,
            State::HumongousStart | State::HumongousContinuation => 3,
            State::Uncommitted => 4,
            State::Survivor => return self.generations[0] += 1,
            State::Old => return self.generations[1] += 1,
            // No checked heap has one: a stopped world ends the collection.
            State::CollectionSet => return,
            State::Quarantined => return self.quarantined += 1,
        };
        self.regions[column] += 1;
    }

    pub(super) fn count(&mut self, object: &Object<'_>) {
        let (count, bytes) = match object.shape {
            Some((id, _)) => {
                let entry = self.shapes.entry(id).or_default();
                (&mut entry.0, &mut entry.1)
            }
            None => (&mut self.fillers.0, &mut self.fillers.1),
        };
        *count += 1;
        *bytes += object.bytes as u64;
    }
}
