//! Units of values: which of them measure one thing, and how many of one are in another.
//!
//! The names are those that `go tool pprof` knows. A kilobyte has 1024 bytes, as there.

/// Names of units and their sizes in the smallest unit of the group. Names are compared in lower
/// case, and without an `s` at the end.
const GROUPS: [&[(&[&str], i128)]; 2] = [
    &[
        (&["b", "byte"], 1),
        (&["kb", "kbyte", "kilobyte"], 1 << 10),
        (&["mb", "mbyte", "megabyte"], 1 << 20),
        (&["gb", "gbyte", "gigabyte"], 1 << 30),
        (&["tb", "tbyte", "terabyte"], 1 << 40),
        (&["pb", "pbyte", "petabyte"], 1 << 50),
    ],
    &[
        (&["ns", "nanosecond"], 1),
        (&["μs", "us", "microsecond"], 1_000),
        (&["ms", "millisecond"], 1_000_000),
        (&["s", "sec", "second"], 1_000_000_000),
        (&["hour", "hr"], 3_600_000_000_000),
    ],
];

/// How many of the unit `to` are in the unit `from`, as a fraction of two whole numbers, one of which
/// is 1. `None` if the two measure different things.
///
/// ```
/// use allotment_tools::pprof::factor;
///
/// assert_eq!(factor("kilobytes", "bytes"), Some((1024, 1)));
/// assert_eq!(factor("ms", "s"), Some((1, 1000)));
/// assert_eq!(factor("bytes", "count"), None);
/// ```
pub fn factor(from: &str, to: &str) -> Option<(i128, i128)> {
    if from == to {
        return Some((1, 1));
    }
    GROUPS.iter().find_map(|group| {
        let (from, to) = (size(group, from)?, size(group, to)?);
        Some(if from >= to { (from / to, 1) } else { (1, to / from) })
    })
}

fn size(group: &[(&[&str], i128)], unit: &str) -> Option<i128> {
    let unit = unit.to_lowercase();
    let unit = if unit.chars().count() > 2 { unit.strip_suffix('s').unwrap_or(&unit) } else { &unit };
    group.iter().find(|(names, _)| names.contains(&unit)).map(|(_, size)| *size)
}
