//! Tables of a file: numbers at the left, and a name of any length at the right.
//!
//! Where a line has no room for that, a name gets lines of its own width beside the numbers. On a
//! narrow terminal each row is a paragraph that begins with the name. Refused: the layout of result
//! tables, where names come first. The numbers would follow the longest name of a class.

use super::rows::shown;
use crate::format::width;
use std::fmt::Write as _;

/// Columns that a name needs beside the numbers.
const ROOM_FOR_NAME: usize = 30;

/// Adds a table to `text`: `head`, and the cells of the first `top` rows; 0 shows all. The last cell
/// is the name. Lines have at most `columns`, where that is known and no word is longer.
pub fn add<R, const N: usize>(
    text: &mut String,
    head: [&str; N],
    rows: &[R],
    top: usize,
    columns: Option<usize>,
    cells: impl Fn(&R) -> [String; N],
) {
    let mut more = String::new();
    let count = shown(rows.len(), top, &mut more);
    let rows: Vec<[String; N]> = rows[..count].iter().map(cells).collect();
    let mut wide = [0; N];
    for cells in rows.iter().map(|row| row.each_ref().map(String::as_str)).chain([head]) {
        for (wide, cell) in wide.iter_mut().zip(cells) {
            *wide = cell.chars().count().max(*wide);
        }
    }
    let numbers: usize = wide[..N - 1].iter().map(|wide| wide + 2).sum();
    let room = columns.and_then(|columns| columns.checked_sub(numbers));
    if columns.is_some() && room.is_none_or(|room| room < ROOM_FOR_NAME.min(wide[N - 1])) {
        rows.iter().for_each(|row| *text += &paragraph(&head, row, columns));
    } else {
        *text += &line(&head.map(String::from), &wide, room);
        rows.iter().for_each(|row| *text += &line(row, &wide, room));
    }
    *text += &width::lines(more.trim_end(), columns);
    if !more.is_empty() {
        text.push('\n');
    }
}

/// A row as a line: numbers at the right of their columns, then the name in `room` columns.
fn line<const N: usize>(row: &[String; N], wide: &[usize; N], room: Option<usize>) -> String {
    let mut text = String::new();
    for (cell, wide) in row[..N - 1].iter().zip(wide) {
        let _ = write!(text, "{cell:>wide$}  ");
    }
    let indent = text.chars().count();
    let name = width::lines(&row[N - 1], room);
    for (number, line) in name.lines().enumerate() {
        let before = if number == 0 { 0 } else { indent };
        let _ = writeln!(text, "{:before$}{line}", "");
    }
    if name.is_empty() {
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// A row as a paragraph: the name, then each number after its head.
fn paragraph<const N: usize>(head: &[&str; N], row: &[String; N], columns: Option<usize>) -> String {
    let cells: Vec<String> =
        head.iter().zip(row).take(N - 1).map(|(head, cell)| format!("{head}\u{a0}{cell}")).collect();
    let text = width::lines(&format!("{}: {}", row[N - 1], cells.join(", ")), columns);
    text.replace('\u{a0}', " ") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: Option<usize>) -> String {
        let mut text = String::new();
        let rows = [("Pair @3, held by next of Pair @5", 1_000_000), ("a", 7)];
        add(&mut text, ["retained", "bytes", "object"], &rows, 0, columns, |(name, bytes)| {
            [(bytes * 2).to_string(), bytes.to_string(), (*name).to_string()]
        });
        text
    }

    #[test]
    fn a_table_obeys_the_width_of_a_line() {
        let expected = "\
retained    bytes  object
 2000000  1000000  Pair @3, held by next of Pair @5
      14        7  a
";
        assert_eq!([None, Some(60)].map(table), [expected; 2]);
        let expected = "\
retained    bytes  object
 2000000  1000000  Pair @3, held by next of Pair
                       @5
      14        7  a
";
        assert_eq!(table(Some(49)), expected);
        let expected = "\
Pair @3, held by next of Pair @5:
    retained 2000000, bytes 1000000
a: retained 14, bytes 7
";
        assert_eq!(table(Some(40)), expected);
    }

    #[test]
    fn rows_that_are_left_out_are_told() {
        let mut text = String::new();
        add(&mut text, ["bytes", "shape"], &[1, 2, 3], 2, Some(30), |row| [row.to_string(), String::new()]);
        assert_eq!(text, "bytes  shape\n    1\n    2\n1 more; --top 0 shows all\n");
    }
}
