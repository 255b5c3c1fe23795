//! The answer to each question: mostly a call of the heap, and a table.

use super::super::snapshot::SnapshotSettings;
use super::protocol::Question;
use super::{text, window};
use crate::Heap;
use crate::platform::Connection;
use allotment_output::OutputFile;
use std::time::Instant;

/// The answer as text, or why there is none.
pub(super) fn answer(
    heap: &Heap,
    question: &Question,
    file: Option<OutputFile>,
    caller: &Connection<'_>,
) -> Result<String, String> {
    match question {
        Question::Snapshot(settings) => snapshot(heap, settings, wanted(file)?),
        Question::Profile { seconds: None, .. } => window::so_far(heap, wanted(file)?),
        Question::Profile { seconds: Some(seconds), interval } => {
            window::next(heap, *seconds, *interval, wanted(file)?, caller)
        }
        _ if file.is_some() => Err("this question takes no file, but a file came with it".into()),
        Question::Census { retained } => {
            heap.census(*retained).map(|census| census.to_string()).map_err(|error| error.to_string())
        }
        Question::Gc => collect(heap),
        Question::Heap => Ok(text::heap(heap)),
        Question::Threads => Ok(text::threads(heap)),
        Question::Metrics => Ok(text::metrics(heap)),
        Question::Options => Ok(text::options(heap)),
    }
}

fn wanted(file: Option<OutputFile>) -> Result<OutputFile, String> {
    file.ok_or_else(|| "no file came with the question".to_owned())
}

fn snapshot(heap: &Heap, settings: &SnapshotSettings, mut file: OutputFile) -> Result<String, String> {
    let summary = heap.snapshot(&mut file, settings).map_err(|error| error.to_string())?;
    Ok(format!(
        "{} objects of {} bytes, {} references, {} roots; a file of {} bytes\n",
        summary.objects, summary.bytes, summary.references, summary.roots, summary.file_bytes
    ))
}

fn collect(heap: &Heap) -> Result<String, String> {
    let (before, start) = (heap.memory().used_bytes, Instant::now());
    let collected = heap.attach(|mutator| mutator.collect()).map_err(|error| error.to_string())?;
    if !collected {
        return Err(format!("nothing was collected: the collector is {}", heap.collector()));
    }
    let (after, time) = (heap.memory().used_bytes, start.elapsed());
    Ok(format!("{before} bytes in use before, {after} after, in {time:.1?}\n"))
}
