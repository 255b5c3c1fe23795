//! V8's format: JSON whose long arrays are taken number by number.

use super::input::SnapshotInput;
use super::json::{
    MOST_FIELDS, MOST_HEAD_BYTES, array, expect, number, numbers, object, parsed, rest_of_string, skip,
    string,
};
use super::labels::Label;
use super::{Depth, Graph, Row, ShapeLayout, Snapshot, unknown};
use crate::FileError;
use crate::numbers::Numbers;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The most bytes of the description of fields and types. V8's has some 1500.
const MOST_META_BYTES: usize = 1 << 20;

/// The head of a file.
struct Head {
    node_count: u64,
    edge_count: u64,
    fields: NumberPlaces,
}

/// The description of fields and types.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Meta {
    node_fields: Vec<String>,
    edge_fields: Vec<String>,
    /// By field: a list of the names of its types, or one word for all numbers.
    node_types: Vec<Value>,
    edge_types: Vec<Value>,
}

/// The addition of our heaps to the head.
#[derive(serde::Deserialize)]
struct Addition {
    shapes: Vec<ShapeLayout>,
}

/// The places of the numbers of a node and of an edge, and the meanings of the types.
struct NumberPlaces {
    /// Numbers of a node.
    node: usize,
    kind: usize,
    name: usize,
    id: usize,
    size: usize,
    edges: usize,
    /// Numbers of an edge.
    edge: usize,
    edge_kind: usize,
    edge_name: usize,
    to: usize,
    /// By type of nodes: its name.
    kinds: Vec<String>,
    /// By type of edges.
    edge_kinds: Vec<EdgeKind>,
}

/// The meaning of a type of edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EdgeKind {
    /// Its name is a string.
    Named,
    /// Its name is a number.
    Numbered,
    /// It holds nothing.
    Weak,
    /// It stands for a way of several references, and is one itself at the root only.
    Shortcut,
}

/// A file, as far as it was read.
#[derive(Default)]
struct V8Reader {
    depth: Depth,
    head: Option<Head>,
    /// By type and name, or by type alone: the row.
    places: HashMap<(u64, u64), usize>,
    /// By row: type, and place of the name.
    names: Vec<(u64, u64)>,
    /// The labels of references, by the places of their names.
    labels: Numbers<u64>,
    /// By row: its first node, and the edges of all its nodes.
    edges_of_rows: Vec<(u64, u64)>,
    snapshot: Snapshot,
    /// By node: edges, where references are kept.
    counts: Vec<u32>,
    nodes: u64,
    /// The key `edges` was there.
    edges_seen: bool,
    /// Edges that the nodes say that they have.
    announced: u64,
    strings: bool,
}

pub(super) fn read(input: &mut SnapshotInput<'_>, depth: Depth) -> Result<Snapshot, FileError> {
    let snapshot = Snapshot { format: "V8 heap snapshot", ..Snapshot::default() };
    let mut reader = V8Reader { depth, snapshot, ..V8Reader::default() };
    object(input, |input, key| match key {
        "snapshot" => reader.take_head(input),
        _ if reader.head.is_none() => Err(unknown()),
        "nodes" => reader.take_nodes(input),
        "edges" => reader.take_edges(input),
        "strings" => reader.take_strings(input),
        _ => skip(input),
    })?;
    reader.finish(input)
}

impl V8Reader {
    fn take_head(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        if self.head.is_some() {
            return Err(input.broken("the key `snapshot` twice"));
        }
        let (mut meta, mut node_count, mut edge_count) = (Meta::default(), 0, 0);
        object(input, |input, key| {
            match key {
                "meta" => meta = parsed(input, MOST_META_BYTES)?,
                "node_count" => node_count = number(input)?,
                "edge_count" => edge_count = number(input)?,
                "allotment" => {
                    self.snapshot.layouts = Some(parsed::<Addition>(input, MOST_HEAD_BYTES)?.shapes);
                }
                _ => skip(input)?,
            }
            Ok(())
        })?;
        let fields = number_places(&meta).map_err(|why| input.broken(why))?;
        self.head = Some(Head { node_count, edge_count, fields });
        Ok(())
    }

