//! A graph that is rebuilt all the time, at random, and always has the same size.
//!
//! A collector that does well on trees may do badly here: objects do not die in the order of their
//! birth, old objects are written to everywhere, and objects have all sizes. The live bytes are
//! exact. A vertex that dies is replaced by one like it, and its neighbours are updated. So
//! `factor` is the heap's size over the exact live bytes, not over a guess.
//!
//! Refused: edges without a way back. Dead vertices would stay reachable from old ones.

mod board;
mod load;
mod mutate;
mod part;
mod vertex;

use super::collectors::{COLLECTOR, refusal};
use super::on_jvm;
use super::saying::{all_against, contrast, ours, spread, takes, values};
use crate::format::coordinates::{mode, value};
use crate::format::{Comparison, ScoreRow};
use crate::harness::{
    Axis, Baseline, Bench, Case, Charts, Experiment, JmhMode, Kind, Mode, ObjectShape, ParameterError,
};
use crate::jvm::Workload;
use load::Mix;

/// The experiment `graph`.
#[derive(Clone, Copy, Debug)]
pub struct Graph;

/// The smallest number of live bytes of a thread: some dozens of vertices.
const MIN_PART: usize = 64 << 10;

impl Experiment for Graph {
    fn name(&self) -> &'static str {
        "graph"
    }

    fn question(&self) -> &'static str {
        "How fast can threads change a graph in a heap that is little larger than the graph?"
    }

    fn modes(&self) -> &'static [Mode] {
        &[
            Mode {
                name: "mutate",
                what: "replace a vertex, rewire edges, or store a new leaf, at random",
                jmh_modes: &[JmhMode::Throughput],
            },
            Mode {
                name: "shot",
                what: "the same, a number of steps: also for many more threads than CPUs",
                jmh_modes: &[JmhMode::SingleShot],
            },
        ]
    }

    fn axes(&self) -> &'static [Axis] {
        const AXES: &[Axis] = &[
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
        ];
        AXES
    }

    fn baseline(&self) -> Option<Baseline> {
        Some(Baseline::axis("collector", "mark-compact"))
    }

    fn answers(&self, rows: &[ScoreRow]) -> Vec<String> {
        let rows = ours(rows);
        let rate = takes(&rows, "mutate", "factor").or_else(|| takes(&rows, "shot", "factor"));
        let collectors = spread(&rows, "mutate", "collector", "mark-compact");
        rate.map(|text| text + ".").into_iter().chain(collectors).collect()
    }

    fn needs(&self) -> &'static str {
        "a row of mode mutate or shot"
    }

    fn verdicts(&self, rows: &[ScoreRow], _comparison: &Comparison) -> Vec<String> {
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

    fn charts(&self) -> Charts {
        Charts { along: Some("factor"), by_mode: true }
    }

    fn nonsense(&self, case: &Case) -> Option<String> {
        // A missing parameter is reported when the case runs.
        checked(case).unwrap_or(None)
    }

    fn on_jvm(&self, case: &Case) -> Option<Workload> {
        // A missing parameter is reported when the case runs.
        heap_bytes(case).and_then(|heap| on_jvm::graph(case, heap)).unwrap_or(None)
    }

    fn objects(&self) -> Vec<ObjectShape> {
        vec![
            ObjectShape::of::<vertex::Vertex>(Some("Vertex:Vertex$Padded")),
            ObjectShape::of::<vertex::Leaf>(Some("Vertex$Leaf")),
            ObjectShape::of::<vertex::Medium>(Some("Vertex$Medium")),
        ]
    }

    fn run(&self, case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
        mutate::run(case, bench)
    }
}

fn checked(case: &Case) -> Result<Option<String>, ParameterError> {
    let (live, death) = (case.size("live")?, case.count("death")?);
    let shot = case.mode == "shot";
    if shot != (case.jmh_mode == JmhMode::SingleShot) {
        return Ok(Some(format!("{}: ss measures shots, and nothing else does", case.jmh_mode)));
    }
    if shot && case.count("steps")? < case.threads as u64 {
        return Ok(Some(format!("{} steps: every thread has one at least", case.count("steps")?)));
    }
    if live / case.threads < MIN_PART {
        return Ok(Some(format!("{live} live bytes: a thread has at least {MIN_PART}")));
    }
    if death > 100 {
        return Ok(Some(format!("death={death}: of 100 steps at most 100 replace a vertex")));
    }
    Ok(refusal(case.text("collector")?, heap_bytes(case)?))
}

/// MaxHeapSize of a case. The shared board is live too.
fn heap_bytes(case: &Case) -> Result<usize, ParameterError> {
    let live = case.size("live")?.saturating_add(board::BYTES);
    Ok((live as f64 * case.factor("factor")?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (name, value, reason) in [
            ("live", "32k", "a thread has at least 65536"),
            ("live", "100k", "MaxHeapSize"),
            ("live", "900g", "of memory, and there are "),
            ("death", "101", "at most 100"),
            ("factor", "0", "above 0"),
            ("steps", "0", "every thread has one"),
            ("mix", "large", "none of small, default, arrays"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            values.push(("collector".into(), vec!["mark-compact".into()]));
            let modes = vec![if name == "steps" { "shot" } else { "mutate" }.to_string()];
            let selection =
                Selection { quick: true, values, modes, threads: vec![1], ..Selection::default() };
            let error = expand(&[&Graph], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{name}={value}: {error}");
        }
        for (mode, jmh_mode) in [("mutate", JmhMode::SingleShot), ("shot", JmhMode::Throughput)] {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, ..Selection::default() };
            let error = expand(&[&Graph], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures shots"), "{error}");
        }
    }
}
