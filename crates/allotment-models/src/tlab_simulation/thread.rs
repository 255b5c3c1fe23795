//! A simulated thread: its operation, its buffer, and the objects that it fills the buffer with.

use super::regions::Piece;
use allotment::internals::tlab::Sizing;
use allotment::stats::TlabStatistics;
use allotment_report::random::Random;

/// The purpose of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A thread whose operations and waits are counted.
    Worker,
    /// Uses the heap alone, before the others begin.
    Alone,
    /// Replaces a large part of the live objects.
    Rebuilder,
}

/// The stage of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Asleep, or not there any more.
    Away,
    /// It wants a CPU to go on, and its operation has not begun.
    Woken,
    /// It has a CPU, and its operation begins.
    Begin,
    /// In its operation.
    Work,
}

/// A thread's buffer. `[top, piece.end)` is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer {
    pub(super) piece: Piece,
    pub(super) top: u64,
}

impl Buffer {
    /// Free bytes.
    pub(super) const fn free(self) -> u64 {
        self.piece.end - self.top
    }
}

/// A thread.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) role: Role,
    pub(super) stage: Stage,
    pub(super) sizing: Sizing,
    pub(super) buffer: Option<Buffer>,
    /// The CPU that it had last.
    pub(super) cpu: usize,
    /// CPU time until the next decision, in ns.
    pub(super) burst: u64,
    /// Bytes that this operation has yet to allocate.
    pub(super) left: u64,
    /// Bytes of the next object, if it is known; otherwise 0.
    pub(super) next: u64,
    /// Operations done.
    pub(super) done: u64,
    /// When the operation was to begin, and when it began.
    pub(super) planned: u64,
    pub(super) began: u64,
    /// Whether the thread has thought: the rest of the operation follows.
    pub(super) thought: bool,
    /// It has used up a time slice since it slept.
    pub(super) is_hog: bool,
    /// The latest visit of its roots, see [`Collector::visits`](super::collect::Collector::visits).
    pub(super) visited: u64,
    /// For how long the operation stood still for memory, in ns.
    pub(super) held: u64,
    /// Whether an operation of it ever stood still for memory.
    pub(super) waited: bool,
    /// Bytes of objects, ever and at the beginning of the last cycle.
    pub(super) allocated: u64,
    pub(super) allocated_before: u64,
    pub(super) counts: TlabStatistics,
    pub(super) counts_before: TlabStatistics,
}

impl Thread {
    /// A thread that has allocated nothing.
    pub(super) fn new(role: Role, sizing: Sizing) -> Thread {
        Thread {
            role,
            stage: Stage::Away,
            sizing,
            buffer: None,
            cpu: 0,
            burst: 0,
            left: 0,
            next: 0,
            done: 0,
            planned: 0,
            began: 0,
            thought: false,
            is_hog: false,
            visited: 0,
            held: 0,
            waited: false,
            allocated: 0,
            allocated_before: 0,
            counts: TlabStatistics::default(),
            counts_before: TlabStatistics::default(),
        }
    }

    /// Allocates the next object in the buffer, which has room for it. Returns its bytes.
    pub(super) fn bump(&mut self) -> u64 {
        let bytes = std::mem::take(&mut self.next);
        if let Some(buffer) = &mut self.buffer {
            buffer.top += bytes;
        }
        self.left = self.left.saturating_sub(bytes);
        self.allocated += bytes;
        bytes
    }

    /// Fills the buffer with objects of `least` to `most` bytes, until the operation has all it
    /// needs or the next object does not fit. Returns the bytes.
    ///
    /// Objects far from the end of the buffer are not drawn one by one: their sum alone counts.
    pub(super) fn fill(&mut self, (least, most): (u64, u64), random: &mut Random) -> u64 {
        let mut filled = 0;
        while self.left > 0 {
            if self.next == 0 {
                self.next = draw(least, most, random);
            }
            let Some(buffer) = &mut self.buffer else { break };
            let free = buffer.free();
            if self.next > free {
                break;
            }
            let room = free.min(self.left);
            let step = if least == most { most } else { 8 };
            let bulk = room.saturating_sub(self.next + 2 * most) / step * step;
            let bytes = self.next + bulk;
            buffer.top += bytes;
            filled += bytes;
            self.left = self.left.saturating_sub(bytes);
            self.next = 0;
        }
        self.allocated += filled;
        filled
    }
}

/// The size of an object.
fn draw(least: u64, most: u64, random: &mut Random) -> u64 {
    least + random.below(((most - least) / 8 + 1) as usize) as u64 * 8
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::internals::tlab::{Averages, Config, Settings};
    use proptest::prelude::*;

    fn thread(left: u64, free: u64) -> Thread {
        let config = Config::new(&Settings::default());
        let mut thread = Thread::new(Role::Worker, Sizing::start(&config, &Averages::new(&config)));
        let piece = Piece { region: 0, start: 0, end: free };
        (thread.left, thread.buffer) = (left, Some(Buffer { piece, top: 0 }));
        thread
    }

    #[test]
    fn objects_of_one_size_fill_a_buffer_as_far_as_they_fit() {
        let mut random = Random::new(1);
        let mut full = thread(1 << 20, 16 << 10);
        assert_eq!(full.fill((48, 48), &mut random), (16 << 10) / 48 * 48);
        assert_eq!((full.next, full.buffer.unwrap().free()), (48, (16 << 10) % 48));
        // An operation ends with a whole object.
        let mut done = thread(100, 16 << 10);
        assert_eq!((done.fill((48, 48), &mut random), done.left, done.next), (144, 0, 0));
    }

    proptest! {
        #[test]
        fn an_operation_or_a_buffer_ends(seed in 0_u64.., left in 1_u64..100_000, free in 0_u64..12_500, sizes in (2_u64..20, 0_u64..30)) {
            let (least, most) = (sizes.0 * 8, (sizes.0 + sizes.1) * 8);
            let mut thread = thread(left, free * 8);
            let filled = thread.fill((least, most), &mut Random::new(seed));
            let rest = thread.buffer.unwrap().free();
            prop_assert_eq!(filled, free * 8 - rest);
            if thread.left == 0 {
                prop_assert!(filled >= left && filled < left + most, "{} of {}", filled, left);
            } else {
                prop_assert!(rest < thread.next && (least..=most).contains(&thread.next));
                prop_assert_eq!(filled, left - thread.left);
            }
        }
    }
}
