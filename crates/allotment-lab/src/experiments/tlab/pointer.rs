//! One pointer that all threads share, moved for each object: the sequences written by hand.
//!
//! A compiler would emit these sequences in line if there were no buffers. `cas` is the sequence
//! that the article measures: load the limit and the top, add, compare, `lock cmpxchg`, again on
//! failure, then the header. `fetch-add` moves the pointer by `lock xadd`, which cannot fail. On
//! AArch64 these are `cas` and `ldadd`, or loops of exclusive loads and stores without LSE.
//! `lock` takes a mutex around a load, an add, a compare and a store. None of them uses any part of
//! the library: no regions, no counters, no call. The library's path without buffers is measured
//! beside them ([`shared`](super::shared)).
//!
//! Refused: the library's path in place of the sequence. It does more than the sequence, so a ratio
//! to it would overstate the gain of buffers.

use super::eden::{Eden, calls};
use super::limits::write_object;
use super::widest::{Loop, Only, widest};
use crate::harness::{Bench, Case, SecondaryValue, Share, Worker};
use crossbeam_utils::CachePadded;
use std::hint::cold_path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The label of the attempts to move the pointer, per object.
pub(super) const ATTEMPTS: &str = "cas.attempts";

/// A way to take the next object from memory that all threads share.
trait Pointer: Sync {
    /// The address of `bytes` bytes that no other thread has been given since the eden was started
    /// over.
    ///
    /// `failed` counts attempts that failed because another thread was quicker.
    fn take(&self, bytes: usize, failed: &mut u64) -> usize;

    /// Whether an attempt can fail, so that the number of attempts has a meaning.
    const CAN_FAIL: bool;
}

/// A pointer in a cache line of its own, and the eden it moves through.
///
/// The limit has a line of its own too: all threads read it, and no thread writes it.
struct Span<T> {
    top: CachePadded<T>,
    /// The beginning and the end of the eden.
    base: usize,
    limit: usize,
}

/// Moved by compare-and-swap: the top.
struct Swapped(Span<AtomicUsize>);

impl Pointer for Swapped {
    const CAN_FAIL: bool = true;

    #[inline(always)]
    fn take(&self, bytes: usize, failed: &mut u64) -> usize {
        let Span { top, base, limit } = &self.0;
        loop {
            let start = top.load(Ordering::Relaxed);
            let end = start + bytes;
            if end > *limit {
                // The rare case is moved out of line. Otherwise the loop jumps four times for each
                // object, a fifth of its time.
                cold_path();
                // Any thread that notices the end starts the eden over. It does not matter which
                // thread succeeds.
                let _ = top.compare_exchange(start, *base, Ordering::Relaxed, Ordering::Relaxed);
                continue;
            }
            // On x86-64 `lock cmpxchg` is a fence, whatever the ordering says. On AArch64 the
            // exchange orders nothing: no thread reads what another one writes here.
            if top.compare_exchange(start, end, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return start;
            }
            cold_path();
            *failed += 1;
        }
    }
}

/// Moved by fetch-and-add: the bytes taken so far, which exceed the size when the eden is full.
struct Added(Span<AtomicUsize>);

impl Pointer for Added {
    const CAN_FAIL: bool = false;

    #[inline(always)]
    fn take(&self, bytes: usize, _failed: &mut u64) -> usize {
        let Span { top, base, limit } = &self.0;
        let start = top.fetch_add(bytes, Ordering::Relaxed);
        if start < *limit {
            return start;
        }
        // Any thread that notices the end starts the eden over. One object may be given out twice;
        // its contents are never read.
        top.store(base + bytes, Ordering::Relaxed);
        *base
    }
}

/// Moved under a mutex.
struct Locked(Span<Mutex<usize>>);

impl Pointer for Locked {
    const CAN_FAIL: bool = false;

    #[inline(always)]
    fn take(&self, bytes: usize, _failed: &mut u64) -> usize {
        let Span { top, base, limit } = &self.0;
        let mut top = top.lock().unwrap_or_else(PoisonError::into_inner);
        let start = if *top + bytes > *limit { *base } else { *top };
        *top = start + bytes;
        start
    }
}

/// A thread that allocates from a shared pointer.
struct Taker<'a, const BYTES: usize, P> {
    pointer: &'a P,
    objects: usize,
    /// Attempts that failed since the iteration began.
    failed: u64,
}

impl<const BYTES: usize, P: Pointer> Loop<&mut Taker<'_, BYTES, P>> for Only {
    #[inline(always)]
    fn run(&self, taker: &mut Taker<'_, BYTES, P>) -> u64 {
        let mut failed = 0;
        for _ in 0..taker.objects {
            let start = taker.pointer.take(BYTES, &mut failed);
            // SAFETY: below the limit, so in the eden; no thread that writes these bytes reads
            // them.
            unsafe { write_object::<BYTES>(start) };
        }
        taker.failed += failed;
        taker.objects as u64
    }
}

