//! The rows that are checked, and the program for each.
//!
//! Checked are all rows that other figures are divided by, or that a verdict or the README compares
//! others with: the limits, the shared pointers, `malloc`, the walks of `cache`, the clocks. Not
//! checked is `clock.empty`: it is the loop of the harness itself, and no other program has such a
//! loop. Not checked are the library's rows: they are measured, and serve as no measure for others.

use crate::harness::{Case, Experiment, Selection, expand};

/// The source of a program that checks rows.
pub(super) struct Source {
    /// The file name, without the ending.
    pub(super) name: &'static str,
    /// The text of the file.
    pub(super) text: &'static str,
}

macro_rules! sources {
    ($($constant:ident = $name:literal;)*) => {
        $(const $constant: Source = Source {
            name: $name,
            text: include_str!(concat!("../../../truth/", $name, ".c")),
        };)*
    };
}
sources! {
    BARE = "bare";
    MEMSET = "memset";
    CAS = "cas";
    FETCH_ADD = "fetch-add";
    LOCK = "lock";
    MALLOC = "malloc";
    GATHER = "gather";
    CHASE = "chase";
    CLOCK = "clock";
}

/// A row as the command line names it, and its program.
pub(super) struct Row {
    experiment: &'static str,
    mode: &'static str,
    /// The number of measuring threads.
    pub(super) threads: usize,
    /// Values of the experiment's axes, the object's size among them.
    values: &'static [(&'static str, &'static str)],
    pub(super) source: &'static Source,
    /// The program's arguments besides threads and time, taken from the case.
    numbers: &'static [Number],
}

/// A numeric argument of a program.
#[derive(Clone, Copy)]
enum Number {
    /// The case's size parameter of this name.
    Size(&'static str),
    /// A constant.
    Is(usize),
}

const fn row(
    source: &'static Source,
    name: (&'static str, &'static str),
    threads: usize,
    values: &'static [(&'static str, &'static str)],
    numbers: &'static [Number],
) -> Row {
    Row { experiment: name.0, mode: name.1, threads, values, source, numbers }
}

const EDEN: &[Number] = &[Number::Size("eden")];
const BARE_16: &[(&str, &str)] = &[("size", "16"), ("eden", "half-l2"), ("prefetch", "none")];
const BARE_64: &[(&str, &str)] = &[("size", "64"), ("eden", "half-l2"), ("prefetch", "none")];
const OF_16: &[(&str, &str)] = &[("size", "16"), ("eden", "half-l2")];
const OF_64: &[(&str, &str)] = &[("size", "64"), ("eden", "half-l2")];
const SHUFFLED_L1: &[(&str, &str)] =
    &[("order", "shuffled"), ("set", "half-l1"), ("pages", "base"), ("share", "per-thread")];
const SHUFFLED_L2: &[(&str, &str)] =
    &[("order", "shuffled"), ("set", "half-l2"), ("pages", "base"), ("share", "per-thread")];
const SHUFFLED_MEMORY: &[(&str, &str)] =
    &[("order", "shuffled"), ("set", "twice-l3"), ("pages", "base"), ("share", "per-thread")];
const WINDOW_L2: &[(&str, &str)] =
    &[("window", "128k"), ("set", "half-l2"), ("pages", "base"), ("share", "per-thread")];
const WINDOW_MEMORY: &[(&str, &str)] =
    &[("window", "128k"), ("set", "twice-l3"), ("pages", "base"), ("share", "per-thread")];
const SET: &[Number] = &[Number::Size("set")];
const ANYWHERE: &[Number] = &[Number::Size("set"), Number::Size("stride"), Number::Is(0)];
const IN_WINDOW: &[Number] = &[Number::Size("set"), Number::Size("stride"), Number::Size("window")];
const READS: &[(&str, &str)] = &[("reads", "64")];

/// All rows.
pub(super) const ROWS: &[Row] = &[
    row(&BARE, ("tlab", "bare"), 1, BARE_16, EDEN),
    row(&BARE, ("tlab", "bare"), 1, BARE_64, EDEN),
    row(&MEMSET, ("tlab", "memset"), 1, OF_64, EDEN),
    row(&CAS, ("tlab", "cas"), 1, OF_16, EDEN),
    row(&CAS, ("tlab", "cas"), 2, OF_16, EDEN),
    row(&FETCH_ADD, ("tlab", "fetch-add"), 1, OF_16, EDEN),
    row(&FETCH_ADD, ("tlab", "fetch-add"), 2, OF_16, EDEN),
    row(&LOCK, ("tlab", "lock"), 1, OF_16, EDEN),
    row(&MALLOC, ("tlab", "malloc"), 1, OF_16, &[]),
    row(&MALLOC, ("tlab", "malloc"), 1, OF_64, &[]),
    row(&GATHER, ("cache", "gather"), 1, SHUFFLED_L1, SET),
    row(&GATHER, ("cache", "gather"), 1, SHUFFLED_L2, SET),
    row(&GATHER, ("cache", "gather"), 1, SHUFFLED_MEMORY, SET),
    row(&CHASE, ("cache", "chase"), 1, SHUFFLED_L1, ANYWHERE),
    row(&CHASE, ("cache", "chase"), 1, SHUFFLED_L2, ANYWHERE),
    row(&CHASE, ("cache", "chase"), 1, SHUFFLED_MEMORY, ANYWHERE),
    row(&CHASE, ("cache", "window"), 1, WINDOW_L2, IN_WINDOW),
    row(&CHASE, ("cache", "window"), 1, WINDOW_MEMORY, IN_WINDOW),
    row(&CLOCK, ("clock", "tsc"), 1, READS, &[Number::Is(0)]),
    row(&CLOCK, ("clock", "coarse"), 1, READS, &[Number::Is(1)]),
    row(&CLOCK, ("clock", "monotonic"), 1, READS, &[Number::Is(2)]),
];

impl Row {
    /// The row as a user names it: `tlab.cas`.
    pub(super) fn benchmark(&self) -> String {
        format!("{}.{}", self.experiment, self.mode)
    }

