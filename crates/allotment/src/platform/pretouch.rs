//! Pre-touching: backing memory by pages before its first use (`AlwaysPreTouch`).
//!
//! The kernel zeroes a page at its first write. The first thread that allocates there pays for
//! this, as much as for a buffer refill. Pre-touching by several workers moves that cost to the
//! start of the program.
//!
//! `MADV_POPULATE_WRITE` is one system call per chunk instead of one fault per page, and it reports
//! a shortage of memory as an error instead of a signal. Kernels before 5.14 do not have it. There
//! a worker writes one word of each page without changing it, as HotSpot does. A read is not
//! enough: it maps the shared page of zeros.
//!
//! Workers claim chunks from one counter until none is left.
//!
//! Refused: equal parts for all workers. All would wait for the worker whose part lies on the far
//! memory node.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::io::Errno;

use super::error::{MemoryError, Operation};
use super::reservation::Reservation;
use super::{huge_page_size, linux, machine, page_size};

/// Bytes a worker claims at once: HotSpot's `PreTouchParallelChunkSize` on Linux. The chunk is long
/// enough that workers rarely contend for the counter, and short enough that they finish together.
const CHUNK_BYTES: usize = 4 << 20;

impl Reservation {
    /// Backs the `bytes` at `offset` by memory now, with up to `workers` threads, the caller among
    /// them.
    ///
    /// The range is committed first. Its contents stay as they are, so a range in use may be
    /// pre-touched again. No thread may uncommit any of it meanwhile. There are never more workers
    /// than chunks of 4 MiB, and 0 workers count as 1. If the system refuses a thread, the other
    /// workers do its part.
    ///
    /// # Errors
    /// As [`commit`](Self::commit). [`MemoryError::Refused`], even if only memory is short and
    /// the kernel says so. Beware: a control group may kill the process instead.
    pub fn pretouch(&self, offset: usize, bytes: usize, workers: usize) -> Result<(), MemoryError> {
        let touch = if linux::can_populate() { Touch::Populate } else { Touch::Write };
        self.pretouch_by(touch, offset, bytes, workers)
    }

    fn pretouch_by(
        &self,
        touch: Touch,
        offset: usize,
        bytes: usize,
        workers: usize,
    ) -> Result<(), MemoryError> {
        let start = self.check(Operation::Pretouch, offset, bytes)?;
        self.commit(offset, bytes)?;
        let chunks = Chunks::new(start.addr(), bytes, CHUNK_BYTES.max(huge_page_size()));
        let work = || {
            while let Some(chunk) = chunks.claim() {
                // SAFETY: the chunk lies in the range that `check` put inside the reservation and
                // `commit` opened.
                if let Err(errno) = unsafe { touch.apply(self.base().with_addr(chunk.start), chunk.len()) } {
                    chunks.abandon();
                    return Err(errno);
                }
            }
            Ok(())
        };
        let helpers = workers.min(chunks.count()).saturating_sub(1);
        // If the caller is bound to one CPU, all helpers would start there.
        let cpus = if helpers > 0 { linux::allowed_cpus() } else { Vec::new() };
        let help = || {
            linux::run_on_cpus(&cpus);
            work()
        };
        let answer = thread::scope(|scope| {
            let helpers: Vec<_> = (0..helpers)
                .map_while(|_| {
                    let name = "allotment-pretouch".to_owned();
                    thread::Builder::new().name(name).spawn_scoped(scope, help).ok()
                })
                .collect();
            let own = work();
            helpers
                .into_iter()
                .map(|helper| helper.join().unwrap_or(Err(Errno::CANCELED)))
                .fold(own, Result::and)
        });
        answer.map_err(|errno| self.refused(Operation::Pretouch, offset, bytes, errno))
    }
}

/// How a range is backed by memory.
#[derive(Clone, Copy, Debug)]
enum Touch {
    /// `MADV_POPULATE_WRITE`.
    Populate,
    /// One write per page that changes nothing.
    Write,
}

impl Touch {
    /// # Safety
    /// - The range is page-aligned, lies in a mapping of the caller's, and is readable and
    ///   writable.
    unsafe fn apply(self, start: *mut u8, bytes: usize) -> Result<(), Errno> {
        match self {
            // SAFETY: the caller's promise.
            Touch::Populate => unsafe { linux::populate(start, bytes) },
            Touch::Write => {
                for offset in (0..bytes).step_by(page_size()) {
                    // SAFETY: the page lies in the caller's writable range, and a page is aligned
                    // to 4 bytes.
                    unsafe { machine::touch_for_write(start.wrapping_add(offset)) };
                }
                Ok(())
            }
        }
    }
}

