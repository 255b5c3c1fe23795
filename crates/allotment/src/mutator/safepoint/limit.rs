//! The limit: one number that a thread's allocations compare with, and that other threads may lower
//! to stop the thread.
//!
//! One compare has four purposes:
//!
//! ```text
//! plain  = min(end of the buffer, sampling point)        0 while a stop is requested
//! zeroed = min(plain, end of the zeroed window)          0 while a stop is requested
//! ```
//!
//! An allocation that initialises its memory itself compares with `plain`. An allocation that wants
//! zeroed memory compares with `zeroed`. Each compares once. There are two numbers because each
//! allocation site decides who zeroes, and a site that needs no zeroes must not pay for a window.
//!
//! The owner sets both numbers when it changes its buffer (`arm`). Another thread sets both to 0
//! (`request`). Neither may lose the other's word, so each writes, executes a fence, and reads
//! (Dekker). In whichever order the two fences fall, the owner sees the request, or the 0 is
//! written after the owner's value. An owner that itself writes 0 needs neither fence nor read: its
//! next allocation takes the slow path, and sees the request there.
//!
//! Refused:
//! - To drop the owner's fence and let the requester read again. As measured this gained 1 to 2 ns
//!   of a refill.
//! - An expedited `membarrier` in `request`. It would make the owner's fence free, but costs the
//!   requester a system call. The fence is paid once per refill or window, not per allocation.

use crate::platform::LOADS_ACQUIRE;
use crate::sync::{AtomicU32, AtomicUsize, Ordering, fence};

/// The limit of a thread. By default it allows nothing: every allocation takes the slow path.
#[derive(Debug, Default)]
#[repr(C)]
pub(in crate::mutator) struct Limit {
    /// The head of this file describes it. The owner (`arm`) and a requester (0 only) write it.
    /// Relaxed: ordered by fences.
    plain: AtomicUsize,
    /// The limit for zeroed memory, written and ordered like `plain`. Never above `plain` for a
    /// thread that reads `plain` first.
    zeroed: AtomicUsize,
    /// The requests that are not yet acknowledged, as bits of [`Wish`]; 0: none. Requesters set
    /// bits, the owner clears all of them.
    requested: AtomicU32,
}

/// The demand of a request on the owner, in addition to coming to a safepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Wish {
    /// Nothing more: the thread keeps its buffer.
    Halt = 1,
    /// The thread gives its buffer up.
    Retire = 2,
}

impl Limit {
    /// Offset in bytes of the request.
    #[cfg(not(loom))]
    pub(in crate::mutator) const REQUESTED_OFFSET: usize = std::mem::offset_of!(Limit, requested);

    /// The number that an allocation without need of zeroes compares with.
    #[inline(always)]
    pub(in crate::mutator) fn plain(&self) -> usize {
        self.plain.load(Ordering::Relaxed)
    }

    /// The number that an allocation of zeroed memory compares with.
    #[inline(always)]
    pub(in crate::mutator) fn zeroed(&self) -> usize {
        self.zeroed.load(Ordering::Relaxed)
    }

    /// Sets both numbers, unless a stop is requested. Owner only.
    pub(in crate::mutator) fn arm(&self, plain: usize, zeroed: usize) {
        debug_assert!(zeroed <= plain);
        self.plain.store(plain, Ordering::Relaxed);
        self.zeroed.store(zeroed, Ordering::Relaxed);
        // With 0 the next allocation takes the slow path and sees a request there, so nothing has
        // to be taken back.
        if plain != 0 {
            fence(Ordering::SeqCst);
            if self.requested.load(Ordering::Relaxed) != 0 {
                self.lower();
            }
        }
    }

    /// Makes the owner's next allocation take the slow path. Any thread.
    pub(in crate::mutator) fn request(&self, wish: Wish) {
        self.requested.fetch_or(wish as u32, Ordering::Release);
        fence(Ordering::SeqCst);
        self.lower();
    }

    /// Whether a stop is requested. Only a thread that finds one acquires what the requester wrote.
    #[inline]
    pub(in crate::mutator) fn pending(&self) -> bool {
        if LOADS_ACQUIRE && cfg!(not(loom)) {
            return self.requested.load(Ordering::Acquire) != 0;
        }
        let pending = self.requested.load(Ordering::Relaxed) != 0;
        if pending {
            fence(Ordering::Acquire);
        }
        pending
    }

