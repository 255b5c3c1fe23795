//! Checks that the memory that a case touches is available: a case that swaps, or is killed in its
//! fork, measures nothing. Also the advice for a heap that had too little memory.

use allotment::OutOfMemory;
use allotment::internals::platform::available_memory;
use anyhow::{Context, ensure};
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

/// The outcome. A failure of a heap that is too small gets the advice `fits`, such as `a larger
/// --heap fits`.
pub(super) fn advised<T>(outcome: Result<T, OutOfMemory>, fits: &'static str) -> anyhow::Result<T> {
    match outcome {
        Err(error) if error.refused_by_system() => Err(error.into()),
        outcome => outcome.context(fits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::Heap;

    #[test]
    fn advice_is_for_heaps_that_are_too_small() {
        let failing = |options: &str, allocations: usize| {
            let heap = Heap::builder().max_heap_size(4 << 20).options(options).unwrap().build().unwrap();
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
            crate::format::told(&advised(outcome.unwrap(), "a larger --heap fits").unwrap_err())
        };
        let small = failing("Collector=epsilon", 1000);
        assert!(small.starts_with("a larger --heap fits: out of memory"), "{small}");
        let zeal = failing("ZealOutOfMemory=7", 7);
        assert!(zeal.contains("the option ZealOutOfMemory makes"), "{zeal}");
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_there_is() {
        within(64 << 20, "edens", 64 << 20, "fewer --threads").unwrap();
        let error = within(64 << 20, "edens", (64 << 20) + 1, "fewer --threads").unwrap_err().to_string();
        assert_eq!(error, "edens need 65m of memory, and there are 64m; fewer --threads fit");
        assert!(fits("edens", usize::MAX, "none").is_err() && fits("edens", 1 << 20, "none").is_ok());
    }
}
