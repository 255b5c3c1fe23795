//! The ways a command can end: one line on standard error, and an exit code. All exit codes are
//! defined here; `docs/report.md` and the help list the same ones.

use super::{Interrupt, print};
use crate::format::{FilesError, OutputError, printable, told, width};
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the command did not do its task.
#[derive(Debug)]
pub enum Failure {
    /// The command line was wrong; exit code 2.
    Usage(String),
    /// The task failed; exit code 1.
    Failed(String),
    /// The reader of standard output closed it; exit code 0 and no message.
    NobodyReads,
    /// The user interrupted the command; exit code 130. The results so far have been written.
    Interrupted,
    /// The user asked for help or for the version: the text, for standard output; exit code 0.
    Told(String),
}

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail. By default it ends the program.
/// Must be called before the program has other threads.
pub fn ignore_file_size_signal() {
    // SAFETY: to ignore a signal runs no code of ours.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Failure::Usage(text) => (text.as_str(), 2),
            Failure::Failed(text) => (text.as_str(), 1),
            Failure::NobodyReads => return ExitCode::SUCCESS,
            Failure::Interrupted => return ExitCode::from(Interrupt::EXIT_CODE),
            Failure::Told(text) => {
                return print(text).map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS);
            }
        };
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let one_line = printable(&one_line);
        // If standard error is closed as well, the message has no reader.
        let _ =
            writeln!(io::stderr(), "{}", width::lines(&format!("allotment: {one_line}"), width::of_errors()));
        ExitCode::from(code)
    }
}

impl From<io::Error> for Failure {
    /// An error of writing to standard output.
    fn from(error: io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::NobodyReads,
            _ => Failure::Failed(format!("cannot write to standard output: {error}")),
        }
    }
}

impl From<FilesError> for Failure {
    fn from(error: FilesError) -> Failure {
        Failure::Usage(error.to_string())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        if error.nobody_reads() { Failure::NobodyReads } else { Failure::Failed(error.to_string()) }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Failed(told(&error))
    }
}
