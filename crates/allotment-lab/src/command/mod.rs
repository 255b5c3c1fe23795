//! The command line: the commands of the lab, one file each. Those of the tools and of the models
//! are in their crates.
//!
//! The flags for axes are not listed here. They are made from the experiments' axes, so a new
//! experiment brings its own flags.

mod arguments;
mod asm;
mod baseline;
mod counters;
mod jvm;
mod layout;
mod measuring;
mod printed;
mod reporting;
mod run;
mod run_arguments;
mod show;
mod simulate;
mod truth;
mod tune;

pub use arguments::{Command, TuneArguments, parse};
pub use asm::{AsmArguments, asm};
pub use counters::counters;
pub use jvm::JvmArguments;
pub use layout::{LayoutArguments, layout};
pub use measuring::MeasuringArguments;
pub use reporting::{CompareArguments, ReportArguments, compare_files, report};
pub use run::run;
pub use run_arguments::RunArguments;
pub use show::{fork, list, machine, neighbour, options};
pub use simulate::simulate;
pub use truth::{TruthArguments, truth};
pub use tune::tune;

use allotment_report::command::{Failure, print, print_answers};
