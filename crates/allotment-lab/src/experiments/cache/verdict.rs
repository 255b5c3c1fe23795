//! The curves in words: where the cost rises and which cache ends there, and the gain of several
//! threads over one.
//!
//! The caches are those of the machine that prints. A rise from set A to set B is attributed to a
//! cache if a thread's share of the cache lies between A/2 and B. At twice its size a gather still
//! hits mostly; at its size a gather misses where other data is in the cache.

use super::curve::{Curve, Knee, Point};
use super::expected::Machine;
use super::speed_up::{Course, SpeedUp, course, speed_ups};
use crate::format::coordinates::{mode, value};
use crate::format::phrase::{count, factor, interval, ratio_within};
use crate::format::{ScoreRow, number};

/// The parameter that curves are drawn over.
const SET: &str = "set";

/// The rows of one kind of walk, by threads.
struct Walk {
    name: String,
    unit: String,
    /// Whether `set` is the total of all threads.
    is_total: bool,
    /// Ascending by threads.
    curves: Vec<(usize, Curve)>,
}

/// For each walk the gain of the most threads over one. If there is no such pair, its cost.
pub(super) fn answers(rows: &[ScoreRow], machine: &Machine) -> Vec<String> {
    let told = |walk: &Walk| {
        let many = walk.curves.iter().rfind(|(_, curve)| curve.points.len() > 1)?;
        let one = walk.curves.iter().find(|(threads, _)| *threads == 1).filter(|_| many.0 > 1);
        let gain = one.and_then(|(_, one)| gain(&speed_ups(one, &many.1, many.0)));
        let cost = || cost(walk, many.0, &many.1, machine);
        Some(format!("{}: {}.", named(walk, many.0), gain.unwrap_or_else(cost)))
    };
    walks(rows).iter().filter_map(told).collect()
}

/// `gather, 2 threads`
fn named(walk: &Walk, threads: usize) -> String {
    format!("{}, {}", walk.name, count(threads, "thread"))
}

/// For each walk and number of threads a line about the cost, and from two threads on also a line
/// about the speed-up.
pub(super) fn verdicts(rows: &[ScoreRow], machine: &Machine) -> Vec<String> {
    let mut lines = Vec::new();
    for walk in walks(rows) {
        let one = walk.curves.iter().find(|(threads, _)| *threads == 1).map(|(_, curve)| curve);
        for (threads, curve) in walk.curves.iter().filter(|(_, curve)| curve.points.len() > 1) {
            let name = named(&walk, *threads);
            lines.push(format!("{name}: {}.", cost(&walk, *threads, curve, machine)));
            if let Some(one) = one.filter(|_| *threads > 1) {
                let gain = gain(&speed_ups(one, curve, *threads));
                lines.extend(gain.map(|text| format!("{name}: {text}.")));
            }
        }
    }
    lines
}

/// The rows as curves.
fn walks(rows: &[ScoreRow]) -> Vec<Walk> {
    let mut walks: Vec<Walk> = Vec::new();
    for row in rows {
        let Some(set) = value(row, SET).and_then(|(set, _)| set.parse().ok()) else { continue };
        let (name, score) = (name(row, rows), row.primary.summary());
        let index = walks.iter().position(|walk| walk.name == name).unwrap_or_else(|| {
            let is_total = value(row, "share").is_some_and(|(share, _)| share == "total");
            walks.push(Walk { name, unit: row.primary.unit.clone(), is_total, curves: Vec::new() });
            walks.len() - 1
        });
        let curves = &mut walks[index].curves;
        let index = curves.iter().position(|(threads, _)| *threads == row.threads).unwrap_or_else(|| {
            let throughput = row.jmh_mode == "thrpt";
            curves.push((row.threads, Curve { points: Vec::new(), throughput }));
            curves.len() - 1
        });
        curves[index].1.points.push(Point { set, score });
    }
    for walk in &mut walks {
        walk.curves.sort_by_key(|(threads, _)| *threads);
        walk.curves.iter_mut().for_each(|(_, curve)| curve.points.sort_by_key(|point| point.set));
    }
    walks
}

