//! The experiments: the definitions of everything that the lab measures.
//!
//! To add one, write a file (or a folder) here with an [`Experiment`], and add it to the list in
//! [`all`]. Its axes become command-line flags, its modes become rows, and `allotment list` shows it;
//! no other code needs to know of it. `clock.rs` is a complete example. In short:
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
mod emitted;
mod extremem;
mod first_collection;
mod graph;
mod heap_use;
mod hold;
mod lists;
mod memory;
mod on_jvm;
pub(crate) mod options;
mod prefetch;
mod prefetching;
mod prepared;
mod sampling;
mod saying;
mod shots;
mod sizes;
mod start;
mod store;
mod storm;
mod tlab;
mod tlab_size;
mod together;
mod trees;
mod weak;

use api::API;
use barriers::BARRIERS;
use cache::CACHE;
use clock::CLOCK;
use extremem::EXTREMEM;
use graph::GRAPH;
use lists::LISTS;
use options::OPTIONS;
use prefetch::PREFETCH;
use sampling::SAMPLING;
use store::STORE;
use storm::STORM;
use tlab::TLAB;
use tlab_size::TLAB_SIZE;
use trees::TREES;
use weak::WEAK;

use crate::harness::Experiment;

/// All experiments, in the order in which they are listed.
pub fn all() -> &'static [&'static Experiment] {
    static ALL: &[&Experiment] = &[
        &TLAB, &TLAB_SIZE, &PREFETCH, &OPTIONS, &API, &BARRIERS, &STORM, &WEAK, &TREES, &GRAPH, &LISTS,
        &EXTREMEM, &STORE, &CACHE, &SAMPLING, &CLOCK,
    ];
    ALL
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Baseline, Estimate, Selection, Settings, expand};
    use std::time::Duration;

    /// Names become flags, file contents and table cells.
    fn is_plain(name: &str) -> bool {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    }

    #[test]
    fn every_experiment_describes_itself_consistently() {
        for (index, experiment) in all().iter().enumerate() {
            let name = experiment.name;
            assert!(is_plain(name) && !all()[..index].iter().any(|other| other.name == name), "{name}");
            assert!(experiment.question.ends_with('?') && !experiment.question.contains('\n'), "{name}");
            let modes: Vec<&str> = experiment.modes.iter().map(|mode| mode.name).collect();
            assert!(modes.iter().all(|mode| is_plain(mode)), "{name}: {modes:?}");
            for axis in experiment.axes {
                assert!(is_plain(axis.name) && !axis.what.is_empty(), "{name}: {axis:?}");
                assert!(axis.modes.iter().all(|mode| modes.contains(mode)), "{name}: {axis:?}");
                for value in axis.default.iter().chain(axis.quick) {
                    assert!(axis.canonical(value).is_ok(), "{name}: {axis:?}");
                }
            }
            if let Some(Baseline { coordinate, value }) = experiment.baseline() {
                let is_mode = coordinate == "mode" && modes.contains(&value.as_str());
                let axis = experiment.axes.iter().find(|axis| axis.name == coordinate);
                assert!(
                    is_mode
                        || coordinate == "threads"
                        || axis.is_some_and(|a| a.canonical(&value) == Ok(value))
                );
            }
        }
    }

    /// A user waits for a quick run.
    #[test]
    fn a_quick_run_of_all_is_planned_for_six_minutes_at_most() {
        let selection = Selection { quick: true, ..Selection::default() };
        let cases = expand(all(), &selection, 2).unwrap().0;
        let settings = Settings { quick: true, ..Settings::default() };
        let planned = Estimate::of_run(&cases, &[], &settings, all());
        assert!(planned.total() < Duration::from_secs(360), "{planned:?} for {} cases", cases.len());
    }

    #[test]
    fn quick_grids_are_smaller() {
        for experiment in all() {
            let cases = |quick| {
                expand(&[*experiment], &Selection { quick, ..Selection::default() }, 8).unwrap().0.len()
            };
            assert!(cases(true) < cases(false), "{}", experiment.name);
        }
    }
}
