//! The errors of options.
//!
//! Every message says what was wrong, who gave the value and what would be right. Options often
//! reach a program through three hands, and the reader of a message is rarely the author of the
//! value.

use super::origin::{ENVIRONMENT_VARIABLE, Origin, Source};

/// The reason why options were refused. No part of a refused call has been applied.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionError {
    /// There is no option of this name.
    #[error("unknown option {name} {{{given_by}}}{hint}", hint = suggest(name, *suggestion))]
    Unknown {
        /// The name as it was written.
        name: String,
        /// The source that gave it.
        given_by: Source,
        /// The option that was probably meant.
        suggestion: Option<&'static str>,
    },
    /// An item of a list of options is not of the form that its option needs.
    #[error("{item} {{{given_by}}}: {reason}")]
    Form {
        /// The item as it was written.
        item: String,
        /// The source that gave it.
        given_by: Source,
        /// The fault in the item, and the right form.
        reason: String,
    },
    /// A value is not one that its option takes.
    #[error("{name}={value} {{{origin}}}: {reason}; {name} takes {range}")]
    Value {
        /// The option.
        name: &'static str,
        /// The value as it was written.
        value: String,
        /// The origin of the value.
        origin: Origin,
        /// The fault in the value.
        reason: String,
        /// The values that the option takes.
        range: String,
    },
    /// Values that are each right alone cannot work together.
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
        /// The value, with invalid parts replaced.
        value: String,
    },
}
crate::debug::debug_is_display!(OptionError);

/// The addition to the message about an unknown `name`.
fn suggest(name: &str, suggestion: Option<&'static str>) -> String {
    match suggestion {
        Some(known) if name.eq_ignore_ascii_case(known) => {
            format!(": names are case-sensitive, write {known}")
        }
        Some(known) => format!(": did you mean {known}?"),
        None => ": no known option is similar; the manual lists all".to_owned(),
    }
}
