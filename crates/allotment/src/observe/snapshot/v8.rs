//! V8's `.heapsnapshot`, which Chrome, VS Code and memlab open.
//!
//! The file is one JSON object, and DevTools looks for its keys in the order in which V8 writes
//! them: `snapshot`, `nodes`, `edges`, `strings`. A node is five numbers, an edge three, and a name
//! is the place of a string.
//!
//! | of the heap | in the file |
//! |---|---|
//! | all roots | node 0, under which are synthetic nodes alone: what else DevTools finds there is a user's root, and others' sizes are folded into it |
//! | roots of a kind | a synthetic node, with an edge for each root |
//! | object | a node of type `object` named as its shape, so that a shape is a row; type `string` where its text is asked for |
//! | slot | an edge `property` with the slot's name |
//! | element of a tail, slot that is traced | an edge `element` with its number |
//! | weak slot, weak root | an edge `weak`, which retains nothing |
//! | nothing | a synthetic node `(end)`, the last: VS Code's reader fails if the last node retains another |
//!
//! The loaders keep numbers in 32 bits and wrap without a word. So a size of 2^32 or more is
//! written as 2^32 - 1 and counted ([`SnapshotSummary::clamped`]). An edge names its node by the
//! node's first number, so a snapshot has less than 2^32 / 5 nodes, and it has less than 2^32 / 3
//! edges. More of either need [HPROF](super::hprof). Ids are numbers in order of addresses: they
//! say nothing about the same object in another snapshot.
//!
//! Layouts of shapes are in `snapshot.allotment`, which the other tools skip.
//!
//! Counts stand at the beginning. The live objects and references are counted before the first byte
//! is written, so the writer need not seek. Then nodes and edges are written in two passes over the
//! heap, and nothing is kept for an object.

use super::json::Output;
use super::live::{Edge, LiveHeap, LiveObject};
use super::{SnapshotError, SnapshotSummary};
use crate::mutator::RootKind;
use crate::object::{Element, Shape, SlotKind};
use std::collections::HashMap;

/// Numbers of a node.
const NODE_FIELDS: u64 = 5;

/// Numbers of an edge.
const EDGE_FIELDS: u64 = 3;

/// Nodes before the first object: the root, all roots, and a node for each kind of root.
const FIRST_OBJECT: u64 = 2 + RootKind::ALL.len() as u64;

/// Nodes that are not objects: those before the first object, and the end.
const OTHER_NODES: u64 = FIRST_OBJECT + 1;

/// Edges that are neither an object's nor to one: of the root, and to each kind of root.
const OTHER_EDGES: u64 = 2 + RootKind::ALL.len() as u64;

/// The limits of the loaders' arrays.
const MOST: u64 = u32::MAX as u64;

/// Characters of a name. V8 cuts there, too.
const MOST_CHARACTERS: usize = 1024;

/// Types of nodes, by their places in the meta data.
const OBJECT: u64 = 3;
const STRING: u64 = 2;
const SYNTHETIC: u64 = 9;

/// Types of edges, by their places in the meta data.
const ELEMENT: u64 = 1;
const PROPERTY: u64 = 2;
const INTERNAL: u64 = 3;
const WEAK: u64 = 6;

const META: &str = "{\"meta\":{\"node_fields\":[\"type\",\"name\",\"id\",\"self_size\",\"edge_count\"],\
\"node_types\":[[\"hidden\",\"array\",\"string\",\"object\",\"code\",\"closure\",\"regexp\",\"number\",\"native\",\
\"synthetic\",\"concatenated string\",\"sliced string\",\"symbol\",\"bigint\",\"object shape\"],\
\"string\",\"number\",\"number\",\"number\"],\
\"edge_fields\":[\"type\",\"name_or_index\",\"to_node\"],\
\"edge_types\":[[\"context\",\"element\",\"property\",\"internal\",\"hidden\",\"shortcut\",\"weak\"],\
\"string_or_number\",\"node\"],\"trace_function_info_fields\":[],\"trace_node_fields\":[],\"sample_fields\":[],\
\"location_fields\":[]}";

/// Strings, each once.
#[derive(Default)]
struct Strings<'h> {
    all: Vec<&'h str>,
    places: HashMap<&'h str, u64>,
}

impl<'h> Strings<'h> {
    /// The place of a string, cut as V8 cuts names.
    fn place(&mut self, text: &'h str) -> u64 {
        let end = text.char_indices().nth(MOST_CHARACTERS).map_or(text.len(), |(end, _)| end);
        let text = &text[..end];
        *self.places.entry(text).or_insert_with(|| {
            self.all.push(text);
            self.all.len() as u64 - 1
        })
    }
}

/// The places of the names of a shape.
struct Names {
    shape: u64,
    slots: Vec<u64>,
    is_text: bool,
}

