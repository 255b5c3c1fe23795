//! A graph that is rebuilt at random in a heap that is little larger: `graph`. The graph is that of
//! the experiment `graph`, of one thread.

use super::shot::Part;
use super::watch::Watch;
use crate::experiments::graph::Alone;
use std::time::Duration;

/// Steps of an operation.
const STEPS: usize = 1000;

/// A thread that changes the graph.
pub(super) fn change(lasts: Duration, graph: Alone) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        graph.play(mutator, |mutator, step| {
            let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
            let mut watch = Watch::new(began, lasts);
            while watch.goes_on() {
                watch.time(|| (0..STEPS).try_for_each(|_| step(mutator)));
            }
            Ok(Some(watch.done))
        })
    });
    vec![part]
}
