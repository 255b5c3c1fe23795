//! The parent's side of one fork: starts the process, reads its messages, and kills it if
//! necessary.

use super::protocol::{IterationRecord, Message};
use super::supervised::Supervised;
use super::{Interrupt, Order};
use crate::format::Origin;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How a fork ended.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// All iterations were reported.
    Finished,
    /// The user interrupted the run; the fork was killed.
    Interrupted,
    /// The fork crashed, hung, sent something that is not a message, or gave up; the text says
    /// which.
    Failed(String),
}

/// The results of a fork.
#[derive(Debug, PartialEq)]
pub(super) struct Fork {
    /// Its reports, in order.
    pub(super) iterations: Vec<IterationRecord>,
    /// Its profile, if one was requested.
    pub(super) profile: Option<String>,
    /// How it ended.
    pub(super) end: End,
    /// The end of its standard error; of a JVM, the warnings.
    pub(super) complaints: String,
    /// The JVM that measured, as JMH names it.
    pub(super) machine: Option<Origin>,
}

impl Fork {
    /// A fork that has reported nothing.
    pub(super) fn silent(end: End) -> Fork {
        Fork { iterations: Vec::new(), profile: None, end, complaints: String::new(), machine: None }
    }
}

/// Runs a fork to its end. The fork may report nothing for at most `silence`.
pub(super) fn run(mut command: Command, order: &Order, silence: Duration, interrupt: &Interrupt) -> Fork {
    let mut fork = Fork::silent(End::Finished);
    // In a group of its own the fork does not get the terminal's interrupt: the parent ends it.
    command.stdin(Stdio::piped()).process_group(0);
    let mut process = match Supervised::start(&mut command) {
        Ok(process) => process,
        Err(text) => return Fork::silent(End::Failed(text)),
    };
    process.tell(order);
    process.input = None;
    let heard = listen(&mut process, &mut fork, silence, interrupt);
    let (status, complaints) = process.finish(if heard.is_ok() { silence } else { Duration::ZERO });
    fork.end = match (heard, status) {
        (Err(end), _) => end,
        (Ok(true), Ok(status)) if !status.success() => {
            End::Failed(format!("it finished, and then {}{}", describe(&status), last_words(&complaints)))
        }
        (Ok(true), _) => End::Finished,
        (Ok(false), Ok(status)) => End::Failed(format!(
            "it ended without a result, {}{}",
            describe(&status),
            last_words(&complaints)
        )),
        (Ok(false), Err(error)) => End::Failed(format!("it ended without a result: {error}")),
    };
    Fork { complaints, ..fork }
}

/// Gathers messages. Returns whether the last one came before the process closed its output.
fn listen(
    process: &mut Supervised,
    fork: &mut Fork,
    silence: Duration,
    interrupt: &Interrupt,
) -> Result<bool, End> {
    while let Some(line) = process.next(silence, interrupt)? {
        match serde_json::from_str(&line) {
            Ok(Message::Iteration(record)) => fork.iterations.push(record),
            Ok(Message::Profile(text)) => fork.profile = Some(text),
            Ok(Message::Finished) => return Ok(true),
            Ok(Message::Failed(text)) => return Err(End::Failed(text)),
            Err(_) => {
                return Err(End::Failed(format!(
                    "it printed `{}`, which is not a message of a fork",
                    shown(&line)
                )));
            }
        }
    }
    Ok(false)
}

/// The beginning of a line that is not a message.
pub(super) fn shown(line: &str) -> String {
    line.chars().take(60).collect::<String>().escape_debug().to_string()
}

/// How a process ended.
pub(super) fn describe(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// The last lines of standard error, on one line.
pub(super) fn last_words(complaints: &str) -> String {
    let lines: Vec<&str> = complaints.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" | ");
    if last.is_empty() { String::new() } else { format!("; it said: {last}") }
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::{JmhMode, Settings};
    use super::*;
    use std::thread;

    /// Runs a shell script as if it were a fork.
    fn script(text: &str, silence: Duration, interrupt: &Interrupt) -> Fork {
        let order = Order {
            case: case(JmhMode::Throughput, 1),
            plan: Settings::default().plan(JmhMode::Throughput),
            cpus: vec![],
            watch: Default::default(),
            parent: std::process::id(),
        };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        run(command, &order, silence, interrupt)
    }

    fn failure(text: &str) -> String {
        match script(text, Duration::from_secs(60), &Interrupt::never()).end {
            End::Failed(text) => text,
            end => panic!("{end:?}"),
        }
    }

    const ITERATION: &str = r#"echo '{"iteration":{"warmup":false,"measured":{"value":2.5},"calls":9,"nanoseconds_per_call":1.0,"secondary":[]}}'"#;

    #[test]
    fn a_fork_that_does_as_told() {
        let text = format!("{ITERATION}; {ITERATION}; echo '\"finished\"'; echo careful >&2");
        let fork = script(&text, Duration::from_secs(60), &Interrupt::never());
        assert_eq!((fork.end, fork.iterations.len()), (End::Finished, 2));
        assert_eq!(fork.complaints, "careful\n");
    }

    #[test]
    fn every_other_end_is_described() {
        assert_eq!(failure("echo '{\"failed\":\"no memory\"}'"), "no memory");
        assert_eq!(
            failure("echo one >&2; echo two >&2; exit 3"),
            "it ended without a result, exited with code 3; it said: one | two"
        );
        assert!(failure("kill -SEGV $$").contains("was killed by signal 11"));
        assert_eq!(
            failure("printf 'hello\\tthere\\n'"),
            "it printed `hello\\tthere`, which is not a message of a fork"
        );
        assert_eq!(failure("echo '\"finished\"'; exit 1"), "it finished, and then exited with code 1");
        assert_eq!(failure("exit 0"), "it ended without a result, exited with code 0");
    }

    #[test]
    fn garbage_after_a_result_keeps_the_result() {
        let fork = script(&format!("{ITERATION}; echo '{{'"), Duration::from_secs(60), &Interrupt::never());
        assert_eq!(fork.iterations.len(), 1);
        assert!(matches!(fork.end, End::Failed(_)));
    }

    #[test]
    fn a_silent_fork_is_killed() {
        let fork = script("exec sleep 1000", Duration::from_millis(50), &Interrupt::never());
        let End::Failed(text) = fork.end else { panic!("{:?}", fork.end) };
        assert!(text.contains("said nothing"), "{text}");
    }

    #[test]
    fn an_interrupted_fork_is_killed_and_its_iterations_are_kept() {
        let interrupt = Interrupt::never();
        let fork = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(300));
                interrupt.request();
            });
            let text = format!("{ITERATION}; exec sleep 1000");
            script(&text, Duration::from_secs(60), &interrupt)
        });
        assert_eq!(fork.end, End::Interrupted);
        assert!(fork.iterations.len() <= 1);
    }

    #[test]
    fn a_program_that_is_not_there() {
        let order = Order {
            case: case(JmhMode::Throughput, 1),
            plan: Settings::default().plan(JmhMode::Throughput),
            cpus: vec![],
            watch: Default::default(),
            parent: 0,
        };
        let never = Interrupt::never();
        let fork = run(Command::new("/no/such/program"), &order, Duration::from_secs(1), &never);
        assert!(matches!(fork.end, End::Failed(text) if text.contains("cannot start /no/such/program")));
    }
}
