//! The `allotment` command: measures the gain from each part of the heap on this machine.

use allotment_lab::command::{self, Command};
use allotment_lab::experiments;
use allotment_report::command::ignore_file_size_signal;
use std::process::ExitCode;

fn main() -> ExitCode {
    ignore_file_size_signal();
    let experiments = experiments::all();
    let done = command::parse(std::env::args_os(), experiments).and_then(|chosen| match chosen {
        Command::List => command::list(experiments),
        Command::Run(arguments) => command::run(&arguments, experiments),
        Command::Report(arguments) => command::report(&arguments, experiments),
        Command::Compare(arguments) => command::compare_files(&arguments),
        Command::Tune(arguments) => command::tune(&arguments, experiments),
        Command::Truth(arguments) => command::truth(&arguments, experiments),
        Command::Machine => command::machine(),
        Command::Counters => command::counters(),
        Command::Options => command::options(),
        Command::Asm(arguments) => command::asm(&arguments),
        Command::Tools(tools) => tools.run(),
        Command::Layout(arguments) => command::layout(&arguments, experiments),
        Command::Simulate(simulation) => command::simulate(&simulation),
        Command::Fork => command::fork(experiments),
        Command::Neighbour => command::neighbour(),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
