//! A request to stop early and keep what there is.
//!
//! One request may come as several signals: `timeout` signals its child and then the group that the
//! child is in, a terminal signals a whole group, and a session that ends sends a hang-up and then
//! a termination. So a signal within [`REPEAT`] of the one before it is the same request. Refused: a
//! count of signals. It mistakes `timeout` for a user who presses Ctrl-C twice, and loses the
//! results.
//!
//! A signal that was ignored when the program began stays ignored: that is what `nohup` and a
//! shell's `&` ask for.

use anyhow::Context;
use rustix::process::Signal;
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Signals this close together are one request.
const REPEAT: Duration = Duration::from_secs(1);

/// The time within which a signal arrives here after another process has died of the same signal.
const SETTLING: Duration = Duration::from_millis(100);

/// The signals that ask for the end.
const SIGNALS: [Signal; 4] = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT];

/// Whether the user wants the run to end. The first Ctrl-C (or SIGTERM, SIGHUP, SIGQUIT) requests
/// the end. A signal more than a second after the one before ends the program at once, and the
/// kernel ends its forks.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Exit code of a run that was interrupted: 128 + SIGINT, as shells have it.
    pub const EXIT_CODE: u8 = 130;

    /// Starts listening to signals. Once per process.
    ///
    /// # Errors
    /// The system gives no handler, or no thread that listens.
    pub fn install() -> anyhow::Result<Interrupt> {
        let interrupt = Interrupt::default();
        let (heard, mut requests) = (interrupt.clone(), Requests::default());
        let heeded = SIGNALS.into_iter().filter(|signal| !is_ignored(*signal)).map(Signal::as_raw);
        let mut signals = Signals::new(heeded).context("cannot listen to Ctrl-C")?;
        let listen = move || {
            signals.forever().for_each(|_| match requests.signal(Instant::now()) {
                Request::First => heard.request(),
                Request::Repeated => {}
                Request::Again => std::process::exit(i32::from(Self::EXIT_CODE)),
            });
        };
        let thread = thread::Builder::new().name("signals".into());
        thread.spawn(listen).context("cannot start a thread that listens to Ctrl-C")?;
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

    /// Whether the end has been requested.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether a request for the whole run explains the end of one of its processes: a signal to all
    /// processes of a session or a service reaches the forks too, and may do so first.
    pub fn explains_end(&self) -> bool {
        let start = Instant::now();
        while !self.requested() && start.elapsed() < SETTLING {
            thread::sleep(Duration::from_millis(5));
        }
        self.requested()
    }
}

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// A request to end.
    First,
    /// The previous request, repeated.
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

/// Whether the signal was ignored before anything was set.
fn is_ignored(signal: Signal) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action the call only writes the present one, into memory of its type.
    let asked = unsafe { libc::sigaction(signal.as_raw(), std::ptr::null(), action.as_mut_ptr()) };
    // SAFETY: the kernel has written it.
    asked == 0 && unsafe { action.assume_init() }.sa_sigaction == libc::SIG_IGN
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
