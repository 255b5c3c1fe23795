//! An external program: it must end in time, its children end with it, and its output is kept.
//!
//! JMH starts a JVM of its own and Maven may do so. So each program gets a process group, and the
//! group ends with the program.
//!
//! Refused: `Child::wait_with_output`. It has no time limit for a program that hangs, or for a
//! process that inherited the output.

use crate::machine::die_with_parent;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The polling interval of a waiting thread.
pub(crate) const GLANCE: Duration = Duration::from_millis(20);

/// The time limit for reading the output of a program that has ended.
pub(crate) const DRAIN: Duration = Duration::from_secs(2);

/// Bytes of output that are kept. A JVM's list of all its flags has about 100,000.
const KEPT: usize = 1 << 20;

/// Variables that give a user's JVM options which are not on its command line.
const HIDDEN_OPTIONS: [&str; 3] = ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS"];

/// How a program ended.
#[derive(Debug)]
pub(crate) enum Fate {
    /// The program exited by itself.
    Exited(ExitStatus),
    /// The program exceeded its time limit and was killed.
    TooLong,
    /// The program was killed because the user interrupted.
    Stopped,
}

/// A program that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) fate: Fate,
    /// The beginning of standard output.
    pub(crate) output: String,
    /// The beginning of standard error.
    pub(crate) errors: String,
}

impl Ended {
    /// Whether it exited with code 0.
    pub(crate) fn succeeded(&self) -> bool {
        matches!(&self.fate, Fate::Exited(status) if status.success())
    }

    /// Everything that it said, errors first.
    pub(crate) fn said(&self) -> String {
        format!("{}{}", self.errors, self.output)
    }
}

/// The standard output of a JVM that must succeed; otherwise an error that begins with its `name`.
/// `task` is the verb that it fails to do.
///
/// # Errors
/// The JVM does not start, fails, takes longer than `limit`, or is stopped.
pub(super) fn output_of(
    command: Command,
    name: &str,
    task: &str,
    limit: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<String, String> {
    let ended = run(command, limit, stop).map_err(|error| format!("{name} does not run: {error}"))?;
    match ended.fate {
        Fate::Exited(status) if status.success() => Ok(ended.output),
        Fate::Exited(_) => Err(format!("{name} does not {task}: {}", cause_in(&ended.said()))),
        Fate::Stopped => Err(format!("{name} was interrupted")),
        Fate::TooLong => Err(format!("{name} took more than {} s and was killed", limit.as_secs())),
    }
}

/// Waits for the end of a child, until `limit` or until `stop` returns true, and then kills its
/// group.
///
/// # Errors
/// The child cannot be waited for.
pub(super) fn wait(child: &mut Child, limit: Duration, stop: &dyn Fn() -> bool) -> io::Result<Fate> {
    let start = Instant::now();
    let cut = loop {
        if has_ended(child)? {
            break None;
        }
        if stop() {
            break Some(Fate::Stopped);
        }
        if start.elapsed() > limit {
            break Some(Fate::TooLong);
        }
        thread::sleep(GLANCE);
    };
    let status = bury(child)?;
    Ok(cut.unwrap_or(Fate::Exited(status)))
}

/// Removes the variables with options that are not on the JVM's command line.
pub(crate) fn without_hidden_options(command: &mut Command) {
    for name in HIDDEN_OPTIONS {
        command.env_remove(name);
    }
}

/// Makes `command` the leader of a process group. The kernel kills the leader when the thread that
/// starts it ends. The leader's own children are not killed then, but when the group is killed
/// ([`bury`]).
pub(crate) fn tie(command: &mut Command) {
    let parent = std::process::id();
    // SAFETY: between fork and exec only the calling thread lives on. There the closure makes two
    // system calls. It takes no lock and allocates nothing.
    unsafe { command.process_group(0).pre_exec(move || die_with_parent(parent)) };
}

/// Whether the child has ended. The child is not reaped, so its number stays its own.
pub(crate) fn has_ended(child: &Child) -> io::Result<bool> {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), look)?.is_some())
}

/// Kills the remaining processes of the child's group, then waits for the child.
pub(crate) fn bury(child: &mut Child) -> io::Result<ExitStatus> {
    // The child has not been waited for, so the group's number is still its own. An error means
    // that the group has no members.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    child.wait()
}

/// Runs a program until its end, until `limit`, or until `stop` returns true.
///
/// # Errors
/// The program cannot be started, or the system gives no thread to read its output.
pub(crate) fn run(mut command: Command, limit: Duration, stop: &dyn Fn() -> bool) -> io::Result<Ended> {
    without_hidden_options(&mut command);
    tie(&mut command);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let output = child.stdout.take().map(|from| read(from, keep_beginning)).transpose();
    let errors = child.stderr.take().map(|from| read(from, keep_beginning)).transpose();
    let (output, errors) = match (output, errors) {
        (Ok(output), Ok(errors)) => (output, errors),
        (Err(error), _) | (_, Err(error)) => {
            bury(&mut child)?;
            return Err(io::Error::new(
                error.kind(),
                format!("cannot start a thread that reads what it says: {error}"),
            ));
        }
    };
    let fate = wait(&mut child, limit, stop)?;
    let text = |reader: Option<Receiver<String>>| {
        reader.and_then(|reader| reader.recv_timeout(DRAIN).ok()).unwrap_or_default()
    };
    Ok(Ended { fate, output: text(output), errors: text(errors) })
}

