//! What the rows say of buffers: what they buy with and without contention, and what they cost.

use crate::experiments::saying::{contrast, ours, scaling};
use crate::format::ScoreRow;
use crate::format::coordinates::THREADS;

/// Buffers against pointers that threads share, first for each number of threads, then across them; then against
/// the limit.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let pair = |one: &str, other: &str| contrast(&rows, "mode", one, other, THREADS);
    let pairs = [
        pair("tlab", "cas"),
        pair("shared", "cas"),
        scaling(&rows, "cas"),
        scaling(&rows, "tlab"),
        pair("tlab", "bare"),
        pair("shared", "tlab"),
        pair("collected", "shared"),
        pair("lock", "cas"),
        pair("malloc", "tlab"),
    ];
    pairs.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;

    #[test]
    fn contention_is_said() {
        let of = |mode: &str, threads, score| {
            row(&format!("tlab.{mode}"), threads, &[("size", "16")], "ops/us", score)
        };
        let rows = [of("tlab", 1, 100.0), of("tlab", 4, 390.0), of("cas", 1, 50.0), of("cas", 4, 20.0)];
        let said = verdicts(&rows);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("tlab against cas, 1 thread: 2.00 times as fast (1."), "{said:?}");
        assert!(said[1].starts_with("cas, 4 threads against 1 thread: 0.40 times as fast"), "{said:?}");
        assert!(said[2].starts_with("tlab, 4 threads against 1 thread: 3.90 times as fast"), "{said:?}");
    }
}
