//! Decides which coordinates of a table's rows get a column.
//!
//! An experiment has more axes than a run varies. A column with the same value in every line hides
//! the columns that differ. So constant values are printed once, above the table. JMH prints a
//! column per parameter, and `N/A` in every row that lacks the parameter.

use super::ScoreRow;

/// The name of the coordinate that every row has.
const THREADS: &str = "threads";

/// The coordinates of rows, divided by whether they vary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// Coordinates with at least two values, or that only some rows of a benchmark have; in order
    /// of first appearance, threads last.
    pub(crate) varying: Vec<String>,
    /// `eden = 256k, prefetch = by-size (tlab, bare)`: the other coordinates with their values.
    /// Unless all rows have a coordinate, its modes follow. Empty if there are none.
    pub(crate) constant: String,
}

impl Columns {
    /// The columns for these rows.
    pub(crate) fn of(rows: &[ScoreRow]) -> Columns {
        let mut columns = Columns::default();
        let mut constants = Vec::new();
        for name in names(rows) {
            let having: Vec<(&ScoreRow, String)> =
                rows.iter().filter_map(|row| Some((row, label(row, &name)?))).collect();
            let Some((_, first)) = having.first() else { continue };
            let lacking = |other: &ScoreRow| label(other, &name).is_none();
            let divides = |row: &ScoreRow| {
                rows.iter().any(|other| {
                    lacking(other) && (&other.benchmark, &other.jmh_mode) == (&row.benchmark, &row.jmh_mode)
                })
            };
            if having.iter().any(|(row, value)| value != first || divides(row)) {
                columns.varying.push(name);
                continue;
            }
            let mut text = format!("{name} = {first}");
            if having.len() < rows.len() {
                let mut modes: Vec<&str> = having.iter().map(|(row, _)| mode(row)).collect();
                modes.dedup();
                text += &format!(" ({})", modes.join(", "));
            }
            constants.push(text);
        }
        columns.constant = constants.join(", ");
        columns
    }

    /// A row's values in the varying columns; `-` where its mode lacks the parameter.
    pub(crate) fn cells(&self, row: &ScoreRow) -> impl Iterator<Item = String> {
        self.varying.iter().map(|name| label(row, name).unwrap_or_else(|| "-".into()))
    }
}

/// The names of all coordinates, in order of first appearance, threads last.
fn names(rows: &[ScoreRow]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for parameter in rows.iter().flat_map(|row| &row.parameters) {
        if !names.contains(&parameter.name) {
            names.push(parameter.name.clone());
        }
    }
    names.push(THREADS.into());
    names
}

fn label(row: &ScoreRow, name: &str) -> Option<String> {
    let found = row.parameters.iter().find(|parameter| parameter.name == name);
    let threads = || (name == THREADS).then(|| row.threads.to_string());
    found.map(|parameter| parameter.label.clone()).or_else(threads)
}

fn mode(row: &ScoreRow) -> &str {
    row.benchmark.rsplit_once('.').map_or(row.benchmark.as_str(), |(_, mode)| mode)
}

#[cfg(test)]
mod tests {
    use super::super::Parameter;
    use super::super::result::examples;
    use super::*;

    fn row(mode: &str, threads: usize, parameters: &[(&str, &str)]) -> ScoreRow {
        let parameter = |&(name, label): &(&str, &str)| Parameter {
            name: name.into(),
            value: format!("value of {label}"),
            label: label.into(),
        };
        let benchmark = format!("alloc.{mode}");
        ScoreRow {
            benchmark,
            threads,
            parameters: parameters.iter().map(parameter).collect(),
            ..examples::row()
        }
    }

    fn columns(rows: &[ScoreRow]) -> Columns {
        Columns::of(rows)
    }

    #[test]
    fn what_varies_has_a_column_and_the_rest_is_said_once() {
        let rows = [
            row("tlab", 1, &[("size", "16"), ("eden", "256k"), ("prefetch", "by-size")]),
            row("tlab", 1, &[("size", "64"), ("eden", "256k"), ("prefetch", "by-size")]),
            row("bare", 1, &[("size", "16"), ("eden", "256k"), ("prefetch", "by-size")]),
            row("malloc", 1, &[("size", "16"), ("eden", "256k")]),
        ];
        let found = columns(&rows);
        assert_eq!(found.varying, ["size"]);
        assert_eq!(found.constant, "eden = 256k, prefetch = by-size (tlab, bare), threads = 1");
        assert_eq!(found.cells(&rows[1]).collect::<Vec<_>>(), ["64"]);
    }

    #[test]
    fn a_row_may_lack_what_varies_in_others() {
        let rows = [row("a", 1, &[("tlab", "1k")]), row("a", 2, &[("tlab", "4k")]), row("b", 2, &[])];
        let found = columns(&rows);
        assert_eq!((found.varying.len(), found.constant.as_str()), (2, ""));
        assert_eq!(found.cells(&rows[2]).collect::<Vec<_>>(), ["-", "2"]);
    }

    #[test]
    fn what_only_some_rows_of_a_benchmark_have_tells_them_apart() {
        let rows = [row("a", 1, &[]), row("a", 1, &[("jvm", "25-g1")]), row("b", 1, &[])];
        let found = columns(&rows);
        assert_eq!(
            (found.varying.as_slice(), found.constant.as_str()),
            (&["jvm".to_string()][..], "threads = 1")
        );
        assert_eq!(found.cells(&rows[0]).collect::<Vec<_>>(), ["-"]);
    }

    #[test]
    fn a_single_row_has_no_column() {
        assert_eq!(columns(&[row("a", 3, &[("tlab", "1k")])]).constant, "tlab = 1k, threads = 3");
        assert_eq!(columns(&[]), Columns::default());
    }
}
