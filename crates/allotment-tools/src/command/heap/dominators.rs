//! The objects and the shapes that retain most.

use super::objects::Objects;
use crate::snapshot::{Row, Snapshot};
use allotment_report::command::rows::on_one_line;
use allotment_report::command::table;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Objects and what holds them, and shapes, those that retain most first.
///
/// # Errors
/// There is not enough memory to find them.
pub(super) fn dominators(snapshot: &Snapshot, top: usize, columns: Option<usize>) -> Result<String, String> {
    let objects = Objects::of(snapshot)?;
    let (graph, retained) = (&snapshot.graph, &objects.dominators.retained);
    let mut text = String::new();
    let mut nodes: Vec<usize> = (1..graph.nodes()).filter(|node| objects.is_object(*node)).collect();
    let all = nodes.len();
    let bytes = |nodes: &[usize]| nodes.iter().map(|node| graph.bytes[*node]).fold(0, u64::saturating_add);
    let all_bytes = bytes(&nodes);
    nodes.retain(|node| objects.is_reached(*node));
    nodes.sort_by_key(|node| (std::cmp::Reverse(retained[*node]), *node));
    let holding = objects.holding_references();
    let head = ["retained", "bytes", "object, and what holds it"];
    table::add(&mut text, head, &nodes, top, columns, |node| {
        let name = format!("{}, {}", objects.name(*node), objects.holder(*node, holding[*node]));
        [retained[*node].to_string(), graph.bytes[*node].to_string(), name]
    });
    if nodes.len() < all {
        let rest = all_bytes.saturating_sub(bytes(&nodes));
        let line = format!(
            "{} objects of {rest} bytes are left out: no strong reference in the file leads to these objects",
            all - nodes.len()
        );
        let _ = writeln!(text, "{}", allotment_report::format::width::lines(&line, columns));
    }

    // Rows of one name are one class here, as in a summary. A shape may have the name of a kind of
    // roots, and is a class of its own then.
    let key = |row: &Row| (row.synthetic, row.name.clone());
    let names: BTreeSet<_> = snapshot.rows.iter().map(key).collect();
    let names: Vec<_> = names.into_iter().collect();
    let class = |row: &Row| names.binary_search(&key(row)).expect("the name of a row") as u32;
    let classes: Vec<u32> = snapshot.rows.iter().map(class).collect();
    let of_nodes: Vec<u32> = graph.class.iter().map(|row| classes[*row as usize]).collect();
    let by_class = objects.dominators.retained_by_class(&of_nodes, names.len());
    let by_class = by_class.map_err(|error| error.to_string())?;
    let rows = by_class.into_iter().zip(&names).filter(|(_, (synthetic, _))| !synthetic);
    let mut rows: Vec<(u64, &str)> = rows.map(|(retained, (_, name))| (retained, &**name)).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let sums = snapshot.by_name();
    text.push('\n');
    table::add(
        &mut text,
        ["retained", "bytes", "objects", "shape"],
        &rows,
        top,
        columns,
        |(retained, name)| {
            let (objects, bytes) = sums.get(name).copied().unwrap_or_default();
            [retained.to_string(), bytes.to_string(), objects.to_string(), on_one_line(name).into_owned()]
        },
    );
    Ok(text)
}
