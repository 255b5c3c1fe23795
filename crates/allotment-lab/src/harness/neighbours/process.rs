//! The neighbours' side: a process that walks until its standard input ends.
//!
//! Refused: a signal. Standard input ends by itself when the parent does, and after its end the
//! process can still say how far it has walked.

use super::{Neighbours, Walk};
use crate::machine::{die_with_parent, pin_current_thread};
use crate::walk::{Cycle, Mapping, Pages, Random, Stream, Way};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

/// The order to neighbours: the first line of standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct NeighbourOrder {
    pub(super) neighbours: Neighbours,
    /// For each the CPU it is bound to, if any.
    pub(super) cpus: Vec<Option<usize>>,
    /// Process id of the parent, without which they are not to live on.
    pub(super) parent: u32,
}

/// A line from the neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NeighbourMessage {
    /// All walk.
    Ready,
    /// They have stopped; lines per microsecond of all together, from when each began.
    Rate(f64),
}

/// Turns of sixteen hops, or lines a sixteenth of which, between two looks whether to stop.
const TURNS: usize = 64;

/// Bytes from line to line.
const LINE: usize = 64;

/// The whole life of neighbours: reads an order, walks, says when all do, stops when `input` ends
/// and says how fast they were.
///
/// # Errors
/// The order is not one, there is not the memory, a CPU cannot be had, or nobody reads the
/// messages.
pub fn run_neighbours(mut input: impl BufRead, mut output: impl Write) -> anyhow::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line).context("cannot read the order")?;
    let order: NeighbourOrder = serde_json::from_str(&line)
        .context("standard input holds no order; neighbours are started by `allotment run`")?;
    die_with_parent(order.parent)?;
    let mut send = |message: NeighbourMessage| -> anyhow::Result<()> {
        let line = serde_json::to_string(&message)? + "\n";
        output.write_all(line.as_bytes()).and_then(|()| output.flush()).context("cannot report")
    };
    let stop = AtomicBool::new(false);
    let rate = thread::scope(|scope| -> anyhow::Result<f64> {
        let _stopped = StopOnDrop(&stop);
        let (sender, receiver) = channel();
        let mut threads = Vec::new();
        for index in 0..order.neighbours.threads {
            let (sender, order, stop) = (sender.clone(), &order, &stop);
            let body = move || {
                // Nobody listens only when another has failed.
                let tell = |walks| {
                    let _ = sender.send(walks);
                };
                walk(index, order, stop, || tell(true)).inspect_err(|_| tell(false))
            };
            let thread = thread::Builder::new().name(format!("neighbour {index}"));
            let of = || format!("cannot start thread {} of {}", index + 1, order.neighbours.threads);
            threads.push(thread.spawn_scoped(scope, body).with_context(of)?);
        }
        drop(sender);
        // Who cannot walk says why when it is joined.
        if receiver.iter().take(threads.len()).all(|walks| walks) {
            send(NeighbourMessage::Ready)?;
            let mut rest = Vec::new();
            input.read_to_end(&mut rest).context("cannot wait for the end")?;
        }
        stop.store(true, Ordering::Relaxed);
        let mut rate = 0.0;
        for thread in threads {
            rate += thread.join().map_err(|_| anyhow::anyhow!("a neighbour panicked"))??;
        }
        Ok(rate)
    })?;
    send(NeighbourMessage::Rate(rate))
}

/// Stops the others when one cannot be started: the scope waits for them.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One neighbour: sets up its memory, calls `ready`, walks until told to stop. Returns lines per
/// microsecond.
fn walk(
    index: usize,
    order: &NeighbourOrder,
    stop: &AtomicBool,
    ready: impl FnOnce(),
) -> anyhow::Result<f64> {
    if let Some(cpu) = order.cpus.get(index).copied().flatten() {
        pin_current_thread(cpu).with_context(|| format!("a neighbour cannot run on CPU {cpu}"))?;
    }
    let memory = Mapping::new(order.neighbours.bytes, 0, Pages::Base)?;
    match order.neighbours.walk {
        Walk::Random => {
            let mut cycle = Cycle::new(memory, LINE, Way::Shuffled, &mut Random::new(index as u64))?;
            Ok(until(stop, ready, || cycle.walk(TURNS)))
        }
        Walk::Sequential => {
            let mut stream = Stream::new(memory)?;
            Ok(until(stop, ready, || stream.read(TURNS * 16)))
        }
    }
}

/// Takes steps until told to stop; returns what they add up to per microsecond.
fn until(stop: &AtomicBool, ready: impl FnOnce(), mut step: impl FnMut() -> u64) -> f64 {
    ready();
    let (mut lines, start) = (0, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        lines += step();
    }
    lines as f64 / (start.elapsed().as_nanos() as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// What is said to an order, whose end comes at once.
    fn said(text: &str) -> Result<Vec<NeighbourMessage>, String> {
        let mut output = Vec::new();
        run_neighbours(Cursor::new(text.as_bytes()), &mut output).map_err(|error| format!("{error:#}"))?;
        let lines = String::from_utf8(output).unwrap();
        Ok(lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn nonsense_is_refused() {
        assert!(said("").unwrap_err().contains("holds no order"));
        assert!(said("{}\n").unwrap_err().contains("holds no order"));
    }

    #[test]
    fn whoever_has_no_parent_does_not_walk() {
        let order = NeighbourOrder { neighbours: "1:64k".parse().unwrap(), cpus: vec![], parent: 0 };
        let text = serde_json::to_string(&order).unwrap();
        assert!(said(&text).unwrap_err().contains("is gone"));
    }

    #[test]
    fn both_walks_count_lines() {
        for walk in ["random", "sequential"] {
            let neighbours = format!("1:64k:{walk}").parse().unwrap();
            let order = NeighbourOrder { neighbours, cpus: vec![None], parent: 0 };
            let stop = AtomicBool::new(false);
            let rate = thread::scope(|scope| {
                let (sender, receiver) = channel();
                let thread = scope.spawn(|| super::walk(0, &order, &stop, move || sender.send(()).unwrap()));
                receiver.recv().unwrap();
                thread::sleep(std::time::Duration::from_millis(2));
                stop.store(true, Ordering::Relaxed);
                thread.join().unwrap().unwrap()
            });
            assert!(rate > 0.0, "{walk}");
        }
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        let neighbours = Neighbours { threads: 1, bytes: usize::MAX, walk: Walk::Sequential };
        let order = NeighbourOrder { neighbours, cpus: vec![], parent: 0 };
        let text = walk(0, &order, &AtomicBool::new(true), || ()).unwrap_err().to_string();
        assert!(text.contains("too many bytes"), "{text}");
    }
}
