//! The calls by which an attached thread polls and leaves: safepoint, blocking.

use super::Way;
use super::attached::{Alone, Attached};
use super::limits::small_heap;
use crate::harness::{Bench, Case, NoProbe, keep_value};
use allotment::Mutator;
use crossbeam_utils::CachePadded;
use std::hint::cold_path;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Calls between two checks of the harness.
const TURNS: u64 = 256;

/// Polls per turn. With one poll, a turn is so short that its position across 64 bytes of code
/// decides.
const AT_ONCE: u64 = 8;

/// Mode `poll`. Raw: a word is loaded and compared with zero.
pub(super) fn poll(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match way {
        Way::Safe => {
            let heap = small_heap(case)?;
            bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
                play.play(Attached::new(mutator, polls))
            })
        }
        Way::Raw => bench.measure(|_| {
            let word = CachePadded::new(AtomicUsize::new(0));
            Ok(Alone(move || looks(&word)))
        }),
    }
}

#[inline(never)]
fn polls(mutator: &mut Mutator<'_>) -> u64 {
    for _ in 0..TURNS / AT_ONCE {
        for poll in 0..AT_ONCE {
            mutator.safepoint();
            // The use is not of memory: the thread's state stays in a register, as in a loop
            // without calls.
            keep_value(poll);
        }
    }
    TURNS
}

#[inline(never)]
fn looks(word: &AtomicUsize) -> u64 {
    for _ in 0..TURNS / AT_ONCE {
        for poll in 0..AT_ONCE {
            if word.load(Ordering::Relaxed) != 0 {
                cold_path();
                word.store(0, Ordering::Relaxed);
            }
            keep_value(poll);
        }
    }
    TURNS
}

/// Mode `blocking`. Raw: two compare-and-swaps that succeed.
pub(super) fn blocking(way: Way, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match way {
        Way::Safe => {
            let heap = small_heap(case)?;
            bench.measure_attached(&heap, &mut NoProbe, |_, mutator, play| {
                play.play(Attached::new(mutator, |mutator| {
                    for turn in 0..TURNS {
                        mutator.blocking(|| keep_value(turn));
                    }
                    TURNS
                }))
            })
        }
        Way::Raw => bench.measure(|_| {
            let status = CachePadded::new(AtomicU32::new(0));
            Ok(Alone(move || {
                let mut swapped = 0;
                for turn in 0..TURNS {
                    let entered = status.compare_exchange(0, 1, Ordering::SeqCst, Ordering::Relaxed).is_ok();
                    keep_value(turn);
                    let left = status.compare_exchange(1, 0, Ordering::SeqCst, Ordering::Relaxed).is_ok();
                    swapped += u64::from(entered && left);
                }
                swapped
            }))
        }),
    }
}
