//! A heap that had a peak and is idle: `shrink`.

use super::node::{self, garbage};
use super::shot::Part;
use super::watch::Watch;
use crate::experiments::memory::advised;
use crate::machine::Resident;
use allotment::root;
use std::thread;
use std::time::Duration;

/// The percentage of the heap that lives at the peak.
const LIVE_PERCENT: usize = 36;

/// Nodes of garbage right after the peak.
const AFTER: usize = 300_000;

/// Nodes of an operation of the light load.
const LIGHT: usize = 50_000;

/// Operations of the light load in a shot.
const OPERATIONS: u32 = 12;

/// What fits a heap that is full too early.
const FITS: &str = "the heap is full before the shot: a larger --heap fits";

/// A thread that drops all that lives. It is quiet for half of the time, and then allocates a
/// little.
pub(super) fn shrink(lasts: Duration, heap: usize) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        let nodes = heap / 100 * LIVE_PERCENT / node::BYTES;
        root!(mutator, mut kept = Some(advised(node::list(mutator, nodes), FITS)?));
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        let look = |watch: &mut Watch, name| -> anyhow::Result<()> {
            watch.done.resident.push((name, Resident::of_this_process()?.bytes));
            Ok(())
        };
        look(&mut watch, "rss.full")?;
        kept.set(mutator, None);
        watch.note(garbage(mutator, AFTER));
        let quiet = watch.left().saturating_sub(lasts / 2);
        mutator.blocking(|| thread::sleep(quiet));
        look(&mut watch, "rss.quiet")?;
        while watch.goes_on() {
            watch.time(|| garbage(mutator, LIGHT));
            let rest = watch.left().min(lasts / 2 / OPERATIONS);
            mutator.blocking(|| thread::sleep(rest));
        }
        look(&mut watch, "rss.light")?;
        Ok(Some(watch.done))
    });
    vec![part]
}
