//! Whether the memory that a case touches is there: one that swaps, or is killed in its fork, measures nothing.

use allotment::memory::limit::available_memory;
use std::sync::LazyLock;

/// Bytes there are. Asked once: a full grid has hundreds of thousands of cases, and the answer is in files.
static AVAILABLE: LazyLock<usize> = LazyLock::new(|| available_memory().bytes);

/// Whether `needed` bytes for `what` fit into this machine's memory and the limits of its control groups.
///
/// # Errors
/// Says how much is needed and how much there is; and of what there should be `fewer`.
pub(super) fn fits(what: &str, needed: usize, fewer: &str) -> Result<(), String> {
    within(*AVAILABLE, what, needed, fewer)
}

fn within(memory: usize, what: &str, needed: usize, fewer: &str) -> Result<(), String> {
    if needed <= memory {
        return Ok(());
    }
    let mib = |bytes: usize| format!("{}m", bytes.div_ceil(1 << 20));
    Err(format!("{what} need {} of memory, and there are {}; {fewer} fit", mib(needed), mib(memory)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_told_with_what_there_is() {
        assert_eq!(within(64 << 20, "edens", 64 << 20, "fewer --threads"), Ok(()));
        let error = within(64 << 20, "edens", (64 << 20) + 1, "fewer --threads").unwrap_err();
        assert_eq!(error, "edens need 65m of memory, and there are 64m; fewer --threads fit");
        assert!(fits("edens", usize::MAX, "none").is_err() && fits("edens", 1 << 20, "none").is_ok());
    }
}