    fn take_nodes(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        let Some(Head { node_count, fields, .. }) = &self.head else { return Err(unknown()) };
        if self.nodes > 0 {
            return Err(input.broken("the key `nodes` twice"));
        }
        numbers(input, fields.node, |input, node| {
            let (kind, name, bytes) = (node[fields.kind], node[fields.name], node[fields.size]);
            let edges = u32::try_from(node[fields.edges])
                .map_err(|_| input.broken(format!("a node with {} edges", node[fields.edges])))?;
            let kind_name = usize::try_from(kind).ok().and_then(|kind| fields.kinds.get(kind));
            let Some(kind_name) = kind_name else {
                return Err(
                    input.broken(format!("a node of type {kind}, and there are {}", fields.kinds.len()))
                );
            };
            // Names of objects are classes. Names of other things are what they contain.
            let own = matches!(kind_name.as_str(), "object" | "native" | "synthetic");
            let key = (kind, if own { name } else { 0 });
            let row = *self.places.entry(key).or_insert_with(|| {
                self.names.push((kind, name));
                self.edges_of_rows.push((self.nodes, 0));
                let name = if own { "".into() } else { format!("({kind_name})").into() };
                let synthetic = kind_name == "synthetic";
                self.snapshot.rows.push(Row { name, synthetic, ..Row::default() });
                self.snapshot.rows.len() - 1
            });
            let entry = &mut self.snapshot.rows[row];
            entry.objects += 1;
            entry.bytes = entry.bytes.saturating_add(bytes);
            self.edges_of_rows[row].1 += u64::from(edges);
            if self.depth == Depth::References {
                self.counts.push(edges);
                self.snapshot.ids.push(node[fields.id]);
                self.snapshot.graph.class.push(row as u32);
                // A larger number is not a size in any address space, and sums of it would
                // overflow.
                self.snapshot.graph.bytes.push(bytes.min(1 << 48));
            }
            self.announced += u64::from(edges);
            self.nodes += 1;
            if self.nodes >= u64::from(u32::MAX) {
                return Err(input.broken("more nodes than 32 bits can count"));
            }
            Ok(())
        })?;
        if self.nodes != *node_count {
            return Err(input.broken(format!("{} nodes, and `node_count` says {node_count}", self.nodes)));
        }
        if self.nodes == 0 {
            return Err(input.broken("no nodes: a snapshot has at least its root"));
        }
        Ok(())
    }

    fn take_edges(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        let Some(Head { edge_count, fields, .. }) = &self.head else { return Err(unknown()) };
        if self.nodes == 0 || std::mem::replace(&mut self.edges_seen, true) {
            return Err(input.broken("`edges` must come once, after `nodes`"));
        }
        if self.announced != *edge_count {
            let announced = self.announced;
            return Err(
                input.broken(format!("the nodes have {announced} edges, and `edge_count` says {edge_count}"))
            );
        }
        let (graph, labels) = (&mut self.snapshot.graph, &mut self.snapshot.labels.of_references);
        let names = &mut self.labels;
        let keeps = self.depth == Depth::References;
        let (mut left, mut of) = (0, 0);
        graph.first.push(0);
        let mut edges = 0;
        numbers(input, fields.edge, |input, edge| {
            edges += 1;
            let (kind, to) = (edge[fields.edge_kind], edge[fields.to]);
            let width = fields.node as u64;
            if !to.is_multiple_of(width) || to / width >= self.nodes {
                return Err(input.broken(format!("an edge to {to}, where no node begins")));
            }
            if !keeps {
                return Ok(());
            }
            while left == 0 {
                let Some(count) = self.counts.get(of) else {
                    return Err(input.broken("more edges than the nodes have"));
                };
                if of > 0 {
                    graph.first.push(graph.targets.len());
                }
                (left, of) = (*count, of + 1);
            }
            left -= 1;
            let name = edge[fields.edge_name];
            let kind = usize::try_from(kind).ok().and_then(|kind| fields.edge_kinds.get(kind));
            labels.push(match kind.unwrap_or(&EdgeKind::Named) {
                EdgeKind::Weak => return Ok(()),
                EdgeKind::Shortcut if of > 1 => return Ok(()),
                EdgeKind::Numbered => Label::element(name),
                EdgeKind::Named | EdgeKind::Shortcut => Label::name(names.of(name)),
            });
            graph.targets.push((to / width) as u32);
            Ok(())
        })?;
        if edges != *edge_count {
            return Err(input.broken(format!("{edges} edges, and `edge_count` says {edge_count}")));
        }
        if keeps {
            while graph.first.len() <= self.counts.len() {
                graph.first.push(graph.targets.len());
            }
        }
        Ok(())
    }

