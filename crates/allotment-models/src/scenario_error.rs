//! Why a scenario cannot be simulated, and the checks of its numbers.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// Why a scenario cannot be simulated: the number that is wrong, and what would be right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScenarioError(pub(crate) String);

/// The error for the number `what`, which is `found`. `works` says which numbers can be simulated.
pub(crate) fn wrong<T>(what: &str, found: impl Display, works: impl Display) -> Result<T, ScenarioError> {
    Err(ScenarioError(format!("{what} of {found} cannot be simulated; {works}")))
}

/// Checks that the number `what` is in a range.
pub(crate) fn within<T: PartialOrd + Display>(
    what: &str,
    found: T,
    range: RangeInclusive<T>,
    unit: &str,
) -> Result<(), ScenarioError> {
    if range.contains(&found) {
        return Ok(());
    }
    let (least, most) = range.into_inner();
    wrong(what, format!("{found}{unit}"), format!("{least} to {most}{unit} can"))
}
