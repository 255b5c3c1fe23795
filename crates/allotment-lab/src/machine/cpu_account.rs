//! CPU time of a thread or of the process, and the time that a thread waited for a CPU.
//!
//! The source is the first two numbers of `/proc/thread-self/schedstat`, in ns. Refused: voluntary
//! and involuntary switches (`getrusage`). They count how often a thread lost its CPU, and not for
//! how long.

use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::ops::Sub;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The kernel's account of one thread.
#[derive(Debug)]
pub struct CpuAccount(File);

/// Times of a thread on a CPU and in the queue for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// Time on a CPU. It includes stolen time, unless the kernel knows of it.
    pub ran: Duration,
    /// Time in the queue for a CPU.
    pub queued: Duration,
}

impl Sub for CpuTime {
    type Output = CpuTime;

    /// The times since `earlier`; zero if that was later.
    fn sub(self, earlier: CpuTime) -> CpuTime {
        CpuTime {
            ran: self.ran.saturating_sub(earlier.ran),
            queued: self.queued.saturating_sub(earlier.queued),
        }
    }
}

impl CpuAccount {
    /// The account of the calling thread; `None` if the kernel keeps none.
    pub fn of_this_thread() -> Option<CpuAccount> {
        let account = CpuAccount(File::open("/proc/thread-self/schedstat").ok()?);
        account.time().is_some().then_some(account)
    }

    /// The times since the thread began. Reading them takes about a microsecond.
    pub fn time(&self) -> Option<CpuTime> {
        let mut text = [0; 96];
        let length = self.0.read_at(&mut text, 0).ok()?;
        parse(str::from_utf8(&text[..length]).ok()?)
    }
}

/// CPU time of all threads of this process, those that have ended included.
pub fn process_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

fn parse(schedstat: &str) -> Option<CpuTime> {
    let mut numbers =
        schedstat.split_ascii_whitespace().map(|number| number.parse().map(Duration::from_nanos));
    let (ran, queued) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(CpuTime { ran, queued })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn the_numbers_are_the_time_on_a_cpu_and_in_the_queue() {
        let time =
            |ran, queued| CpuTime { ran: Duration::from_nanos(ran), queued: Duration::from_nanos(queued) };
        assert_eq!(parse("290899935 3844030109 174\n"), Some(time(290_899_935, 3_844_030_109)));
        assert_eq!(time(7, 9) - time(4, 10), time(3, 0));
        for other in ["", "1", "1 x 2", "1 -2 3", "x 1 2"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_process_has_the_time_of_its_threads() {
        let before = process_cpu_time();
        let spins = || {
            let account = rustix::time::clock_gettime;
            let begun = account(ClockId::ThreadCPUTime).tv_nsec;
            while account(ClockId::ThreadCPUTime).tv_nsec - begun < 5_000_000 {}
        };
        thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(spins))));
        assert!(process_cpu_time() - before >= Duration::from_millis(10));
    }

    #[test]
    fn who_shares_a_cpu_waits_for_it() {
        if CpuAccount::of_this_thread().is_none() {
            return;
        }
        let done = AtomicBool::new(false);
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            // More threads than CPUs, until one of them has waited for a time slice.
            for _ in 0..cpus + 1 {
                scope.spawn(|| {
                    let account = CpuAccount::of_this_thread().unwrap();
                    let begun = account.time().unwrap();
                    while !done.load(Ordering::Relaxed) {
                        let time = account.time().unwrap() - begun;
                        if time.queued > Duration::from_millis(2) && time.ran > Duration::ZERO {
                            done.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    }
}
