//! Parts of tables that are made from files: checks of two files, shares, the number of shown rows,
//! and names with any characters.

use super::Failure;
use crate::format::{Input, InputError};
use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::path::Path;

/// Checks two files that are compared.
///
/// # Errors
/// [`Failure::Usage`] if both are standard input, which can be read once.
pub fn both_readable(before: &Path, after: &Path) -> Result<(), Failure> {
    if before == after && before.as_os_str() == "-" {
        let name = Input::name(before);
        return Err(Failure::Usage(format!(
            "both files are {name}, which can be read once; name one of them"
        )));
    }
    Ok(())
}

/// The failure of a command that cannot read a file: the file, and why.
pub fn named(file: &Path, why: &dyn Display) -> Failure {
    Failure::Failed(InputError::new(&Input::name(file), why.to_string()).to_string())
}

/// The share of a value in a total, in percent; 0 if the total is 0.
pub fn share(value: i128, total: i128) -> f64 {
    if total == 0 { 0.0 } else { value as f64 * 100.0 / total as f64 }
}

/// The number of `rows` that are shown; a `top` of 0 shows all. A line in `text` names the rest.
pub fn shown(rows: usize, top: usize, text: &mut String) -> usize {
    let shown = if top == 0 { rows } else { rows.min(top) };
    if shown < rows {
        let _ = writeln!(text, "{} more; --top 0 shows all", rows - shown);
    }
    shown
}

/// A name from a file, with escapes for line breaks and other control characters.
pub fn on_one_line(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return name.into();
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.into() };
    name.chars().map(escaped).collect::<String>().into()
}
