//! Samples that the kernel writes into shared memory, by its event cpu-clock; see
//! `perf_event_open(2)`. The crate `perf-event2` maps the memory and parses its records.
//!
//! Only the clock itself interrupts the thread, and the records are read when the window is over.
//! The memory holds three seconds at 5 kHz; further samples are counted as lost.

use super::Samples;
use crate::counters::{Attribute, Refusal};
use perf_event::data::Record;
use perf_event::{SampleFlag, Sampler};
use std::io;
use std::time::Duration;

/// Bytes for records, a power of two; a record of an address has 16.
const DATA_BYTES: usize = 256 << 10;
/// The longest record that occurs: the header of a sample or a loss, with the fields of both.
const RECORD_BYTES: usize = 40;
/// Bytes of a record's header.
const HEADER_BYTES: usize = 8;
/// `PERF_RECORD_MISC_CPUMODE_MASK`, `PERF_RECORD_MISC_KERNEL`.
const MODE: u16 = 7;
const KERNEL: u16 = 1;

/// Samples of the thread that opened it.
pub(super) struct Ring(Sampler);

impl Ring {
    /// A ring for the calling thread, with a sample each `interval` of its CPU time; `kernel`: also
    /// within the kernel.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn open(interval: Duration, kernel: bool) -> Result<Ring, Refusal> {
        let period = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let mut builder = Attribute { kernel, ..Attribute::CPU_CLOCK }.builder();
        let event = builder.sample(SampleFlag::IP).sample_period(period).build()?;
        Ok(Ring(event.sampled(DATA_BYTES)?))
    }

    pub(super) fn start(&mut self) -> io::Result<()> {
        self.0.enable()
    }

    pub(super) fn stop(&mut self) -> io::Result<Samples> {
        self.0.disable()?;
        let (mut samples, mut bytes) = (Samples::default(), 0);
        while let Some(record) = self.0.next_record() {
            bytes += HEADER_BYTES + record.len();
            match record.parse_record().map_err(io::Error::other)? {
                Record::Sample(_) if record.misc() & MODE == KERNEL => samples.kernel += 1,
                Record::Sample(sample) => samples.add(sample.ip().unwrap_or_default()),
                Record::Lost(lost) => samples.lost += lost.lost,
                _ => {}
            }
        }
        if bytes + RECORD_BYTES > DATA_BYTES {
            // The ring is full. The kernel reports the number of lost samples only with the next
            // record that fits, which may never come.
            samples.lost += 1;
        }
        Ok(samples)
    }
}
