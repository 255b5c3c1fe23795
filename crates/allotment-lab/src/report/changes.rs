//! Two files, row by row: rows that became faster or slower, and rows in only one file.
//!
//! A row became faster or slower where the whole interval of its ratio lies on one side of 1, as in
//! every verdict.
//!
//! Refused: Welch's test at JMH's 99 %. It calls rows slower whose interval, printed beside them,
//! includes 1.

use crate::format::answer::speed;
use crate::format::phrase::{Better, Effect};
use crate::format::{Entry, ScoreRow};
use crate::statistics::Ratio;
use std::collections::HashMap;

/// A row that is in both files.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The old row.
    pub old: ScoreRow,
    /// The new row.
    pub new: ScoreRow,
    /// New over old.
    pub ratio: Ratio,
    /// The effect on the speed: above 1 is faster.
    pub speed: Effect,
}

impl Changed {
    /// How much slower the row is, in percent: lost operations per time, or additional time per
    /// operation. Negative if the row is faster.
    pub fn slower_percent(&self) -> f64 {
        match Better::of(&self.new.primary.unit) {
            Better::Higher => (1.0 - self.ratio.value) * 100.0,
            Better::Lower => (self.ratio.value - 1.0) * 100.0,
        }
    }
}

/// The rows of two files.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Rows in both files, in the order of the new file.
    pub both: Vec<Changed>,
    /// Rows only in the old file.
    pub only_old: Vec<ScoreRow>,
    /// Rows only in the new file.
    pub only_new: Vec<ScoreRow>,
}

/// Finds rows with equal benchmark, mode, unit, threads and parameters. Rows that occur several
/// times in a file are matched in their order.
pub fn changes(old: &[Entry], new: &[Entry]) -> Changes {
    let mut known: HashMap<String, Vec<&ScoreRow>> = HashMap::new();
    for entry in old.iter().rev() {
        known.entry(key(&entry.row)).or_default().push(&entry.row);
    }
    let mut found = Changes::default();
    for entry in new {
        let Some(old) = known.get_mut(&key(&entry.row)).and_then(Vec::pop) else {
            found.only_new.push(entry.row.clone());
            continue;
        };
        let (before, after) = (old.primary.summary(), entry.row.primary.summary());
        let ratio = Ratio::of(&after, &before);
        let speed = Effect::of(&speed(&ratio, Better::of(&entry.row.primary.unit)));
        found.both.push(Changed { old: old.clone(), new: entry.row.clone(), ratio, speed });
    }
    for entry in old {
        let left = known.get_mut(&key(&entry.row));
        if left.is_some_and(|rows| rows.pop().is_some()) {
            found.only_old.push(entry.row.clone());
        }
    }
    found
}

/// A key of all coordinates, independent of the order of the parameters.
fn key(row: &ScoreRow) -> String {
    let mut parameters: Vec<(&str, &str)> =
        row.parameters.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
    parameters.sort_unstable();
    format!(
        "{:?}",
        (row.benchmark.as_str(), row.jmh_mode.as_str(), row.primary.unit.as_str(), row.threads, parameters)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Combine, Origin, examples};

    fn entry(benchmark: &str, unit: &str, values: &[f64]) -> Entry {
        let primary = examples::metric("", unit, Combine::Average, &[values]);
        let row = ScoreRow { benchmark: benchmark.into(), primary, ..examples::row() };
        Entry { row, origin: Origin::default() }
    }

    #[test]
    fn rows_are_matched_and_judged() {
        let old = [
            entry("a", "ops/us", &[10.0, 10.1, 9.9]),
            entry("b", "ns/op", &[10.0, 10.1, 9.9]),
            entry("c", "ns/op", &[10.0, 15.0, 5.0]),
            entry("d", "ns/op", &[10.0]),
            entry("gone", "ns/op", &[1.0]),
            entry("zero", "ns/op", &[0.0; 3]),
        ];
        let new = [
            entry("d", "ns/op", &[10.0]),
            entry("b", "ns/op", &[15.0, 15.1, 14.9]),
            entry("a", "ops/us", &[15.0, 15.1, 14.9]),
            entry("c", "ns/op", &[11.0, 15.0, 5.0]),
            entry("a", "ns/op", &[1.0]),
            entry("zero", "ns/op", &[1.0; 3]),
        ];
        let found = changes(&old, &new);
        let all: Vec<_> = found.both.iter().map(|one| (one.new.benchmark.as_str(), one.speed)).collect();
        let expected = [
            ("d", Effect::Unknown),
            ("b", Effect::Below),
            ("a", Effect::Above),
            ("c", Effect::None),
            ("zero", Effect::NoRatio),
        ];
        assert_eq!(all, expected);
        assert!((found.both[1].slower_percent() - 50.0).abs() < 1e-9);
        assert!((found.both[2].slower_percent() + 50.0).abs() < 1e-9);
        assert_eq!((found.only_old.len(), found.only_new.len()), (1, 1), "another unit is another row");
        assert_eq!(found.only_old[0].benchmark, "gone");
    }

    #[test]
    fn rows_that_occur_twice_are_matched_in_order() {
        let (first, second) = (entry("a", "ns/op", &[1.0; 3]), entry("a", "ns/op", &[2.0; 3]));
        let found = changes(&[first.clone(), second.clone()], &[first.clone(), second]);
        assert!(found.both.iter().all(|one| one.ratio.value == 1.0));
        assert_eq!(changes(&[first.clone(), first.clone()], &[first]).only_old.len(), 1);
    }
}
