//! The handles of young objects: young collections must visit each of them.
//!
//! A handle in a chunk that young collections do not visit must not refer to a young object. Such a
//! handle would hold a stale address after the next young collection.

use super::{BadReference, Fault, Holder, Level, Problem};
use crate::mutator::Shared;
use crate::object::reference;

/// Checks that young collections visit all handles of young objects. Nothing to check in a heap
/// whose collector has no generations: it forgets no handle.
///
/// # Errors
/// The first handle that a young collection would miss.
pub(crate) fn verify_handles(shared: &Shared, level: Level) -> Result<(), Fault> {
    if level < Level::References {
        return Ok(());
    }
    let table = shared.space.free.table();
    let heap = table.base()..table.bottom(table.len());
    let is_young = |address: usize| heap.contains(&address) && !table.is_old(table.index_of(address));
    shared.threads.roots.forgotten(&is_young).map_or(Ok(()), |handle| {
        Err(Fault::Reference(Box::new(BadReference {
            holder: Holder::Root { slot: handle.slot, kind: handle.kind },
            bits: handle.bits,
            target: reference(handle.bits).unwrap_or_default(),
            problem: Problem::ForgottenHandle,
        })))
    })
}
