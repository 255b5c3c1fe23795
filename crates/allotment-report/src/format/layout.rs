//! Cells in rows and columns as text: aligned, or stacked where a line has no room for all of them.
//!
//! A terminal breaks a table that is wider than itself in the middle of numbers, and no column
//! stands below its head any more.
//!
//! Refused: wrapping the text of cells, as comfy-table can. It breaks names and numbers too.

use super::width;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

/// A blank at which no line is broken.
const TIE: &str = "\u{a0}";

/// A table of text. All rows have equally many cells.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The heads of the columns; empty for a table without heads, which is always aligned.
    pub header: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
    /// Indexes of columns of words, which are aligned at their left. All other columns are numbers.
    pub words: Vec<usize>,
}

impl Layout {
    /// The text. Every line ends with a newline and has no trailing blanks. Lines are at most
    /// `columns` wide, if that is known and no single word is wider.
    pub fn text(&self, columns: Option<usize>) -> String {
        let aligned = self.aligned();
        match columns {
            Some(columns) if aligned.iter().any(|line| line.chars().count() > columns) => {
                self.stacked(columns)
            }
            _ => aligned.into_iter().map(|line| line + "\n").collect(),
        }
    }

    fn aligned(&self) -> Vec<String> {
        let mut table = Table::new();
        table
            .load_style(presets::NOTHING)
            .set_content_arrangement(ContentArrangement::Disabled)
            .force_no_tty();
        if !self.header.is_empty() {
            table.set_header(&self.header);
        }
        table.add_rows(&self.rows);
        for (index, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, 2));
            let left = self.words.contains(&index);
            column.set_cell_alignment(if left { CellAlignment::Left } else { CellAlignment::Right });
        }
        table.lines().map(|line| line.trim_end().to_string()).collect()
    }

    /// A paragraph for each row: the first cell, then the others, each after its head.
    fn stacked(&self, columns: usize) -> String {
        // A head and its cell stay on one line where they can.
        let pair = |(head, cell): (&String, &String)| {
            let text = format!("{head} {cell}");
            if text.chars().count() < columns / 2 { text.replace(' ', TIE) } else { text }
        };
        let paragraph = |row: &Vec<String>| {
            let cells =
                self.header.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty() && *cell != "-");
            let cells: Vec<String> = cells.map(pair).collect();
            let first = row.first().map_or("", String::as_str);
            let text = width::lines(&format!("{first}: {}", cells.join(", ")), Some(columns));
            text.replace(TIE, " ") + "\n"
        };
        self.rows.iter().map(paragraph).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        let cells = |cells: [&str; 4]| cells.map(String::from).to_vec();
        Layout {
            header: cells(["Benchmark", "(size)", "Score", "Units"]),
            rows: vec![
                cells(["tlab.tlab", "16", "412.500", "ops/us"]),
                cells(["tlab.cas", "-", "1.000", "ops/us"]),
            ],
            words: vec![0, 3],
        }
    }

    #[test]
    fn a_table_is_aligned_where_there_is_room() {
        let expected = "\
Benchmark  (size)    Score  Units
tlab.tlab      16  412.500  ops/us
tlab.cas        -    1.000  ops/us
";
        assert_eq!(layout().text(None), expected);
        assert_eq!(layout().text(Some(34)), expected);
    }

    #[test]
    fn a_table_is_stacked_where_there_is_none() {
        let expected = "\
tlab.tlab: (size) 16,
    Score 412.500,
    Units ops/us
tlab.cas: Score 1.000,
    Units ops/us
";
        assert_eq!(layout().text(Some(30)), expected);
    }
}
