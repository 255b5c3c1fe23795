//! `--profile`: runs the sequence in a loop, and samples which of its instructions take the time.
//!
//! One thread fills an eden of a heap that never collects, and recycles the eden, as the experiment
//! `tlab` does. This has the effect of a young collection without survivors. The caches therefore
//! see an eden of that size, and the slow path runs as often as buffers end.

mod function;

use super::arguments::{Form, Length, Question, What};
use super::ours::{Ours, register};
use crate::format::number;
use crate::format::time::rough;
use crate::profile::{Clock, Samples, ThreadSampler};
use allotment::Heap;
use allotment::internals::platform::Topology;
use allotment::options::CollectorKind;
use allotment_jit::Part;
use allotment_report::command::Failure;
use anyhow::{Context, ensure};
use function::Running;
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The time between two samples, if the kernel samples that often.
const INTERVAL: Duration = Duration::from_micros(250);

/// The interval at which the samples are read out.
const SPELL: Duration = Duration::from_millis(500);

/// Why samples fail.
const NO_CLOCK: &str = "this system gives no clock to sample by";

/// The bytes of an array whose length is known only at run time.
const ARRAY_BYTES: usize = 64;

/// The largest eden: beyond all caches.
const MAX_EDEN: usize = 1 << 30;

/// The samples of a run.
pub(super) struct Profile {
    /// Samples at each line of the sequence.
    pub(super) lines: Vec<u64>,
    /// Samples in the loop around it.
    pub(super) around: u64,
    /// Samples elsewhere: in the heap.
    pub(super) elsewhere: u64,
    /// Objects that were allocated.
    pub(super) objects: u64,
    /// The time of the run.
    pub(super) time: Duration,
    /// The event that triggered the samples.
    pub(super) clock: Clock,
    /// Bytes of the eden.
    pub(super) eden: usize,
    /// The length of an array.
    pub(super) length: Option<usize>,
    form: Form,
}

impl Profile {
    /// All samples.
    pub(super) fn samples(&self) -> u64 {
        self.lines.iter().sum::<u64>() + self.around + self.elsewhere
    }

    /// The share of a line of the sequence; empty if it has no samples.
    pub(super) fn percent(&self, line: usize) -> String {
        match self.lines.get(line).copied().unwrap_or(0) {
            0 => String::new(),
            samples => self.share(samples),
        }
    }

    fn share(&self, samples: u64) -> String {
        format!("{:.1}%", samples as f64 * 100.0 / self.samples().max(1) as f64)
    }

    /// A description of the run, and the facts that the percentages do not show, in lines.
    pub(super) fn summary(&self) -> String {
        let mut text = format!(
            "profile: {} samples in {} of one thread by {}, eden {}",
            self.samples(),
            rough(self.time),
            self.clock,
            number::size(self.eden as u64)
        );
        if let Some(length) = self.length {
            let _ = write!(text, ", arrays of {length} elements");
        }
        let each = self.time.as_secs_f64() * 1e9 / self.objects.max(1) as f64;
        let _ = writeln!(text, "; {} objects, {each:.2} ns each", self.objects);
        if self.samples() == 0 {
            text += "the system sent no samples, so there are no percentages\n";
            return text;
        }
        let elsewhere = match self.form {
            Form::Pasted => "the heap: refills, recycling",
            Form::Stub => "the calling loop, and the heap: refills, recycling",
        };
        if self.form == Form::Pasted {
            let _ = writeln!(text, "{:>6} in the loop around it", self.share(self.around));
        }
        let _ = writeln!(text, "{:>6} elsewhere ({elsewhere})", self.share(self.elsewhere));
        text += "a sample shows at the instruction after the one that takes the time\n";
        text
    }
}

/// The size of the eden: the user's, or half of L2.
///
/// # Errors
/// [`Failure::Usage`]: it does not hold an object, or is too large.
pub(super) fn eden(question: &Question, asked: Option<u64>) -> Result<usize, Failure> {
    let turn_bytes = turn_bytes(question);
    let Some(asked) = asked else {
        return Ok((Topology::detect().l2_bytes().unwrap_or(512 << 10) / 2).max(turn_bytes));
    };
    let nearest = asked.clamp(turn_bytes as u64, MAX_EDEN as u64);
    if nearest == asked {
        return Ok(nearest as usize);
    }
    let [asked, most, nearest] = [asked, MAX_EDEN as u64, nearest].map(number::size);
    Err(Failure::Usage(format!("--eden {asked}: {turn_bytes} to {most} work; {nearest} is the nearest")))
}

/// The bytes that a turn of the loop allocates.
fn turn_bytes(question: &Question) -> usize {
    question.bytes().unwrap_or(ARRAY_BYTES) * question.count
}

/// Runs the sequence for `time` in an eden of that size.
///
/// # Errors
/// Profiling is impossible here.
pub(super) fn run(question: &Question, ours: &Ours, time: Duration, eden: usize) -> anyhow::Result<Profile> {
    let length = match question.what {
        What::Array { element, length: Length::Register } => Some((ARRAY_BYTES - 16) / element),
        _ => None,
    };
    let running = Running::new(ours, question.form)?;
    let heap = Heap::builder()
        .max_heap_size((eden + (eden / 4).max(4 << 20)).max(16 << 20))
        .collector(CollectorKind::Epsilon)
        .name("asm")
        .build()?;
    // Registers the first shape, whose headers the sequence writes.
    register(question, heap.shapes())?;
    let turns = (eden / turn_bytes(question)).max(1);
    let filled = heap.attach(|mutator| -> anyhow::Result<_> {
        let mark = mutator.raw_mut().mark();
        let mut fill = || {
            // SAFETY: this thread's hot part; the heap never collects.
            let done = unsafe { running.run(mutator.raw().hot(), turns, length.unwrap_or(0)) };
            // SAFETY: no reference to the objects remains, and there is one mark.
            unsafe { mutator.raw_mut().recycle(mark) };
            done as u64
        };
        // The first fill touches all pages.
        ensure!(fill() > 0, "the heap has no room for an eden of {}", number::size(eden as u64));
        let mut sampler = ThreadSampler::new(INTERVAL).context(NO_CLOCK)?;
        let (start, mut turns, mut samples) = (Instant::now(), 0, Samples::default());
        while start.elapsed() < time {
            let spell = Instant::now();
            sampler.start().context(NO_CLOCK)?;
            while spell.elapsed() < SPELL && start.elapsed() < time {
                turns += fill();
            }
            samples.merge(&sampler.stop().context(NO_CLOCK)?);
        }
        Ok((turns, start.elapsed(), samples, sampler.clock()))
    });
    let (turns, time, samples, clock) = filled??;
    let [hot, cold] = running.parts().map(|(start, bytes)| samples.at_bytes(start, bytes));
    // An interrupted instruction begins again, so the counter points at the beginning of an
    // instruction.
    let at = |part, offset: usize| match part {
        Part::Hot => hot[running.at + offset],
        Part::Cold => cold[offset],
    };
    let lines: Vec<u64> = ours.lines.iter().map(|line| at(line.part, line.offset)).collect();
    let all: u64 = hot.iter().chain(&cold).sum();
    Ok(Profile {
        around: all - lines.iter().sum::<u64>(),
        lines,
        elsewhere: samples.total() - all,
        clock,
        objects: turns * question.count as u64,
        time,
        eden,
        length,
        form: question.form,
    })
}
