//! The growth between two snapshots, by shape.
//!
//! Two formats are not compared: an object with a tail is two objects in HPROF, and each format has
//! bytes of its own. Refused: converting one of them, since V8's format lacks parts of a
//! JVM's dump.

use crate::snapshot::Snapshot;
use allotment_report::command::rows::on_one_line;
use allotment_report::command::table;
use allotment_report::format::width;
use std::collections::BTreeSet;

/// The shapes whose objects or bytes have changed. What grew most is at the top, and what shrank
/// most at the end.
///
/// # Errors
/// The snapshots have two formats.
pub(super) fn diff(
    before: &Snapshot,
    after: &Snapshot,
    top: usize,
    columns: Option<usize>,
) -> Result<String, String> {
    if before.format != after.format {
        let (a, b) = (before.format, after.format);
        return Err(format!(
            "their formats, {a} and {b}, count objects and bytes in different ways; write both in the same format"
        ));
    }
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
    let (objects, bytes) = (change(a.0, b.0), change(a.1, b.1));
    let mut lines = vec![format!(
        "{objects:+} objects, {bytes:+} bytes; shapes are compared by name, since objects move and their ids change"
    )];
    if let (Some(old), Some(new)) = (before.sizes, after.sizes)
        && old != new
    {
        lines.push(format!(
            "before: {old}; after: {new}: so the same object has different sizes in the two files"
        ));
    }
    let lines = lines.iter().map(|line| width::lines(line, columns) + "\n");
    let mut text = lines.collect::<String>() + "\n";
    table::add(&mut text, ["bytes", "objects", "shape"], &rows, top, columns, |(bytes, objects, name)| {
        [format!("{bytes:+}"), format!("{objects:+}"), on_one_line(name).into_owned()]
    });
    Ok(text)
}
