//! The origin of an option's value.
//!
//! [`Source`] is a channel through which a value can be given. [`Origin`] adds the two cases in
//! which no source gave one. They are two types so that a value cannot be given "by default".

use std::fmt;

/// The environment variable that
/// [`OptionSet::apply_environment`](super::OptionSet::apply_environment) reads.
pub const ENVIRONMENT_VARIABLE: &str = "ALLOTMENT_OPTIONS";

/// The source of a value. A later variant outranks an earlier one, in any order of the calls.
/// The environment outranks the program that embeds the heap, so that a user can tune the program
/// without building it again. A command line outranks the environment, because it is the narrower
/// of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The program that embeds the heap.
    Builder,
    /// The environment variable `ALLOTMENT_OPTIONS`.
    Environment,
    /// A command line.
    CommandLine,
}

/// The origin of an option's value, in the words of HotSpot's `-XX:+PrintFlagsFinal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// No source gave a value: the default of the table.
    Default,
    /// This source gave the value.
    Given(Source),
    /// The heap chose it from the machine and from the other options.
    Ergonomic,
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Builder => "builder",
            Self::Environment => "environment",
            Self::CommandLine => "command line",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.pad("default"),
            Self::Given(source) => source.fmt(formatter),
            Self::Ergonomic => formatter.pad("ergonomic"),
        }
    }
}
