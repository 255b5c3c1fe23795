//! The ways a command can end: one line on standard error, and an exit code. All exit codes are
//! defined here; `docs/report.md` and the help list the same ones.

use crate::format::{FilesError, OutputError, printable, told, width};
use crate::harness::Interrupt;
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit codes, as the help tells them.
pub(super) const EXIT_CODES: &str = "\
Exit codes:
  0    all that was asked for was done, or a reader of the output has seen enough
  1    something that was asked for could not be done: a case failed, here or on a JVM; another
       allotment measures on this machine; a profile or a counter is not to be had; a file
       cannot be read or written; a row is slower than --fail-on-slower allows. Everything else
       was done, and the last lines say what was not.
  2    it was asked wrongly, or for what this machine cannot hold; nothing was done
  130  it was interrupted; what was measured until then is written";

/// Why the command did not do its task.
#[derive(Debug)]
pub enum Failure {
    /// The user asked wrongly; exit code 2.
    Usage(String),
    /// The task failed; exit code 1.
    Failed(String),
    /// The reader of standard output closed it; exit code 0 and no message.
    NobodyReads,
    /// The user interrupted the command; exit code 130. The results so far have been written.
    Interrupted,
}

impl Failure {
    /// Prints the message and returns the exit code.
    pub fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Failure::Usage(text) => (text.as_str(), 2),
            Failure::Failed(text) => (text.as_str(), 1),
            Failure::NobodyReads => return ExitCode::SUCCESS,
            Failure::Interrupted => return ExitCode::from(Interrupt::EXIT_CODE),
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
