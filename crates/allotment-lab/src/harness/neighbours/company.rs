//! The parent's side of neighbours: starts their process before a fork, and ends it after.

use super::Neighbours;
use super::process::{NeighbourMessage, NeighbourOrder};
use crate::harness::Interrupt;
use crate::harness::fork_process::{NO_LISTENER, read_lines};
use crate::jvm::process::GLANCE;
use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long neighbours may take to stop: some microseconds, where there are CPUs for them.
const LEAVING: Duration = Duration::from_secs(10);

/// Why there are no neighbours.
#[derive(Debug, PartialEq)]
pub(in crate::harness) enum Left {
    /// The user wants the end of the run.
    Interrupted,
    /// They cannot walk, or ended before their time; the text says why.
    Failed(String),
}

/// Neighbours that walk. Their process is killed when this value is dropped, and by the kernel when
/// the parent dies.
#[derive(Debug)]
pub(in crate::harness) struct Company {
    child: Child,
    /// Its end is the sign to stop.
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Company {
    /// Starts neighbours and waits until all walk; `command` is the program with the hidden command
    /// `neighbour`, `patience` how long they may take to set up their memory.
    ///
    /// # Errors
    /// They could not be started, or the user does not want them any more.
    pub(in crate::harness) fn start(
        mut command: Command,
        neighbours: Neighbours,
        cpus: Vec<Option<usize>>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Company, Left> {
        let failed = |text: String| Left::Failed(format!("its neighbours: {text}"));
        // As for a fork: the parent decides when they end, and not the terminal.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command
            .spawn()
            .map_err(|error| failed(format!("cannot start {}: {error}", command.get_program().display())))?;
        let input = child.stdin.take();
        let lines = match read_lines(&mut child) {
            Ok(lines) => lines,
            Err(error) => {
                // It must not be left behind; why it is of no use is the error to tell.
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed(format!("{NO_LISTENER}: {error}")));
            }
        };
        let mut company = Company { child, input, lines };
        let order = NeighbourOrder { neighbours, cpus, parent: std::process::id() };
        let order = serde_json::to_string(&order).map_err(|error| failed(error.to_string()))? + "\n";
        if let Some(input) = &mut company.input {
            // A process that is dead already cannot read; what it said tells more than this error.
            let _ = input.write_all(order.as_bytes());
        }
        match company.next(patience, Some(interrupt))? {
            NeighbourMessage::Ready => Ok(company),
            NeighbourMessage::Rate(_) => Err(failed("they stopped before they walked".into())),
        }
    }

    /// Lets them stop, and returns how many lines they walked in a microsecond.
    ///
    /// # Errors
    /// They had ended before, so that what was measured beside them was measured alone.
    pub(in crate::harness) fn leave(mut self) -> Result<f64, Left> {
        match self.child.try_wait() {
            Ok(None) => {}
            _ => return Err(self.ended()),
        }
        drop(self.input.take());
        match self.next(LEAVING, None)? {
            NeighbourMessage::Rate(rate) => Ok(rate),
            NeighbourMessage::Ready => Err(Left::Failed("its neighbours were ready twice".into())),
        }
    }

    /// The next message.
    fn next(&mut self, patience: Duration, interrupt: Option<&Interrupt>) -> Result<NeighbourMessage, Left> {
        let start = Instant::now();
        loop {
            if interrupt.is_some_and(Interrupt::requested) {
                return Err(Left::Interrupted);
            }
            match self.lines.recv_timeout(GLANCE) {
                Ok(line) => {
                    return serde_json::from_str(&line).map_err(|_| {
                        let shown: String = line.chars().take(60).collect();
                        Left::Failed(format!(
                            "its neighbours printed `{}`, which is no message",
                            shown.escape_debug()
                        ))
                    });
                }
                Err(RecvTimeoutError::Timeout) if start.elapsed() < patience => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = patience.as_secs_f64();
                    return Err(Left::Failed(format!("its neighbours said nothing for {seconds:.1} s")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// How they ended that should not have, in their last words.
    fn ended(&mut self) -> Left {
        self.end();
        let status = self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string());
        let mut words = String::new();
        if let Some(errors) = &mut self.child.stderr {
            // Not text, or nothing: then the status is all there is to tell.
            let _ = errors.take(4096).read_to_string(&mut words);
        }
        let said = words.trim().replace('\n', " | ");
        let said = if said.is_empty() { String::new() } else { format!("; they said: {said}") };
        Left::Failed(format!("its neighbours ended early, {status}{said}"))
    }

    fn end(&mut self) {
        // Dead already is as good.
        let _ = self.child.kill();
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        self.end();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Starts a shell script as if it were neighbours.
    fn start(text: &str, patience: Duration, interrupt: &Interrupt) -> Result<Company, Left> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        Company::start(command, "1:64m".parse().unwrap(), vec![None], patience, interrupt)
    }

    fn failure<T>(result: Result<T, Left>) -> String {
        match result {
            Err(Left::Failed(text)) => text,
            Err(Left::Interrupted) => panic!("nobody has interrupted"),
            Ok(_) => panic!("it went well"),
        }
    }

    const READY: &str = r#"read order; echo '"ready"'"#;

    #[test]
    fn neighbours_walk_until_they_are_let_go() {
        let company = start(
            &format!(r#"{READY}; cat > /dev/null; echo '{{"rate":2.5}}'"#),
            PATIENCE,
            &Interrupt::never(),
        );
        assert_eq!(company.unwrap().leave(), Ok(2.5));
    }

    #[test]
    fn every_other_end_is_described() {
        let never = Interrupt::never();
        let started = |text: &str| failure(start(text, PATIENCE, &never));
        assert_eq!(
            started("read order; echo no memory >&2; exit 1"),
            "its neighbours ended early, exit status: 1; they said: no memory"
        );
        assert_eq!(started("echo hello"), "its neighbours printed `hello`, which is no message");
        assert!(started(r#"echo '{"rate":1}'"#).contains("stopped before they walked"));
        let left = |text: &str| failure(start(text, PATIENCE, &never).unwrap().leave());
        assert!(left(&format!("{READY}; cat > /dev/null")).contains("ended early, exit status: 0"));
        let company = start(&format!("{READY}; kill -9 $$"), PATIENCE, &never).unwrap();
        // Dead or dying: either way it has no rate.
        assert!(failure(company.leave()).contains("signal: 9"));
        let silent = start("exec sleep 1000", Duration::from_millis(50), &never);
        assert!(failure(silent).contains("said nothing"));
        let program = Command::new("/no/such/program");
        let absent = Company::start(program, "1:64m".parse().unwrap(), vec![], PATIENCE, &never);
        assert!(failure(absent).contains("cannot start /no/such/program"));
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::never();
        interrupt.request();
        assert_eq!(start("exec sleep 1000", PATIENCE, &interrupt).unwrap_err(), Left::Interrupted);
    }

    #[test]
    fn whoever_drops_them_ends_them() {
        let company = start(&format!("{READY}; exec sleep 1000"), PATIENCE, &Interrupt::never()).unwrap();
        let id = company.child.id();
        drop(company);
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }
}
