//! The checker: walks the whole heap and proves every region parsable.
//!
//! It runs with no thread attached, so that no buffer has an uncovered tail. What it finds is counted,
//! because a test that knows what it allocated can then check that nothing was lost.

use crate::Heap;
use crate::heap::StillAttached;
use crate::object::{ShapeId, WalkError, walk};
use crate::region::State;
use std::collections::BTreeMap;

/// What a walk over the whole heap found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapCensus {
    /// Objects and their bytes, by shape.
    pub shapes: BTreeMap<ShapeId, (u64, u64)>,
    /// Fillers, and their bytes.
    pub fillers: (u64, u64),
    /// Regions by state: free, shared, exclusive, humongous (starts and continuations), uncommitted.
    pub regions: [usize; 5],
}

impl HeapCensus {
    /// Objects of that shape.
    pub fn objects(&self, shape: ShapeId) -> u64 {
        self.shapes.get(&shape).map_or(0, |(objects, _)| *objects)
    }

    /// Bytes of all objects, headers included, fillers not.
    pub fn object_bytes(&self) -> u64 {
        self.shapes.values().map(|(_, bytes)| bytes).sum()
    }
}

/// What is wrong with a heap.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It cannot be checked now.
    #[error(transparent)]
    Attached(#[from] StillAttached),
    /// A region is not parsable.
    #[error("region {region}: {error}")]
    Walk {
        /// The region's number.
        region: usize,
        /// The first place that is not parsable.
        error: WalkError,
    },
    /// The free set contradicts itself.
    #[error("{0}")]
    FreeSet(String),
    /// The buffers' budget contradicts itself.
    #[error("{0}")]
    Budget(String),
}

impl Heap {
    /// Walks every region from bottom to top, and checks the equations of the free set and the budget. Not
    /// while another thread calls [`uncommit`](Heap::uncommit): a region on its way is in no set.
    ///
    /// # Errors
    /// [`VerifyError::Attached`] while a thread is attached; else the first thing found wrong.
    pub fn verify(&self) -> Result<HeapCensus, VerifyError> {
        let outcome = self.shared.registry.while_detached(|| self.verify_detached());
        outcome.map_err(|threads| StillAttached { threads })?
    }

    fn verify_detached(&self) -> Result<HeapCensus, VerifyError> {
        let free = &self.shared.free;
        free.verify().map_err(VerifyError::FreeSet)?;
        self.shared.budget.verify([]).map_err(|error| VerifyError::Budget(error.to_string()))?;
        let mut census = HeapCensus::default();
        for index in 0..free.table().len() {
            let state = free.table().get(index).state();
            let column = match state {
                State::Free => 0,
                State::Shared => 1,
                State::Exclusive => 2,
                State::HumongousStart | State::HumongousContinuation => 3,
                State::Uncommitted => 4,
            };
            census.regions[column] += 1;
            if let State::Free | State::HumongousContinuation | State::Uncommitted = state {
                continue;
            }
            self.walk_region(index, &mut census)
                .map_err(|error| VerifyError::Walk { region: index, error })?;
        }
        Ok(census)
    }

    fn walk_region(&self, index: usize, census: &mut HeapCensus) -> Result<(), WalkError> {
        let free = &self.shared.free;
        let (bottom, top) = (free.table().bottom(index), free.object_end(index));
        // SAFETY: the region is committed up to its top, and no thread is attached.
        unsafe {
            walk(&self.shared.shapes, bottom, top, |object| {
                let (count, bytes) = match object.shape {
                    Some((id, _)) => {
                        let entry = census.shapes.entry(id).or_default();
                        (&mut entry.0, &mut entry.1)
                    }
                    None => (&mut census.fillers.0, &mut census.fillers.1),
                };
                *count += 1;
                *bytes += object.bytes as u64;
            })
        }
    }
}
