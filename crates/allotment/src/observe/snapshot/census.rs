//! Live objects and their bytes by shape: a summary where a whole snapshot is too much.

use super::SnapshotError;
use super::dominators::Graph;
use super::index::{reserve, zeroes};
use super::live::LiveHeap;
use crate::mutator::RootKind;
use crate::object::{ShapeId, SlotKind};
use std::fmt;

/// The live objects of a heap, by shape. Prints as a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Census {
    /// The shapes of live objects, those with most bytes first: retained bytes, where these were
    /// asked for.
    pub shapes: Vec<ShapeCensus>,
    /// Live objects.
    pub objects: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
    /// References that live objects hold to live objects, weak ones included.
    pub references: u64,
    /// Roots that refer to a live object, by kind.
    pub roots: [(RootKind, u64); RootKind::ALL.len()],
}

/// The live objects of a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShapeCensus {
    /// The shape.
    pub id: ShapeId,
    /// Its name. Two shapes may have the same.
    pub name: String,
    /// Objects.
    pub objects: u64,
    /// Their bytes, headers included.
    pub bytes: u64,
    /// Bytes of all that would die with these objects, themselves included. An object that one of
    /// the same shape dominates counts with that one. `None` if it was not asked for.
    pub retained: Option<u64>,
}

impl Census {
    /// Without retained bytes.
    pub(super) fn of(live: &LiveHeap<'_>) -> Census {
        let mut roots = RootKind::ALL.map(|kind| (kind, 0));
        live.roots().iter().for_each(|root| roots[root.kind as usize].1 += 1);
        let shape = |live: &super::live::LiveShape<'_>| ShapeCensus {
            id: live.id,
            name: live.shape.name().to_owned(),
            objects: live.objects,
            bytes: live.bytes,
            retained: None,
        };
        Census {
            shapes: live.shapes.iter().map(shape).collect(),
            objects: live.objects,
            bytes: live.bytes,
            references: live.edges,
            roots,
        }
    }

    /// Adds what each shape retains in `graph`, whose classes are the shapes in their order.
    pub(super) fn add_retained(&mut self, graph: &Graph) -> Result<(), SnapshotError> {
        let retained = graph.dominators()?.retained_by_class(&graph.class, self.shapes.len().max(1))?;
        for (shape, bytes) in self.shapes.iter_mut().zip(retained) {
            shape.retained = Some(bytes);
        }
        Ok(())
    }

    pub(super) fn sort(&mut self) {
        self.shapes.sort_by(|a, b| {
            let key = |shape: &ShapeCensus| (shape.retained, shape.bytes, shape.objects);
            key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name)).then(a.id.cmp(&b.id))
        });
    }
}

/// The strong references of a heap as a graph: node 0 for all roots, then the objects.
pub(super) fn graph(live: &LiveHeap<'_>) -> Result<Graph, SnapshotError> {
    let most = u64::from(u32::MAX) - 1;
    if live.objects >= most {
        return Err(SnapshotError::TooManyObjects { objects: live.objects, most });
    }
    let nodes = live.objects as usize + 1;
    let roots = live.roots().iter().filter(|root| root.slot == SlotKind::Strong);
    let mut graph = Graph { class: zeroes(nodes)?, bytes: zeroes(nodes)?, ..Graph::default() };
    reserve(&mut graph.first, nodes + 1)?;
    reserve(&mut graph.targets, live.roots().len() + live.edges as usize)?;
    graph.first.push(0);
    graph.targets.extend(roots.map(|root| live.number_of(root.address) as u32 + 1));
    graph.first.push(graph.targets.len());
    for (number, object) in live.objects().enumerate() {
        graph.class[number + 1] = object.shape as u32;
        graph.bytes[number + 1] = object.bytes as u64;
        live.for_each_edge(&object, |_, target, kind| {
            if kind == SlotKind::Strong {
                graph.targets.push(live.number_of(target) as u32 + 1);
            }
        });
        graph.first.push(graph.targets.len());
    }
    Ok(graph)
}

impl fmt::Display for Census {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with_retained = self.shapes.iter().any(|shape| shape.retained.is_some());
        let columns = |out: &mut fmt::Formatter<'_>, objects: &str, bytes: &str, retained: &str| {
            write!(out, "{objects:>12} {bytes:>16}")?;
            if with_retained { write!(out, " {retained:>16}") } else { Ok(()) }
        };
        columns(out, "objects", "bytes", "retained")?;
        writeln!(out, "  shape")?;
        for shape in &self.shapes {
            let retained = shape.retained.map(|bytes| bytes.to_string()).unwrap_or_default();
            columns(out, &shape.objects.to_string(), &shape.bytes.to_string(), &retained)?;
            writeln!(out, "  {}", shape.name)?;
        }
        columns(out, &self.objects.to_string(), &self.bytes.to_string(), "")?;
        writeln!(out, "  all live objects")?;
        let roots: Vec<String> =
            self.roots.iter().map(|(kind, count)| format!("{count} {}", kind.name())).collect();
        writeln!(out, "roots: {}", roots.join(", "))
    }
}