/// Keeps the beginning of an output.
fn keep_beginning(kept: &mut Vec<u8>, more: &[u8]) {
    kept.extend_from_slice(&more[..more.len().min(KEPT - kept.len())]);
}

/// Reads all of an output, in a thread, and sends the part that `keep` has kept of it. A process
/// would block on a full pipe.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn read(
    mut from: impl Read + Send + 'static,
    keep: fn(&mut Vec<u8>, &[u8]),
) -> io::Result<Receiver<String>> {
    let (sender, receiver) = channel();
    thread::Builder::new().name("reader".into()).spawn(move || {
        let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            keep(&mut kept, &buffer[..length]);
        }
        // The receiver may have given up.
        let _ = sender.send(String::from_utf8_lossy(&kept).into_owned());
    })?;
    Ok(receiver)
}

/// Words that mark a failure in a JVM's output.
const TELLING: [&str; 4] = ["Error", "Exception", "Unrecognized", "Invalid"];

/// Lines that a JVM and JMH print for every failure, and that do not explain this one.
const HOLLOW: [&str; 8] = [
    "Could not create the Java Virtual Machine",
    "A fatal exception has occurred",
    "Error occurred during initialization of VM",
    "fail on error was requested",
    "Benchmark caught the exception",
    "Caused by: org.openjdk.jmh",
    "Suppressed: ",
    "JMH lock is ignored",
];

/// The important part of a failed program's output, on one line: its error message, or its end.
pub(crate) fn cause_in(text: &str) -> String {
    const LONGEST: usize = 300;
    // Lines that begin with # or < are JMH's own; lines with `at` and dots are the trace of an
    // exception.
    let says = |line: &&str| {
        !line.is_empty() && !["#", "<", "at ", "...", "WARNING"].iter().any(|mark| line.starts_with(mark))
    };
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(says).collect();
    lines.retain(|line| !HOLLOW.iter().any(|hollow| line.contains(hollow)));
    lines.dedup();
    let tells = |line: &&str| TELLING.iter().any(|word| line.contains(word));
    let told = match lines.iter().position(tells) {
        Some(first) => &lines[first..lines.len().min(first + 2)],
        None => &lines[lines.len().saturating_sub(3)..],
    };
    told.join(" | ").chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::super::examples::wait_for_end;
    use super::*;

    fn shell(text: &str, limit: Duration) -> Ended {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        run(command, limit, &|| false).unwrap()
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_a_program_says_is_kept() {
        let ended = shell("echo out; echo err >&2; exit 3", LONG);
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("out\n", "err\n"));
        assert!(matches!(ended.fate, Fate::Exited(status) if status.code() == Some(3)) && !ended.succeeded());
    }

    #[test]
    fn a_program_that_hangs_ends_with_all_that_it_started() {
        let ended = shell("sleep 1000 & echo $!; wait", Duration::from_millis(100));
        assert!(matches!(ended.fate, Fate::TooLong));
        wait_for_end(&ended.output);
    }

    #[test]
    fn output_that_somebody_inherited_is_not_waited_for() {
        let ended = shell("sleep 1000 & echo done", LONG);
        assert!(ended.succeeded() && ended.output == "done\n");
    }

    #[test]
    fn a_user_ends_it() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exec sleep 1000"]);
        assert!(matches!(run(command, LONG, &|| true).unwrap().fate, Fate::Stopped));
    }

    #[test]
    fn options_do_not_come_from_the_environment() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo [$JAVA_TOOL_OPTIONS]"]).env("JAVA_TOOL_OPTIONS", "-Xint");
        assert_eq!(run(command, LONG, &|| false).unwrap().output, "[]\n");
    }

    #[test]
    fn the_cause_is_the_error_or_the_end() {
        assert_eq!(cause_in("a\nb\n\nc\nd\n"), "b | c | d");
        let text = "# VM options: -XX:+ExitOnOutOfMemoryError\n<failure>\njava.lang.OutOfMemoryError: Java heap space\n\tat a.b(C.java)\nbye";
        assert_eq!(cause_in(text), "java.lang.OutOfMemoryError: Java heap space | bye");
        let text = "<stderr last='20 lines'>\nOldPLABSize (1024) must be greater\nError: Could not create the Java Virtual Machine.\n</stderr>\n\
                    ERROR: Benchmark caught the exception\nCaused by: org.openjdk.jmh.runner.BenchmarkException: Benchmark error";
        assert_eq!(cause_in(text), "OldPLABSize (1024) must be greater");
        assert_eq!(cause_in(""), "");
        assert_eq!(cause_in(&"x".repeat(1000)).len(), 300);
    }
}
