//! A thread that fills its eden by calls of a loop, and starts over.

use super::eden::calls;
use crate::c::attached;
use crate::harness::{Bench, NoProbe, Play, Worker};
use allotment::raw::Mark;
use allotment::{Heap, Mutator};
use allotment_ffi::CHeap;

/// Calls a loop until the eden is full, and starts over.
struct Filler<'m, 't, F> {
    mutator: &'m mut Mutator<'t>,
    body: F,
    mark: Mark<'t>,
    /// Calls until the eden is full, and the calls left.
    calls: usize,
    left: usize,
}

impl<'t, F: FnMut(&mut Mutator<'t>) -> u64> Worker for Filler<'_, 't, F> {
    #[inline]
    fn batch(&mut self) -> u64 {
        let allocated = (self.body)(self.mutator);
        self.left -= 1;
        if self.left == 0 {
            self.left = self.calls;
            // SAFETY: no object outlives the call that allocated it, and there is one mark.
            unsafe { self.mutator.raw_mut().recycle(self.mark) };
        }
        allocated
    }
}

/// Measures threads that each fill `eden` bytes of `heap` with objects of `bytes` bytes. `body`
/// makes a thread's loop for a number of pairs. The loop allocates them, and returns the number of
/// objects.
pub(in super::super) fn measure<F: FnMut(&mut Mutator<'_>) -> u64>(
    heap: &Heap,
    bytes: usize,
    eden: usize,
    bench: &mut Bench<'_>,
    body: impl Fn(usize) -> F + Sync,
) -> anyhow::Result<()> {
    let (pairs, calls) = calls(bytes, eden);
    bench.measure_attached(heap, &mut NoProbe, |_, mutator, play| fill(mutator, body(pairs), calls, play))
}

/// Measures as [`measure`] does, with threads that are attached by `al_attach`.
pub(super) fn measure_in_c<F: FnMut(&mut Mutator<'_>) -> u64>(
    heap: &CHeap,
    bytes: usize,
    eden: usize,
    bench: &mut Bench<'_>,
    body: impl Fn(usize) -> F + Sync,
) -> anyhow::Result<()> {
    let (pairs, calls) = calls(bytes, eden);
    bench.measure_within(&mut NoProbe, |_, play| {
        attached(heap, |mutator| fill(mutator, body(pairs), calls, play))?
    })
}

/// Plays a thread that fills its eden by `calls` calls of `body`.
fn fill<'t>(
    mutator: &mut Mutator<'t>,
    body: impl FnMut(&mut Mutator<'t>) -> u64,
    calls: usize,
    play: Play<'_>,
) -> anyhow::Result<()> {
    let mark = mutator.raw_mut().mark();
    play.play(Filler { mutator, body, mark, calls, left: calls })
}
