//! Decides which coordinates of a table's rows get a column.
//!
//! An experiment has more axes than a run varies. A column with the same value in every line hides
//! the columns that differ. So constant values are printed once, above the table. JMH prints a
//! column per parameter, and `N/A` in every row that lacks the parameter.

use super::coordinates::{Coordinate, coordinate, mode, names, value};
use super::{ScoreRow, distinct};

/// The coordinates of rows, divided by whether they vary.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    /// Coordinates with at least two values, or that only some rows of a benchmark have; in order
    /// of first appearance, threads last.
    pub(crate) varying: Vec<Coordinate>,
    /// `eden = 256k, prefetch = by-size (tlab, bare)`: the other coordinates with their values.
    /// Unless all rows have a coordinate, its modes follow. Empty if there are none.
    pub(crate) constant: String,
}

impl Columns {
    /// The columns for these rows.
    pub(crate) fn of(rows: &[&ScoreRow]) -> Columns {
        let (mut varying, mut constants) = (Vec::new(), Vec::new());
        for name in names(rows) {
            let one = coordinate(rows, name);
            let (having, lacking): (Vec<&ScoreRow>, Vec<&ScoreRow>) =
                rows.iter().partition(|row| value(row, name).is_some());
            let same =
                |a: &ScoreRow, b: &ScoreRow| (&a.benchmark, &a.jmh_mode) == (&b.benchmark, &b.jmh_mode);
            let divides = |row: &&ScoreRow| lacking.iter().any(|other| same(row, other));
            let [(_, label)] = one.values.as_slice() else {
                varying.extend((!one.values.is_empty()).then_some(one));
                continue;
            };
            if having.iter().any(divides) {
                varying.push(one);
                continue;
            }
            let mut text = format!("{name} = {label}");
            if !lacking.is_empty() {
                text += &format!(" ({})", distinct(having.iter().map(|row| mode(row))).join(", "));
            }
            constants.push(text);
        }
        Columns { varying, constant: constants.join(", ") }
    }

    /// A row's values in the varying columns; `-` where its mode lacks the parameter.
    pub(crate) fn cells(&self, row: &ScoreRow) -> impl Iterator<Item = String> {
        self.varying.iter().map(|one| value(row, &one.name).map_or("-".into(), |(_, label)| label))
    }
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
        Columns::of(&rows.iter().collect::<Vec<_>>())
    }

    fn names(columns: &Columns) -> Vec<&str> {
        columns.varying.iter().map(|one| one.name.as_str()).collect()
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
        assert_eq!(names(&found), ["size"]);
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
        assert_eq!((names(&found), found.constant.as_str()), (vec!["jvm"], "threads = 1"));
        assert_eq!(found.cells(&rows[0]).collect::<Vec<_>>(), ["-"]);
    }

    #[test]
    fn a_single_row_has_no_column() {
        assert_eq!(columns(&[row("a", 3, &[("tlab", "1k")])]).constant, "tlab = 1k, threads = 3");
        assert_eq!(columns(&[]), Columns::default());
    }
}
