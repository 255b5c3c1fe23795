//! The texts that refuse options: each option with its value and origin, the reason, and the
//! remedy.

use crate::options::error::OptionError;
use crate::options::items::{OptionId, OptionKind};
use crate::options::set::OptionSet;

/// An option with its value and origin, in the user's notation.
pub(super) fn shown(set: &OptionSet, id: OptionId) -> String {
    let (info, value) = (id.info(), set.values().text(id));
    let written = match info.kind {
        OptionKind::Switch(_) => format!("{}{}", if value == "true" { '+' } else { '-' }, info.name),
        _ => format!("{}={value}", info.name),
    };
    format!("{written} {{{}}}", set.origin(id))
}

/// The option `id` has no effect because of `cause`.
pub(super) fn no_effect(
    set: &OptionSet,
    id: OptionId,
    cause: OptionId,
    why: &str,
) -> Result<(), OptionError> {
    let name = id.info().name;
    let message = format!(
        "{} has no effect with {}, {why}; leave it out, or undo it with {name}=default",
        shown(set, id),
        shown(set, cause),
    );
    conflict(&[id, cause], message)
}

/// The value of `id` is greater than that of `limit`, which is its upper bound.
pub(super) fn greater(set: &OptionSet, id: OptionId, limit: OptionId) -> Result<(), OptionError> {
    let message =
        format!("{} is greater than {}; lower the one or raise the other", shown(set, id), shown(set, limit));
    conflict(&[id, limit], message)
}

/// The value of `id` is smaller than that of `limit`, which is its lower bound.
pub(super) fn smaller(set: &OptionSet, id: OptionId, limit: OptionId) -> Result<(), OptionError> {
    let message =
        format!("{} is smaller than {}; raise the one or lower the other", shown(set, id), shown(set, limit));
    conflict(&[id, limit], message)
}

/// The error for values that conflict.
pub(super) fn conflict(options: &[OptionId], message: String) -> Result<(), OptionError> {
    Err(OptionError::Conflict { options: options.iter().map(|id| id.info().name).collect(), message })
}
