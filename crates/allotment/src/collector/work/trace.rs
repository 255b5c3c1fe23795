//! The loop of a thread that follows references: found objects wait on a stack, and popped ones
//! until their memory has arrived.
//!
//! A stack replaces recursion, so that a list of a million objects needs no more space than one of
//! ten. A popped object waits in a short ring while its header is fetched, because such a thread
//! spends most of its time waiting for headers (Cher, Hosking and Vitek, ASPLOS 2004). Arrays of
//! references go in chunks, so that one array does not fill the stack.
//!
//! All markers and snapshots share the loop. The stopped marker (`full/marker.rs`) has a second one,
//! which fetches blocks of the map in another ring, for as long as that pays.

use super::{Ring, WorkEntry};
use crate::platform::prefetch_read;

/// Objects whose headers are being fetched.
pub(crate) const AHEAD: usize = 16;

/// A thread that follows references.
pub(crate) trait Trace {
    /// The [entry](WorkEntry) that was kept last, if one is within reach.
    fn pop_at_hand(&mut self) -> Option<usize>;

    /// Brings further entries within reach. Returns `false` if there are none.
    fn refill(&mut self) -> bool;

    /// Keeps an entry for later.
    fn keep(&mut self, entry: WorkEntry);

    /// Lets other workers take some entries, if one of them wants some.
    fn share(&mut self);

    /// Told that nothing was at hand and one of the fetched objects is next, the `visits`th of all.
    #[inline(always)]
    fn runs_low(&mut self, _visits: usize) {}

    /// Looks at an object, and at the first chunk of an array. Returns whether to go on.
    ///
    /// # Safety
    /// - An object is at `address`.
    unsafe fn visit(&mut self, address: usize) -> bool;

    /// Looks at another chunk of an array. Returns whether to go on.
    ///
    /// # Safety
    /// - An array of references with such a chunk is at `array`.
    unsafe fn visit_chunk(&mut self, array: usize, number: usize) -> bool;
}

/// Works until nothing is left within reach, or until a visit says not to go on. Returns `false` in
/// that case; the rest is kept.
///
/// # Safety
/// - Each entry that the tracer keeps stands for an object, or for a chunk of an array of references.
#[inline(always)]
pub(crate) unsafe fn trace(tracer: &mut impl Trace) -> bool {
    let mut ahead = Ring::<AHEAD, 1>::new();
    loop {
        let goes_on = match tracer.pop_at_hand().map(WorkEntry::decode) {
            // SAFETY: the caller's predicate.
            Some(WorkEntry::Chunk { array, number }) => unsafe { tracer.visit_chunk(array, number) },
            Some(WorkEntry::Plain(address)) => {
                prefetch_read(address);
                tracer.share();
                match ahead.add([address]) {
                    [0] => true,
                    // SAFETY: the caller's predicate.
                    [due] => unsafe { tracer.visit(due) },
                }
            }
            None => match ahead.take() {
                [0] if tracer.refill() => true,
                [0] => return true,
                [due] => {
                    tracer.runs_low(ahead.came());
                    // SAFETY: the caller's predicate.
                    unsafe { tracer.visit(due) }
                }
            },
        };
        if !goes_on {
            while let [address] = ahead.take()
                && address != 0
            {
                tracer.keep(WorkEntry::Plain(address));
            }
            return false;
        }
    }
}
