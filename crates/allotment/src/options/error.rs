//! What can be wrong with options.
//!
//! Every message says what was wrong, who gave it and what would be right: options often reach a
//! program through three hands, and the one who reads the message is rarely the one who wrote the value.

use super::origin::{ENVIRONMENT_VARIABLE, Origin, Source};

/// Why options were refused. Nothing of a refused call has been applied.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// There is no option of this name.
    #[error("unknown option {name} {{{given_by}}}{hint}", hint = suggest(name, *suggestion))]
    Unknown {
        /// The name as it was written.
        name: String,
        /// Who wrote it.
        given_by: Source,
        /// The option that was probably meant.
        suggestion: Option<&'static str>,
    },
    /// An item of a list of options is not of the form that its option needs.
    #[error("{item} {{{given_by}}}: {reason}")]
    Form {
        /// The item as it was written.
        item: String,
        /// Who wrote it.
        given_by: Source,
        /// What is wrong and what would be right.
        reason: String,
    },
    /// A value is not one that its option takes.
    #[error("{name}={value} {{{origin}}}: {reason}; {name} takes {range}")]
    Value {
        /// The option.
        name: &'static str,
        /// The value as it was written.
        value: String,
        /// Where the value came from.
        origin: Origin,
        /// What is wrong with it.
        reason: String,
        /// What the option takes.
        range: String,
    },
    /// Values that are right each for itself cannot work together.
    #[error("{message}")]
    Conflict {
        /// The options in conflict; the first is the one to change first.
        options: Vec<&'static str>,
        /// The options with their values and origins, why they conflict, and what to do.
        message: String,
    },
    /// The environment variable is not text.
    #[error("{ENVIRONMENT_VARIABLE} is not valid UTF-8: {value}")]
    NotText {
        /// The value, with what is not text replaced.
        value: String,
    },
}
crate::debug::debug_is_display!(OptionError);

/// What to add to the message about an unknown `name`.
fn suggest(name: &str, suggestion: Option<&'static str>) -> String {
    match suggestion {
        Some(known) if name.eq_ignore_ascii_case(known) => format!(": names heed case, write {known}"),
        Some(known) => format!(": did you mean {known}?"),
        None => ": it is not like any known one; the manual lists them".to_owned(),
    }
}
