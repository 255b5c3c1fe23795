//! The command line: the user's commands, one file per command.
//!
//! The flags for axes are not listed here. They are made from the experiments' axes, so a new
//! experiment brings its own flags.

mod answers;
mod arguments;
mod ask;
mod asm;
mod baseline;
mod counters;
mod failure;
mod heap;
mod jvm;
mod layout;
mod measuring;
mod profile;
mod report;
mod reporting;
mod rows;
mod run;
mod run_arguments;
mod show;
mod simulate;
mod table;
mod tlab_log;
mod truth;
mod tune;

pub use arguments::{Command, TuneArguments, parse};
pub use ask::{AskArguments, AskQuestion, SnapshotForm, ask};
pub use asm::{AsmArguments, asm};
pub use counters::counters;
pub use failure::Failure;
pub use heap::{HeapArguments, OneFile, TwoFiles, heap, tell_heap};
pub use jvm::JvmArguments;
pub use layout::{LayoutArguments, layout};
pub use profile::{
    DiffArguments, HtmlArguments, ProfileArguments, SymbolizeArguments, TableArguments, TopArguments,
    profile, tell_profile,
};
pub use reporting::{CompareArguments, ReportArguments, compare_files, report};
pub use run::run;
pub use run_arguments::RunArguments;
pub use show::{fork, list, machine, neighbour, options, print, print_bold};
pub use simulate::{CoherenceArguments, Simulation, TlabArguments, simulate};
pub use tlab_log::{TlabLogArguments, tell_tlab_log, tlab_log};
pub use truth::{TruthArguments, truth};
pub use tune::tune;
