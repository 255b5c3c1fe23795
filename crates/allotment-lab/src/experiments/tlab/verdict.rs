//! The verdict on buffers: their gain with and without contention, and their cost.

use super::{BY_HAND, RINGS};
use crate::experiments::saying::{answer, contrast, ours, scaling};
use crate::format::ScoreRow;
use crate::format::answer::capital;
use crate::format::coordinates::{THREADS, mode};

/// The gain of a buffer over a shared pointer: by hand against by hand, then the library against
/// itself, or against the pointer where it has no other row. Then its cost over a bare loop.
pub(super) fn answers(rows: &[ScoreRow]) -> Vec<String> {
    const BUFFER: (&str, &str) = ("tlab", "the library's buffer (tlab)");
    const LOOP: (&str, &str) = ("bare", "a bare loop (bare)");
    const POINTER: (&str, &str) = ("cas", "a shared pointer (cas)");
    const SHARED: (&str, &str) = ("no-tlab", "its shared regions without buffers (no-tlab)");
    let rows = ours(rows);
    let pair = |one, other| answer(&rows, one, other, THREADS);
    let by_hand = pair(("bare", "a buffer written by hand (bare)"), POINTER);
    let library = pair(BUFFER, SHARED).or_else(|| pair(BUFFER, POINTER));
    [by_hand, library, pair(BUFFER, LOOP)].into_iter().flatten().map(|text| capital(&text)).collect()
}

/// Compares buffers with shared pointers: by hand against by hand, then the library against itself.
/// Compares numbers of threads next, then rows with the limit. At last, the kind of each row.
pub(super) fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let pair = |one: &str, other: &str| contrast(&rows, "mode", one, other, THREADS);
    let pairs = [
        pair("bare", "cas"),
        pair("tlab", "no-tlab"),
        pair("tlab", "cas"),
        pair("shared", "no-tlab"),
        scaling(&rows, "cas"),
        scaling(&rows, "no-tlab"),
        scaling(&rows, "tlab"),
        pair("tlab", "bare"),
        contrast(&rows, "mode", "c", "tlab", "cc"),
        pair("no-tlab", "cas"),
        pair("no-tlab-emitted", "cas"),
        pair("no-tlab-lock", "lock"),
        pair("shared", "tlab"),
        pair("collected", "shared"),
        pair("fetch-add", "cas"),
        pair("lock", "cas"),
        pair("malloc", "tlab"),
    ];
    pairs.into_iter().flatten().chain(kinds(&rows)).collect()
}

/// `Written by hand: bare, cas. The library: tlab.` if there are rows of both kinds.
fn kinds(rows: &[ScoreRow]) -> Option<String> {
    let (mut by_hand, mut library) = (Vec::new(), Vec::new());
    for mode in rows.iter().map(mode) {
        let kind = match mode {
            mode if BY_HAND.contains(&mode) => &mut by_hand,
            mode if RINGS.contains(&mode) || mode == "bumpalo" => continue,
            _ => &mut library,
        };
        if !kind.contains(&mode) {
            kind.push(mode);
        }
    }
    let both = !by_hand.is_empty() && !library.is_empty();
    both.then(|| format!("Written by hand: {}. The library: {}.", by_hand.join(", "), library.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::saying::tests::row;

    fn of(mode: &str, threads: usize, score: f64) -> ScoreRow {
        row(&format!("tlab.{mode}"), threads, &[("size", "16")], "ops/us", score)
    }

    #[test]
    fn what_a_buffer_buys_is_the_first_answer() {
        let rows = [
            of("bare", 1, 100.0),
            of("bare", 4, 390.0),
            of("cas", 1, 50.0),
            of("cas", 4, 20.0),
            of("tlab", 1, 99.99),
        ];
        let said = answers(&rows);
        let starts = [
            "With 1 thread a buffer written by hand (bare) is 2.00 ± 0.02 times as fast as a shared pointer (cas); with 4 \
             threads a buffer written by hand (bare) is 19.5 ± ",
            "The library's buffer (tlab) is 2.00 ± 0.02 times as fast as a shared pointer (cas).",
            "No difference between the library's buffer (tlab) and a bare loop (bare) was measured (",
        ];
        assert_eq!(said.len(), starts.len(), "{said:#?}");
        for (sentence, start) in said.iter().zip(starts) {
            assert!(sentence.starts_with(start), "{sentence}: {start}");
        }
        assert_eq!(answers(&rows[..2]), [""; 0]);
    }

    #[test]
    fn each_compiler_is_compared_with_rust() {
        let c = |cc: &str, score| row("tlab.c", 1, &[("size", "16"), ("cc", cc)], "ops/us", score);
        let said = verdicts(&[of("tlab", 1, 100.0), c("gcc", 100.0), c("clang", 50.0)]);
        assert_eq!(said.len(), 1, "{said:?}");
        let starts = ["c against tlab, gcc: ", "; clang: 0.50 times as fast"];
        assert!(starts.iter().all(|start| said[0].contains(start)), "{said:?}");
    }

    #[test]
    fn contention_is_said() {
        let rows = [of("bare", 1, 100.0), of("bare", 4, 390.0), of("cas", 1, 50.0), of("cas", 4, 20.0)];
        let said = verdicts(&rows);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].starts_with("bare against cas, 1 thread: 2.00 times as fast (1."), "{said:?}");
        assert!(said[1].starts_with("cas, 4 threads against 1 thread: 0.40 times as fast"), "{said:?}");
    }

    #[test]
    fn like_is_compared_with_like_and_kinds_are_named() {
        let rows = [
            of("tlab", 1, 100.0),
            of("bare", 1, 120.0),
            of("cas", 1, 20.0),
            of("no-tlab", 1, 10.0),
            of("lock", 1, 8.0),
            of("no-tlab-lock", 1, 4.0),
            of("malloc", 1, 50.0),
        ];
        let said = verdicts(&rows);
        let starts = [
            "bare against cas: 6.00",
            "tlab against no-tlab: 10.0",
            "tlab against cas: 5.00",
            "tlab against bare: 0.83",
            "no-tlab against cas: 0.50",
            "no-tlab-lock against lock: 0.50",
            "lock against cas: 0.40",
            "malloc against tlab: 0.50",
            "Written by hand: bare, cas, lock. The library: tlab, no-tlab, no-tlab-lock.",
        ];
        assert_eq!(said.len(), starts.len(), "{said:#?}");
        for (sentence, start) in said.iter().zip(starts) {
            assert!(sentence.starts_with(start), "{sentence}: {start}");
        }
    }
}
