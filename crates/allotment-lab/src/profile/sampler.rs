//! A thread that is sampled.
//!
//! Samples come from the kernel's clock event where there is one: it has a timer of its own and any
//! requested resolution. Otherwise they come from a timer of the thread's CPU time, which the
//! kernel checks at its ticks, 100 to 1000 times a second.
//!
//! Refused: hardware events with precise addresses. The question is where the time goes by the
//! clock, and virtual machines have no such events.

use super::Samples;
use super::ring::Ring;
use super::timer::Timer;
use crate::counters::Refusal;
use std::marker::PhantomData;
use std::time::Duration;
use std::{fmt, io};

/// The event that triggers samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// `perf`'s event cpu-clock, with or without the kernel's part of the time.
    Event {
        /// Whether samples within the kernel are counted.
        kernel: bool,
    },
    /// A timer of the thread's CPU time; why there is no event.
    Timer(Refusal),
}

impl fmt::Display for Clock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Clock::Event { kernel: true } => formatter.write_str("cpu-clock"),
            Clock::Event { kernel: false } => formatter.write_str("cpu-clock outside the kernel"),
            Clock::Timer(refusal) => {
                write!(formatter, "a timer that follows the system's tick, since of cpu-clock: {refusal}")
            }
        }
    }
}

enum By {
    Ring(Ring),
    Timer(Timer),
}

/// Samples the thread that made it, between start and stop.
pub struct ThreadSampler {
    by: By,
    clock: Clock,
    /// Ties the sampler to its thread.
    _own: PhantomData<*mut ()>,
}

impl fmt::Debug for ThreadSampler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ThreadSampler").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl ThreadSampler {
    /// A sampler of the calling thread, not started, for samples each `interval` of its CPU time.
    ///
    /// # Errors
    /// The system has neither clock for this process.
    pub fn new(interval: Duration) -> io::Result<ThreadSampler> {
        let event = Ring::open(interval, true)
            .map(|ring| (ring, true))
            .or_else(|_| Ring::open(interval, false).map(|ring| (ring, false)));
        let (by, clock) = match event {
            Ok((ring, kernel)) => (By::Ring(ring), Clock::Event { kernel }),
            Err(refusal) => (By::Timer(Timer::new(interval)?), Clock::Timer(refusal)),
        };
        Ok(ThreadSampler { by, clock, _own: PhantomData })
    }

    /// The event that triggers the samples.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Begins to sample.
    ///
    /// # Errors
    /// The system's error.
    pub fn start(&mut self) -> io::Result<()> {
        match &mut self.by {
            By::Ring(ring) => ring.start(),
            By::Timer(timer) => timer.start(),
        }
    }

    /// Ends sampling. Returns the samples since the start.
    ///
    /// # Errors
    /// The system's error.
    pub fn stop(&mut self) -> io::Result<Samples> {
        match &mut self.by {
            By::Ring(ring) => ring.stop(),
            By::Timer(timer) => timer.stop(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::Instant;

    /// A sampler with the timer, even if events are available.
    fn by_timer(interval: Duration) -> io::Result<ThreadSampler> {
        let clock = Clock::Timer(Refusal::Absent(libc::ENOENT));
        Ok(ThreadSampler { by: By::Timer(Timer::new(interval)?), clock, _own: PhantomData })
    }

    #[inline(never)]
    fn spin(time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time {
            black_box((0..1000).fold(0_u64, |sum, number| black_box(sum + number)));
        }
    }

    /// Spins until there are samples, at most half a minute, and returns the samples.
    fn sampled(sampler: &mut ThreadSampler) -> Samples {
        let mut all = Samples::default();
        for _ in 0..300 {
            sampler.start().unwrap();
            spin(Duration::from_millis(100));
            all.merge(&sampler.stop().unwrap());
            if all.addresses().count() > 0 {
                break;
            }
        }
        all
    }

    #[test]
    fn a_thread_is_sampled_until_it_is_not() {
        for mut sampler in [
            ThreadSampler::new(Duration::from_millis(1)).unwrap(),
            by_timer(Duration::from_millis(1)).unwrap(),
        ] {
            let samples = sampled(&mut sampler);
            // Some samples must lie in this program, which used the time.
            let program = super::super::Image::of_this_process();
            let known = samples.addresses().filter(|(address, _)| program.symbol(*address).is_some()).count();
            assert!(known > 0, "{samples:?} by {}", sampler.clock());
            spin(Duration::from_millis(100));
            sampler.start().unwrap();
            assert!(sampler.stop().unwrap().total() <= 2, "what was not started was sampled");
        }
    }

    #[test]
    fn threads_are_sampled_side_by_side() {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut event = ThreadSampler::new(Duration::from_millis(1)).unwrap();
                    let mut timer = by_timer(Duration::from_millis(1)).unwrap();
                    assert!(sampled(&mut event).total() > 0);
                    assert!(sampled(&mut timer).total() > 0);
                });
            }
        });
    }

    #[test]
    fn a_clock_says_what_it_leaves_out() {
        assert!(Clock::Event { kernel: false }.to_string().contains("outside the kernel"));
        assert!(Clock::Timer(Refusal::of(libc::EACCES)).to_string().contains("not permitted"));
    }
}
