//! Text in rows and columns.

/// Text in rows and columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// The coordinates that are equal in all rows: `eden = 256k, threads = 1`.
    pub constant: String,
    /// The columns.
    pub header: Vec<Title>,
    /// The cells of each row.
    pub rows: Vec<Vec<String>>,
}

/// The head of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Title {
    /// Its text.
    pub text: String,
    /// Whether the cells are numbers, which are aligned at their right.
    pub number: bool,
}

impl Title {
    /// The head of a column of words.
    pub fn text(text: &str) -> Title {
        Title { text: text.into(), number: false }
    }

    /// The head of a column of numbers.
    pub fn number(text: &str) -> Title {
        Title { text: text.into(), number: true }
    }
}
