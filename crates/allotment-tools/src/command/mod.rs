//! The command line of the tools, one file or folder a command.

mod ask;
mod heap;
mod profile;
mod tlab_log;

pub use ask::{AskArguments, AskQuestion, SnapshotForm};
pub use heap::{HeapArguments, OneFile, TwoFiles, tell_heap};
pub use profile::{
    DiffArguments, HtmlArguments, ProfileArguments, SymbolizeArguments, TableArguments, TopArguments,
    tell_profile,
};
pub use tlab_log::{TlabLogArguments, tell_tlab_log};

use allotment_report::command::{Failure, failure_of, joined};
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// A command of the tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// Read a JVM's log of its TLABs (-Xlog:gc+tlab), and try other sizings on it.
    TlabLog(Box<TlabLogArguments>),
    /// Ask the heaps of a program that runs: a snapshot, a profile, a census, its threads, its
    /// numbers.
    #[command(
        override_usage = "allotment ask [PID QUESTION [OPTIONS]]",
        subcommand_help_heading = "Questions",
        disable_help_subcommand = true
    )]
    Ask(AskArguments),
    /// Tell what is in heap snapshots, who holds it, and what has grown.
    #[command(subcommand)]
    Heap(HeapArguments),
    /// Tell where a program allocates and what has come between two profiles; name code; draw flame
    /// graphs.
    #[command(subcommand)]
    Profile(ProfileArguments),
}

impl Tools {
    /// Does what the command asks for.
    ///
    /// # Errors
    /// [`Failure`]: the files cannot be read, or a result cannot be written.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Tools::TlabLog(arguments) => tlab_log::tlab_log(arguments),
            Tools::Ask(arguments) => ask::ask(arguments),
            Tools::Heap(arguments) => heap::heap(arguments),
            Tools::Profile(arguments) => profile::profile(arguments),
        }
    }
}

#[derive(Debug, Parser)]
#[command(
    name = "allotment-tools",
    version,
    about = "Reads heap snapshots, allocation profiles and TLAB logs."
)]
struct CommandLine {
    #[command(subcommand)]
    tools: Tools,
}

/// Reads the command line of `allotment-tools`, program name included.
///
/// # Errors
/// [`Failure::Usage`] in one line; [`Failure::Told`] if the user asked for help or the version.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Tools, Failure> {
    let line = CommandLine::try_parse_from(joined(arguments));
    line.map(|line| line.tools).map_err(|error| {
        failure_of(&error, |text| match text {
            _ if text.contains("allotment-tools heap") => HeapArguments::NOTHING_GIVEN.into(),
            _ if text.contains("allotment-tools profile") => ProfileArguments::NOTHING_GIVEN.into(),
            _ => "no command given; write allotment-tools tlab-log, ask, heap or profile".into(),
        })
    })
}
