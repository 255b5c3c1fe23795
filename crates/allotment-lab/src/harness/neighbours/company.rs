//! The parent's side of neighbours: starts their process before a fork, and ends it after.

use super::Neighbours;
use super::process::{NeighbourMessage, NeighbourOrder};
use crate::harness::Interrupt;
use crate::harness::fork_process::{End, describe, last_words, shown};
use crate::harness::supervised::Supervised;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The time limit for neighbours to stop. They take some microseconds, where there are CPUs for
/// them.
const LEAVING: Duration = Duration::from_secs(10);

/// Neighbours that walk. Their process is killed when this value is dropped, and by the kernel when
/// the parent ends.
#[derive(Debug)]
pub(in crate::harness) struct Company(Supervised);

impl Company {
    /// Starts neighbours and waits until all walk. `command` is the program with the hidden command
    /// `neighbour`. They may take at most `patience` to set up their memory.
    ///
    /// # Errors
    /// They could not be started, or the user interrupts.
    pub(in crate::harness) fn start(
        mut command: Command,
        neighbours: Neighbours,
        cpus: Vec<Option<usize>>,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Company, End> {
        // In a group of its own the process does not get the terminal's interrupt.
        command.stdin(Stdio::piped()).process_group(0);
        let mut company = Company(Supervised::start(&mut command).map_err(|text| failed(&text))?);
        company.0.tell(&NeighbourOrder { neighbours, cpus, parent: std::process::id() });
        match company.next(patience, interrupt)? {
            NeighbourMessage::Ready => Ok(company),
            NeighbourMessage::Rate(_) => Err(failed("they stopped before they walked")),
        }
    }

    /// Lets them stop, and returns the lines that they walked per microsecond.
    ///
    /// # Errors
    /// They had ended before, so the case was measured without neighbours.
    pub(in crate::harness) fn leave(mut self) -> Result<f64, End> {
        self.0.input = None;
        match self.next(LEAVING, &Interrupt::never())? {
            NeighbourMessage::Rate(rate) => Ok(rate),
            NeighbourMessage::Ready => Err(failed("they were ready twice")),
        }
    }

    /// The next message.
    fn next(&mut self, patience: Duration, interrupt: &Interrupt) -> Result<NeighbourMessage, End> {
        match self.0.next(patience, interrupt) {
            Ok(Some(line)) => serde_json::from_str(&line)
                .map_err(|_| failed(&format!("they printed `{}`, which is not a message", shown(&line)))),
            Ok(None) => {
                let (status, complaints) = self.0.finish(Duration::ZERO);
                let status = status.map_or_else(|error| error.to_string(), |status| describe(&status));
                Err(failed(&format!("they ended early; their process {status}{}", last_words(&complaints))))
            }
            Err(End::Failed(text)) => Err(failed(&text)),
            Err(end) => Err(end),
        }
    }
}

fn failed(text: &str) -> End {
    End::Failed(format!("its neighbours: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    /// Starts a shell script as if it were neighbours.
    fn start(text: &str, patience: Duration, interrupt: &Interrupt) -> Result<Company, End> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        Company::start(command, "1:64m".parse().unwrap(), vec![None], patience, interrupt)
    }

    fn failure<T>(result: Result<T, End>) -> String {
        match result {
            Err(End::Failed(text)) => text,
            Err(end) => panic!("{end:?}"),
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
            "its neighbours: they ended early; their process exited with code 1; it said: no memory"
        );
        assert_eq!(started("echo hello"), "its neighbours: they printed `hello`, which is not a message");
        assert!(started(r#"echo '{"rate":1}'"#).contains("stopped before they walked"));
        let left = |text: &str| failure(start(text, PATIENCE, &never).unwrap().leave());
        assert!(left(&format!("{READY}; cat > /dev/null")).contains("exited with code 0"));
        let company = start(&format!("{READY}; kill -9 $$"), PATIENCE, &never).unwrap();
        // Dead or dying: either way it has no rate.
        assert!(failure(company.leave()).contains("signal 9"));
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
        assert_eq!(start("exec sleep 1000", PATIENCE, &interrupt).unwrap_err(), End::Interrupted);
    }

    #[test]
    fn dropped_neighbours_end() {
        let company = start(&format!("{READY}; exec sleep 1000"), PATIENCE, &Interrupt::never()).unwrap();
        let id = company.0.child.id();
        drop(company);
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }
}
