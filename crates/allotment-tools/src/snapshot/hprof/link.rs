//! Makes nodes of ids: a graph of strong references.
//!
//! A `referent` is held as in the JVM. A weak or phantom reference never holds it. A soft reference
//! does, and one that waits for a finalizer, where nothing stronger leads there: so a cache of soft
//! references or a queue of finalizers is found, and what others hold is theirs alone. Refused: to
//! follow all of them. Then each object in a `WeakHashMap` would have two holders, and none that
//! retains it.

use super::rows::ClassNames;
use super::{HprofReader, MOST_CLASSES_ABOVE, ReferenceName, Root, RowKind};
use crate::snapshot::labels::Label;
use crate::snapshot::{Depth, Graph, Snapshot};
use std::collections::HashMap;

/// The tag of roots that are classes which live as long as the JVM.
const SYSTEM_CLASS: u8 = 0x05;

/// The tag of roots that are threads.
const THREAD: u8 = 0x08;

/// How an object is reached, or what a reference does for its referent; the strongest is first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Strength {
    Strong,
    Soft,
    Final,
    Weak,
}

/// References of a graph that hold their targets only where nothing stronger does: place, holder,
/// strength. They are in the order of places.
type Conditional = Vec<(usize, u32, Strength)>;

/// The name of roots of this tag.
fn root_name(tag: u8) -> &'static str {
    match tag {
        0x01 => "handles (JNI global)",
        0x02 => "frames (JNI local)",
        0x03 => "Java frames",
        0x04 => "providers (native stack)",
        SYSTEM_CLASS => "system classes",
        0x06 => "thread blocks",
        0x07 => "monitors",
        THREAD => "threads",
        0x89 => "interned strings",
        0x8A => "finalizing",
        0x8B => "debugger",
        0x8C => "reference cleanup",
        0x8D => "VM internal",
        0x8E => "JNI monitors",
        _ => "pins (unknown)",
    }
}

impl HprofReader {
    /// The snapshot, when all records are read.
    pub(super) fn finish(mut self) -> Snapshot {
        let names = self.names_of_classes();
        self.finish_rows(&names);
        let roots = self.root_counts.iter().map(|(tag, count)| (root_name(*tag).to_owned(), *count));
        self.snapshot.roots = roots.collect();
        if self.depth == Depth::References {
            let conditional = self.link(&names);
            keep_what_holds(&mut self.snapshot, &conditional);
            let label = |number| self.label(number).unwrap_or_else(|| "(no name)".into());
            self.snapshot.labels.names = (0..self.labels.keys().len()).map(label).collect();
            let class = |id| Some((self.class_node(id)?, names.get(&id)?.clone()));
            self.snapshot.class_objects = self.classes.keys().filter_map(|id| class(*id)).collect();
        }
        self.snapshot
    }

    /// The node of a class. In a broken file an object that is not a class may have the id of one.
    fn class_node(&self, class: u64) -> Option<u32> {
        let node = *self.nodes.get(&class)?;
        let row = self.snapshot.graph.class[node as usize];
        (self.kinds.keys()[row as usize] == RowKind::Classes).then_some(node)
    }

    /// By row: what its objects do for their referents.
    fn strengths(&self, names: &ClassNames) -> Vec<Strength> {
        let of_class = |class: u64| {
            let mut at = class;
            for _ in 0..MOST_CLASSES_ABOVE {
                let strength = match names.get(&at).map_or("", |name| name) {
                    "java.lang.ref.SoftReference" => Strength::Soft,
                    "java.lang.ref.FinalReference" | "java.lang.ref.FinalizerReference" => Strength::Final,
                    "java.lang.ref.WeakReference" | "java.lang.ref.PhantomReference" => Strength::Weak,
                    _ => match self.classes.get(&at) {
                        Some(class) => {
                            at = class.above;
                            continue;
                        }
                        None => break,
                    },
                };
                return strength;
            }
            Strength::Strong
        };
        let of_row = |kind: &RowKind| match kind {
            RowKind::Instances(class) => of_class(*class),
            _ => Strength::Strong,
        };
        self.kinds.keys().iter().map(of_row).collect()
    }

    /// The label of the field `referent` of `java.lang.ref.Reference`.
    fn referent(&self, names: &ClassNames) -> Option<Label> {
        let reference = |id: &&u64| names.get(*id).is_some_and(|name| &**name == "java.lang.ref.Reference");
        let class = &self.classes[self.classes.keys().find(reference)?];
        let named = |number: &&usize| self.label(**number).is_some_and(|name| &*name == "referent");
        class.fields.iter().map(|(_, label)| label).find(named).map(|label| Label::name(*label))
    }