/// The mode, with all parameters but the set that distinguish it from other rows of the mode.
fn name(row: &ScoreRow, rows: &[ScoreRow]) -> String {
    let mut name = mode(row).to_string();
    for parameter in row.parameters.iter().filter(|parameter| parameter.name != SET) {
        let mut others = rows.iter().filter(|other| other.benchmark == row.benchmark);
        let value = |other| value(other, &parameter.name).map(|(value, _)| value);
        if others.any(|other| value(other).as_ref() != Some(&parameter.value)) {
            name += &format!(", {} {}", parameter.name, parameter.label);
        }
    }
    if rows.iter().any(|other| other.benchmark == row.benchmark && other.jmh_mode != row.jmh_mode) {
        name += &format!(", {}", row.jmh_mode);
    }
    name
}

/// The levels of a curve: `0.5 ns/op up to 256k; from 256k to 1m the cost rises 2.10 times (2.00 to
/// 2.20), to 1.05 ns/op: L2 has 512k`.
fn cost(walk: &Walk, threads: usize, curve: &Curve, machine: &Machine) -> String {
    let (unit, knees) = (&walk.unit, curve.knees());
    let last = curve.points[curve.points.len() - 1].set;
    let lowest = knees.first().map_or(last, |knee| knee.from);
    let cheapest = curve.points.iter().filter(|point| point.set <= lowest).map(|point| point.score.mean);
    let cheapest = cheapest.reduce(if curve.throughput { f64::max } else { f64::min }).unwrap_or(f64::NAN);
    let mut text = format!("{} {unit} up to {}", number::score(cheapest), number::size(lowest as u64));
    if knees.is_empty() {
        text += ", no rise beyond the errors and a tenth";
    }
    for knee in &knees {
        text += &format!(
            "; from {} to {} the cost rises {} times ({}), to {} {unit}: {}",
            number::size(knee.from as u64),
            number::size(knee.to as u64),
            factor(knee.rise.value),
            interval(&knee.rise),
            number::score(knee.after),
            causes(knee, threads, walk.is_total, machine)
        );
    }
    text
}

/// The caches that may end within a rise.
fn causes(knee: &Knee, threads: usize, is_total: bool, machine: &Machine) -> String {
    let among = if is_total { threads } else { 1 };
    let (from, to) = (knee.from / among, knee.to / among);
    let ending = machine.levels.iter().filter_map(|level| {
        let bytes = level.bytes_of_each(threads);
        let name = number::size(bytes as u64);
        let shared = if bytes < level.bytes { " for each thread" } else { "" };
        (from / 2 <= bytes && bytes <= to).then(|| format!("L{} has {name}{shared}", level.level))
    });
    let ending: Vec<String> = ending.collect();
    if ending.is_empty() { "no data cache ends there".into() } else { ending.join(", ") }
}

/// The speed-ups and their course; `None` without speed-ups.
fn gain(all: &[SpeedUp]) -> Option<String> {
    // The lower end decides, so that a wild value with a large error is not called the best.
    let certain = |one: &SpeedUp| one.ratio.low.max(f64::MIN);
    let best = all.iter().max_by(|a, b| certain(a).total_cmp(&certain(b)))?;
    Some(match course(all) {
        _ if all.iter().all(|one| one.ratio.low.is_nan()) => {
            "speed-up over one thread unknown: too few iterations, or errors as large as the scores".into()
        }
        Course::Level => {
            format!(
                "speed-up over one thread at best {}; no valley: it falls nowhere beyond the errors",
                at(best)
            )
        }
        Course::Falls { from, to } => format!(
            "speed-up over one thread {}, falls to {}; no valley: it does not recover beyond the errors",
            at(&from),
            at(&to)
        ),
        Course::Valley { from, bottom, to, depth, error } => format!(
            "speed-up over one thread {}, falls to {} and recovers to {}: a valley, {depth:.2} deep ({:.2} to {:.2})",
            at(&from),
            at(&bottom),
            at(&to),
            depth - error,
            depth + error
        ),
    })
}

/// `1.98 (1.96 to 2.00) at 256k`.
fn at(one: &SpeedUp) -> String {
    format!("{} at {}", ratio_within(&one.ratio, ""), number::size(one.set as u64))
}

#[cfg(test)]
mod tests {
    use super::super::expected::examples::machine;
    use super::*;
    use crate::format::{Combine, Parameter, examples};

