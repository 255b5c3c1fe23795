//! Samples by a clock of the thread's own CPU time, for systems without perf events, such as many
//! containers.
//!
//! The kernel sends the thread a signal each time it has run for a while, and the handler records
//! the interrupted address. The timer sends a pointer to the record along, so the process needs no
//! variable for it. The process has one handler for the signal, and a count under a lock of the
//! samplers that need it. The handler performs only atomic operations.
//!
//! The address is that of the next instruction to finish. So the time shows at the
//! instruction after the one that takes it.

use super::Samples;
use crate::hold::hold;
use crate::machine::program_counter;
use rustix::thread::gettid;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, ptr};

/// Samples that a timer holds between start and stop: more than a minute of them.
const CAPACITY: usize = 1 << 16;

/// The state of the process' signal handler.
struct Handler {
    /// The samplers that need the handler.
    users: usize,
    /// The handler that was installed before the first of them.
    before: Option<libc::sigaction>,
}

/// The one handler of this process.
static HANDLER: Mutex<Handler> = Mutex::new(Handler { users: 0, before: None });

/// The memory that the handler writes to.
struct Record {
    addresses: Box<[AtomicUsize]>,
    taken: AtomicUsize,
}

impl Record {
    /// Called in a signal handler.
    fn add(&self, address: usize) {
        let at = self.taken.fetch_add(1, Ordering::Relaxed);
        if let Some(slot) = self.addresses.get(at) {
            slot.store(address, Ordering::Relaxed);
        }
    }
}

/// Samples of the thread that made it.
pub(super) struct Timer {
    timer: libc::timer_t,
    mask: libc::sigset_t,
    record: Box<Record>,
    interval: Duration,
}

impl Timer {
    /// A timer for the calling thread, not started. It sends a signal each time the thread has run
    /// for `interval`, or more rarely if the kernel checks more rarely.
    ///
    /// # Errors
    /// The system has no such timer, or does not let this process have it.
    pub(super) fn new(interval: Duration) -> io::Result<Timer> {
        let record = Box::new(Record {
            addresses: (0..CAPACITY).map(|_| AtomicUsize::new(0)).collect(),
            taken: AtomicUsize::new(0),
        });
        // SAFETY: all zeroes is a value of this structure.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_value = libc::sigval { sival_ptr: ptr::from_ref(&*record).cast_mut().cast() };
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_notify_thread_id = gettid().as_raw_nonzero().get();
        let mut timer = ptr::null_mut();
        // SAFETY: both structures live throughout the call.
        checked(unsafe {
            libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer)
        })?;
        if let Err(error) = install() {
            // SAFETY: the timer was made above, and is not armed.
            unsafe { libc::timer_delete(timer) };
            return Err(error);
        }
        // SAFETY: all zeroes is a value of these plain structures.
        let (mut wanted, mut mask): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the sets live throughout the calls.
        unsafe {
            libc::sigemptyset(&raw mut wanted);
            libc::sigaddset(&raw mut wanted, libc::SIGPROF);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const wanted, &raw mut mask);
        }
        Ok(Timer { timer, mask, record, interval })
    }

    pub(super) fn start(&mut self) -> io::Result<()> {
        self.record.taken.store(0, Ordering::Relaxed);
        self.set(self.interval)
    }

    pub(super) fn stop(&mut self) -> io::Result<Samples> {
        self.set(Duration::ZERO)?;
        let taken = self.record.taken.load(Ordering::Relaxed);
        let mut samples = Samples::default();
        for address in self.record.addresses.iter().take(taken) {
            samples.add(address.load(Ordering::Relaxed) as u64);
        }
        samples.lost = taken.saturating_sub(CAPACITY) as u64;
        Ok(samples)
    }

    /// Sets the time between signals; zero for none.
    fn set(&self, interval: Duration) -> io::Result<()> {
        let every = libc::timespec {
            tv_sec: interval.as_secs() as libc::time_t,
            tv_nsec: interval.subsec_nanos().into(),
        };
        let times = libc::itimerspec { it_interval: every, it_value: every };
        // SAFETY: the timer belongs to this value; the times live throughout the call.
        checked(unsafe { libc::timer_settime(self.timer, 0, &raw const times, ptr::null_mut()) })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: the timer and mask of `new`, on the same thread. A pending signal arrives when
        // the first call returns, while the record exists; after that no more signals come.
        unsafe {
            libc::timer_delete(self.timer);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut());
        }
        uninstall();
    }
}

/// Installs the handler for the signal, unless it is installed already.
fn install() -> io::Result<()> {
    // The pair is consistent even after a panic.
    let mut handler = hold(&HANDLER);
    if handler.users == 0 {
        // SAFETY: all zeroes is a value of these plain structures.
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
        action.sa_sigaction = sampled as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the structures live throughout the call; the handler performs only operations
        // that handlers may perform.
        checked(unsafe { libc::sigaction(libc::SIGPROF, &raw const action, &raw mut before) })?;
        handler.before = Some(before);
    }
    handler.users += 1;
    Ok(())
}

/// Restores the former handler, if no sampler needs this one any more.
fn uninstall() {
    let mut handler = hold(&HANDLER);
    handler.users -= 1;
    if handler.users == 0
        && let Some(before) = handler.before.take()
    {
        // SAFETY: the structure is the one that the system gave `install`. The call cannot fail for
        // a signal that had a handler.
        unsafe { libc::sigaction(libc::SIGPROF, &raw const before, ptr::null_mut()) };
    }
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The signal handler.
extern "C" fn sampled(_signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes both pointers to a handler with `SA_SIGINFO`; `si_code` is in every
    // `siginfo_t`.
    if unsafe { (*info).si_code } != libc::SI_TIMER {
        return;
    }
    // SAFETY: a timer's signal has a value. All timers with this signal have a `Record`, which
    // lives longer than its timer.
    let record = unsafe { &*(*info).si_value().sival_ptr.cast::<Record>() };
    // SAFETY: as above: the context of the interrupted code.
    record.add(program_counter(unsafe { &*context.cast::<libc::ucontext_t>() }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_lost_and_said() {
        let mut timer = Timer::new(Duration::from_secs(3600)).unwrap();
        timer.start().unwrap();
        for address in 0..CAPACITY + 3 {
            timer.record.add(address);
        }
        let samples = timer.stop().unwrap();
        assert_eq!((samples.total(), samples.lost), (CAPACITY as u64, 3));
        timer.start().unwrap();
        assert_eq!(timer.stop().unwrap(), Samples::default());
    }

    #[test]
    fn the_handler_is_there_while_somebody_needs_it() {
        let is_ours = || {
            // SAFETY: all zeroes is a value of this structure, which the call fills.
            let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
            // SAFETY: the call only reads the action.
            unsafe { libc::sigaction(libc::SIGPROF, ptr::null(), &raw mut now) };
            now.sa_sigaction == sampled as *const () as usize
        };
        let first = Timer::new(Duration::from_secs(1)).unwrap();
        let second = Timer::new(Duration::from_secs(1)).unwrap();
        drop(first);
        assert!(is_ours());
        drop(second);
        // Other tests may sample meanwhile; then the handler is installed for them.
        let handler = HANDLER.lock().unwrap();
        assert_eq!(handler.users > 0, is_ours());
    }
}