    fn take_strings(&mut self, input: &mut SnapshotInput<'_>) -> Result<(), FileError> {
        if self.nodes == 0 || self.strings {
            return Err(input.broken("`strings` must come once, after `nodes`"));
        }
        self.strings = true;
        // Only names of rows and of references are kept.
        let mut wanted: HashMap<u64, (Vec<usize>, Option<usize>)> = HashMap::new();
        for (row, (_, name)) in self.names.iter().enumerate() {
            wanted.entry(*name).or_default().0.push(row);
        }
        for (label, name) in self.labels.keys().iter().enumerate() {
            wanted.entry(*name).or_default().1 = Some(label);
        }
        let names = &mut self.snapshot.labels.names;
        names.resize(self.labels.keys().len(), "".into());
        let mut place = 0;
        array(input, |input| {
            if !wanted.contains_key(&place) {
                // Texts of a program may be long.
                expect(input, b'"')?;
                rest_of_string(input, &mut |_| {}, usize::MAX)?;
                place += 1;
                return Ok(());
            }
            let text: Arc<str> = string(input)?.into();
            let (rows, label) = wanted.remove(&place).unwrap_or_default();
            for row in rows {
                if self.snapshot.rows[row].name.is_empty() {
                    self.snapshot.rows[row].name.clone_from(&text);
                }
            }
            if let Some(label) = label {
                names[label] = text;
            }
            place += 1;
            Ok(())
        })?;
        match wanted.keys().next() {
            None => Ok(()),
            Some(name) => {
                Err(input.broken(format!("string {name} is a name, and there are {place} strings")))
            }
        }
    }

    fn finish(mut self, input: &mut SnapshotInput<'_>) -> Result<Snapshot, FileError> {
        while let Some(byte) = input.peek()? {
            if !byte.is_ascii_whitespace() {
                return Err(input.broken("more after the end of the snapshot"));
            }
            input.byte("blanks")?;
        }
        if self.nodes == 0 || !self.strings {
            return Err(input.broken("`nodes` or `strings` is missing"));
        }
        if !self.edges_seen && self.announced > 0 {
            return Err(input.broken("`edges` is missing"));
        }
        if self.depth == Depth::References && self.snapshot.graph.first.len() <= self.counts.len() {
            // No edges at all.
            self.snapshot.graph = Graph { first: vec![0; self.counts.len() + 1], ..self.snapshot.graph };
        }
        // Nodes 0 and 1 are the root and all roots, `(end)` ends our files. Other synthetic nodes
        // are kinds of roots.
        let mut of_roots = 0;
        let rows = self.snapshot.rows.iter().zip(&self.edges_of_rows);
        for (row, (first, edges)) in rows.filter(|(row, _)| row.synthetic) {
            of_roots += edges;
            if *first >= 2 && &*row.name != "(end)" {
                self.snapshot.roots.push((row.name.to_string(), *edges));
            }
        }
        self.snapshot.references = self.announced.saturating_sub(of_roots);
        Ok(self.snapshot)
    }
}

fn number_places(meta: &Meta) -> Result<NumberPlaces, String> {
    let find = |list: &[String], name: &str| {
        let place = list.iter().position(|field| field == name);
        place.ok_or_else(|| format!("a snapshot without the field `{name}`"))
    };
    let names = |types: &[Value], place: usize| -> Vec<String> {
        let names = types.get(place).and_then(Value::as_array).into_iter().flatten();
        names.map(|name| name.as_str().unwrap_or_default().into()).collect()
    };
    let (nodes, edges) = (&meta.node_fields, &meta.edge_fields);
    if nodes.len() > MOST_FIELDS || edges.len() > MOST_FIELDS {
        return Err(format!("more than {MOST_FIELDS} fields"));
    }
    let edge_of = |name: &str| match name {
        "weak" => EdgeKind::Weak,
        "shortcut" => EdgeKind::Shortcut,
        "element" | "hidden" => EdgeKind::Numbered,
        _ => EdgeKind::Named,
    };
    let (kind, edge_kind) = (find(nodes, "type")?, find(edges, "type")?);
    Ok(NumberPlaces {
        node: nodes.len(),
        kind,
        name: find(nodes, "name")?,
        id: find(nodes, "id")?,
        size: find(nodes, "self_size")?,
        edges: find(nodes, "edge_count")?,
        edge: edges.len(),
        edge_kind,
        edge_name: find(edges, "name_or_index")?,
        to: find(edges, "to_node")?,
        kinds: names(&meta.node_types, kind),
        edge_kinds: names(&meta.edge_types, edge_kind).iter().map(|name| edge_of(name)).collect(),
    })
}
