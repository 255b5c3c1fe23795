//! Checks that the memory that a case touches is available: a case that swaps, or is killed in its
//! fork, measures nothing. Also the advice for a heap that had too little memory.

use allotment::internals::platform::available_memory;
use allotment::{Heap, OutOfMemory};
use anyhow::{Context, anyhow, ensure};
use std::sync::LazyLock;

/// Available bytes. Read once: a full grid has hundreds of thousands of cases, and the answer comes
/// from files.
static AVAILABLE: LazyLock<usize> = LazyLock::new(|| available_memory().bytes);

/// Whether `needed` bytes for `what` fit into this machine's memory and the limits of its control
/// groups.
///
/// # Errors
/// Gives the needed and the available bytes, and names the parameter that should be smaller
/// (`fewer`).
pub(super) fn fits(what: &str, needed: usize, fewer: &str) -> anyhow::Result<()> {
    within(*AVAILABLE, what, needed, fewer)
}

fn within(memory: usize, what: &str, needed: usize, fewer: &str) -> anyhow::Result<()> {
    let (needs, has) = (mebibytes(needed), mebibytes(memory));
    ensure!(needed <= memory, "{what} need {needs} of memory, and there are {has}; {fewer} fit");
    Ok(())
}

/// `64m`, rounded up.
pub(super) fn mebibytes(bytes: usize) -> String {
    format!("{}m", bytes.div_ceil(1 << 20))
}

/// Advice for a heap that has no memory left. A larger heap is advised only where it would help.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advice {
    /// The setting that fits.
    fits: &'static str,
    /// `ZealOutOfMemory` of the heap: one allocation in this many fails on purpose.
    every: usize,
}

impl Advice {
    /// Advice for a heap. `fits` is printed where the heap is too small: `a larger --heap fits`.
    pub(super) fn of(heap: &Heap, fits: &'static str) -> Advice {
        let mut rows = heap.options().rows();
        let every =
            rows.find(|row| row.info.name == "ZealOutOfMemory").and_then(|row| row.value.parse().ok());
        Advice { fits, every: every.unwrap_or(0) }
    }

    /// The outcome. A failure that the advice fits gets the advice.
    pub(super) fn on<T>(self, outcome: Result<T, OutOfMemory>) -> anyhow::Result<T> {
        match outcome {
            Err(_) if self.every > 0 => Err(anyhow!(
                "the option ZealOutOfMemory={} ends memory at every so many allocations, and this work needs them all",
                self.every
            )),
            Err(error) if error.refused_by_system() => Err(error.into()),
            outcome => outcome.context(self.fits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_for_heaps_that_are_too_small() {
        let failing = |options: &str, allocations: usize| {
            let heap = Heap::builder().max_heap_size(4 << 20).options(options).unwrap().build().unwrap();
            let advice = Advice::of(&heap, "a larger --heap fits");
            let shape =
                allotment::raw::Shape::array("words", 16, allotment::raw::Element::Plain { bytes: 8 });
            let words = heap.register(shape).unwrap();
            let outcome = heap.attach(|mutator| {
                for _ in 0..allocations {
                    // SAFETY: the shape is this heap's, and no object is used.
                    unsafe { mutator.raw_mut().alloc_raw(words, 1000)? };
                }
                Ok::<(), OutOfMemory>(())
            });
            crate::format::told(&advice.on(outcome.unwrap()).unwrap_err())
        };
        let small = failing("Collector=epsilon", 1000);
        assert!(small.starts_with("a larger --heap fits: out of memory"), "{small}");
        let zeal = failing("ZealOutOfMemory=7", 7);
        assert!(zeal.contains("ZealOutOfMemory=7") && !zeal.contains("larger"), "{zeal}");
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_there_is() {
        within(64 << 20, "edens", 64 << 20, "fewer --threads").unwrap();
        let error = within(64 << 20, "edens", (64 << 20) + 1, "fewer --threads").unwrap_err().to_string();
        assert_eq!(error, "edens need 65m of memory, and there are 64m; fewer --threads fit");
        assert!(fits("edens", usize::MAX, "none").is_err() && fits("edens", 1 << 20, "none").is_ok());
    }
}