    /// Accepts all requests; any later request is a new one. The owner then does what was asked,
    /// and arms. Returns whether the buffer is to be given up.
    pub(in crate::mutator) fn acknowledge(&self) -> bool {
        self.requested.swap(0, Ordering::AcqRel) & Wish::Retire as u32 != 0
    }

    /// Both numbers, in an order that keeps `zeroed <= plain` even during a request.
    pub(in crate::mutator) fn both(&self) -> (usize, usize) {
        (self.plain.load(Ordering::Acquire), self.zeroed.load(Ordering::Relaxed))
    }

    fn lower(&self) {
        self.zeroed.store(0, Ordering::Relaxed);
        // Last, so that `both` sees `zeroed <= plain`.
        self.plain.store(0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_outlives_arming_and_ends_with_the_acknowledgement() {
        let limit = Limit::default();
        limit.arm(64, 32);
        assert_eq!((limit.plain(), limit.zeroed()), (64, 32));
        limit.request(Wish::Halt);
        limit.request(Wish::Retire);
        limit.arm(128, 128);
        assert!(limit.pending());
        assert_eq!((limit.plain(), limit.zeroed()), (0, 0));
        assert!(limit.acknowledge());
        assert!(!limit.acknowledge(), "once");
        limit.arm(128, 64);
        assert!(!limit.pending());
        assert_eq!((limit.plain(), limit.zeroed()), (128, 64));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    /// Runs `owner` beside a request: the request is not lost, and both numbers end as 0.
    fn beside_a_request(owner: impl Fn(&Limit) + Send + Sync + 'static) {
        loom::model(move || {
            let limit = Arc::new(Limit::default());
            let requester = {
                let limit = limit.clone();
                loom::thread::spawn(move || limit.request(Wish::Halt))
            };
            owner(&limit);
            requester.join().unwrap();
            assert!(limit.pending());
            assert_eq!(limit.both(), (0, 0));
        });
    }

    /// However the two interleave, the owner sees a request, or the request leaves both numbers 0.
    #[test]
    fn no_request_is_lost_to_an_arming_owner() {
        beside_a_request(|limit| {
            limit.arm(64, 32);
            limit.arm(128, 96);
        });
    }

    /// An owner that arms with 0 does not read the request, and still loses none when it arms with
    /// more again.
    #[test]
    fn no_request_is_lost_to_an_owner_that_allows_nothing() {
        beside_a_request(|limit| {
            limit.arm(64, 32);
            limit.arm(0, 0);
            assert_eq!(limit.both(), (0, 0));
            limit.arm(128, 128);
        });
        beside_a_request(|limit| {
            limit.arm(64, 32);
            limit.arm(0, 0);
        });
    }

    /// Even during a request the owner finds its numbers in order.
    #[test]
    fn the_zeroed_limit_is_never_above_the_plain_one() {
        beside_a_request(|limit| {
            for (plain, zeroed) in [(64, 32), (128, 96)] {
                limit.arm(plain, zeroed);
                let (plain, zeroed) = limit.both();
                assert!(zeroed <= plain, "{zeroed} <= {plain}");
            }
        });
    }

    /// A request during the acknowledgement of another is answered with it or stays pending.
    #[test]
    fn a_second_request_is_served_or_kept() {
        loom::model(|| {
            let limit = Arc::new(Limit::default());
            let served = Arc::new(AtomicU32::new(0));
            limit.request(Wish::Retire);
            let requester = {
                let (limit, served) = (limit.clone(), served.clone());
                loom::thread::spawn(move || {
                    let before = served.load(Ordering::SeqCst);
                    limit.request(Wish::Halt);
                    before
                })
            };
            limit.acknowledge();
            served.store(1, Ordering::SeqCst);
            limit.arm(64, 64);
            let before = requester.join().unwrap();
            let kept = limit.pending() && limit.plain() == 0 && limit.zeroed() == 0;
            assert!(kept || before == 0, "a request after the service was lost");
        });
    }
}
