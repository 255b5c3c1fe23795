//! Long lists: the worst case for a collector with several workers, and for one with generations.
//!
//! A worker that follows a list learns of each node from the one before it. So a single list is the
//! work of one worker, whatever the others do. A queue dies from its old end: where a dead old node
//! refers to a younger one, a young collection keeps the younger node and all that come after it
//! (nepotism). The two modes measure these two cases.

mod node;
mod queue;
mod shot;

use super::collectors::{COLLECTOR, check as check_heap};
use super::on_jvm;
use super::saying::{all_against, contrast, of_mode, ours, takes};
use super::shots::{check_one_thread, check_parts, check_shots};
use crate::format::ScoreRow;
use crate::harness::{
    Axis, Bench, Case, Charts, Experiment, Kind, Mode, ObjectShape, ParameterError, TimeUnit,
};
use anyhow::{bail, ensure};
use node::BYTES;

/// Bytes that buffers and open regions take beside the nodes; each thread takes a region more.
const SLACK: usize = 4 << 20;

/// See [`SLACK`].
const SLACK_OF_THREAD: usize = 256 << 10;

/// The experiment `lists`.
pub(super) static LISTS: Experiment = Experiment {
    name: "lists",
    question: "What does a live node of a long list cost in a collection, and what does a queue cost?",
    modes: &[
        Mode::shot("forced", "a full collection of lists, for each live node"),
        Mode::timed("queue", "append a node and drop the first; collections come by themselves"),
        Mode::shot("shot", "a number of steps of such queues: also for many more threads than CPUs"),
    ],
    axes: &[
        Axis::new("nodes", "live nodes of 32 bytes, of all lists", Kind::Count, &["1000000", "16000000"])
            .quick(&["500000"]),
        Axis::new("lists", "lists that the nodes are divided among", Kind::Count, &["1", "64"])
            .quick(&["1", "64"])
            .only_in(&["forced"]),
        Axis::new("garbage", "dead nodes beside each live one", Kind::Count, &["1"]).only_in(&["forced"]),
        Axis::new("factor", "MaxHeapSize over the bytes of live nodes", Kind::Factor, &["1.5", "4"])
            .quick(&["2"])
            .only_in(&["queue", "shot"]),
        Axis::new("steps", "steps of a shot, of all threads", Kind::Count, &["20000000"])
            .quick(&["2000000"])
            .only_in(&["shot"]),
        COLLECTOR,
    ],
    unit: |_| TimeUnit::Nanoseconds,
    baseline: Some(("collector", "mark-compact")),
    answers,
    needs: "a row of mode forced or queue",
    verdicts,
    charts: Charts { along: None, by_mode: true },
    check,
    on_jvm: |case| on_jvm::lists(case, heap_bytes(case)?),
    objects: || vec![ObjectShape::of::<node::Node>(Some("Lists$Node:Lists$Padded"))],
    run,
    ..Experiment::NEW
};

fn answers(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let node = takes(&rows, "forced", "collector").map(|text| text + " for each live node.");
    let queue = takes(&rows, "queue", "collector").map(|text| text + " for each step.");
    node.into_iter().chain(queue).collect()
}

fn verdicts(rows: &[ScoreRow]) -> Vec<String> {
    let rows = ours(rows);
    let mut said = all_against(&rows, "collector", "mark-compact", "nodes");
    let lists = contrast(&of_mode(&rows, "forced"), "lists", "64", "1", "collector");
    said.extend(lists.map(|sentence| format!("forced: {sentence}")));
    said
}

fn run(case: &Case, bench: &mut Bench<'_>) -> anyhow::Result<()> {
    match case.mode.as_str() {
        "forced" => shot::run(case, bench),
        "queue" | "shot" => queue::run(case, bench),
        other => bail!("there is no mode `{other}`"),
    }
}

fn check(case: &Case) -> anyhow::Result<()> {
    let nodes = case.size("nodes")?;
    let forced = case.mode == "forced";
    check_shots(case, case.mode != "queue", "ss measures the modes forced and shot, and nothing else does")?;
    let collector = case.text("collector")?;
    if case.mode == "shot" {
        check_parts(case, "steps")?;
    }
    if forced {
        check_one_thread(case, "one thread at a time forces a collection")?;
        ensure!(collector != "epsilon", "epsilon collects nothing, and cannot be forced to");
    }
    let lists = if forced { case.size("lists")? } else { case.threads };
    ensure!(lists > 0 && nodes >= lists, "{nodes} nodes in {lists} lists: every list has a node");
    check_heap(collector, heap_bytes(case)?)
}

/// Bytes of the heap of a case: enough for all nodes, dead and alive, without a collection
/// meanwhile, or a multiple of the live ones.
fn heap_bytes(case: &Case) -> Result<usize, ParameterError> {
    let live = case.size("nodes")?.saturating_mul(BYTES);
    if case.mode == "forced" {
        let all = live.saturating_mul(case.size("garbage")?.saturating_add(1));
        return Ok(all.saturating_add(all / 2).saturating_add(SLACK));
    }
    let slack = SLACK.saturating_add(case.threads.saturating_mul(SLACK_OF_THREAD));
    Ok(((live as f64 * case.factor("factor")?) as usize).saturating_add(slack))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{JmhMode, Selection, expand};

    #[test]
    fn what_cannot_be_measured_is_refused_with_the_reason() {
        for (mode, name, value, reason) in [
            ("forced", "nodes", "0", "every list has a node"),
            ("forced", "lists", "0", "every list has a node"),
            ("forced", "lists", "1000001", "every list has a node"),
            ("forced", "collector", "epsilon", "epsilon collects nothing"),
            ("forced", "garbage", "18446744073709551615", "of memory, and there are "),
            ("queue", "nodes", "100000000000", "of memory, and there are "),
            ("shot", "nodes", "100000000000", "of memory, and there are "),
            ("queue", "nodes", "1", "every list has a node"),
            ("shot", "steps", "1", "every thread has one"),
        ] {
            let mut values = vec![(name.to_string(), vec![value.to_string()])];
            if name != "collector" {
                values.push(("collector".into(), vec!["mark-compact".into()]));
            }
            let threads = vec![if mode == "forced" { 1 } else { 2 }];
            let modes = vec![mode.to_string()];
            let selection = Selection { quick: true, values, threads, modes, ..Selection::default() };
            let error = expand(&[&LISTS], &selection, 2).unwrap_err().to_string();
            assert!(error.contains(reason), "{mode} {name}={value}: {error}");
        }
    }

    #[test]
    fn each_mode_is_measured_in_its_own_way_only() {
        for (mode, jmh_mode) in
            [("forced", JmhMode::AverageTime), ("queue", JmhMode::SingleShot), ("shot", JmhMode::AverageTime)]
        {
            let (modes, jmh_modes) = (vec![mode.to_string()], vec![jmh_mode]);
            let selection = Selection { modes, jmh_modes, ..Selection::default() };
            let error = expand(&[&LISTS], &selection, 2).unwrap_err().to_string();
            assert!(error.contains("ss measures"), "{error}");
        }
    }
}
