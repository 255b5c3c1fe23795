//! A strict reader of V8's format: whatever a loader could trip over is an error here.

use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

/// A node of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) edges: Vec<Edge>,
}

/// An edge: its type, its name or number, and the node that it leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) kind: String,
    pub(super) name: String,
    pub(super) to: usize,
}

/// Reads a snapshot. The node `(end)`, and the root's edge to it, are checked and left out.
pub(super) fn read(file: &[u8]) -> Vec<Node> {
    let text = std::str::from_utf8(file).expect("UTF-8");
    // The order that DevTools relies on.
    let keys = ["{\"snapshot\":", "\n\"nodes\":[", "\n\"edges\":[", "\n\"strings\":["];
    let places = keys.map(|key| text.find(key).unwrap_or_else(|| panic!("no {key}")));
    assert!(places.is_sorted() && places[0] == 0, "{places:?}");
    let file: Value = serde_json::from_str(text).expect("JSON");
    let (meta, snapshot) = (&file["snapshot"]["meta"], &file["snapshot"]);
    let names = |value: &Value| -> Vec<String> {
        value
            .as_array()
            .expect("an array")
            .iter()
            .map(|name| name.as_str().expect("a name").to_owned())
            .collect()
    };
    assert_eq!(names(&meta["node_fields"]), ["type", "name", "id", "self_size", "edge_count"]);
    assert_eq!(names(&meta["edge_fields"]), ["type", "name_or_index", "to_node"]);
    let (node_types, edge_types) = (names(&meta["node_types"][0]), names(&meta["edge_types"][0]));
    let strings = names(&file["strings"]);
    let numbers = |key: &str| -> Vec<usize> {
        let list = file[key].as_array().expect("an array");
        list.iter().map(|number| usize::try_from(number.as_u64().expect("a number")).unwrap()).collect()
    };
    let (nodes, edges) = (numbers("nodes"), numbers("edges"));
    assert_eq!(Some(nodes.len() as u64), snapshot["node_count"].as_u64().map(|count| count * 5));
    assert_eq!(Some(edges.len() as u64), snapshot["edge_count"].as_u64().map(|count| count * 3));
    let (mut ids, mut rest) = (HashSet::new(), edges.as_slice());
    let mut nodes: Vec<Node> = nodes
        .chunks(5)
        .map(|node| {
            assert!(ids.insert(node[2]), "an id twice");
            assert!(node.iter().all(|number| *number <= u32::MAX as usize));
            let (own, others) = rest.split_at(node[4] * 3);
            rest = others;
            let edge = |edge: &[usize]| {
                let kind = edge_types[edge[0]].clone();
                let name = match kind.as_str() {
                    "element" | "hidden" => edge[1].to_string(),
                    _ => strings[edge[1]].clone(),
                };
                assert!(edge[2].is_multiple_of(5) && edge[2] < nodes.len());
                Edge { kind, name, to: edge[2] / 5 }
            };
            Node {
                kind: node_types[node[0]].clone(),
                name: strings[node[1]].clone(),
                bytes: node[3] as u64,
                edges: own.chunks(3).map(edge).collect(),
            }
        })
        .collect();
    assert!(rest.is_empty(), "edges that no node has");
    let end = nodes.pop().expect("a node");
    assert_eq!(
        (end.kind.as_str(), end.name.as_str(), end.bytes, end.edges.len()),
        ("synthetic", "(end)", 0, 0)
    );
    assert_eq!(nodes[0].edges.pop().expect("an edge").to, nodes.len());
    // Nothing but synthetic nodes under the root, and no object among them.
    let synthetic = |node: &usize| nodes[*node].kind == "synthetic";
    assert!(nodes[0].edges.iter().all(|edge| synthetic(&edge.to)));
    assert_eq!(nodes[1].name, "(GC roots)");
    assert!(nodes[1].edges.iter().all(|edge| synthetic(&edge.to)));
    assert!((7..nodes.len()).all(|node| !synthetic(&node)));
    nodes
}

/// The roots of each kind: nodes that these lead to, and whether each is strong.
pub(super) fn roots(nodes: &[Node]) -> BTreeMap<String, Vec<(usize, bool)>> {
    let kinds = nodes[1].edges.iter().map(|kind| &nodes[kind.to]);
    kinds
        .map(|kind| {
            let roots = kind.edges.iter().map(|edge| (edge.to, edge.kind != "weak")).collect();
            (kind.name.clone(), roots)
        })
        .collect()
}