impl<const BYTES: usize, P: Pointer> Worker for Taker<'_, BYTES, P> {
    #[inline]
    fn batch(&mut self) -> u64 {
        widest(&Only, self)
    }

    fn prepare(&mut self) -> anyhow::Result<()> {
        self.failed = 0;
        Ok(())
    }

    fn metrics(&mut self, share: &Share) -> Vec<SecondaryValue> {
        if !P::CAN_FAIL {
            return Vec::new();
        }
        let attempts = 1.0 + self.failed as f64 / share.all_operations as f64;
        vec![SecondaryValue::average(ATTEMPTS, "#/success", attempts)]
    }
}

/// Modes `cas`, `fetch-add` and `lock`.
pub(super) fn run<const BYTES: usize>(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    let bytes = case.size("eden")?.saturating_mul(case.threads);
    let eden = Eden::new(bytes)?;
    let (pairs, calls) = calls(BYTES, bytes);
    let (objects, base) = (2 * pairs, eden.base());
    let limit = base + objects * calls * BYTES;
    let span = || Span { top: CachePadded::new(AtomicUsize::new(base)), base, limit };
    match case.mode.as_str() {
        "cas" => measure::<BYTES, _>(&Swapped(span()), objects, bench),
        "fetch-add" => measure::<BYTES, _>(&Added(span()), objects, bench),
        _ => {
            let top = CachePadded::new(Mutex::new(base));
            measure::<BYTES, _>(&Locked(Span { top, base, limit }), objects, bench)
        }
    }
}

fn measure<const BYTES: usize, P: Pointer>(
    pointer: &P,
    objects: usize,
    bench: &mut Bench<'_>,
) -> anyhow::Result<()> {
    bench.measure(|_| Ok(Taker::<BYTES, P> { pointer, objects, failed: 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::thread;

    const BYTES: usize = 16;
    const OBJECTS: usize = 4000;

    fn span<T>(top: T, objects: usize) -> Span<T> {
        Span { top: CachePadded::new(top), base: 1 << 20, limit: (1 << 20) + objects * BYTES }
    }

    /// The addresses that two threads are given, half of the objects each, and the number of failed
    /// attempts.
    fn taken(pointer: &impl Pointer) -> (BTreeSet<usize>, u64) {
        let half = || {
            let mut failed = 0;
            let own: Vec<usize> = (0..OBJECTS / 2).map(|_| pointer.take(BYTES, &mut failed)).collect();
            (own, failed)
        };
        thread::scope(|scope| {
            let other = scope.spawn(half);
            let (mut own, mut failed) = half();
            let (others, others_failed) = other.join().unwrap();
            own.extend(others);
            failed += others_failed;
            (own.into_iter().collect(), failed)
        })
    }

    #[test]
    fn each_object_is_given_to_one_thread() {
        let base = 1 << 20;
        let all: BTreeSet<usize> = (0..OBJECTS).map(|index| base + index * BYTES).collect();
        assert_eq!(taken(&Swapped(span(AtomicUsize::new(base), OBJECTS))).0, all);
        assert_eq!(taken(&Added(span(AtomicUsize::new(base), OBJECTS))), (all.clone(), 0));
        assert_eq!(taken(&Locked(span(Mutex::new(base), OBJECTS))), (all, 0));
    }

    #[test]
    fn a_full_eden_is_started_over() {
        let pointers: [&dyn Fn(&mut u64) -> usize; 3] = [
            &{
                let pointer = Swapped(span(AtomicUsize::new(1 << 20), 3));
                move |failed| pointer.take(BYTES, failed)
            },
            &{
                let pointer = Added(span(AtomicUsize::new(1 << 20), 3));
                move |failed| pointer.take(BYTES, failed)
            },
            &{
                let pointer = Locked(span(Mutex::new(1 << 20), 3));
                move |failed| pointer.take(BYTES, failed)
            },
        ];
        for take in pointers {
            let mut failed = 0;
            let places: Vec<usize> = (0..7).map(|_| (take(&mut failed) - (1 << 20)) / BYTES).collect();
            assert_eq!((places, failed), (vec![0, 1, 2, 0, 1, 2, 0], 0));
        }
    }

    /// A pointer that another thread moves before every second attempt.
    struct Busy(AtomicUsize);

    impl Pointer for Busy {
        const CAN_FAIL: bool = true;

        fn take(&self, bytes: usize, failed: &mut u64) -> usize {
            *failed += 1;
            self.0.fetch_add(bytes, Ordering::Relaxed)
        }
    }

    #[test]
    fn failed_attempts_are_told_for_each_object() {
        let memory = Eden::new(2 << 20).unwrap();
        let busy = Busy(AtomicUsize::new(memory.base()));
        let mut taker = Taker::<BYTES, _> { pointer: &busy, objects: 100, failed: 7 };
        taker.prepare().unwrap();
        let done = taker.batch() + taker.batch();
        let values = taker.metrics(&Share { all_operations: done, ..Share::default() });
        assert_eq!(values, [SecondaryValue::average(ATTEMPTS, "#/success", 2.0)]);
        let added = Added(span(AtomicUsize::new(0), 1));
        let mut taker = Taker::<BYTES, _> { pointer: &added, objects: 1, failed: 0 };
        assert_eq!(taker.metrics(&Share { all_operations: 1, ..Share::default() }), []);
    }
}
