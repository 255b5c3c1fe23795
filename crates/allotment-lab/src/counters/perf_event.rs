//! Events that count together: open a group for the calling thread, start it, stop it and read it.
//!
//! A group's events have counters at the same times or not at all, so their quotients are right
//! even where the kernel makes groups take turns. The calls are made by the crate `perf-event2`.

use super::{Attribute, Reading, Refusal};
use perf_event::{Counter, ReadFormat};
use std::io;
use std::time::Duration;

/// Events that count together, on the thread that opened them.
#[derive(Debug)]
pub struct Group {
    leader: Counter,
    members: Vec<Counter>,
    /// The last readings: counters continue from where they stopped.
    last: Vec<Reading>,
}

impl Group {
    /// Opens the events for the calling thread.
    ///
    /// # Errors
    /// [`Refusal`] of the first event that is refused. [`Refusal::Invalid`] too if more events
    /// are requested than can count at once.
    pub fn open(attributes: &[Attribute]) -> Result<Group, Refusal> {
        let [first, rest @ ..] = attributes else { return Err(Refusal::Invalid(libc::EINVAL)) };
        let format = ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING | ReadFormat::GROUP;
        let mut leader = first.builder().read_format(format).build()?;
        let members = rest
            .iter()
            // A member starts and stops with its leader.
            .map(|event| event.builder().enabled(true).build_with_group(&mut leader))
            .collect::<io::Result<_>>()?;
        Ok(Group { leader, members, last: vec![Reading::default(); attributes.len()] })
    }

    /// Begins to count.
    ///
    /// # Errors
    /// The system's error.
    pub fn start(&mut self) -> io::Result<()> {
        self.leader.enable_group()
    }

    /// Ends counting. Returns the counts since the start, in the order of the events.
    ///
    /// # Errors
    /// The system's error.
    pub fn stop(&mut self) -> io::Result<Vec<Reading>> {
        self.leader.disable_group()?;
        let data = self.leader.read_group()?;
        let nanoseconds = |time: Option<Duration>| time.unwrap_or_default().as_nanos() as u64;
        let (enabled, running) = (nanoseconds(data.time_enabled()), nanoseconds(data.time_running()));
        let all = [&self.leader].into_iter().chain(&self.members);
        let now: Vec<Reading> = all
            .map(|event| Reading { count: data.get(event).map_or(0, |one| one.value()), enabled, running })
            .collect();
        let found = now.iter().zip(&self.last).map(|(now, last)| now.since(last)).collect();
        self.last = now;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::attribute::SOFTWARE;
    use super::*;

    /// `PERF_COUNT_SW_PAGE_FAULTS_MIN`.
    const MINOR_FAULTS: Attribute = Attribute { kind: SOFTWARE, config: 5, config1: 0, kernel: false };

    #[test]
    fn a_group_counts_between_start_and_stop() {
        let clock = Attribute::CPU_CLOCK;
        let Ok(mut group) = Group::open(&[clock, MINOR_FAULTS]) else {
            // The system forbids it; a test in `plan` checks that the message says so.
            assert!(Group::open(&[clock]).is_err());
            return;
        };
        let touch = || std::hint::black_box(vec![1_u8; 1 << 20]);
        drop(touch());
        group.start().unwrap();
        let pages = super::super::usage::fresh_pages(64);
        let [time, faults] = group.stop().unwrap()[..] else { panic!("two events") };
        assert!(time.count > 0 && time.enabled > 0);
        assert!((64..80).contains(&faults.count), "{faults:?} for {pages} pages");
        drop(touch());
        group.start().unwrap();
        let [_, faults] = group.stop().unwrap()[..] else { panic!("two events") };
        assert!(faults.count < 8, "what happened while it was stopped does not count: {faults:?}");
    }

    #[test]
    fn what_is_no_event_is_refused() {
        assert!(matches!(Group::open(&[]), Err(Refusal::Invalid(_))));
        let wrong = Attribute { kind: SOFTWARE, config: 9999, config1: 0, kernel: false };
        assert!(Group::open(&[wrong]).is_err());
    }
}
