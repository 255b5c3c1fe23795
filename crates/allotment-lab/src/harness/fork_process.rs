//! The parent's side of one fork: starts the process, hears it out, and ends it if need be.

use super::protocol::{IterationRecord, Message};
use super::{Interrupt, Order};
use crate::jvm::process::GLANCE;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How a fork ended.
#[derive(Debug, PartialEq)]
pub(super) enum End {
    /// All iterations were reported.
    Finished,
    /// The user interrupted the run; the fork was killed.
    Interrupted,
    /// Crashed, hung, talked nonsense or gave up; the text says which.
    Failed(String),
}

/// A fork's iterations and last words.
#[derive(Debug, PartialEq)]
pub(super) struct Fork {
    /// Its reports, in order.
    pub(super) iterations: Vec<IterationRecord>,
    /// Where its time went, if that was asked for.
    pub(super) profile: Option<String>,
    /// How it ended.
    pub(super) end: End,
    /// The end of what it wrote to standard error.
    pub(super) complaints: String,
}

impl Fork {
    /// One that has reported nothing.
    pub(super) fn silent(end: End) -> Fork {
        Fork { iterations: Vec::new(), profile: None, end, complaints: String::new() }
    }
}

/// Runs a fork to its end. `silence` is how long it may say nothing.
pub(super) fn run(mut command: Command, order: &Order, silence: Duration, interrupt: &Interrupt) -> Fork {
    let failed = |text: String| Fork::silent(End::Failed(text));
    let order = match serde_json::to_vec(order) {
        Ok(order) => order,
        Err(error) => return failed(format!("cannot write the order: {error}")),
    };
    // A group of its own keeps the terminal's interrupt from it: the parent decides when it ends.
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed(format!("cannot start {}: {error}", command.get_program().display())),
    };
    if let Some(mut input) = child.stdin.take() {
        // A child that is dead already cannot read; its status says more than this error would.
        let _ = input.write_all(&order);
    }
    let listening = read_lines(&mut child).and_then(|lines| Ok((lines, read_complaints(&mut child)?)));
    let (lines, complaints) = match listening {
        Ok(listening) => listening,
        Err(error) => {
            // It must not be left behind; why it is of no use is the error to tell.
            let _ = child.kill();
            let _ = child.wait();
            return failed(format!("{NO_LISTENER}: {error}"));
        }
    };
    let mut profile = None;
    let (iterations, mut end) = listen(&lines, silence, interrupt, &mut profile);
    if end != Some(Ok(())) {
        let _ = child.kill();
    }
    let status = child.wait();
    let complaints = complaints.and_then(|reader| reader.join().ok()).unwrap_or_default();
    if end.is_none() {
        end = Some(Err(End::Failed(match &status {
            Ok(status) => {
                format!("it ended without a result, {}{}", describe(status), last_words(&complaints))
            }
            Err(error) => format!("it ended without a result: {error}"),
        })));
    }
    let end = match (end, status) {
        (Some(Err(end)), _) => end,
        (_, Ok(status)) if !status.success() => {
            End::Failed(format!("it finished, and then {}{}", describe(&status), last_words(&complaints)))
        }
        _ => End::Finished,
    };
    Fork { iterations, profile, end, complaints }
}

/// Gathers messages until the last one. None if the child ended before it.
fn listen(
    lines: &Receiver<String>,
    silence: Duration,
    interrupt: &Interrupt,
    profile: &mut Option<String>,
) -> (Vec<IterationRecord>, Option<Result<(), End>>) {
    let mut iterations = Vec::new();
    let mut last = Instant::now();
    loop {
        if interrupt.requested() {
            return (iterations, Some(Err(End::Interrupted)));
        }
        let line = match lines.recv_timeout(GLANCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) if last.elapsed() < silence => continue,
            Err(RecvTimeoutError::Timeout) => {
                let text = format!("it said nothing for {:.1} s and was killed", silence.as_secs_f64());
                return (iterations, Some(Err(End::Failed(text))));
            }
            Err(RecvTimeoutError::Disconnected) => return (iterations, None),
        };
        last = Instant::now();
        match serde_json::from_str(&line) {
            Ok(Message::Iteration(record)) => iterations.push(record),
            Ok(Message::Profile(text)) => *profile = Some(text),
            Ok(Message::Finished) => return (iterations, Some(Ok(()))),
            Ok(Message::Failed(text)) => return (iterations, Some(Err(End::Failed(text)))),
            Err(_) => {
                let shown: String = line.chars().take(60).collect();
                let text = format!("it printed `{}`, which is no result", shown.escape_debug());
                return (iterations, Some(Err(End::Failed(text))));
            }
        }
    }
}

/// What is said where the system gives no thread to read a child's output.
pub(super) const NO_LISTENER: &str = "cannot start a thread that reads what it says";

/// Lines of standard output, as they come. The thread ends with the child.
///
/// # Errors
/// The system gives no thread.
pub(super) fn read_lines(child: &mut Child) -> io::Result<Receiver<String>> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
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

/// The end of standard error; all of it is read, or the child would block on a full pipe.
///
/// # Errors
/// The system gives no thread.
pub(super) fn read_complaints(child: &mut Child) -> io::Result<Option<thread::JoinHandle<String>>> {
    const KEPT: usize = 4096;
    let Some(mut errors) = child.stderr.take() else { return Ok(None) };
    let reader = thread::Builder::new().name("errors".into()).spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; KEPT]);
        while let Ok(length @ 1..) = errors.read(&mut buffer) {
            kept.extend_from_slice(&buffer[..length]);
            kept.drain(..kept.len().saturating_sub(KEPT));
        }
        String::from_utf8_lossy(&kept).into_owned()
    })?;
    Ok(Some(reader))
}

pub(super) fn describe(status: &ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exited with code {code}"),
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".into(),
    }
}

/// The last lines of standard error, on one line.
fn last_words(complaints: &str) -> String {
    let lines: Vec<&str> = complaints.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines[lines.len().saturating_sub(3)..].join(" | ");
    if last.is_empty() { String::new() } else { format!("; it said: {last}") }
}

#[cfg(test)]
mod tests {
    use super::super::case::examples::case;
    use super::super::{JmhMode, Settings};
    use super::*;

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
        assert_eq!(failure("printf 'hello\\tthere\\n'"), "it printed `hello\\tthere`, which is no result");
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