    /// Rows over sets in MiB.
    fn rows(mode: &str, threads: usize, order: &str, costs: &[(usize, f64)]) -> Vec<ScoreRow> {
        let parameter =
            |name: &str, value: String, label: String| Parameter { name: name.into(), value, label };
        let row = |&(mib, cost): &(usize, f64)| ScoreRow {
            benchmark: format!("cache.{mode}"),
            jmh_mode: "avgt".into(),
            threads,
            parameters: vec![
                parameter("order", order.into(), order.into()),
                parameter(SET, (mib << 20).to_string(), format!("{mib}m")),
            ],
            primary: examples::metric(
                "",
                "ns/op",
                Combine::Average,
                &[&[cost * 0.99, cost, cost * 1.01], &[cost * 0.99, cost, cost * 1.01]],
            ),
            ..examples::row()
        };
        costs.iter().map(row).collect()
    }

    #[test]
    fn a_valley_in_words() {
        let mut all = rows("gather", 2, "shuffled", &[(128, 9.9), (8, 2.0), (16, 2.1), (32, 9.0), (64, 9.5)]);
        all.extend(rows("gather", 1, "shuffled", &[(8, 2.0), (16, 2.0), (32, 2.1), (64, 9.0), (128, 10.0)]));
        let expected = [
            "gather, 1 thread: 2.000 ns/op up to 32m; from 32m to 64m the cost rises 4.50 times (4.39 to 4.61), to 9.000 ns/op: L3 \
             has 32m.",
            "gather, 2 threads: 2.000 ns/op up to 16m; from 16m to 32m the cost rises 4.50 times (4.39 to 4.61), to 9.000 ns/op: L3 \
             has 16m for each thread.",
            "gather, 2 threads: speed-up over one thread 2.00 (1.95 to 2.05) at 8m, falls to 0.47 (0.46 to 0.48) at 32m and \
             recovers to 2.02 (1.97 to 2.07) at 128m: a valley, 1.53 deep (1.48 to 1.58).",
        ];
        assert_eq!(verdicts(&all, &machine()), expected);
    }

    #[test]
    fn a_flat_curve_in_words() {
        let mut all = rows("gather", 1, "sequential", &[(8, 1.0), (64, 1.02)]);
        all.extend(rows("gather", 5, "sequential", &[(8, 2.5), (64, 2.5)]));
        all.extend(rows("gather", 1, "shuffled", &[(8, 1.0)]));
        let expected = [
            "gather, order sequential, 1 thread: 1.000 ns/op up to 64m, no rise beyond the errors and a tenth.",
            "gather, order sequential, 5 threads: 2.500 ns/op up to 64m, no rise beyond the errors and a tenth.",
            "gather, order sequential, 5 threads: speed-up over one thread at best 2.04 (1.99 to 2.09) at 64m; no valley: it falls \
             nowhere beyond the errors.",
        ];
        assert_eq!(verdicts(&all, &machine()), expected);
        assert_eq!(verdicts(&[], &machine()), [""; 0]);
    }

    #[test]
    fn a_speed_up_that_stays_low_is_no_valley() {
        let mut all = rows("chase", 1, "shuffled", &[(16, 20.0), (32, 20.0)]);
        all.extend(rows("chase", 2, "shuffled", &[(16, 20.0), (32, 90.0)]));
        let lines = verdicts(&all, &machine());
        assert!(
            lines.last().unwrap().ends_with(
                "falls to 0.44 (0.43 to 0.46) at 32m; no valley: it does not recover beyond the errors."
            ),
            "{lines:?}"
        );
    }

    #[test]
    fn a_rise_where_no_cache_ends_says_so() {
        let all = rows("chase", 1, "shuffled", &[(2, 10.0), (8, 20.0)]);
        assert!(verdicts(&all, &machine())[0].ends_with("no data cache ends there."));
    }

    #[test]
    fn too_few_values_are_told() {
        let mut all = rows("gather", 1, "shuffled", &[(8, 2.0), (64, 9.0)]);
        all.extend(rows("gather", 2, "shuffled", &[(8, 2.0), (64, 9.0)]));
        for row in &mut all {
            row.primary = examples::metric("", "ns/op", Combine::Average, &[&[3.0]]);
        }
        assert!(verdicts(&all, &machine()).last().unwrap().contains("too few iterations"));
    }
}