/// A snapshot that is being written, with the counts that stand at its beginning.
struct V8Writer<'h, 'o> {
    live: &'h LiveHeap<'h>,
    out: Output<'o>,
    strings: Strings<'h>,
    names: Vec<Names>,
    all_roots: u64,
    end: u64,
    kinds: Vec<u64>,
    /// Name of all elements that are weak.
    element: u64,
    /// Roots by kind.
    roots: [u64; RootKind::ALL.len()],
    string_bytes: usize,
    /// Objects whose size is written as less than it is.
    clamped: u64,
}

/// Writes a snapshot.
pub(super) fn write(
    live: &LiveHeap<'_>,
    out: Output<'_>,
    string_bytes: usize,
) -> Result<SnapshotSummary, SnapshotError> {
    let nodes = live.objects + OTHER_NODES;
    check_room(live.objects, live.edges + live.roots().len() as u64)?;
    let mut strings = Strings::default();
    strings.place("");
    let all_roots = strings.place("(GC roots)");
    let kinds = RootKind::ALL.map(|kind| strings.place(group(kind))).to_vec();
    let (element, end) = (strings.place("element"), strings.place("(end)"));
    let names = live.shapes.iter().map(|live| {
        let shape = live.shape;
        Names {
            shape: strings.place(shape.name()),
            slots: shape.slots().iter().map(|slot| strings.place(&slot.name)).collect(),
            is_text: string_bytes > 0 && shape.tail() == Some(Element::Plain { bytes: 1 }),
        }
    });
    let names = names.collect();
    let mut roots = [0; RootKind::ALL.len()];
    live.roots().iter().for_each(|root| roots[root.kind as usize] += 1);
    let mut writer = V8Writer {
        live,
        out,
        strings,
        names,
        all_roots,
        end,
        kinds,
        element,
        roots,
        string_bytes,
        clamped: 0,
    };
    writer.header(nodes)?;
    writer.nodes()?;
    writer.edges()?;
    writer.strings()?;
    let clamped = writer.clamped;
    Ok(live.summary(roots.iter().sum(), clamped, writer.out.finish()?))
}

/// Refuses more objects or references, those of roots included, than the loaders' arrays hold.
fn check_room(objects: u64, references: u64) -> Result<(), SnapshotError> {
    let most = MOST / NODE_FIELDS - OTHER_NODES;
    if objects > most {
        return Err(SnapshotError::TooManyObjects { objects, most });
    }
    let most = MOST / EDGE_FIELDS - OTHER_EDGES;
    if references > most {
        return Err(SnapshotError::TooManyReferences { references, most });
    }
    Ok(())
}

/// The name of the node under which roots of a kind are.
const fn group(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Frame => "(frames)",
        RootKind::Handle => "(handles)",
        RootKind::WeakHandle => "(weak handles)",
        RootKind::Provider => "(providers)",
        RootKind::Pin => "(pins)",
    }
}

impl V8Writer<'_, '_> {
    fn header(&mut self, nodes: u64) -> Result<(), SnapshotError> {
        let edges = OTHER_EDGES + self.roots.iter().sum::<u64>() + self.live.edges;
        self.out.text(&format!(
            "{{\"snapshot\":{META},\"node_count\":{nodes},\"edge_count\":{edges},\
             \"trace_function_count\":0,\"extra_native_bytes\":0,\"allotment\":{{\"shapes\":["
        ))?;
        for (place, live) in self.live.shapes.iter().enumerate() {
            self.out.text(if place > 0 { ",\n" } else { "\n" })?;
            layout(&mut self.out, live.shape, live.objects, live.bytes)?;
        }
        self.out.text("]}},\n")
    }

