//! The calls: open a group of events for the calling thread, start it, stop it, read it.
//!
//! A group's events have counters at the same times or not at all, so their quotients are right
//! even where the kernel makes groups take turns. The four calls are made directly, without a
//! library.

use super::{Attribute, Reading, Refusal, Sampled};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// `PERF_EVENT_IOC_ENABLE`, `PERF_EVENT_IOC_DISABLE`: `_IO('$', 0)` and `_IO('$', 1)`.
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;
/// `PERF_IOC_FLAG_GROUP`.
const WHOLE_GROUP: libc::c_ulong = 1;
/// `PERF_FLAG_FD_CLOEXEC`.
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// Opens an event for the calling thread, in the group of another or as the first of its own,
/// stopped.
///
/// # Errors
/// [`Refusal`].
pub fn open(
    attribute: &Attribute,
    leader: Option<RawFd>,
    sampled: Option<Sampled>,
) -> Result<OwnedFd, Refusal> {
    let words = attribute.words(leader.is_none(), sampled);
    let (this_thread, any_cpu, group) = (0, -1, leader.unwrap_or(-1));
    // SAFETY: the kernel reads as many bytes as the structure's size field says, which is the live
    // array's size; the other arguments are plain numbers.
    let descriptor = unsafe {
        libc::syscall(libc::SYS_perf_event_open, words.as_ptr(), this_thread, any_cpu, group, CLOSE_ON_EXEC)
    };
    if descriptor < 0 {
        return Err(Refusal::last());
    }
    // SAFETY: the call has just opened the descriptor, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as RawFd) })
}

/// Starts an event and its group.
///
/// # Errors
/// The system's error.
pub fn start(leader: &impl AsRawFd) -> io::Result<()> {
    control(leader, ENABLE)
}

/// Stops an event and its group.
///
/// # Errors
/// The system's error.
pub fn stop(leader: &impl AsRawFd) -> io::Result<()> {
    control(leader, DISABLE)
}

fn control(leader: &impl AsRawFd, request: libc::c_ulong) -> io::Result<()> {
    // SAFETY: the descriptor is open while it is borrowed; these requests take a number and touch
    // no memory.
    let done = unsafe { libc::ioctl(leader.as_raw_fd(), request, WHOLE_GROUP) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Events that count together, on the thread that opened them.
#[derive(Debug)]
pub struct Group {
    leader: File,
    /// The members, open as long as the leader is.
    _members: Vec<OwnedFd>,
    events: usize,
    /// The last readings: counters continue from where they stopped.
    last: Vec<Reading>,
}

impl Group {
    /// Opens the events for the calling thread.
    ///
    /// # Errors
    /// [`Refusal`] of the first event that is refused. [`Refusal::Invalid`] also where more events
    /// are requested than can count at once.
    pub fn open(attributes: &[Attribute]) -> Result<Group, Refusal> {
        let [first, rest @ ..] = attributes else { return Err(Refusal::Invalid(libc::EINVAL)) };
        let leader = open(first, None, None)?;
        let join = |attribute| open(attribute, Some(leader.as_raw_fd()), None);
        let members = rest.iter().map(join).collect::<Result<Vec<_>, _>>()?;
        let events = attributes.len();
        Ok(Group { leader: leader.into(), _members: members, events, last: vec![Reading::default(); events] })
    }

    /// Begins to count.
    ///
    /// # Errors
    /// The system's error.
    pub fn start(&self) -> io::Result<()> {
        start(&self.leader)
    }

    /// Ends counting. Returns the counts since the start, in the order of the events.
    ///
    /// # Errors
    /// The system's error.
    pub fn stop(&mut self) -> io::Result<Vec<Reading>> {
        stop(&self.leader)?;
        let mut bytes = vec![0; (3 + self.events) * 8];
        self.leader.read_exact(&mut bytes)?;
        let mut words =
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or([0; 8])));
        let mut next = || words.next().unwrap_or(0);
        // The order is: number of events, two times, a count for each event.
        let (_, enabled, running) = (next(), next(), next());
        let now: Vec<Reading> =
            (0..self.events).map(|_| Reading { count: next(), enabled, running }).collect();
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
            assert!(open(&clock, None, None).is_err());
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
