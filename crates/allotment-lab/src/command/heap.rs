//! `allotment heap`: what is in a snapshot of a heap, who holds it, and what has grown.

use super::rows::{add_table, both_readable, named, on_one_line, share, shown};
use super::{Failure, print};
use crate::format::open_binary;
use crate::snapshot::{Depth, Layout, Row, Snapshot, read};
use allotment::observe::NONE;
use allotment::raw::{Element, Shape, SlotKind};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What `allotment heap` does with snapshots: V8's `.heapsnapshot`, or HPROF.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum HeapArguments {
    /// Print objects and bytes by shape, and the roots by kind.
    Summary(OneFile),
    /// Print what retains most: objects, and shapes.
    Dominators(OneFile),
    /// Print the shapes by what their objects and bytes have grown.
    Diff(TwoFiles),
    /// Print the layouts of the shapes; only .heapsnapshot files of our heaps have them.
    Layout(OneFile),
}

/// A snapshot, and how much of it is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct OneFile {
    /// The snapshot.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Show this many rows of each table; 0: all of them.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Two snapshots, and how much of their difference is shown.
#[derive(Clone, Debug, clap::Args)]
pub struct TwoFiles {
    /// The earlier snapshot.
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,

    /// The later one.
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,

    /// Show this many rows; 0: all of them.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
}

/// Reads snapshots and prints what was asked for.
///
/// # Errors
/// [`Failure::Failed`] if a file cannot be read, or is no whole snapshot. [`Failure::Usage`] if
/// both files are standard input.
pub fn heap(arguments: &HeapArguments) -> Result<(), Failure> {
    let text = match arguments {
        HeapArguments::Summary(one) => summary(&open(&one.file, Depth::Rows)?, one.top),
        HeapArguments::Dominators(one) => {
            let snapshot = open(&one.file, Depth::References)?;
            dominators(&snapshot, one.top).map_err(|error| named(&one.file, &error))?
        }
        HeapArguments::Diff(two) => {
            both_readable(&two.before, &two.after)?;
            diff(&open(&two.before, Depth::Rows)?, &open(&two.after, Depth::Rows)?, two.top)
        }
        HeapArguments::Layout(one) => {
            let snapshot = open(&one.file, Depth::Rows)?;
            layouts(&snapshot, one.top).map_err(|error| named(&one.file, &error))?
        }
    };
    print(&text)
}

/// All that is told of a snapshot with these bytes, or why it is none. It does the work of
/// [`heap()`] without files, so that a test can call it with arbitrary bytes.
///
/// # Errors
/// Why the bytes are no snapshot.
pub fn tell_heap(bytes: &[u8]) -> Result<String, String> {
    let of = |depth| read(&mut &*bytes, depth).map_err(|error| error.to_string());
    let (rows, whole) = (of(Depth::Rows)?, of(Depth::References)?);
    let held = dominators(&whole, 0)?;
    Ok(summary(&rows, 0) + &held + &diff(&rows, &whole, 0) + &layouts(&rows, 0).unwrap_or_default())
}

/// Reads a file, which may be packed by gzip.
fn open(path: &Path, depth: Depth) -> Result<Snapshot, Failure> {
    let mut file = open_binary(path).map_err(|error| Failure::Failed(error.to_string()))?;
    read(&mut file, depth).map_err(|error| named(path, &error))
}

fn summary(snapshot: &Snapshot, top: usize) -> String {
    let (objects, bytes) = snapshot.total();
    let mut text = format!(
        "{}: {objects} objects of {bytes} bytes, {} references\n",
        snapshot.format, snapshot.references
    );
    for (kind, count) in &snapshot.roots {
        let _ = writeln!(text, "roots: {count} {}", on_one_line(kind));
    }
    let mut rows: Vec<_> = snapshot.by_name().into_iter().collect();
    rows.sort_by(|(a, (_, x)), (b, (_, y))| y.cmp(x).then(a.cmp(b)));
    let head = format!("\n{:>12} {:>16} {:>6}  shape", "objects", "bytes", "%");
    add_table(&mut text, &head, &rows, top, |(name, (objects, of_row))| {
        let share = share((*of_row).into(), bytes.into());
        format!("{objects:>12} {of_row:>16} {share:>6.1}  {}", on_one_line(name))
    });
    text
}

