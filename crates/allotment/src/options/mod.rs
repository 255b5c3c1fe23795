//! Options: the possible choices about a heap, their sources, and the choices made.
//!
//! There is one table of options, [`OPTIONS`]. Its rows generate the fields of [`Options`], the
//! setters, the readers of `ALLOTMENT_OPTIONS` and of command lines, and the [manual](fn@manual).
//! Names are HotSpot's where HotSpot has an option of the same meaning, and the rows say where the
//! meanings differ.
//!
//! An [`OptionSet`] collects values from the program, the environment and a command line, and knows
//! the [`Origin`] of each. [`OptionSet::finish`] checks them together and gives plain [`Options`].
//!
//! This layer is pure data. It knows neither the machine nor the heap. A value of 0 that leaves a
//! choice to the heap is still 0 in the result of `finish`; the heap reports its choice by
//! [`OptionSet::resolve`].
//!
//! Refused:
//!
//! - Options in a configuration file: it is another file for an embedder to ship.
//! - Options as a structure of strings: a misspelt name fails at the first use of the value instead
//!   of at the start.

mod choices;
mod error;
mod items;
mod jvm_flags;
mod kinds;
mod manual;
mod nearest;
mod origin;
pub(crate) mod rules;
mod set;
pub(crate) mod table;

#[cfg(test)]
mod tests;

pub use choices::{CollectorKind, RefillStrategy, ShenandoahMode, TlabPolicy};
pub use error::OptionError;
pub use items::{OPTIONS, OptionId, OptionInfo, OptionKind, Options};
pub use kinds::{Choice, Count, Granule, Milliseconds, Path, Real, Size, Switch};
pub use manual::manual;
pub use origin::{ENVIRONMENT_VARIABLE, Origin, Source};
pub use set::{OptionRow, OptionSet};
