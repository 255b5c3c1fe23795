//! The command `allotment-tools`: reads snapshots, profiles and logs, and asks running programs.

use allotment_report::command::ignore_file_size_signal;
use allotment_tools::command::parse;
use std::process::ExitCode;

fn main() -> ExitCode {
    ignore_file_size_signal();
    match parse(std::env::args_os()).and_then(|tools| tools.run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