/// A range of addresses that workers split into chunks. The chunks end at multiples of the chunk
/// size, so that no two workers share a huge page.
struct Chunks {
    start: usize,
    end: usize,
    size: usize,
    /// First unclaimed address; at or beyond `end` when all is claimed. Every worker writes it,
    /// relaxed: it only hands out numbers, and the end of the scope orders the rest.
    next: AtomicUsize,
}

impl Chunks {
    /// `size` is a power of two.
    fn new(start: usize, bytes: usize, size: usize) -> Chunks {
        Chunks { start, end: start + bytes, size, next: AtomicUsize::new(start & !(size - 1)) }
    }

    fn count(&self) -> usize {
        (self.end - (self.start & !(self.size - 1))).div_ceil(self.size)
    }

    /// Claims a chunk for the caller.
    fn claim(&self) -> Option<Range<usize>> {
        let from = self.next.fetch_add(self.size, Ordering::Relaxed);
        if from >= self.end {
            return None;
        }
        Some(from.max(self.start)..(from + self.size).min(self.end))
    }

    /// Leaves nothing to claim.
    fn abandon(&self) {
        self.next.fetch_max(self.end, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::reservation::tests::resident_bytes;
    use super::*;

    /// Pre-touches an unaligned middle part that alone is committed, so that a touch beside it
    /// would be a fault, and expects all of it to be resident with its contents.
    fn touches_exactly_its_range(touch: Touch) {
        let page = page_size();
        let range = Reservation::reserve(32 << 20, 2 << 20, "pretouch").unwrap();
        let (offset, bytes) = (3 * page, (9 << 20) + page);
        range.commit(offset, bytes).unwrap();
        assert_eq!(resident_bytes(&range), 0);
        let probe = range.base().wrapping_add(offset + page + 5);
        // SAFETY: the page is committed and nobody else knows the range.
        unsafe { probe.write(42) };
        range.pretouch_by(touch, offset, bytes, 3).unwrap();
        assert_eq!(resident_bytes(&range), bytes);
        // SAFETY: as above.
        assert_eq!(unsafe { probe.read() }, 42);
    }

    #[test]
    fn writing_makes_pages_resident() {
        touches_exactly_its_range(Touch::Write);
    }

    #[test]
    fn populating_makes_pages_resident() {
        if linux::can_populate() {
            touches_exactly_its_range(Touch::Populate);
        }
    }

    #[test]
    fn pretouching_commits_what_it_touches() {
        let range = Reservation::reserve(1 << 20, 4096, "pretouch-commits").unwrap();
        for workers in [0, 1, usize::MAX] {
            range.pretouch(page_size(), 8 * page_size(), workers).unwrap();
            assert_eq!(resident_bytes(&range), 8 * page_size());
        }
    }

    #[test]
    fn a_bad_range_is_an_error() {
        let range = Reservation::reserve(1 << 20, 4096, "pretouch-bad").unwrap();
        let beyond = range.pretouch(0, 2 << 20, 1).unwrap_err();
        assert!(beyond.to_string().starts_with("cannot pre-touch 2097152 bytes at offset 0"), "{beyond}");
        assert!(matches!(range.pretouch(1, 4096, 1), Err(MemoryError::Misaligned { .. })));
        range.pretouch(0, 0, 1).unwrap();
        assert_eq!(resident_bytes(&range), 0);
    }

    #[test]
    fn an_abandoned_range_has_nothing_left() {
        let chunks = Chunks::new(0x10000, 0x4000, 0x1000);
        assert_eq!(chunks.claim(), Some(0x10000..0x11000));
        chunks.abandon();
        assert_eq!(chunks.claim(), None);
    }

    proptest! {
        #[test]
        fn chunks_cover_the_range_once(
            start in 1_usize..1 << 30,
            bytes in 0_usize..1 << 16,
            shift in 6_u32..16,
        ) {
            let size = 1 << shift;
            let chunks = Chunks::new(start, bytes, size);
            let mut at = start;
            let mut claimed = 0;
            while let Some(chunk) = chunks.claim() {
                prop_assert_eq!(chunk.start, at);
                prop_assert!(!chunk.is_empty() && chunk.len() <= size);
                prop_assert_eq!(at / size, (chunk.end - 1) / size, "a chunk crosses its boundary");
                at = chunk.end;
                claimed += 1;
            }
            prop_assert_eq!(at, start + bytes);
            prop_assert!(claimed <= chunks.count() && chunks.count() <= claimed + 1);
        }
    }
}