    /// Makes the graph, without weak references. The root's targets come first.
    fn link(&mut self, names: &ClassNames) -> Conditional {
        let (strengths, referent) = (self.strengths(names), self.referent(names));
        let mut own = |name| Label::name(self.labels.of(ReferenceName::Fixed(name)));
        let (class_label, classes_label) = (own("<class>"), own("<classes>"));
        let local_labels = [own("<JNI Local>"), own("<Java Local>")];
        let root_labels: Vec<Label> = (0..=u8::MAX).map(|tag| own(root_name(tag))).collect();
        let mut roots = std::mem::take(&mut self.roots);
        // Where the file has no such roots, each class that has no loader is one.
        if !self.root_counts.contains_key(&SYSTEM_CLASS) {
            let system = self.classes.iter().filter(|(_, class)| class.loader == 0);
            let mut system: Vec<u64> = system.map(|(id, _)| *id).collect();
            system.sort_unstable();
            roots.extend(system.into_iter().map(|id| Root { id, thread: 0, tag: SYSTEM_CLASS }));
        }
        // References in no field: to the classes of a loader, and from the local variables of a
        // thread.
        let loader = |(id, class): (&u64, &super::Class)| {
            Some((*self.nodes.get(&class.loader)?, self.class_node(*id)?, classes_label))
        };
        let mut others: Vec<(u32, u32, Label)> = self.classes.iter().filter_map(loader).collect();
        let threads = roots.iter().filter(|root| root.tag == THREAD);
        let threads: HashMap<u32, u32> =
            threads.filter_map(|root| Some((root.thread, *self.nodes.get(&root.id)?))).collect();

        let class_nodes: Vec<Option<u32>> = self
            .kinds
            .keys()
            .iter()
            .map(|kind| match kind {
                RowKind::Instances(class) | RowKind::Objects(class) => self.class_node(*class),
                _ => None,
            })
            .collect();

        let (mut first, mut targets, mut labels) = (vec![0], Vec::new(), Vec::new());
        let mut conditional = Vec::new();
        for Root { id, thread, tag } in roots {
            let Some(node) = self.nodes.get(&id) else { continue };
            match (tag, threads.get(&thread)) {
                (0x02 | 0x03, Some(thread)) if thread != node => {
                    others.push((*thread, *node, local_labels[usize::from(tag) - 2]));
                }
                _ => {
                    targets.push(*node);
                    labels.push(root_labels[usize::from(tag)]);
                }
            }
        }
        others.sort_by_key(|(holder, target, _)| (*holder, *target));
        let mut others = others.into_iter().peekable();
        for (node, run) in self.runs.iter().enumerate().skip(1) {
            first.push(targets.len());
            let row = self.snapshot.graph.class[node] as usize;
            let run = &self.targets[run.first..run.first + run.count];
            // Fields of superclasses come last, so a field of this name in a subclass is another.
            let weak = match strengths[row] {
                Strength::Strong => None,
                _ => run.iter().rposition(|(_, label)| Some(*label) == referent),
            };
            for (place, (id, label)) in run.iter().enumerate() {
                let Some(target) = self.nodes.get(id) else { continue };
                if Some(place) == weak {
                    if strengths[row] == Strength::Weak {
                        continue;
                    }
                    conditional.push((targets.len(), node as u32, strengths[row]));
                }
                targets.push(*target);
                labels.push(*label);
            }
            if let Some(class) = class_nodes[row] {
                targets.push(class);
                labels.push(class_label);
            }
            while let Some((_, target, label)) = others.next_if(|(holder, ..)| *holder == node as u32) {
                targets.push(target);
                labels.push(label);
            }
        }
        first.push(targets.len());
        self.snapshot.graph = Graph { first, targets, ..std::mem::take(&mut self.snapshot.graph) };
        self.snapshot.labels.of_references = labels;
        conditional
    }
}

/// Takes away the conditional references whose targets something stronger reaches.
fn keep_what_holds(snapshot: &mut Snapshot, conditional: &Conditional) {
    let reached = reach(&snapshot.graph, conditional);
    let graph = &mut snapshot.graph;
    let labels = &mut snapshot.labels.of_references;
    let goes = |(place, holder, strength): &&(usize, u32, Strength)| {
        let target = reached[graph.targets[*place] as usize];
        reached[*holder as usize] == Strength::Weak || target < *strength
    };
    let gone: Vec<usize> = conditional.iter().filter(goes).map(|(place, ..)| *place).collect();
    let (mut next, mut kept, mut start) = (gone.iter().peekable(), 0, 0);
    for node in 0..graph.nodes() {
        let end = graph.first[node + 1];
        graph.first[node] = kept;
        for place in start..end {
            if next.next_if(|gone| **gone == place).is_none() {
                (graph.targets[kept], labels[kept]) = (graph.targets[place], labels[place]);
                kept += 1;
            }
        }
        start = end;
    }
    let nodes = graph.nodes();
    graph.first[nodes] = kept;
    graph.targets.truncate(kept);
    labels.truncate(kept);
}

/// By node: the strongest way to it; `Weak` for nodes that no way leads to.
fn reach(graph: &Graph, conditional: &Conditional) -> Vec<Strength> {
    let mut reached = vec![Strength::Weak; graph.nodes()];
    let by_place: HashMap<usize, Strength> =
        conditional.iter().map(|(place, _, strength)| (*place, *strength)).collect();
    // Targets that wait until all that is stronger was followed: soft ones, and final ones.
    let mut waiting = [Vec::new(), Vec::new()];
    let mut work = vec![0_u32];
    reached[0] = Strength::Strong;
    for strength in [Strength::Strong, Strength::Soft, Strength::Final] {
        loop {
            while let Some(node) = work.pop() {
                for place in graph.first[node as usize]..graph.first[node as usize + 1] {
                    let target = graph.targets[place];
                    if reached[target as usize] != Strength::Weak {
                        continue;
                    }
                    match by_place.get(&place) {
                        Some(Strength::Soft) => waiting[0].push(target),
                        Some(_) => waiting[1].push(target),
                        None => {
                            reached[target as usize] = strength;
                            work.push(target);
                        }
                    }
                }
            }
            let next = match strength {
                Strength::Soft => waiting[0].pop(),
                Strength::Final => waiting[0].pop().or_else(|| waiting[1].pop()),
                _ => None,
            };
            let Some(next) = next else { break };
            if reached[next as usize] == Strength::Weak {
                reached[next as usize] = strength;
                work.push(next);
            }
        }
    }
    reached
}
