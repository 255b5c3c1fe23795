//! Objects and bytes of a snapshot by shape, and its roots by kind.

use crate::snapshot::Snapshot;
use allotment_report::command::rows::{on_one_line, share};
use allotment_report::command::table;
use allotment_report::format::width;
use std::fmt::Write as _;

/// The whole of a snapshot in a few lines, then the shapes, those with most bytes first.
pub(super) fn summary(snapshot: &Snapshot, top: usize, columns: Option<usize>) -> String {
    let (objects, bytes) = snapshot.total();
    let (format, references) = (snapshot.format, snapshot.references);
    let mut lines = vec![format!("{format}: {objects} objects of {bytes} bytes, {references} references")];
    lines.extend(snapshot.sizes.map(|sizes| format!("sizes: {sizes}")));
    lines.extend(snapshot.roots.iter().map(|(kind, count)| format!("roots: {count} {}", on_one_line(kind))));
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", width::lines(&line, columns));
    }
    text.push('\n');
    let mut rows: Vec<_> = snapshot.by_name().into_iter().collect();
    rows.sort_by(|(a, (_, x)), (b, (_, y))| y.cmp(x).then(a.cmp(b)));
    let head = ["objects", "bytes", "%", "shape"];
    table::add(&mut text, head, &rows, top, columns, |(name, (objects, of_row))| {
        let share = share((*of_row).into(), bytes.into());
        [objects.to_string(), of_row.to_string(), format!("{share:.1}"), on_one_line(name).into_owned()]
    });
    text
}
