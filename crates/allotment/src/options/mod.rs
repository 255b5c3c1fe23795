//! Options: what can be chosen about a heap, by whom, and what was chosen.
//!
//! There is one table of options ([`OPTIONS`]); the fields of [`Options`], the setters, the readers of
//! `ALLOTMENT_OPTIONS` and of command lines, and the [manual](fn@manual) come from its rows. Names are
//! HotSpot's where HotSpot has an option of the same meaning, and the rows say where the meanings differ.
//!
//! An [`OptionSet`] collects values from the program, the environment and a command line, and knows the
//! [`Origin`] of each; [`OptionSet::finish`] checks them together and gives plain [`Options`]. Options in
//! a configuration file or as a structure of strings were refused: the one is another file for an embedder
//! to ship, the other moves misspelt names from the start of a program to its first use of the value.
//!
//! This layer is pure data. It knows neither the machine nor the heap; a value of 0 that leaves a choice
//! to the heap is still 0 in what `finish` returns, and the heap reports its choice by
//! [`OptionSet::resolve`].

mod choices;
mod error;
mod kinds;
mod manual;
mod nearest;
mod origin;
pub(crate) mod rules;
mod set;
pub(crate) mod table;

#[cfg(test)]
mod tests;

pub use choices::{CollectorKind, RefillStrategy, TlabPolicy};
pub use error::OptionError;
pub use kinds::{Choice, Count, Granule, Milliseconds, Real, Size, Switch};
pub use manual::manual;
pub use origin::{ENVIRONMENT_VARIABLE, Origin, Source};
pub use set::{OptionRow, OptionSet};
pub use table::{OPTIONS, OptionId, OptionInfo, OptionKind, Options};
