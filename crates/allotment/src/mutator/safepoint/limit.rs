//! The limit: one number that a thread's allocations compare with, and that others may lower to stop it.
//!
//! Four duties in one compare:
//!
//! ```text
//! plain  = min(end of the buffer, sampling point)        0 while a stop is requested
//! zeroed = min(plain, end of the zeroed window)          0 while a stop is requested
//! ```
//!
//! An allocation that initialises its memory itself compares with `plain`, one that wants it zeroed
//! with `zeroed`; each compares once. Two numbers, because who zeroes is decided at each allocation
//! site, and a site that does not need zeroes must not pay for a window.
//!
//! The owner sets both when it changes its buffer (`arm`), another thread sets both to 0 (`request`),
//! and neither may lose the other's word: each writes, fences, and looks (Dekker). In whichever order
//! the two fences fall, either the owner sees the request, or the 0 is written after the owner's value. An owner that
//! itself writes 0 needs neither: its next allocation takes the slow path, and sees the request there.
//! Refused: to go without the owner's fence, and to have the requester look again; where that was measured it
//! gained 1 to 2 ns of a refill. An expedited `membarrier` in `request` would make the owner's fence free, and costs the
//! requester a system call; the fence is paid once per refill or window, not per allocation.

use crate::sync::{AtomicU32, AtomicUsize, Ordering, fence};

#[derive(Debug)]
#[repr(C)]
pub(in crate::mutator) struct Limit {
    /// See above. Written by the owner (`arm`) and by a requester (0 only). Relaxed: ordered by fences.
    plain: AtomicUsize,
    /// See above. Never above `plain` for who reads `plain` first.
    zeroed: AtomicUsize,
    /// 1 while a stop is requested and not yet acknowledged. Set by a requester, cleared by the owner.
    requested: AtomicU32,
}

impl Limit {
    /// Offset in bytes of the request.
    #[cfg(not(loom))]
    pub(in crate::mutator) const REQUESTED_OFFSET: usize = std::mem::offset_of!(Limit, requested);

    /// The limit of a thread without a buffer: every allocation takes the slow path.
    pub(in crate::mutator) fn new() -> Limit {
        Limit { plain: AtomicUsize::new(0), zeroed: AtomicUsize::new(0), requested: AtomicU32::new(0) }
    }

    /// What an allocation that needs no zeroes compares with.
    #[inline(always)]
    pub(in crate::mutator) fn plain(&self) -> usize {
        self.plain.load(Ordering::Relaxed)
    }

    /// What an allocation that wants zeroed memory compares with.
    #[inline(always)]
    pub(in crate::mutator) fn zeroed(&self) -> usize {
        self.zeroed.load(Ordering::Relaxed)
    }

    /// Sets both numbers, unless a stop is requested. Owner only.
    pub(in crate::mutator) fn arm(&self, plain: usize, zeroed: usize) {
        debug_assert!(zeroed <= plain);
        self.raise(plain, zeroed);
        // With 0 the next allocation takes the slow path, where a request is seen: there is nothing to take back.
        if plain != 0 {
            fence(Ordering::SeqCst);
            self.hear();
        }
    }

    /// Makes the owner's next allocation take the slow path. Any thread.
    pub(in crate::mutator) fn request(&self) {
        self.requested.store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        self.lower();
    }

    /// Whether a stop is requested.
    #[inline]
    pub(in crate::mutator) fn pending(&self) -> bool {
        self.requested.load(Ordering::Acquire) != 0
    }

    /// Accepts the request: a later one is a new one. The owner then does what was asked, and arms.
    pub(in crate::mutator) fn acknowledge(&self) {
        self.requested.swap(0, Ordering::AcqRel);
    }

    /// Both numbers, as a checker may look at them in the middle of a request: `zeroed <= plain`.
    pub(in crate::mutator) fn both(&self) -> (usize, usize) {
        (self.plain.load(Ordering::Acquire), self.zeroed.load(Ordering::Relaxed))
    }

    fn raise(&self, plain: usize, zeroed: usize) {
        self.plain.store(plain, Ordering::Relaxed);
        self.zeroed.store(zeroed, Ordering::Relaxed);
    }

    /// Takes the numbers back if a stop is requested. Behind a fence, and that behind `raise`.
    fn hear(&self) {
        if self.requested.load(Ordering::Relaxed) != 0 {
            self.lower();
        }
    }

    fn lower(&self) {
        self.zeroed.store(0, Ordering::Relaxed);
        // Last, for `both`.
        self.plain.store(0, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_request_outlives_arming_and_ends_with_the_acknowledgement() {
        let limit = Limit::new();
        limit.arm(64, 32);
        assert_eq!((limit.plain(), limit.zeroed()), (64, 32));
        limit.request();
        limit.arm(128, 128);
        assert!(limit.pending());
        assert_eq!((limit.plain(), limit.zeroed()), (0, 0));
        limit.acknowledge();
        limit.arm(128, 64);
        assert!(!limit.pending());
        assert_eq!((limit.plain(), limit.zeroed()), (128, 64));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;

    /// What the `owner` does while a stop is requested: the request is not lost, and in the end nothing is allowed.
    fn beside_a_request(owner: impl Fn(&Limit) + Send + Sync + 'static) {
        loom::model(move || {
            let limit = Arc::new(Limit::new());
            let requester = {
                let limit = limit.clone();
                loom::thread::spawn(move || limit.request())
            };
            owner(&limit);
            requester.join().unwrap();
            assert!(limit.pending());
            assert_eq!(limit.both(), (0, 0));
        });
    }

    /// However the two interleave, a request is seen by the owner, or leaves both numbers 0.
    #[test]
    fn no_request_is_lost_to_an_arming_owner() {
        beside_a_request(|limit| {
            limit.arm(64, 32);
            limit.arm(128, 96);
        });
    }

    /// An owner that has nothing to allow does not look, and has lost nothing when it allows something again.
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

    /// In the middle of a request too the owner finds its numbers in order.
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
            let limit = Arc::new(Limit::new());
            let served = Arc::new(AtomicU32::new(0));
            limit.request();
            let requester = {
                let (limit, served) = (limit.clone(), served.clone());
                loom::thread::spawn(move || {
                    let before = served.load(Ordering::SeqCst);
                    limit.request();
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