    /// The row's name in the table: `tlab.cas, 16 bytes, 2 threads`.
    pub(super) fn label(&self) -> String {
        let mut label = self.benchmark();
        for (name, value) in self.values {
            match *name {
                "size" => label += &format!(", {value} bytes"),
                "set" => label += &format!(", {value}"),
                _ => {}
            }
        }
        label + if self.threads == 1 { ", 1 thread" } else { ", 2 threads" }
    }

    /// The bytes of an object, for the compiler; 0 without objects.
    pub(super) fn object_bytes(&self) -> usize {
        let size = self.values.iter().find(|(name, _)| *name == "size");
        size.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)
    }

    /// The case that the harness measures.
    ///
    /// # Errors
    /// Why the case cannot be measured on this machine.
    pub(super) fn case(&self, experiments: &[&Experiment], cpus: usize) -> Result<Case, String> {
        let found = experiments.iter().find(|experiment| experiment.name == self.experiment);
        let found = found.ok_or_else(|| format!("there is no experiment `{}`", self.experiment))?;
        let mode = found.modes.iter().find(|mode| mode.name == self.mode);
        let jmh_modes = mode.and_then(|mode| mode.jmh_modes.first()).into_iter().copied().collect();
        let selection = Selection {
            modes: vec![self.mode.into()],
            jmh_modes,
            threads: vec![self.threads],
            values: self
                .values
                .iter()
                .map(|(name, value)| (name.to_string(), vec![value.to_string()]))
                .collect(),
            ..Selection::default()
        };
        let (cases, _) = expand(&[*found], &selection, cpus).map_err(|error| error.to_string())?;
        cases.into_iter().next().ok_or_else(|| "no case".into())
    }

    /// The program's arguments besides threads and time.
    ///
    /// # Errors
    /// The case lacks a parameter.
    pub(super) fn numbers(&self, case: &Case) -> anyhow::Result<Vec<usize>> {
        let number = |number: &Number| match number {
            Number::Size(name) => case.size(name).map_err(anyhow::Error::from),
            Number::Is(value) => Ok(*value),
        };
        self.numbers.iter().map(number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments;

    #[test]
    fn every_row_is_one_case_with_all_its_values() {
        for row in ROWS {
            let case = row.case(experiments::all(), 2).unwrap();
            assert_eq!((case.benchmark(), case.threads), (row.benchmark(), row.threads));
            for (name, _) in row.values {
                case.text(name).unwrap();
            }
            assert!(row.numbers(&case).unwrap().len() <= 8, "{}", row.label());
        }
    }

    #[test]
    fn labels_tell_rows_apart() {
        let labels: std::collections::BTreeSet<String> = ROWS.iter().map(Row::label).collect();
        assert_eq!(labels.len(), ROWS.len());
        assert!(labels.contains("tlab.cas, 16 bytes, 2 threads"), "{labels:?}");
    }

    /// Every default baseline is checked, except the library's own rows.
    #[test]
    fn baselines_written_by_hand_are_checked() {
        for (experiment, mode) in [("tlab", "bare"), ("clock", "monotonic")] {
            let found = experiments::all().iter().find(|known| known.name == experiment).unwrap();
            assert_eq!(found.baseline(), Some(crate::harness::Baseline::mode(mode)));
            assert!(ROWS.iter().any(|row| row.benchmark() == format!("{experiment}.{mode}")));
        }
        for row in [
            "tlab.memset",
            "tlab.cas",
            "tlab.fetch-add",
            "tlab.lock",
            "tlab.malloc",
            "cache.gather",
            "cache.chase",
            "cache.window",
        ] {
            assert!(ROWS.iter().any(|known| known.benchmark() == row), "{row}");
        }
    }
}
