//! How long a thread could have run and did not, as the kernel counts it.
//!
//! The second number of `/proc/thread-self/schedstat`, in ns. Voluntary and involuntary switches (`getrusage`) were refused: they
//! say how often a thread lost its CPU, and not for how long.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// The kernel's account of one thread.
#[derive(Debug)]
pub struct RunQueue(File);

impl RunQueue {
    /// Of the calling thread; nothing where the kernel keeps no such account.
    pub fn of_this_thread() -> Option<RunQueue> {
        let queue = RunQueue(File::open("/proc/thread-self/schedstat").ok()?);
        queue.waited().is_some().then_some(queue)
    }

    /// Time the thread has waited for a CPU since it began. Takes about a microsecond.
    pub fn waited(&self) -> Option<Duration> {
        let mut text = [0; 96];
        let length = self.0.read_at(&mut text, 0).ok()?;
        parse(str::from_utf8(&text[..length]).ok()?)
    }
}

fn parse(schedstat: &str) -> Option<Duration> {
    schedstat.split_ascii_whitespace().nth(1)?.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[test]
    fn the_second_number_is_the_time_in_the_queue() {
        assert_eq!(parse("290899935 3844030109 174\n"), Some(Duration::from_nanos(3_844_030_109)));
        for other in ["", "1", "1 x 2", "1 -2 3"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn who_shares_a_cpu_waits_for_it() {
        if RunQueue::of_this_thread().is_none() {
            return;
        }
        let done = AtomicBool::new(false);
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            // More threads than CPUs, until one of them has waited for a time slice.
            for _ in 0..cpus + 1 {
                scope.spawn(|| {
                    let queue = RunQueue::of_this_thread().unwrap();
                    while !done.load(Ordering::Relaxed) {
                        if queue.waited().unwrap() > Duration::from_millis(2) {
                            done.store(true, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
    }
}
