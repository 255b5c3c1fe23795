//! The shortest way from a root to an object.
//!
//! It is found in breadth, from all roots at once. Where several ways are equally short, it is the
//! one whose references come first in the file.

use super::objects::Objects;
use crate::snapshot::{NONE, Snapshot};
use allotment_report::format::phrase::count;
use allotment_report::format::width;
use std::fmt::Write as _;

/// The way to the object that `object` names: each step with the name of its field or element.
/// `top`: the most steps that are shown, those in the middle are left out; 0 shows all.
///
/// # Errors
/// The snapshot has no such object, or there is not enough memory.
pub(super) fn path(
    snapshot: &Snapshot,
    object: &str,
    top: usize,
    columns: Option<usize>,
) -> Result<String, String> {
    let objects = Objects::of(snapshot)?;
    let node = objects.find(object)?;
    let bytes = snapshot.graph.bytes[node];
    let retained = objects.dominators.retained[node];
    if !objects.is_reached(node) {
        let line = format!(
            "{} has {bytes} bytes; no strong reference in the file leads to it, so nothing holds it",
            objects.name(node)
        );
        return Ok(width::lines(&line, columns) + "\n");
    }
    let steps = steps(snapshot, node);
    let line = format!(
        "{} has {bytes} bytes and retains {retained}; {} from a root",
        objects.name(node),
        count(steps.len(), "step")
    );
    let mut text = width::lines(&line, columns) + "\n\n";
    let root = if snapshot.addresses { "(roots)".into() } else { objects.name(0) };
    let _ = writeln!(text, "{}", if root.is_empty() { "(root)" } else { &root });
    let shown = if top == 0 { steps.len() } else { top.min(steps.len()) };
    let (before, after) = (shown.div_ceil(2), shown / 2);
    for (number, (place, node)) in steps.iter().enumerate() {
        if (before..steps.len() - after).contains(&number) {
            if number == before {
                let line = format!("... {} left out; --top 0 shows all", count(steps.len() - shown, "step"));
                let _ = writeln!(text, "{}", width::lines(&line, columns));
            }
            continue;
        }
        let retained = objects.dominators.retained[*node];
        let line = format!("--{}--> {}, retains {retained}", objects.label(*place), objects.name(*node));
        let _ = writeln!(text, "{}", width::lines(&line, columns));
    }
    Ok(text)
}

/// The references of the shortest way from the root to a node that is reached, by place, and where
/// each leads to.
fn steps(snapshot: &Snapshot, wanted: usize) -> Vec<(usize, usize)> {
    let graph = &snapshot.graph;
    // By node: the reference over which it was reached first, and the node that has it.
    let mut from = vec![(usize::MAX, NONE); graph.nodes()];
    let mut found = vec![0_u32];
    let mut next = 0;
    from[0].1 = 0;
    while let Some(&node) = found.get(next) {
        next += 1;
        if node as usize == wanted {
            break;
        }
        for place in graph.first[node as usize]..graph.first[node as usize + 1] {
            let target = graph.targets[place];
            if from[target as usize].1 == NONE {
                from[target as usize] = (place, node);
                found.push(target);
            }
        }
    }
    let mut steps = Vec::new();
    let mut at = wanted;
    while at != 0 {
        let (place, above) = from[at];
        steps.push((place, at));
        at = above as usize;
    }
    steps.reverse();
    steps
}
