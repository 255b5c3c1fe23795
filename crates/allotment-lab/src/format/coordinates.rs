//! The coordinates of rows: mode, threads and parameters in one form, and which of them vary.

use super::{ScoreRow, distinct};

/// The name of the coordinate `mode`, which is the benchmark's last part.
pub const MODE: &str = "mode";

/// The name of the number of threads.
pub const THREADS: &str = "threads";

/// A coordinate, and the values that rows have in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// `mode`, `threads` or a parameter's name.
    pub name: String,
    /// Distinct values with their labels: numbers ascending, otherwise in order of first
    /// appearance.
    pub values: Vec<(String, String)>,
}

impl Coordinate {
    /// The values as numbers; `None` if one of them is not a number.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(|(value, _)| number(value)).collect()
    }
}

/// A value as a number.
pub fn number(value: &str) -> Option<f64> {
    value.parse().ok().filter(|number: &f64| number.is_finite())
}

/// The experiment of a row, or the class of a foreign one.
pub fn group(row: &ScoreRow) -> &str {
    row.benchmark.rsplit_once('.').map_or(row.benchmark.as_str(), |(group, _)| group)
}

/// The mode of a row, or the method of a foreign one.
pub fn mode(row: &ScoreRow) -> &str {
    row.benchmark.rsplit_once('.').map_or(row.benchmark.as_str(), |(_, mode)| mode)
}

/// The value of a row and its label; `None` where the row lacks the coordinate.
pub fn value(row: &ScoreRow, name: &str) -> Option<(String, String)> {
    let same = |text: &str| Some((text.to_string(), text.to_string()));
    match name {
        MODE => same(mode(row)),
        THREADS => same(&row.threads.to_string()),
        name => {
            let found = row.parameters.iter().find(|parameter| parameter.name == name)?;
            Some((found.value.clone(), found.label.clone()))
        }
    }
}

/// All coordinates with at least two values: the mode, parameters in their order, threads.
pub fn varying(rows: &[&ScoreRow]) -> Vec<Coordinate> {
    let of = |name: &str| coordinate(rows, name);
    [MODE].into_iter().chain(names(rows)).map(of).filter(|found| found.values.len() > 1).collect()
}

/// The names of all coordinates but the mode, in order of first appearance, threads last.
pub(super) fn names<'a>(rows: &[&'a ScoreRow]) -> Vec<&'a str> {
    let parameters = rows.iter().flat_map(|row| &row.parameters);
    distinct(parameters.map(|parameter| parameter.name.as_str()).chain([THREADS]))
}

/// A coordinate of rows, which may be of one value.
pub(super) fn coordinate(rows: &[&ScoreRow], name: &str) -> Coordinate {
    let values = distinct(rows.iter().filter_map(|row| value(row, name)));
    let mut found = Coordinate { name: name.into(), values };
    if found.numbers().is_some() {
        found.values.sort_by(|a, b| {
            let of = |pair: &(String, String)| number(&pair.0).unwrap_or(f64::NAN);
            of(a).total_cmp(&of(b))
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::{Parameter, examples};
    use super::*;

    fn row(mode: &str, size: Option<&str>, threads: usize) -> ScoreRow {
        let parameter =
            |value: &str| Parameter { name: "size".into(), value: value.into(), label: format!("{value} B") };
        ScoreRow {
            benchmark: format!("org.Alloc.{mode}"),
            threads,
            parameters: size.map(parameter).into_iter().collect(),
            ..examples::row()
        }
    }

    #[test]
    fn what_varies_is_found_with_its_values_in_order() {
        let rows = [row("b", Some("64"), 1), row("a", None, 1), row("a", Some("16"), 1)];
        let found = varying(&rows.iter().collect::<Vec<_>>());
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["mode", "size"]);
        let labels = |of: usize| found[of].values.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>();
        assert_eq!((labels(0), labels(1)), (vec!["b", "a"], vec!["16 B", "64 B"]));
        assert_eq!(found[1].numbers(), Some(vec![16.0, 64.0]));
        assert_eq!((group(&rows[0]), mode(&rows[0])), ("org.Alloc", "b"));
        assert_eq!(value(&rows[1], "size"), None);
    }
}
