//! Samples that the kernel writes into shared memory, by its event cpu-clock; see
//! `perf_event_open(2)`.
//!
//! Only the clock itself interrupts the thread, and the records are read when the window is over.
//! The memory holds three seconds at 5 kHz; further samples are counted as lost.

use super::Samples;
use crate::counters::{Attribute, Refusal, Sampled, open, start, stop};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::io;
use std::os::fd::OwnedFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

/// Bytes for records, a power of two; a record of an address has 16.
const DATA_BYTES: usize = 256 << 10;

/// The longest record that occurs: the header of a sample or a loss, with the fields of both.
const RECORD_BYTES: usize = 40;
/// The position, in the page in front of the data, where the kernel writes its progress and reads
/// the reader's progress.
const HEAD: usize = 1024;
const TAIL: usize = 1032;
/// `PERF_RECORD_LOST`, `PERF_RECORD_SAMPLE`.
const LOST: u32 = 2;
const SAMPLE: u32 = 9;
/// `PERF_RECORD_MISC_CPUMODE_MASK`, `PERF_RECORD_MISC_KERNEL`.
const MODE: u16 = 7;
const KERNEL: u16 = 1;

/// Samples of the thread that opened it.
pub(super) struct Ring {
    event: OwnedFd,
    memory: NonNull<u8>,
    page: usize,
}

impl Ring {
    /// A ring for the calling thread, with a sample each `interval` of its CPU time; `kernel`: also
    /// within the kernel.
    ///
    /// # Errors
    /// [`Refusal`].
    pub(super) fn open(interval: Duration, kernel: bool) -> Result<Ring, Refusal> {
        let period = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX).max(1);
        let event = open(&Attribute { kernel, ..Attribute::CPU_CLOCK }, None, Some(Sampled { period }))?;
        let page = allotment::internals::platform::page_size();
        // SAFETY: a new mapping of an event's own memory, at an address that the kernel chooses.
        let memory = unsafe {
            let both = ProtFlags::READ | ProtFlags::WRITE;
            mmap(ptr::null_mut(), page + DATA_BYTES, both, MapFlags::SHARED, &event, 0)
        };
        let memory = memory.map_err(|error| Refusal::of(error.raw_os_error()))?;
        let memory = NonNull::new(memory.cast()).ok_or(Refusal::Other(0))?;
        Ok(Ring { event, memory, page })
    }

    pub(super) fn start(&mut self) -> io::Result<()> {
        start(&self.event)
    }

    pub(super) fn stop(&mut self) -> io::Result<Samples> {
        stop(&self.event)?;
        // SAFETY: within the first page of the mapping, aligned to 8; the kernel writes the head,
        // this side the tail.
        let (head, tail) = unsafe {
            let word = |at| &*self.memory.as_ptr().add(at).cast::<AtomicU64>();
            (word(HEAD), word(TAIL))
        };
        let (written, read) = (head.load(Ordering::Acquire), tail.load(Ordering::Relaxed));
        let mut bytes = vec![0_u8; written.wrapping_sub(read) as usize];
        for (at, byte) in bytes.iter_mut().enumerate() {
            let offset = (read as usize).wrapping_add(at) & (DATA_BYTES - 1);
            // SAFETY: within the data; the kernel writes nothing between tail and head.
            *byte = unsafe { self.memory.as_ptr().add(self.page + offset).read_volatile() };
        }
        fence(Ordering::SeqCst);
        tail.store(written, Ordering::Release);
        let mut samples = records(&bytes);
        if bytes.len() + RECORD_BYTES > DATA_BYTES {
            // The ring is full. The kernel reports the number of lost samples only with the next
            // record that fits, which may never come.
            samples.lost += 1;
        }
        Ok(samples)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping of `open`, to which nothing refers. An error would leave it mapped,
        // which does no harm.
        let _ = unsafe { munmap(self.memory.as_ptr().cast(), self.page + DATA_BYTES) };
    }
}

/// Reads records: kind, mode and length, then the fields of the kind.
fn records(mut bytes: &[u8]) -> Samples {
    let word = |bytes: &[u8], at: usize| {
        bytes.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_ne_bytes)
    };
    let mut samples = Samples::default();
    while bytes.len() >= 8 {
        let header = word(bytes, 0);
        let (kind, mode, length) = (header as u32, (header >> 32) as u16, (header >> 48) as usize);
        if length < 8 || length > bytes.len() {
            break;
        }
        match kind {
            SAMPLE if mode & MODE == KERNEL => samples.kernel += 1,
            SAMPLE => samples.add(word(bytes, 8)),
            // The event's number, then the number of lost samples.
            LOST => samples.lost += word(bytes, 16),
            _ => {}
        }
        bytes = &bytes[length..];
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, mode: u16, words: &[u64]) -> Vec<u8> {
        let length = 8 + words.len() * 8;
        let header = u64::from(kind) | u64::from(mode) << 32 | (length as u64) << 48;
        [header].iter().chain(words).flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn records_are_told_apart() {
        let bytes = [
            record(SAMPLE, 2, &[0x1000]),
            record(SAMPLE, KERNEL, &[0xFFFF_FFFF_8000_0000]),
            record(5, 0, &[1, 2, 3]),
            record(LOST, 0, &[77, 4]),
            record(SAMPLE, 2 | 1 << 14, &[0x1000]),
        ]
        .concat();
        let samples = records(&bytes);
        assert_eq!(samples.addresses().collect::<Vec<_>>(), [(0x1000, 2)]);
        assert_eq!((samples.kernel, samples.lost), (1, 4));
        let cut = records(&bytes[..24]);
        assert_eq!((cut.total(), records(&[]).total(), records(&[0; 64]).total()), (1, 0, 0));
    }
}
