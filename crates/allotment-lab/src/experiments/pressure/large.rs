//! Large arrays: `humongous`, whose arrays die at once, and `ttsp`, where one thread works on
//! arrays of a sixth of the heap while another one allocates.

use super::node::{self, Node, garbage};
use super::shot::Part;
use super::watch::Watch;
use crate::experiments::memory::advised;
use allotment::{Array, NewArray, NewSlots, alloc, pass, root};
use anyhow::bail;
use std::time::Duration;

/// The percentage of the heap that lives in `humongous`.
const LIVE_PERCENT: usize = 38;

/// Bytes of the arrays of `humongous`, in tenths of [`unit`].
const TENTHS: [usize; 5] = [11, 15, 21, 32, 77];

/// Nodes of garbage after each round of arrays.
const BETWEEN: usize = 100;

/// The heap has this many times the bytes of an array of `ttsp`.
const ARRAYS: usize = 6;

/// Nodes of an operation of the thread that allocates beside large arrays.
const NODES: usize = 10_000;

/// What fits a heap that is full too early.
const FITS: &str = "the heap is full before the shot: a larger --heap fits";

/// The bytes that the sizes of arrays are multiples of: a region of a heap of `heap` bytes.
fn unit(heap: usize) -> usize {
    (heap / 2048).max(256 << 10)
}

/// A thread that makes arrays of one to eight regions beside a list that lives.
pub(super) fn humongous(lasts: Duration, heap: usize) -> Vec<Part> {
    let part: Part = Box::new(move |mutator, start| {
        let nodes = heap / 100 * LIVE_PERCENT / node::BYTES;
        root!(mutator, lives = advised(node::list(mutator, nodes), FITS)?);
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            for tenths in TENTHS {
                let words = unit(heap) / 8 * tenths / 10;
                watch.time(|| alloc!(mutator, NewSlots::new(words, 1_u64)).map(drop));
            }
            if garbage(mutator, BETWEEN).is_err() {
                watch.done.failed += 1;
            }
        }
        node::check(mutator, lives, nodes)?;
        Ok(Some(watch.done))
    });
    vec![part]
}

/// What a thread does with large arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    /// Makes arrays of numbers.
    Make,
    /// Makes arrays of references.
    MakeReferences,
    /// Fills an array of references.
    Fill,
    /// Moves the elements of an array of references by one place.
    Copy,
}

impl Long {
    /// The words of the axis.
    pub(super) const WORDS: &[&str] = &["make", "make-references", "fill", "copy"];

    /// The operation of that name.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn named(word: &str) -> anyhow::Result<Long> {
        Ok(match word {
            "make" => Long::Make,
            "make-references" => Long::MakeReferences,
            "fill" => Long::Fill,
            "copy" => Long::Copy,
            other => bail!("`{other}` is not one of {}", Long::WORDS.join(", ")),
        })
    }
}

/// A thread that works on large arrays, and a thread whose allocations are timed.
pub(super) fn long_operations(lasts: Duration, heap: usize, long: Long) -> Vec<Part> {
    let elements = heap / ARRAYS / 8;
    let works: Part = Box::new(move |mutator, start| {
        let kept = if matches!(long, Long::Fill | Long::Copy) { elements } else { 0 };
        let made = alloc!(mutator, NewArray::<Option<Node>>::new(kept, None));
        root!(mutator, array = advised(made, FITS)?);
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            let outcome = match long {
                Long::Make => alloc!(mutator, NewSlots::new(elements, 7_u64)).map(drop),
                Long::MakeReferences => {
                    alloc!(mutator, NewArray::<Option<Node>>::new(elements, None)).map(drop)
                }
                Long::Fill => {
                    pass!(Array::fill(mutator, array, 0..elements, =None));
                    Ok(())
                }
                Long::Copy => {
                    Array::copy(mutator, array, 1, array, 0..elements - 1);
                    Ok(())
                }
            };
            watch.note(outcome);
            mutator.safepoint();
        }
        Ok(Some(watch.done))
    });
    let allocates: Part = Box::new(move |mutator, start| {
        let Some(began) = mutator.blocking(|| start.wait()) else { return Ok(None) };
        let mut watch = Watch::new(began, lasts);
        while watch.goes_on() {
            watch.time(|| garbage(mutator, NODES));
        }
        // The work of this case is that of the other thread.
        watch.done.work = 0;
        Ok(Some(watch.done))
    });
    vec![works, allocates]
}
