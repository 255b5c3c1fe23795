//! A request to stop early and keep what there is.
//!
//! One request may come as several signals: `timeout` signals its child and then the group that the
//! child is in, a terminal signals a whole group, and a session that ends sends a hang-up and then
//! a termination. So what comes within [`REPEAT`] of the signal before is the same request. A count
//! of signals was refused: it took `timeout` for a user who presses Ctrl-C twice, and threw away
//! what was measured.
//!
//! A signal that was ignored when the program began stays ignored: that is what `nohup` and a
//! shell's `&` ask for.

use anyhow::{Context, anyhow};
use rustix::process::Signal;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Signals this close together are one request.
const REPEAT: Duration = Duration::from_secs(1);

/// How long the request behind a signal may take to be seen here, after another process has died of
/// the same signal.
const SETTLING: Duration = Duration::from_millis(100);

/// What asks for the end.
const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// Whether the user wants the run to end. The first Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT) asks; one
/// that comes more than a second after the signal before ends the program at once, and the kernel
/// ends its forks.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Exit code of a run that was interrupted: 128 + SIGINT, as shells have it.
    pub const EXIT_CODE: u8 = 130;

    /// Starts listening to signals. Once per process.
    ///
    /// # Errors
    /// Somebody listens already, or the system gives no thread that listens.
    pub fn install() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let (heard, mut requests) = (interrupt.clone(), Requests::default());
        let ignored = SIGNALS.map(is_ignored);
        ctrlc::set_handler(move || match requests.signal(Instant::now()) {
            Request::First => heard.request(),
            Request::Repeated => {}
            Request::Again => std::process::exit(i32::from(Self::EXIT_CODE)),
        })
        .map_err(|error| match error {
            // Its own text hides the cause.
            ctrlc::Error::System(cause) => anyhow!("cannot start a thread that listens to Ctrl-C: {cause}"),
            other => anyhow!("cannot listen to Ctrl-C: {other}"),
        })?;
        // Not among those of the crate. A file of what the memory held, as SIGQUIT leaves it, helps
        // nobody who ends a run.
        hear_as_interrupt(Signal::QUIT).context("cannot listen to SIGQUIT")?;
        SIGNALS
            .into_iter()
            .zip(ignored)
            .filter(|(_, ignored)| *ignored)
            .for_each(|(signal, _)| ignore(signal));
        Ok(interrupt)
    }

    /// An interrupt that no signal asks for.
    pub fn never() -> Interrupt {
        Interrupt::default()
    }

    /// Asks for the end, as a signal would.
    pub fn request(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether somebody has asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether a process of this run has ended of a request that is for the whole run: a signal to
    /// all processes of a session or a service reaches the forks too, and may do so first.
    pub fn explains_end(&self) -> bool {
        let start = Instant::now();
        while !self.requested() && start.elapsed() < SETTLING {
            thread::sleep(Duration::from_millis(5));
        }
        self.requested()
    }
}

/// What a signal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// A request to end.
    First,
    /// The request before, told once more.
    Repeated,
    /// A further request: the user does not want to wait.
    Again,
}

/// The signals so far.
#[derive(Debug, Default)]
struct Requests {
    last: Option<Instant>,
}

impl Requests {
    fn signal(&mut self, now: Instant) -> Request {
        match self.last.replace(now) {
            None => Request::First,
            Some(before) if now.saturating_duration_since(before) < REPEAT => Request::Repeated,
            Some(_) => Request::Again,
        }
    }
}

/// What the kernel does at a signal.
fn action(signal: Signal) -> io::Result<libc::sigaction> {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one, into memory of its type.
    let asked = unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), action.as_mut_ptr()) };
    if asked != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has written it.
    Ok(unsafe { action.assume_init() })
}

fn is_ignored(signal: Signal) -> bool {
    action(signal).is_ok_and(|action| action.sa_sigaction == libc::SIG_IGN)
}

/// Gives a signal the handler that SIGINT has.
fn hear_as_interrupt(signal: Signal) -> io::Result<()> {
    let handler = action(Signal::INT)?;
    // SAFETY: the action is one that the kernel has; its handler is fit for a handler, and looks at
    // no signal's number.
    let set = unsafe { libc::sigaction(signal.as_raw(), &handler, std::ptr::null_mut()) };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn ignore(signal: Signal) {
    // SAFETY: to ignore a signal runs no code of ours.
    let before = unsafe { libc::signal(signal.as_raw(), libc::SIG_IGN) };
    debug_assert_ne!(before, libc::SIG_ERR, "a signal that a handler was set for can be ignored");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_within_a_second_are_one_request() {
        let (mut requests, start) = (Requests::default(), Instant::now());
        let mut at = |milliseconds| requests.signal(start + Duration::from_millis(milliseconds));
        assert_eq!(at(0), Request::First);
        assert_eq!(at(0), Request::Repeated);
        assert_eq!(at(900), Request::Repeated);
        assert_eq!(at(1800), Request::Repeated, "within a second of the one before");
        assert_eq!(at(2900), Request::Again);
        let mut backwards = Requests { last: Some(start + Duration::from_secs(9)) };
        assert_eq!(backwards.signal(start), Request::Repeated);
    }

    #[test]
    fn a_request_explains_ends_and_nothing_else_does() {
        let interrupt = Interrupt::never();
        assert!(!interrupt.explains_end());
        interrupt.request();
        assert!(interrupt.explains_end());
    }
}
