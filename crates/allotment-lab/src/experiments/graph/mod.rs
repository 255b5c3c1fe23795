//! A graph that is rebuilt all the time, at random, and always has the same size.
//!
//! A collector that does well on trees may do badly here: objects do not die in the order of their
//! birth, old objects are written to everywhere, and objects have all sizes. The live bytes are
//! exact. A vertex that dies is replaced by one like it, and its neighbours are updated. So
//! `factor` is the heap's size over the exact live bytes, not over a guess.
//!
//! Refused: edges without a way back. Dead vertices would stay reachable from old ones.

mod alone;
mod board;
mod load;
mod mutate;
mod part;
mod vertex;

use super::collectors::{COLLECTOR, check as check_heap};
use super::on_jvm;
use super::saying::{all_against, contrast, ours, spread, takes, values};
use super::shots::{check_parts, check_shots};
use crate::format::ScoreRow;
use crate::format::coordinates::{mode, value};
use crate::harness::{Axis, Case, Charts, Experiment, Kind, Mode, ObjectShape, ParameterError};
pub(super) use alone::Alone;
use anyhow::ensure;
use load::Mix;

/// The smallest number of live bytes of a thread: some dozens of vertices.
const MIN_PART: usize = 64 << 10;

/// The experiment `graph`.
pub(super) static GRAPH: Experiment = Experiment {
    name: "graph",
    question: "How fast can threads change a graph in a heap that is little larger than the graph?",
    modes: &[
        Mode::rate("mutate", "replace a vertex, rewire edges, or store a new leaf, at random"),
        Mode::shot("shot", "the same, a number of steps: also for many more threads than CPUs"),
    ],
    axes: &[
        Axis::new("live", "bytes that are alive, of all threads", Kind::Size, &["4m", "64m", "256m"])
            .quick(&["8m"]),
        Axis::new("factor", "MaxHeapSize over live", Kind::Factor, &["1.15", "1.5", "2", "4"])
            .quick(&["1.5", "4"]),
        Axis::new("death", "percent of the steps that replace a vertex", Kind::Count, &["10"]),
        Axis::new("steps", "steps of a shot, of all threads", Kind::Count, &["4000000"])
            .quick(&["500000"])
            .only_in(&["shot"]),
        Axis::new("mix", "how many objects are arrays", Kind::Choice(Mix::WORDS), &["default"]),
        COLLECTOR,
    ],
    baseline: Some(("collector", "mark-compact")),
    answers,
    needs: "a row of mode mutate or shot",
    verdicts,
    charts: Charts { along: Some("factor"), by_mode: true },
    check,
    on_jvm: |case| on_jvm::graph(case, heap_bytes(case)?),
    objects,
    run: mutate::run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let rate = takes(&rows, "mutate", "factor").or_else(|| takes(&rows, "shot", "factor"));
    let collectors = spread(&rows, "mutate", "collector", "mark-compact");
    rate.map(|text| text + ".").into_iter().chain(collectors).collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let mut said = all_against(&rows, "collector", "mark-compact", "factor");
    for row in &rows {
        // The rows of a mode and a collector are compared once, when the first of them comes.
        let alike = |other: &&ScoreRow| {
            ["mode", "collector"].iter().all(|name| value(other, name) == value(row, name))
        };
        let own: Vec<ScoreRow> = rows.iter().filter(alike).cloned().collect();
        let factors = values(&own, "factor");
        let (Some((tight, _)), Some((wide, _))) = (factors.first(), factors.last()) else { continue };
        if own.first() == Some(row)
            && let Some(sentence) = contrast(&own, "factor", wide, tight, "live")
        {
            let collector = value(row, "collector").map_or(String::new(), |(_, label)| label);
            said.push(format!("{}, {collector}: {sentence}", mode(row)));
        }
    }
    said
}

fn objects() -> Vec<ObjectShape> {
    vec![
        ObjectShape::of::<vertex::Vertex>(Some("Vertex:Vertex$Padded")),
        ObjectShape::of::<vertex::Leaf>(Some("Vertex$Leaf")),
        ObjectShape::of::<vertex::Medium>(Some("Vertex$Medium")),
    ]
}

fn check(case: &Case) -> anyhow::Result<()> {
    let (live, death) = (case.size("live")?, case.count("death")?);
    let shot = case.mode == "shot";
    check_shots(case, shot, "ss measures shots, and nothing else does")?;
    if shot {
        check_parts(case, "steps")?;
    }
    ensure!(live / case.threads >= MIN_PART, "{live} live bytes: a thread has at least {MIN_PART}");
    ensure!(death <= 100, "death={death}: of 100 steps at most 100 replace a vertex");
    check_heap(case.text("collector")?, heap_bytes(case)?)
}

/// MaxHeapSize of a case. The shared board is live too.
fn heap_bytes(case: &Case) -> Result<usize, ParameterError> {
    Ok(bytes_of_heap(case.size("live")?, case.factor("factor")?))
}

/// `factor` times the bytes of a graph of `live` bytes and its board.
fn bytes_of_heap(live: usize, factor: f64) -> usize {
    (live.saturating_add(board::BYTES) as f64 * factor) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("live", "32k", "a thread has at least 65536"),
            ("live", "100k", "MaxHeapSize"),
            ("live", "900g", "of memory, and there are "),
            ("death", "101", "at most 100"),
            ("factor", "0", "above 0"),
            ("steps", "0", "every thread has one"),
            ("mix", "large", "not one of small, default, arrays"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            values.push(("collector".into(), vec!["mark-compact".into()]));
            let modes = vec![if name == "steps" { "shot" } else { "mutate" }.to_string()];
            let selection =
                Selection { quick: true, values, modes, threads: vec![1], ..Selection::default() };
            let error = expand(&[&GRAPH], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        for (mode, jmh_mode) in [("mutate", JmhMode::SingleShot), ("shot", JmhMode::Throughput)] {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, ..Selection::default() };
            let error = expand(&[&GRAPH], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures shots"), "{error}");
        }
    }
}
