//! Where an option's value came from.
//!
//! [`Source`] is what somebody may give a value through, [`Origin`] is that and the two cases in which
//! nobody gave one. They are two types so that a value cannot be given "by default".

use std::fmt;

/// The environment variable that [`OptionSet::apply_environment`](super::OptionSet::apply_environment) reads.
pub const ENVIRONMENT_VARIABLE: &str = "ALLOTMENT_OPTIONS";

/// Who gives a value. A later variant outranks an earlier one, whatever the order of the calls: the
/// environment outranks the program that embeds the heap, so that a user can tune the program without
/// building it again, and a command line outranks the environment, being the narrower of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The program that embeds the heap.
    Builder,
    /// The environment variable `ALLOTMENT_OPTIONS`.
    Environment,
    /// A command line.
    CommandLine,
}

/// Where an option's value came from, in the words of HotSpot's `-XX:+PrintFlagsFinal`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Nobody gave one: the default of the table.
    Default,
    /// Somebody gave it.
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
