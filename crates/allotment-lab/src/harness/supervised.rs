//! A process whose output the parent reads line by line, and which the parent ends.
//!
//! Forks, JVMs and neighbours are such processes. Each leads a process group of its own, so that
//! the group ends with it.

use super::Interrupt;
use super::fork_process::End;
use crate::jvm::process::{DRAIN, GLANCE, bury, has_ended, read};
use serde::Serialize;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A process, which is killed with its group when this value is dropped.
#[derive(Debug)]
pub(super) struct Supervised {
    pub(super) child: Child,
    /// Standard input, if it is piped. Its end is a sign to the process.
    pub(super) input: Option<ChildStdin>,
    /// Lines of standard output, as they come.
    lines: Receiver<String>,
    /// The end of standard error, sent when the process has closed it.
    complaints: Receiver<String>,
}

impl Supervised {
    /// Starts a process that leads a group.
    ///
    /// # Errors
    /// The process cannot be started, or the system gives no thread to read its output.
    pub(super) fn start(command: &mut Command) -> Result<Supervised, String> {
        let spawned = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child =
            spawned.map_err(|error| format!("cannot start {}: {error}", command.get_program().display()))?;
        let readers = read_lines(child.stdout.take()).and_then(|lines| {
            let complaints = child.stderr.take().map(|errors| read(errors, keep_end)).transpose()?;
            Ok((lines, complaints.unwrap_or_else(|| channel().1)))
        });
        match readers {
            Ok((lines, complaints)) => Ok(Supervised { input: child.stdin.take(), child, lines, complaints }),
            Err(error) => {
                // The error of the thread is the one to tell.
                let _ = bury(&mut child);
                Err(format!("cannot start a thread that reads what it says: {error}"))
            }
        }
    }

    /// Sends an order as a line of JSON.
    pub(super) fn tell(&mut self, order: &impl Serialize) {
        if let (Some(input), Ok(order)) = (&mut self.input, serde_json::to_string(order)) {
            // A process that has ended cannot read. Its status says more than this error.
            let _ = input.write_all((order + "\n").as_bytes());
        }
    }

    /// The next line; `None` if the process has closed its output.
    ///
    /// # Errors
    /// The user interrupts, or the process prints nothing for `silence`.
    pub(super) fn next(&mut self, silence: Duration, interrupt: &Interrupt) -> Result<Option<String>, End> {
        let start = Instant::now();
        loop {
            if interrupt.requested() {
                return Err(End::Interrupted);
            }
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => return Ok(Some(line)),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) if start.elapsed() < silence => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = silence.as_secs_f64();
                    return Err(End::Failed(format!("it said nothing for {seconds:.1} s and was killed")));
                }
            }
        }
    }

    /// Waits for the end for at most `patience`, and then kills the group. Returns the status and the
    /// end of standard error.
    pub(super) fn finish(&mut self, patience: Duration) -> (io::Result<ExitStatus>, String) {
        let start = Instant::now();
        let mut complaints = None;
        while complaints.is_none()
            && start.elapsed() < patience
            && has_ended(&self.child).is_ok_and(|ended| !ended)
        {
            complaints = self.complaints.recv_timeout(GLANCE).ok();
        }
        let status = bury(&mut self.child);
        let complaints = complaints.or_else(|| self.complaints.recv_timeout(DRAIN).ok());
        (status, complaints.unwrap_or_default())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // An error means that it has ended.
            let _ = bury(&mut self.child);
        }
    }
}

/// Reads lines of standard output. The thread ends with the process.
fn read_lines(output: Option<ChildStdout>) -> io::Result<Receiver<String>> {
    let (sender, receiver) = channel();
    if let Some(output) = output {
        thread::Builder::new().name("output".into()).spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                if sender.send(String::from_utf8_lossy(&line).trim_end().to_string()).is_err() {
                    break;
                }
                line.clear();
            }
        })?;
    }
    Ok(receiver)
}

/// Keeps the end of an output.
fn keep_end(kept: &mut Vec<u8>, more: &[u8]) {
    const KEPT: usize = 4096;
    kept.extend_from_slice(more);
    kept.drain(..kept.len().saturating_sub(KEPT));
}
