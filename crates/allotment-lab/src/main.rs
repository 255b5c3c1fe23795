//! The `allotment` command: measures the gain from each part of the heap on this machine.

use allotment_lab::command::{self, Command};
use allotment_lab::experiments;
use std::process::ExitCode;

fn main() -> ExitCode {
    // A limit on file sizes (`ulimit -f`) is an error of the write then, and not the end.
    // SAFETY: to ignore is a known disposition, and no thread of the program runs yet.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
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
        Command::TlabLog(arguments) => command::tlab_log(&arguments),
        Command::Ask(arguments) => command::ask(&arguments),
        Command::Heap(arguments) => command::heap(&arguments),
        Command::Profile(arguments) => command::profile(&arguments),
        Command::Layout(arguments) => command::layout(&arguments, experiments),
        Command::Simulate(simulation) => command::simulate(&simulation),
        Command::Fork => command::fork(experiments),
        Command::Neighbour => command::neighbour(),
        Command::Told(text) => command::print(&text),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
