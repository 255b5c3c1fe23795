//! The neighbours' side: a process that walks until its standard input ends.
//!
//! Refused: a signal. Standard input ends with the parent, and after its end the process can still
//! report how far it has walked.

use super::{Neighbours, Walk};
use crate::harness::protocol::send;
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
    /// The CPU of each neighbour that is bound to one.
    pub(super) cpus: Vec<Option<usize>>,
    /// Process id of the parent. The neighbours end with it.
    pub(super) parent: u32,
}

/// A line from the neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum NeighbourMessage {
    /// All walk.
    Ready,
    /// They have stopped: lines per microsecond of all together.
    Rate(f64),
}

/// Turns of sixteen lines between two checks of the stop flag.
const TURNS: usize = 64;

/// Bytes from line to line.
const LINE: usize = 64;

/// The whole life of neighbours: reads an order, walks, reports when all walk, stops when `input`
/// ends, and reports how fast they were.
///
/// # Errors
/// There is no order, there is not enough memory, a thread cannot be bound to its CPU, or the
/// messages have no reader.
pub fn run_neighbours(mut input: impl BufRead, mut output: impl Write) -> anyhow::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line).context("cannot read the order")?;
    let order: NeighbourOrder = serde_json::from_str(&line)
        .context("standard input holds no order; neighbours are started by `allotment run`")?;
    die_with_parent(order.parent).context("the process that started this one is gone")?;
    let stop = AtomicBool::new(false);
    let rate = thread::scope(|scope| -> anyhow::Result<f64> {
        let _stopped = StopOnDrop(&stop);
        let (sender, receiver) = channel();
        let mut threads = Vec::new();
        for index in 0..order.neighbours.threads {
            let (sender, order, stop) = (sender.clone(), &order, &stop);
            let body = move || {
                // The receiver is gone only if another neighbour has failed.
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
        // A thread that cannot walk returns the reason when it is joined.
        if receiver.iter().take(threads.len()).all(|walks| walks) {
            send(&mut output, &NeighbourMessage::Ready)?;
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
    send(&mut output, &NeighbourMessage::Rate(rate))
}

/// Stops the other threads if one cannot be started: the scope waits for them.
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

/// Takes steps until `stop`. Returns their sum per microsecond.
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
    fn neighbours_without_a_parent_do_not_walk() {
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