    fn nodes(&mut self) -> Result<(), SnapshotError> {
        let live = self.live;
        self.out.text("\"nodes\":")?;
        let mut id = 0;
        let mut node = |out: &mut Output<'_>, kind, name, bytes, edges| {
            id += 1;
            out.record(if id == 1 { b'[' } else { b',' }, [kind, name, id, bytes, edges])
        };
        node(&mut self.out, SYNTHETIC, 0, 0, 2)?;
        node(&mut self.out, SYNTHETIC, self.all_roots, 0, RootKind::ALL.len() as u64)?;
        for (name, edges) in self.kinds.iter().zip(self.roots) {
            node(&mut self.out, SYNTHETIC, *name, 0, edges)?;
        }
        let mut texts = self.strings.all.len() as u64;
        for object in live.objects() {
            let mut edges = 0;
            live.for_each_edge(&object, |_, _, _| edges += 1);
            let bytes = (object.bytes as u64).min(MOST);
            self.clamped += u64::from(bytes != object.bytes as u64);
            let names = &self.names[object.shape];
            let (kind, name) = if names.is_text {
                texts += 1;
                (STRING, texts - 1)
            } else {
                (OBJECT, names.shape)
            };
            node(&mut self.out, kind, name, bytes, edges)?;
        }
        node(&mut self.out, SYNTHETIC, self.end, 0, 0)?;
        self.out.text("],\n")
    }

    fn edges(&mut self) -> Result<(), SnapshotError> {
        let live = self.live;
        self.out.text("\"edges\":")?;
        let to = |node: u64| node * NODE_FIELDS;
        self.out.record(b'[', [ELEMENT, 1, to(1)])?;
        self.out.record(b',', [ELEMENT, 2, to(FIRST_OBJECT + live.objects)])?;
        for (number, name) in self.kinds.iter().enumerate() {
            self.out.record(b',', [INTERNAL, *name, to(2 + number as u64)])?;
        }
        // Edges stand in the order of their nodes, and a visit of roots mixes the kinds.
        for wanted in RootKind::ALL {
            let of_kind = live.roots().iter().filter(|root| root.kind == wanted);
            for (number, root) in of_kind.enumerate() {
                let node = to(FIRST_OBJECT + live.number_of(root.address));
                self.out.record(
                    b',',
                    match root.slot {
                        SlotKind::Strong => [ELEMENT, number as u64, node],
                        SlotKind::Weak => [WEAK, self.element, node],
                    },
                )?;
            }
        }
        for object in live.objects() {
            let mut outcome = Ok(());
            live.for_each_edge(&object, |edge, target, kind| {
                if outcome.is_ok() {
                    let node = to(FIRST_OBJECT + live.number_of(target));
                    outcome = self.edge(&object, edge, kind, node);
                }
            });
            outcome?;
        }
        self.out.text("],\n\"trace_function_infos\":[],\"trace_tree\":[],\"samples\":[],\"locations\":[],\n")
    }

    #[inline]
    fn edge(
        &mut self,
        object: &LiveObject<'_>,
        edge: Edge,
        kind: SlotKind,
        node: u64,
    ) -> Result<(), SnapshotError> {
        let numbers = match (edge, kind) {
            (Edge::Slot(slot), SlotKind::Strong) => [PROPERTY, self.names[object.shape].slots[slot], node],
            (Edge::Slot(slot), SlotKind::Weak) => [WEAK, self.names[object.shape].slots[slot], node],
            (Edge::Element(number), SlotKind::Strong) => [ELEMENT, (number as u64).min(MOST), node],
            (Edge::Element(_), SlotKind::Weak) => [WEAK, self.element, node],
        };
        self.out.record(b',', numbers)
    }

    fn strings(&mut self) -> Result<(), SnapshotError> {
        self.out.text("\"strings\":[")?;
        for (place, text) in self.strings.all.iter().enumerate() {
            self.out.text(if place > 0 { ",\n" } else { "" })?;
            self.out.string(text)?;
        }
        if self.string_bytes > 0 {
            // In the order of nodes.
            for object in self.live.objects() {
                if let Some(text) = self.live.text(&object, self.string_bytes) {
                    self.out.text(",\n")?;
                    self.out.string_lossy(text)?;
                }
            }
        }
        self.out.text("]}\n")
    }
}

/// The description of a shape, for `allotment heap layout`.
fn layout(out: &mut Output<'_>, shape: &Shape, objects: u64, bytes: u64) -> Result<(), SnapshotError> {
    out.text("{\"name\":")?;
    out.string(shape.name())?;
    let (element, kind) = match shape.tail() {
        None => (0, "none"),
        Some(Element::Plain { bytes }) => (bytes as u64, "plain"),
        Some(Element::Reference(SlotKind::Strong)) => (8, "strong"),
        Some(Element::Reference(SlotKind::Weak)) => (8, "weak"),
    };
    let (fixed, is_traced) = (shape.fixed_bytes(), shape.is_traced());
    out.text(&format!(
        ",\"objects\":{objects},\"bytes\":{bytes},\"fixed_bytes\":{fixed},\"element_bytes\":{element},\
         \"elements\":\"{kind}\",\"traced\":{is_traced},\"slots\":["
    ))?;
    for (place, slot) in shape.slots().iter().enumerate() {
        out.text(if place > 0 { ",{\"name\":" } else { "{\"name\":" })?;
        out.string(&slot.name)?;
        let (offset, is_weak) = (slot.offset, slot.kind == SlotKind::Weak);
        out.text(&format!(",\"offset\":{offset},\"weak\":{is_weak}}}"))?;
    }
    out.text("]}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_loaders_arrays_cannot_hold_is_refused() {
        assert!(check_room(858_993_451, 1_431_655_758).is_ok());
        let error = check_room(858_993_452, 0).unwrap_err();
        assert!(matches!(error, SnapshotError::TooManyObjects { most: 858_993_451, .. }), "{error}");
        let error = check_room(0, 1_431_655_759).unwrap_err();
        assert!(matches!(error, SnapshotError::TooManyReferences { most: 1_431_655_758, .. }), "{error}");
    }
}
