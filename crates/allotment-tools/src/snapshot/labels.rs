//! Labels of references: the name of a field, or the number of an element.
//!
//! A reference has 32 bits of label, beside the 32 bits of its target. Refused: a list of all fields
//! with null ones among them, from which a label could be told by its place. It is longer, since
//! many fields are null.

use std::borrow::Cow;
use std::sync::Arc;

/// The bit of a label that is the number of an element.
const ELEMENT: u32 = 1 << 31;

/// The label of a reference: a number in [`Labels`], or an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

impl Label {
    /// The element of this number. A number of more than 31 bits becomes the largest one.
    pub(super) fn element(number: u64) -> Label {
        Label(u32::try_from(number).map_or(ELEMENT - 1, |number| number.min(ELEMENT - 1)) | ELEMENT)
    }

    /// The name of this number.
    pub(super) fn name(number: usize) -> Label {
        Label(number as u32 & !ELEMENT)
    }

    /// The number of the name; `None` for an element.
    pub(super) fn number(self) -> Option<usize> {
        (self.0 & ELEMENT == 0).then_some(self.0 as usize)
    }
}

/// The labels of all references of a snapshot.
#[derive(Debug, Default)]
pub struct Labels {
    /// By reference, in the order of the targets of the graph.
    pub(super) of_references: Vec<Label>,
    /// The names, by number.
    pub(super) names: Vec<Arc<str>>,
}

impl Labels {
    /// The label of a reference by its place among the targets of the graph: a name, or `[7]`.
    pub fn text(&self, reference: usize) -> Cow<'_, str> {
        let label = self.of_references[reference];
        match label.number() {
            Some(name) => self.names.get(name).map_or("", |name| &**name).into(),
            None => format!("[{}]", label.0 & !ELEMENT).into(),
        }
    }
}
