//! The objects of a snapshot as the commands name them, and what holds each.

use crate::snapshot::{Dominators, NONE, Snapshot};
use allotment_report::command::rows::on_one_line;

/// A snapshot whose dominators are known.
pub(super) struct Objects<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) dominators: Dominators,
}

impl<'s> Objects<'s> {
    /// Finds the dominators.
    ///
    /// # Errors
    /// There is not enough memory to find them.
    pub(super) fn of(snapshot: &'s Snapshot) -> Result<Objects<'s>, String> {
        let dominators = snapshot.graph.dominators().map_err(|error| error.to_string())?;
        Ok(Objects { snapshot, dominators })
    }

    /// Whether a node is an object. Others stand for roots.
    pub(super) fn is_object(&self, node: usize) -> bool {
        !self.snapshot.rows[self.snapshot.graph.class[node] as usize].synthetic
    }

    /// Whether strong references lead to a node.
    pub(super) fn is_reached(&self, node: usize) -> bool {
        self.dominators.parent[node] != NONE
    }

    /// The name of a node: its class, and its id as Chrome and Eclipse MAT show it.
    pub(super) fn name(&self, node: usize) -> String {
        let class = &self.snapshot.rows[self.snapshot.graph.class[node] as usize].name;
        if !self.is_object(node) {
            return on_one_line(class).into_owned();
        }
        let id = self.snapshot.id(node);
        match self.snapshot.class_objects.get(&(node as u32)) {
            Some(class) => format!("class {} {id}", on_one_line(class)),
            None => format!("{} {id}", on_one_line(class)),
        }
    }

    /// By node: the reference that its dominator has to it, by place; `None` where it has none.
    pub(super) fn holding_references(&self) -> Vec<Option<usize>> {
        let graph = &self.snapshot.graph;
        let mut holding = vec![None; graph.nodes()];
        for node in 0..graph.nodes() {
            for place in graph.first[node]..graph.first[node + 1] {
                let target = graph.targets[place] as usize;
                if self.dominators.parent[target] as usize == node && holding[target].is_none() {
                    holding[target] = Some(place);
                }
            }
        }
        holding
    }

    /// The holder of a node, in words; `reference` is the one that its dominator has to it.
    pub(super) fn holder(&self, node: usize, reference: Option<usize>) -> String {
        let above = self.dominators.parent[node] as usize;
        match (reference, above) {
            // Roots of HPROF have kinds, those of V8 nodes with names.
            (Some(place), 0) if self.snapshot.addresses => format!("held by roots: {}", self.label(place)),
            (Some(_), above) if !self.is_object(above) => format!("held by {}", self.name(above)),
            (Some(place), above) => format!("held by {} of {}", self.label(place), self.name(above)),
            (None, above) if !self.is_object(above) => "held by several objects or roots".into(),
            (None, above) => format!("held by several objects below {}", self.name(above)),
        }
    }

    /// The label of a reference, by its place.
    pub(super) fn label(&self, reference: usize) -> String {
        on_one_line(&self.snapshot.labels.text(reference)).into_owned()
    }

    /// The node of an object as users write it: `@12`, or `0x7ff12340`.
    ///
    /// # Errors
    /// The text is not an id, or no object has this id.
    pub(super) fn find(&self, text: &str) -> Result<usize, String> {
        let text = text.trim();
        // The whole name may be copied from a table.
        let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
        let digits = word.trim_start_matches('@');
        let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let id = match hexadecimal {
            Some(digits) => u64::from_str_radix(digits, 16),
            None if self.snapshot.addresses => u64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let example = (1..self.snapshot.ids.len()).rfind(|node| self.is_object(*node));
        let example = example.map_or(String::new(), |node| format!(", such as {}", self.snapshot.id(node)));
        let id = id.map_err(|_| format!("`{text}` names no object; write its id{example}"))?;
        let found =
            (0..self.snapshot.ids.len()).find(|node| self.snapshot.ids[*node] == id && self.is_object(*node));
        found.ok_or_else(|| format!("no object has the id `{text}`; write one that is there{example}"))
    }
}
