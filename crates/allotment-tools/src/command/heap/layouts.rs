//! The layouts of a snapshot's shapes, as tables.

use crate::snapshot::{ShapeLayout, Snapshot};
use allotment::raw::{Element, Shape, SlotKind};
use allotment_report::command::rows::{on_one_line, shown};
use std::collections::HashSet;
use std::fmt::Write as _;

/// The layouts of the shapes, those with most bytes first.
pub(super) fn layouts(snapshot: &Snapshot, top: usize) -> Result<String, String> {
    let Some(layouts) = &snapshot.layouts else {
        return Err("it has no layouts; .heapsnapshot files that our heaps wrote have them".into());
    };
    let mut layouts: Vec<&ShapeLayout> = layouts.iter().collect();
    layouts.sort_by_key(|layout| std::cmp::Reverse(layout.bytes));
    let mut more = String::new();
    let count = shown(layouts.len(), top, &mut more);
    let mut text = String::new();
    for layout in &layouts[..count] {
        let shape =
            shape(layout).ok_or_else(|| format!("the layout of `{}` describes no object", layout.name))?;
        let _ = writeln!(text, "{}{} objects of {} bytes\n", shape.layout(), layout.objects, layout.bytes);
    }
    Ok(text + &more)
}

/// The shape that a layout describes; `None` if it makes no sense.
fn shape(layout: &ShapeLayout) -> Option<Shape> {
    let kind = |weak: bool| if weak { SlotKind::Weak } else { SlotKind::Strong };
    let fixed = usize::try_from(layout.fixed_bytes).ok().filter(|bytes| (8..1 << 46).contains(bytes))?;
    let first = if layout.elements == "none" { 8 } else { 16 };
    let name = on_one_line(&layout.name).into_owned();
    let mut offsets = HashSet::new();
    let mut shape = match (layout.elements.as_str(), layout.element_bytes) {
        ("none", 0) => Shape::fixed(name, fixed),
        ("plain", bytes @ (1 | 2 | 4 | 8)) if fixed >= first => {
            Shape::array(name, fixed, Element::Plain { bytes: bytes as usize })
        }
        // A function knows which of them are references.
        ("strong" | "weak", 8) if fixed >= first && layout.traced => {
            Shape::array(name, fixed, Element::Plain { bytes: 8 })
        }
        ("strong" | "weak", 8) if fixed >= first => {
            Shape::array(name, fixed, Element::Reference(kind(layout.elements == "weak")))
        }
        _ => return None,
    };
    // Of a traced shape only the size is known.
    for slot in layout.slots.iter().filter(|_| !layout.traced) {
        let offset = usize::try_from(slot.offset).ok()?;
        let inside = offset >= first && offset.is_multiple_of(8) && offset.checked_add(8)? <= fixed;
        if !inside || !offsets.insert(offset) {
            return None;
        }
        shape = shape.slot(on_one_line(&slot.name).into_owned(), offset, kind(slot.weak));
    }
    Some(shape)
}
