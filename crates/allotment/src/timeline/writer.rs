//! The thread of a timeline: it turns the events of other threads into lines of the file.
//!
//! It has all state but the queue to itself, and holds the queue's lock only to take what is there.
//! A share of work gets the name of the phase in which it lies. Phases become known with the record
//! of their collection, so shares wait here until a later phase has ended.

use super::event::Event;
use super::file::TraceFile;
use super::shares::Share;
use super::{Arguments, Category, MOST_PENDING, Pending, Queue, Row, Slice, Wish};
use crate::platform::tell;
use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{Thread, ThreadId};
use std::time::{Duration, Instant};

/// Threads whose names are known to be in the file, at most. Beyond that all are written anew.
pub(super) const MOST_NAMES: usize = 1 << 12;

/// The state of the thread.
pub(super) struct Writer {
    queue: Arc<Queue>,
    pub(super) file: TraceFile,
    path: PathBuf,
    /// When the heap was made: the zero of all times.
    pub(super) born: Instant,
    names: Names,
    /// Shares whose phases are not known yet: at most [`MOST_PENDING`].
    shares: Vec<Share>,
}

impl Writer {
    pub(super) fn new(queue: Arc<Queue>, file: TraceFile, path: PathBuf, born: Instant) -> Writer {
        Writer { queue, file, path, born, names: Names::default(), shares: Vec::new() }
    }

    /// Writes until the timeline ends, or a write fails.
    pub(super) fn run(self) {
        let (queue, path) = (self.queue.clone(), self.path.clone());
        // A regular file that could not be written is removed here.
        if let Err(error) = self.write_all() {
            queue.close();
            tell(format_args!(
                "allotment: the timeline {} cannot be written: {error}; the program goes on without it",
                path.display()
            ));
        }
    }

    fn write_all(mut self) -> io::Result<()> {
        loop {
            let pending = self.queue.take();
            match pending.wish {
                Wish::Wait | Wish::Write => self.write(pending, false)?,
                Wish::Finish => {
                    self.write(pending, true)?;
                    return self.file.finish();
                }
                Wish::GiveUp => return Ok(()),
            }
        }
    }

    /// Writes what was pending. `all`: shares too whose phase is not known.
    pub(super) fn write(&mut self, pending: Pending, all: bool) -> io::Result<()> {
        let Pending { events: taken, shares, mut dropped, .. } = pending;
        let mut events = Vec::with_capacity(taken.len());
        for event in taken {
            match event {
                Event::Done(slice, thread) => {
                    self.names.name(&slice, &thread, &mut events);
                    events.push(Event::Slice(slice));
                }
                event => events.push(event),
            }
        }
        let phases = phases_in(&events);
        let last = phases.iter().map(Slice::end).max().unwrap_or_default();
        self.shares.extend(shares);
        let at = |moment: Instant| moment.saturating_duration_since(self.born);
        let is_due = |share: &mut Share| all || at(share.end) <= last;
        let due: Vec<Share> = self.shares.extract_if(.., is_due).collect();
        dropped += self.shares.len().saturating_sub(MOST_PENDING) as u64;
        self.shares.truncate(MOST_PENDING);

        let mut slices: Vec<(Slice, Thread)> = due
            .into_iter()
            .map(|Share { thread, number, start, end }| (work(number, at(start), end - start), thread))
            .collect();
        name_shares(&mut slices, &phases);
        for (slice, thread) in slices {
            self.names.name(&slice, &thread, &mut events);
            events.push(Event::Slice(slice));
        }
        // A slice comes before those within it.
        events.sort_by_key(Event::place);
        self.file.write(&events, dropped, self.born.elapsed())
    }
}

/// A share of a phase that is not known.
fn work(thread: i32, start: Duration, time: Duration) -> Slice {
    let (row, name, arguments) = (Row::Thread(thread), "Work".into(), Arguments::default());
    Slice { row, category: Category::Share, name, start, time, arguments }
}

/// The slices of which shares of workers may be parts, by their beginnings, and longer ones first.
fn phases_in(events: &[Event]) -> Vec<Slice> {
    let mut phases: Vec<Slice> = events.iter().filter_map(Event::phase).cloned().collect();
    phases.sort_by_key(Slice::place);
    phases
}

/// Gives each share the name of the innermost phase in which it lies. One pass over both: few
/// phases are under way at one moment.
pub(super) fn name_shares(shares: &mut [(Slice, Thread)], phases: &[Slice]) {
    shares.sort_by_key(|(share, _)| share.start);
    let (mut phases, mut under_way) = (phases.iter().peekable(), Vec::new());
    for (share, _) in shares {
        while let Some(phase) = phases.next_if(|phase| phase.start <= share.start) {
            under_way.push(phase);
        }
        under_way.retain(|phase| phase.end() >= share.start);
        if let Some(phase) = under_way.iter().rev().find(|phase| share.end() <= phase.end()) {
            share.name = phase.name.clone();
        }
    }
}

/// The threads whose names are in the file, by their numbers: at most [`MOST_NAMES`].
#[derive(Default)]
pub(super) struct Names(pub(super) HashMap<i32, ThreadId>);

impl Names {
    /// Adds the name of the slice's thread to `events`, unless the file has it.
    pub(super) fn name(&mut self, slice: &Slice, thread: &Thread, events: &mut Vec<Event>) {
        if self.0.len() >= MOST_NAMES {
            self.0.clear();
        }
        let number = slice.row.number();
        // The kernel gives the number of a thread that ended to another one.
        if self.0.insert(number, thread.id()) != Some(thread.id()) {
            let name = thread.name().map_or_else(|| format!("thread {number}"), str::to_owned);
            events.push(Event::Name(slice.row, name));
        }
    }
}
