//! Names and sizes of classes and objects, once all records are read.

use super::sizes::{CLASS, FieldLayout, KNOWN, OURS, Sizes, hidden_fields, hidden_references};
use super::{Class, HprofReader, MOST_CLASSES_ABOVE, ReferenceName, RowKind, data_type};
use std::collections::HashMap;
use std::sync::Arc;

/// Classes by id, and their names.
pub(super) type ClassNames = HashMap<u64, Arc<str>>;

/// A name as Java's programs have it: `[Ljava/lang/String;` is `java.lang.String[]`.
fn java_name(name: &str) -> String {
    let element = name.trim_start_matches('[');
    let dimensions = name.len() - element.len();
    if dimensions == 0 {
        return name.replace('/', ".");
    }
    let simple = match element {
        "Z" => "boolean",
        "C" => "char",
        "F" => "float",
        "D" => "double",
        "B" => "byte",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        _ => element.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(element),
    };
    simple.replace('/', ".") + &"[]".repeat(dimensions)
}

impl HprofReader {
    /// The names of classes. Those of one name share it: a file may give a long one to many.
    pub(super) fn names_of_classes(&self) -> ClassNames {
        let mut known: HashMap<u64, Arc<str>> = HashMap::new();
        let mut names = HashMap::new();
        for (class, id) in &self.class_names {
            let Some(text) = self.strings.get(id) else { continue };
            let name = known.entry(*id).or_insert_with(|| {
                if self.ours == Some(true) { text.clone() } else { java_name(text).into() }
            });
            names.insert(*class, name.clone());
        }
        names
    }

    /// Names rows, and gives rows and nodes their bytes.
    pub(super) fn finish_rows(&mut self, names: &ClassNames) {
        let place = if self.ours == Some(true) { OURS } else { self.evidence.place(self.id_bytes) };
        let sizes = &KNOWN[place];
        self.snapshot.sizes = Some(sizes.name);
        let mut known = HashMap::new();
        let class = names.iter().find(|(id, name)| &***name == CLASS && self.classes.contains_key(id));
        let class = class.map_or(0, |(id, _)| *id);
        let of_class = self.fields_of(class, sizes, names, &mut known).size();
        let bytes_of_class = |class: &Class| {
            let references = class.static_references.saturating_mul(sizes.reference);
            (of_class + references + class.static_bytes).next_multiple_of(8)
        };
        let mut of_instances = vec![0; self.kinds.keys().len()];
        for (row, kind) in self.kinds.keys().iter().enumerate() {
            let (name, bytes) = match *kind {
                RowKind::Roots => ("(roots)".into(), 0),
                RowKind::Classes => {
                    let bytes = self.classes.values().map(bytes_of_class);
                    (CLASS.into(), bytes.fold(0, u64::saturating_add))
                }
                RowKind::Instances(class) | RowKind::Objects(class) => {
                    let name = names.get(&class).cloned();
                    let name = name.unwrap_or_else(|| format!("class {class:#x}").into());
                    let bytes = if let RowKind::Instances(_) = kind {
                        of_instances[row] = self.fields_of(class, sizes, names, &mut known).size();
                        of_instances[row].saturating_mul(self.snapshot.rows[row].objects)
                    } else {
                        self.array_bytes[row][place]
                    };
                    (name, bytes)
                }
                RowKind::Data(data) => (data.array.into(), self.array_bytes[row][place]),
            };
            let entry = &mut self.snapshot.rows[row];
            (entry.name, entry.bytes, entry.synthetic) = (name, bytes, *kind == RowKind::Roots);
        }
        let graph = &mut self.snapshot.graph;
        for (node, bytes) in graph.bytes.iter_mut().enumerate() {
            let row = graph.class[node] as usize;
            let elements = *bytes;
            *bytes = match self.kinds.keys()[row] {
                RowKind::Roots => 0,
                RowKind::Classes => {
                    self.classes.get(&self.snapshot.ids[node]).map_or(of_class, bytes_of_class)
                }
                RowKind::Instances(_) => of_instances[row],
                RowKind::Objects(_) => sizes.array(elements, 0),
                RowKind::Data(data) => sizes.array(elements, data.bytes),
            };
        }
    }

    /// The text of a label, of which `label` is the number.
    pub(super) fn label(&self, label: usize) -> Option<Arc<str>> {
        match self.labels.keys()[label] {
            ReferenceName::Field(id) => self.strings.get(&id).cloned(),
            ReferenceName::Static(id) => self.strings.get(&id).map(|name| format!("static {name}").into()),
            ReferenceName::Fixed(name) => Some(name.into()),
        }
    }

    /// Where the fields of a class end; `known` keeps the answers.
    fn fields_of(
        &self,
        class: u64,
        sizes: &Sizes,
        names: &ClassNames,
        known: &mut HashMap<u64, FieldLayout>,
    ) -> FieldLayout {
        let mut chain = Vec::new();
        let mut at = class;
        while let Some(found) = self.classes.get(&at) {
            if known.contains_key(&at) || chain.len() > MOST_CLASSES_ABOVE {
                break;
            }
            chain.push((at, found));
            at = found.above;
        }
        let mut fields = known.get(&at).copied().unwrap_or_else(|| FieldLayout::new(sizes.header));
        for (id, class) in chain.into_iter().rev() {
            let (mut data_fields, mut references) = (Vec::new(), 0);
            for (kind, _) in &class.fields {
                match data_type(*kind) {
                    Some(data) => data_fields.push(data.bytes),
                    None => references += 1,
                }
            }
            // FieldLayout that HotSpot adds. Android and our heaps have none.
            if self.id_bytes == 8 && self.ours == Some(false) {
                let name = names.get(&id).map_or("", |name| name);
                data_fields.extend(std::iter::repeat_n(8, hidden_fields(name)));
                if name == CLASS {
                    let names: Vec<_> =
                        class.fields.iter().filter_map(|(_, name)| self.label(*name)).collect();
                    references += hidden_references(names.iter().map(|name| &**name));
                }
            }
            data_fields.sort_unstable_by(|a, b| b.cmp(a));
            data_fields.iter().for_each(|bytes| fields.place(*bytes));
            (0..references).for_each(|_| fields.place(sizes.reference));
            known.insert(id, fields);
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::java_name;

    #[test]
    fn names_are_those_of_programs() {
        for (written, expected) in [
            ("java/lang/String", "java.lang.String"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("[[I", "int[][]"),
            ("java.lang.String[]", "java.lang.String[]"),
            ("int[]", "int[]"),
            ("I", "I"),
            ("[", "[]"),
            ("", ""),
        ] {
            assert_eq!(java_name(written), expected);
        }
    }
}
