//! The cost of reading the clock, and with it the shortest time that can be measured here.
//!
//! This is the floor under all other experiments. `empty` is the harness's own loop. `monotonic` is
//! the clock that the harness measures with. With one read per call the loop is part of the score;
//! with 64 reads it is not. The difference is the loop.

use super::saying::{contrast, ours};
use crate::format::ScoreRow;
use crate::format::answer::score;
use crate::format::coordinates::{mode, value};
use crate::format::phrase::{nanoseconds_of, time};
use crate::harness::{
    Axis, Bench, Case, Experiment, Iteration, JmhMode, Kind, Mode, Probe, SecondaryValue, Worker, keep_value,
};
use crate::machine::ticks;
use anyhow::{bail, ensure};
use std::time::Instant;

/// The largest number of reads of one call: an iteration ends between two calls.
const MAX_READS: u64 = 1_000_000;

/// The experiment `clock`.
pub(super) static CLOCK: Experiment = Experiment {
    name: "clock",
    question: "What does reading the clock cost, and what is the shortest time that can be measured here?",
    modes: &[
        Mode::timed("empty", "no clock: the measuring loop alone"),
        Mode::timed(
            "tsc",
            "the processor's counter: the time stamp counter, or the virtual counter of AArch64",
        ),
        Mode::timed("coarse", "the kernel's clock of the last tick"),
        Mode {
            name: "monotonic",
            what: "the clock that the harness uses",
            jmh_modes: &[JmhMode::AverageTime, JmhMode::SampleTime],
        },
    ],
    axes: &[Axis::new("reads", "reads of the clock per call", Kind::Count, &["1", "64"]).quick(&["64"])],
    // Threads that read the clock share nothing, so more than one run only on request.
    threads: |_, _| vec![1],
    baseline: Some(("mode", "monotonic")),
    answers,
    needs: "a row of mode monotonic in average time",
    verdicts: |rows| contrast(&ours(rows), "mode", "tsc", "monotonic", "reads").into_iter().collect(),
    check,
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let read = rows.iter().filter(|row| mode(row) == "monotonic" && row.jmh_mode == "avgt");
    let most = read.max_by_key(|row| value(row, "reads").and_then(|(reads, _)| reads.parse::<u64>().ok()));
    let cost = most.map(|row| {
        let least = row.primary.score() * 10.0 * nanoseconds_of(&row.primary.unit).unwrap_or(f64::NAN);
        format!(
            "Reading the clock (monotonic) takes {}; work of less than {} can be timed in loops only.",
            score(&row.primary),
            time(least)
        )
    });
    cost.into_iter().collect()
}

fn check(case: &Case) -> anyhow::Result<()> {
    let reads = case.count("reads")?;
    ensure!(reads > 0, "zero reads are not an operation");
    ensure!(reads <= MAX_READS, "{reads} reads of a call: at most {MAX_READS} work");
    Ok(())
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let reads = case.count("reads")?;
    match case.mode.as_str() {
        "empty" => bench.measure(|_| Ok(Reads { reads, read: || 0 })),
        "tsc" => bench.measure_with(&mut CounterRate::default(), |_| Ok(Reads { reads, read: ticks })),
        "coarse" => bench.measure(|_| Ok(Reads { reads, read: coarse })),
        "monotonic" => bench.measure(|_| Ok(Reads { reads, read: monotonic })),
        other => bail!("there is no mode `{other}`"),
    }
}

struct Reads<F> {
    reads: u64,
    read: F,
}

impl<F: Fn() -> u64> Worker for Reads<F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        for _ in 0..self.reads {
            keep_value((self.read)());
        }
        self.reads
    }
}

#[inline]
fn coarse() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // The C library's function leads straight to the kernel's. rustix's function checks more, which
    // takes a fifth of this clock's time.
    // SAFETY: the structure belongs to this frame.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &raw mut now) };
    now.tv_nsec as u64
}

/// An `Instant` shows its value only as a difference. Keeping its address is an equally good use of
/// it.
#[inline]
fn monotonic() -> u64 {
    let now = Instant::now();
    crate::harness::keep(&raw const now);
    0
}

/// The rate of the processor's counter against the monotonic clock.
struct CounterRate {
    start: (u64, Instant),
}

impl Default for CounterRate {
    fn default() -> Self {
        CounterRate { start: (ticks(), Instant::now()) }
    }
}

impl Probe for CounterRate {
    fn before(&mut self) {
        *self = CounterRate::default();
    }

    fn after(&mut self, _iteration: &Iteration) -> Vec<SecondaryValue> {
        let ticks = ticks().wrapping_sub(self.start.0) as f64;
        let microseconds = self.start.1.elapsed().as_nanos() as f64 / 1e3;
        vec![SecondaryValue::average("tsc.rate", "MHz", ticks / microseconds)]
    }
}
