//! Threads that keep the machine's caches busy beside the measured case:
//! `--neighbours 2:64m:random`.
//!
//! A thread is faster alone on a machine than beside others, as the article on the "uncanny valley"
//! shows. So each case is measured alone and with neighbours in the same run, interleaved. The
//! coordinate `neighbours` distinguishes the rows.
//!
//! Neighbours live in a process of their own, which the parent starts before a fork and ends after
//! it. Refused: threads within the fork. A fork may be a JVM; and in a fork of ours they would share
//! its address space, so their page faults and the case's would wait for each other.

mod company;
mod process;
mod verdict;

pub(super) use company::Company;
pub use process::run_neighbours;
pub use verdict::verdicts;

use super::Case;
use crate::format::number::{parse_size, size};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The coordinate of rows in a run with neighbours.
pub const NEIGHBOURS: &str = "neighbours";

/// The value of the coordinate for a row without neighbours.
pub const NONE: &str = "none";

/// The most threads.
const MOST_THREADS: usize = 1024;

/// The least bytes of a neighbour: two lines, since a walk goes from line to line.
const LEAST_BYTES: usize = 128;

/// How neighbours walk. They read and never write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Walk {
    /// Around one cycle of all lines, in random order. Each read waits for the one before.
    Random,
    /// Line by line, as fast as memory delivers them.
    Sequential,
}

/// Threads that walk memory beside the measured case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neighbours {
    /// The number of threads.
    pub threads: usize,
    /// The memory that each walks, in bytes.
    pub bytes: usize,
    /// The order of their reads.
    pub walk: Walk,
}

impl Neighbours {
    /// The neighbours of a case.
    pub fn of(case: &Case) -> Option<Neighbours> {
        let value = case.params.iter().find(|(name, _)| name == NEIGHBOURS).map(|(_, value)| value)?;
        value.parse().ok()
    }

    /// The neighbours as people read them: `2:64m:random`.
    pub fn label(&self) -> String {
        format!("{}:{}:{}", self.threads, size(self.bytes as u64), self.walk)
    }

    /// The memory of all threads together, in bytes.
    pub fn total_bytes(&self) -> usize {
        self.threads.saturating_mul(self.bytes)
    }

    /// Each of the cases alone, and then with these neighbours.
    pub fn beside(&self, cases: Vec<Case>) -> Vec<Case> {
        let with = |case: &Case, value: String| {
            let mut case = case.clone();
            case.params.push((NEIGHBOURS.into(), value));
            case
        };
        cases.iter().flat_map(|case| [with(case, NONE.into()), with(case, self.to_string())]).collect()
    }
}

/// A value of the coordinate as people read it.
pub(super) fn label(value: &str) -> String {
    value.parse().map_or_else(|_| value.into(), |neighbours: Neighbours| neighbours.label())
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Walk::Random => "random",
            Walk::Sequential => "sequential",
        })
    }
}

impl fmt::Display for Neighbours {
    /// The neighbours as files hold them: `2:67108864:random`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.threads, self.bytes, self.walk)
    }
}

impl FromStr for Neighbours {
    type Err = String;

    /// Reads `N:SIZE`, `N:SIZE:random` or `N:SIZE:sequential`.
    fn from_str(text: &str) -> Result<Neighbours, String> {
        let parts: Vec<&str> = text.trim().split(':').collect();
        let (threads, bytes, walk) = match parts[..] {
            [threads, bytes] => (threads, bytes, "random"),
            [threads, bytes, walk] => (threads, bytes, walk),
            _ => {
                return Err(format!(
                    "`{text}`: write N:SIZE, N:SIZE:random or N:SIZE:sequential, such as 2:64m"
                ));
            }
        };
        let threads = match threads.parse() {
            Ok(threads @ 1..=MOST_THREADS) => threads,
            _ => return Err(format!("`{threads}` is not a number of neighbours; write 1 to {MOST_THREADS}")),
        };
        let bytes = parse_size(bytes)? as usize;
        if bytes < LEAST_BYTES {
            return Err(format!(
                "{bytes} bytes are too few for a neighbour; write {LEAST_BYTES} (two lines) or more"
            ));
        }
        let walk = match walk {
            "random" => Walk::Random,
            "sequential" => Walk::Sequential,
            other => return Err(format!("`{other}` is not an order of reads; write random or sequential")),
        };
        Ok(Neighbours { threads, bytes, walk })
    }
}

#[cfg(test)]
mod tests {
    use super::super::JmhMode;
    use super::super::case::examples::case;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn neighbours_are_read_and_written() {
        for (text, value, label) in [
            ("2:64m", "2:67108864:random", "2:64m:random"),
            (" 1:128:sequential ", "1:128:sequential", "1:128:sequential"),
            ("1024:1K:random", "1024:1024:random", "1024:1k:random"),
        ] {
            let read: Neighbours = text.parse().unwrap();
            assert_eq!((read.to_string(), read.label()), (value.to_string(), label.to_string()));
            assert_eq!(super::label(value), label);
        }
        assert_eq!(super::label(NONE), NONE);
    }

    #[test]
    fn wrong_neighbours_are_told_what_is_right() {
        for (text, hint) in [
            ("", "write N:SIZE"),
            ("2", "write N:SIZE"),
            ("1:1m:random:x", "write N:SIZE"),
            ("0:64m", "`0` is not a number of neighbours; write 1 to 1024"),
            ("1025:64m", "1 to 1024"),
            ("-1:64m", "1 to 1024"),
            ("two:64m", "1 to 1024"),
            ("2:", "not a size"),
            ("2:big", "not a size"),
            ("2:99999999t", "too large"),
            ("2:64", "write 128 (two lines) or more"),
            ("2:64m:Random", "write random or sequential"),
            ("2:64m:", "write random or sequential"),
        ] {
            let error = text.parse::<Neighbours>().unwrap_err();
            assert!(error.contains(hint), "{text}: {error}");
        }
    }

    #[test]
    fn each_case_is_measured_alone_and_with_company() {
        let neighbours: Neighbours = "2:64m".parse().unwrap();
        let cases = neighbours.beside(vec![case(JmhMode::Throughput, 1), case(JmhMode::Throughput, 2)]);
        let found: Vec<_> = cases.iter().map(|case| (case.threads, Neighbours::of(case))).collect();
        assert_eq!(found, [(1, None), (1, Some(neighbours)), (2, None), (2, Some(neighbours))]);
        let last = |case: &Case| case.params.last().cloned();
        assert_eq!(last(&cases[0]), Some((NEIGHBOURS.into(), NONE.into())));
        assert_eq!(last(&cases[1]), Some((NEIGHBOURS.into(), "2:67108864:random".into())));
        assert_eq!(Neighbours::of(&case(JmhMode::Throughput, 1)), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(threads in 1..=1024_usize, bytes in 128..1_usize << 40, random: bool) {
            let walk = if random { Walk::Random } else { Walk::Sequential };
            let neighbours = Neighbours { threads, bytes, walk };
            prop_assert_eq!(neighbours.to_string().parse(), Ok(neighbours));
            prop_assert_eq!(neighbours.label().parse(), Ok(neighbours));
        }

        #[test]
        fn nothing_panics(text in ".{0,20}") {
            let _ = text.parse::<Neighbours>();
        }
    }
}
