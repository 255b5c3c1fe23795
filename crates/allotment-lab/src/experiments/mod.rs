//! The experiments: the definitions of everything that the lab measures.
//!
//! To add one, write a file (or a folder) here with an [`Experiment`], and add it to the list in
//! [`all`]. Its axes become command-line flags, its modes become rows, and `allotment list` shows
//! it; no other code needs to know of it. `clock.rs` is a complete example. In short:
//!
//! - [`modes`](Experiment::modes) are the ways of doing the thing; each becomes a benchmark
//!   `<experiment>.<mode>`. [`axes`](Experiment::axes) are its parameters besides threads.
//! - [`run`](Experiment::run) measures one case, in a process of its own. It makes the objects that
//!   the threads share (a heap, say) and calls [`Bench::measure`](crate::harness::Bench::measure)
//!   with a function that makes one thread's [`Worker`](crate::harness::Worker) on that thread.
//!   Where the threads are attached to a heap, it calls
//!   [`Bench::measure_attached`](crate::harness::Bench::measure_attached).
//! - The worker's `batch` does some operations and returns their number. Its results go to
//!   [`keep`](crate::harness::keep), or the compiler deletes the work.
//! - A worker renews the objects that one shot uses up in `prepare`. In `finish` it checks whether
//!   the shot did its work.
//! - A worker that is attached to a heap enters a blocking region in `idle`. Otherwise a collection
//!   would wait for it without end.
//! - A worker returns its own counts (attempts per success) from `metrics`. A
//!   [`Probe`](crate::harness::Probe) reads shared figures (bytes, collections) between iterations.

mod api;
mod barriers;
mod buffers;
mod cache;
mod clock;
mod collectors;
mod compilers;
mod crew;
mod emitted;
mod extremem;
mod first_collection;
mod graph;
mod heap_use;
mod lists;
mod memory;
mod on_jvm;
pub(crate) mod options;
mod prefetch;
mod prefetching;
mod prepared;
mod pressure;
mod sampling;
mod saying;
mod shots;
mod sizes;
mod store;
mod storm;
mod tlab;
mod tlab_size;
mod together;
mod trees;
mod weak;

pub(crate) use emitted::assembled;

use crate::harness::Experiment;

/// All experiments, in the order in which they are listed.
pub fn all() -> &'static [&'static Experiment] {
    static ALL: &[&Experiment] = &[
        &tlab::TLAB,
        &tlab_size::TLAB_SIZE,
        &prefetch::PREFETCH,
        &options::OPTIONS,
        &api::API,
        &barriers::BARRIERS,
        &storm::STORM,
        &weak::WEAK,
        &trees::TREES,
        &graph::GRAPH,
        &lists::LISTS,
        &extremem::EXTREMEM,
        &pressure::PRESSURE,
        &store::STORE,
        &cache::CACHE,
        &sampling::SAMPLING,
        &clock::CLOCK,
    ];
    ALL
}
