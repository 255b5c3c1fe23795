//! Counts of the system, without the processor: available for every thread, and never forbidden.
//!
//! The source is `getrusage(2)` of the thread and its CPU clock, not the perf events of the same
//! names. The kernel counts both in the same places. The calls used here need no permission, and
//! tell voluntary switches from involuntary ones. Stolen time belongs to the machine, not to the
//! thread: the system does not count it by thread.

use super::Reading;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A count of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Usage {
    /// Nanoseconds on a CPU.
    TaskClock,
    /// Page faults without reading from a device: first touches.
    MinorFaults,
    /// Page faults that read from a device.
    MajorFaults,
    /// Voluntary waits.
    Voluntary,
    /// Involuntary switches: another thread was given the CPU.
    Involuntary,
    /// Time that the hypervisor gave to others, of all CPUs, in ticks of the system's clock (mostly
    /// 10 ms).
    Steal,
}

impl Usage {
    /// All.
    pub const ALL: [Usage; 6] = [
        Usage::TaskClock,
        Usage::MinorFaults,
        Usage::MajorFaults,
        Usage::Voluntary,
        Usage::Involuntary,
        Usage::Steal,
    ];

    /// The name, `perf`'s where it has one; a description; the unit of the value for an operation.
    fn told(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Usage::TaskClock => ("task-clock", "time on a CPU", "ns/op"),
            Usage::MinorFaults => ("minor-faults", "page faults without reading: first touches", "#/op"),
            Usage::MajorFaults => ("major-faults", "page faults that read from a device", "#/op"),
            Usage::Voluntary => ("context-switches.voluntary", "switches because the thread waited", "#/op"),
            Usage::Involuntary => {
                ("context-switches.involuntary", "switches because another thread was due", "#/op")
            }
            // Stolen time is not divided by operations.
            Usage::Steal => {
                ("steal", "time that the hypervisor gave to others, of all CPUs, per iteration", "ms")
            }
        }
    }

    /// The name: `perf`'s where it has one.
    pub fn name(self) -> &'static str {
        self.told().0
    }

    /// A description of the count.
    pub fn what(self) -> &'static str {
        self.told().1
    }

    /// The unit of the value for an operation.
    pub fn unit(self) -> &'static str {
        self.told().2
    }
}

/// The calling thread's counts at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// In the order of [`Usage`], without stolen time.
    counts: [u64; 5],
}

impl Snapshot {
    /// Reads them.
    pub fn read() -> Snapshot {
        // SAFETY: all zeroes is a value of this plain structure.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the structure lives throughout the call, which cannot fail with these arguments.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        let nanoseconds = thread_cpu_time().as_nanos() as u64;
        let counts =
            [usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw].map(|count| count as u64);
        Snapshot { counts: [nanoseconds, counts[0], counts[1], counts[2], counts[3]] }
    }

    /// The counts since `earlier`, on the same thread; `None` for a count that is not per thread.
    pub fn since(&self, earlier: &Snapshot, usage: Usage) -> Option<Reading> {
        let (count, before) = (self.counts.get(usage as usize)?, earlier.counts.get(usage as usize)?);
        Some(Reading::whole(count.wrapping_sub(*before)))
    }
}

/// CPU time of the calling thread.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Touches `pages` new pages, and returns their number.
#[cfg(test)]
pub(crate) fn fresh_pages(pages: usize) -> usize {
    let bytes = pages * allotment::internals::platform::page_size();
    // SAFETY: a new mapping, which overlaps no other.
    let memory = unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
        memory.cast::<u8>()
    };
    for page in 0..pages {
        // SAFETY: within the mapping.
        unsafe { memory.add(page * allotment::internals::platform::page_size()).write_volatile(1) };
    }
    // SAFETY: the mapping from above, not used any more.
    unsafe { libc::munmap(memory.cast(), bytes) };
    pages
}

/// Waits until the system has counted `times` more waits of the calling thread. One sleep is not
/// always a wait: on a busy host its time may be over before the thread has given up its CPU.
///
/// # Panics
/// If thousands of sleeps are not counted as `times` waits.
#[cfg(test)]
pub(crate) fn wait_times(times: u64) {
    let before = Snapshot::read();
    let counted = || Snapshot::read().since(&before, Usage::Voluntary).unwrap().count;
    let sleep = |_: &u32| std::thread::sleep(std::time::Duration::from_micros(100));
    let enough = (0..100_000).inspect(sleep).any(|_| counted() >= times);
    assert!(enough, "{} of {times} waits are counted", counted());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touched_pages_are_faults_of_this_thread() {
        fresh_pages(1);
        let before = Snapshot::read();
        fresh_pages(300);
        let after = Snapshot::read();
        let faults = after.since(&before, Usage::MinorFaults).unwrap().count;
        assert!((300..310).contains(&faults), "{faults}");
        assert!(after.since(&before, Usage::TaskClock).unwrap().count > 0);
        assert_eq!(after.since(&before, Usage::Steal), None);
    }

    #[test]
    fn sleeping_is_a_switch_of_ones_own_choice() {
        let before = Snapshot::read();
        wait_times(5);
        assert!(Snapshot::read().since(&before, Usage::Voluntary).unwrap().count >= 5);
    }

    #[test]
    fn what_another_thread_does_is_not_this_ones() {
        let before = Snapshot::read();
        std::thread::spawn(|| fresh_pages(500)).join().unwrap();
        assert!(Snapshot::read().since(&before, Usage::MinorFaults).unwrap().count < 100);
    }
}
