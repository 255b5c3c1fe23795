//! The full collection: stop-the-world, sliding, in the memory that the heap has.
//!
//! This is the last resort of every collector. Live objects slide towards the low end in their
//! order of address. So no object is written over an unmoved one, and no free memory is needed. The
//! phases know nothing of their caller. Workers share each phase, by regions or by pieces of the
//! mark stack:
//!
//! ```text
//! mark     from roots and pins over strong slots; a bit for each live word  (mark.rs, marker.rs)
//! plan     a new address for each 512-byte block of live words              (plan.rs)
//! update   slots and roots get the new addresses, weak slots of dead ones null  (update.rs)
//! slide    runs of live words are moved, in the order of the plan           (slide.rs)
//! reclaim  gaps get fillers, tops are lowered, empty regions are given back (reclaim.rs)
//! ```
//!
//! Side tables (3 % of the heap) give an object's new address, as in the Compressor (Kermany and
//! Petrank, PLDI 2006). The header does not store it. So headers keep their hash and age without a
//! list of preserved ones, and a look-up touches small tables instead of the object. Refused:
//! threading pointers through the slots (Jonkers 1979: no table, but every word is written three
//! times). Refused: copying to free regions, because the last resort has none.

mod forward;
mod mark;
mod marker;
mod plan;
mod reclaim;
mod slide;
mod statistics;
#[cfg(all(test, not(loom)))]
pub(super) mod tests;
mod update;

pub use statistics::FullDetails;
pub(crate) use statistics::FullStatistics;

use super::kernel::{LiveMap, Pages, Phase, Roots};
use super::work::{StackLimits, TaskQueuePool, Workers};
use crate::platform::MemoryError;
use crate::region::Space;

/// The parts of a full collection, and one for what its caller adds.
const PHASES: usize = 6;

/// The regions that are worth moving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compaction {
    /// Regions of which garbage is more than this percentage.
    Garbage { percent: usize },
    /// All regions; runs of regions stay.
    Maximum,
    /// All regions, and runs too: free regions are side by side afterwards, as far as pins allow.
    Together,
    /// All regions and runs, by way of a free region, so that each object that is not pinned gets
    /// another address. Runs get one where there is room below them. Without a free region this is
    /// `Together`. For tests of embedders: it exposes a forgotten reference.
    MoveAll,
}

impl Compaction {
    /// Whether runs of regions move.
    fn moves_runs(self) -> bool {
        matches!(self, Compaction::Together | Compaction::MoveAll)
    }
}

/// The tables of one heap's full collections. Between collections they keep a small amount of
/// memory, and the stacks of the last collection.
pub(crate) struct SideTables {
    map: LiveMap,
    stack: StackLimits,
    queue_pool: TaskQueuePool,
}

impl SideTables {
    /// Tables for the heap of `heap_bytes` that begins at `base`; in huge pages if the tables are
    /// large.
    ///
    /// # Errors
    /// [`MemoryError`] if the system has no addresses for them, or no memory to touch.
    pub(crate) fn new(base: usize, heap_bytes: usize, pages: Pages) -> Result<SideTables, MemoryError> {
        Ok(SideTables {
            map: LiveMap::new(base, heap_bytes, pages)?,
            stack: StackLimits::for_heap(heap_bytes),
            queue_pool: TaskQueuePool::default(),
        })
    }
}

/// Collects the whole heap, with `workers`. The new addresses of objects do not depend on the
/// number of workers. Returns `None` if the system has no memory for the tables, the mark stack or
/// the plan; then nothing has changed, except that live memory is marked in the tables.
///
/// # Safety
/// - No mutator is between two safepoints until this returns, and every region is parsable up to
///   its top.
/// - Every reference in a live object, in a root slot and among the pinned is null, an immediate,
///   or the address of an object of this heap.
/// - `tables` were made for this heap.
/// - If this unwinds, as `roots` and trace functions may, no thread uses the heap any more; a
///   stopped world ends the process.
pub(crate) unsafe fn collect(
    space: &Space,
    tables: &mut SideTables,
    mut roots: Roots<'_>,
    compaction: Compaction,
    workers: Workers<'_>,
) -> Option<FullStatistics> {
    let used_before = space.free.occupancy().used_bytes;
    let mut statistics =
        FullStatistics { used_before, workers: workers.count(), ..FullStatistics::default() };
    statistics.details.worker_objects.try_reserve_exact(workers.count()).ok()?;
    statistics.phases.try_reserve_exact(PHASES).ok()?;
    let phase = Phase::begin("Mark");
    tables.map.open(&space.free, workers).ok()?;
    let map = &tables.map;

    let queues = tables.queue_pool.take(workers.count(), tables.stack).ok()?;
    // SAFETY: the caller's predicates.
    let pins = unsafe {
        match workers.count() {
            1 => mark::mark::<false>(space, map, workers, &queues, &mut roots, &mut statistics),
            _ => mark::mark::<true>(space, map, workers, &queues, &mut roots, &mut statistics),
        }
    };
    tables.queue_pool.keep(queues);
    let mut plan = plan::Plan::reserve(space, pins.ok()?).ok()?;
    let phase = phase.then("Plan", &mut statistics.phases);

    // From here on the heap is in neither its old nor its new state: no other thread may see it.
    let planner = plan::Planner { space, map, plan: &mut plan, compaction };
    // SAFETY: everything live is marked.
    unsafe { planner.run(workers, &mut statistics) };
    let phase = phase.then("Update", &mut statistics.phases);

    // SAFETY: the plan has a new address for every live object.
    unsafe { update::update(space, map, &plan, workers, roots.slots, &mut statistics) };
    let phase = phase.then("Slide", &mut statistics.phases);

    let forwarding = forward::Forwarding::new(map, &plan.breaks);
    // SAFETY: every slot has the new address of its referent.
    unsafe { slide::slide(space.free.table(), forwarding, &plan, workers, &mut statistics) };
    let phase = phase.then("Reclaim", &mut statistics.phases);

    // SAFETY: every object is where the plan wants it.
    unsafe { reclaim::reclaim(&space.free, map, &plan, workers, &mut statistics) };
    tables.map.close();
    statistics.used_after = space.free.occupancy().used_bytes;
    statistics.phases.push(phase.end());
    Some(statistics)
}