fn dominators(snapshot: &Snapshot, top: usize) -> Result<String, String> {
    let graph = &snapshot.graph;
    let dominators = graph.dominators().map_err(|error| error.to_string())?;
    // Rows of one name are one class here, as in a summary. A shape may have the name of a kind of
    // roots, and is a class of its own then.
    let key = |row: &Row| (row.synthetic, row.name.clone());
    let names: BTreeSet<(bool, String)> = snapshot.rows.iter().map(key).collect();
    let names: Vec<(bool, String)> = names.into_iter().collect();
    let class =
        |row: u32| names.binary_search(&key(&snapshot.rows[row as usize])).expect("the name of a row") as u32;
    let classes: Vec<u32> = (0..snapshot.rows.len() as u32).map(class).collect();
    let of_nodes: Vec<u32> = graph.class.iter().map(|row| classes[*row as usize]).collect();
    let retained = dominators.retained_by_class(&of_nodes, names.len());
    let retained = retained.map_err(|error| error.to_string())?;
    let is_object = |node: &usize| !snapshot.rows[graph.class[*node] as usize].synthetic;
    let name = |node: usize| names[of_nodes[node] as usize].1.as_str();
    let reached = |node: &usize| dominators.parent[*node] != NONE;

    let mut text = String::new();
    let mut nodes: Vec<usize> = (1..graph.nodes()).filter(reached).filter(is_object).collect();
    nodes.sort_by_key(|node| (std::cmp::Reverse(dominators.retained[*node]), *node));
    let head = format!("{:>16} {:>12}  object, and what holds it", "retained", "bytes");
    add_table(&mut text, &head, &nodes, top, |node| {
        let above = dominators.parent[*node] as usize;
        let holder =
            if is_object(&above) { on_one_line(name(above)) } else { "roots, or several objects".into() };
        let (retained, bytes) = (dominators.retained[*node], graph.bytes[*node]);
        let name = on_one_line(name(*node));
        format!("{retained:>16} {bytes:>12}  {name} #{node}, held by {holder}")
    });

    let rows = retained.into_iter().zip(&names).filter(|(_, (synthetic, _))| !synthetic);
    let mut rows: Vec<(u64, &str)> = rows.map(|(retained, (_, name))| (retained, name.as_str())).collect();
    rows.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let sums = snapshot.by_name();
    let head = format!("\n{:>16} {:>16} {:>12}  shape", "retained", "bytes", "objects");
    add_table(&mut text, &head, &rows, top, |(retained, name)| {
        let (objects, bytes) = sums.get(name).copied().unwrap_or_default();
        format!("{retained:>16} {bytes:>16} {objects:>12}  {}", on_one_line(name))
    });
    Ok(text)
}

fn diff(before: &Snapshot, after: &Snapshot, top: usize) -> String {
    let (old, new) = (before.by_name(), after.by_name());
    let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
    let change = |old: u64, new: u64| i128::from(new) - i128::from(old);
    let mut rows: Vec<(i128, i128, &str)> = names
        .into_iter()
        .map(|name| {
            let (a, b) =
                (old.get(name).copied().unwrap_or_default(), new.get(name).copied().unwrap_or_default());
            (change(a.1, b.1), change(a.0, b.0), name)
        })
        .filter(|(bytes, objects, _)| (*bytes, *objects) != (0, 0))
        .collect();
    rows.sort_by_key(|(bytes, objects, name)| (-*bytes, -*objects, *name));
    let (a, b) = (before.total(), after.total());
    let mut text = format!(
        "{:+} objects, {:+} bytes; shapes by name, since objects move and have no names that last\n",
        change(a.0, b.0),
        change(a.1, b.1)
    );
    // What grew most is at the top, and what shrank most at the end.
    let head = format!("\n{:>16} {:>12}  shape", "bytes", "objects");
    add_table(&mut text, &head, &rows, top, |(bytes, objects, name)| {
        format!("{bytes:>+16} {objects:>+12}  {}", on_one_line(name))
    });
    text
}

fn layouts(snapshot: &Snapshot, top: usize) -> Result<String, String> {
    let Some(layouts) = &snapshot.layouts else {
        return Err("it has no layouts; .heapsnapshot files that our heaps wrote have them".into());
    };
    let mut layouts: Vec<&Layout> = layouts.iter().collect();
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
fn shape(layout: &Layout) -> Option<Shape> {
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
