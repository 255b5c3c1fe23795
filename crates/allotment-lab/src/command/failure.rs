//! How a command can end other than well: one line on standard error, and an exit code.

use crate::harness::Interrupt;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why the command did not do what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// It was asked wrongly; exit code 2.
    Usage(String),
    /// It could not; exit code 1.
    Failed(String),
    /// Standard output was closed by its reader, who has seen enough; exit code 0 and no word.
    NobodyReads,
    /// The user interrupted it; exit code 130. What there was has been written.
    Interrupted,
}

impl Failure {
    /// Says so and returns the exit code.
    pub fn report(&self) -> ExitCode {
        let (text, code) = match self {
            Failure::Usage(text) => (text.as_str(), 2),
            Failure::Failed(text) => (text.as_str(), 1),
            Failure::NobodyReads => return ExitCode::SUCCESS,
            Failure::Interrupted => return ExitCode::from(Interrupt::EXIT_CODE),
        };
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // If standard error is closed as well, there is nobody to tell.
        let _ = writeln!(io::stderr(), "allotment: {one_line}");
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

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Failed(format!("{error:#}"))
    }
}
