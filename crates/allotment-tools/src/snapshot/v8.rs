//! V8's format: JSON whose long arrays are taken number by number.

use super::input::Input;
use super::json::{
    MOST_FIELDS, array, expect, list, number, numbers, object, rest_of_string, skip, string, value,
};
use super::labels::{Label, Numbers};
use super::{Depth, Graph, Layout, Row, Snapshot, SnapshotFileError};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The head of a file.
#[derive(Default)]
struct Head {
    node_count: u64,
    edge_count: u64,
    node_fields: Vec<String>,
    edge_fields: Vec<String>,
    /// By field: the names of its types; none where one word stands for all numbers.
    node_types: Vec<Vec<String>>,
    edge_types: Vec<Vec<String>>,
    layouts: Option<Vec<Layout>>,
}

/// The addition of our heaps to the head.
#[derive(serde::Deserialize)]
struct Addition {
    shapes: Vec<Layout>,
}

impl Head {
    fn read(input: &mut Input<'_>) -> Result<Head, SnapshotFileError> {
        let mut head = Head::default();
        object(input, |input, key| {
            match key {
                "meta" => object(input, |input, key| {
                    match key {
                        "node_fields" => head.node_fields = list(input, string)?,
                        "edge_fields" => head.edge_fields = list(input, string)?,
                        "node_types" => head.node_types = list(input, types)?,
                        "edge_types" => head.edge_types = list(input, types)?,
                        _ => skip(input)?,
                    }
                    Ok(())
                })?,
                "node_count" => head.node_count = number(input)?,
                "edge_count" => head.edge_count = number(input)?,
                "allotment" => {
                    let addition: Addition = serde_json::from_slice(&value(input)?)
                        .map_err(|error| input.broken(format!("`allotment`: {error}")))?;
                    head.layouts = Some(addition.shapes);
                }
                _ => skip(input)?,
            }
            Ok(())
        })?;
        Ok(head)
    }
}

/// The places of the numbers of a node and of an edge, and the meanings of the types.
struct Fields {
    node: usize,
    kind: usize,
    name: usize,
    id: usize,
    size: usize,
    edges: usize,
    edge: usize,
    edge_kind: usize,
    edge_name: usize,
    to: usize,
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
struct Reader {
    depth: Depth,
    head: Option<(Head, Fields)>,
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

pub(super) fn read(input: &mut Input<'_>, depth: Depth) -> Result<Snapshot, SnapshotFileError> {
    let snapshot = Snapshot { format: "V8 heap snapshot", ..Snapshot::default() };
    let mut reader = Reader { depth, snapshot, ..Reader::default() };
    object(input, |input, key| match key {
        "snapshot" => reader.take_head(input),
        _ if reader.head.is_none() => Err(SnapshotFileError::Unknown),
        "nodes" => reader.take_nodes(input),
        "edges" => reader.take_edges(input),
        "strings" => reader.take_strings(input),
        _ => skip(input),
    })?;
    reader.finish(input)
}

impl Reader {
    fn take_head(&mut self, input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
        if self.head.is_some() {
            return Err(input.broken("the key `snapshot` twice"));
        }
        // The whole text has a limit. So all that is made of it has one.
        let text = value(input)?;
        let wrong =
            |error: &dyn fmt::Display| input.broken(format!("`snapshot` is not what V8 writes: {error}"));
        let mut head = Head::read(&mut Input::new(&mut &text[..])).map_err(|error| wrong(&error))?;
        let fields = fields(&head).map_err(|error| wrong(&error))?;
        self.snapshot.layouts = head.layouts.take();
        self.head = Some((head, fields));
        Ok(())
    }

    fn take_nodes(&mut self, input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
        let Some((head, fields)) = &self.head else { return Err(SnapshotFileError::Unknown) };
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
        if self.nodes != head.node_count {
            let (nodes, said) = (self.nodes, head.node_count);
            return Err(input.broken(format!("{nodes} nodes, and `node_count` says {said}")));
        }
        if self.nodes == 0 {
            return Err(input.broken("no nodes: a snapshot has at least its root"));
        }
        Ok(())
    }

    fn take_edges(&mut self, input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
        let Some((head, fields)) = &self.head else { return Err(SnapshotFileError::Unknown) };
        if self.nodes == 0 || std::mem::replace(&mut self.edges_seen, true) {
            return Err(input.broken("`edges` must come once, after `nodes`"));
        }
        if self.announced != head.edge_count {
            let said = head.edge_count;
            return Err(input
                .broken(format!("the nodes have {} edges, and `edge_count` says {said}", self.announced)));
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
        if edges != head.edge_count {
            return Err(input.broken(format!("{edges} edges, and `edge_count` says {}", head.edge_count)));
        }
        if keeps {
            while graph.first.len() <= self.counts.len() {
                graph.first.push(graph.targets.len());
            }
        }
        Ok(())
    }

    fn take_strings(&mut self, input: &mut Input<'_>) -> Result<(), SnapshotFileError> {
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

    fn finish(mut self, input: &mut Input<'_>) -> Result<Snapshot, SnapshotFileError> {
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

fn fields(head: &Head) -> Result<Fields, String> {
    let find = |list: &[String], name: &str| {
        let place = list.iter().position(|field| field == name);
        place.ok_or_else(|| format!("a snapshot without the field `{name}`"))
    };
    let names = |types: &[Vec<String>], place: usize| types.get(place).cloned().unwrap_or_default();
    let (nodes, edges) = (&head.node_fields, &head.edge_fields);
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
    Ok(Fields {
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
        kinds: names(&head.node_types, kind),
        edge_kinds: names(&head.edge_types, edge_kind).iter().map(|name| edge_of(name)).collect(),
    })
}

/// The types of a field: names by number, or one word for all numbers.
fn types(input: &mut Input<'_>) -> Result<Vec<String>, SnapshotFileError> {
    if input.peek()? == Some(b'[') { list(input, string) } else { string(input).map(|_| Vec::new()) }
}
