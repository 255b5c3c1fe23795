//! A request for a collection of all garbage, and the collections that serve it.
//!
//! A collection serves the requests that arrived before it began. A collection that stops the world
//! begins when all threads stand still. So a thread that reads the number of collections while it
//! runs, and later finds another number, was served: the new collection began after the reading.
//! Threads that ask at the same time share a collection. The first one stops the world, and the
//! others stand still at their requests.
//!
//! Collectors that work while threads run number their requests by themselves
//! (`collector/shenandoah/progress.rs`).

/// Has a collection done by `collect`, unless another thread does one that serves this request.
/// Returns the result of `collect`; `None`: another thread's collection served the request.
///
/// - `done` is the number of collections, which changes in stopped worlds only.
/// - `stand_still` is a safepoint.
/// - `collect` returns `None` if another thread's stop came first. That stop need not have been a
///   collection.
pub(in crate::mutator) fn share_collection<T, R>(
    thread: &mut T,
    done: impl Fn(&T) -> u64,
    stand_still: impl Fn(&mut T),
    collect: impl Fn(&mut T) -> Option<R>,
) -> Option<R> {
    let before = done(thread);
    loop {
        stand_still(thread);
        if done(thread) != before {
            return None;
        }
        let result = collect(thread);
        if result.is_some() || done(thread) != before {
            return result;
        }
    }
}
