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
use allotment_report::format::Input;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;

/// A command of the tools.
#[derive(Debug, Subcommand)]
pub enum Tools {
    /// Read a JVM's log of its TLABs (-Xlog:gc+tlab), and try other sizings on it.
    TlabLog(Box<TlabLogArguments>),
    /// Ask a heap of a running program for a snapshot, a profile, a census, its threads or its
    /// metrics.
    #[command(
        override_usage = "allotment ask [PID QUESTION [OPTIONS]]",
        subcommand_help_heading = "Questions",
        disable_help_subcommand = true
    )]
    Ask(AskArguments),
    /// Read heap snapshots: objects by shape, what holds them, and what has grown.
    #[command(subcommand)]
    Heap(HeapArguments),
    /// Read allocation profiles: where a program allocates, and what has changed between two
    /// profiles. Name code; draw flame graphs.
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

/// The failure for an error that names its file.
fn failed(error: impl Display) -> Failure {
    Failure::Failed(error.to_string())
}

/// The failure for two files that cannot be compared.
fn incomparable(before: &Path, after: &Path, why: &str) -> Failure {
    let [before, after] = [before, after].map(Input::quoted);
    failed(format!("cannot compare {before} with {after}: {why}"))
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
