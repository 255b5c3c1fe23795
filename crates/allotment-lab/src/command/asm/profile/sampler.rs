//! Samples of the program counter, by a clock of the thread's own CPU time.
//!
//! The kernel sends the thread a signal each time it has run for a while; the handler reads where it was interrupted and
//! counts. It finds what it counts in by the pointer that the timer sends along, so that the process has no variable for it;
//! what the process has once is the signal's handler, and a lock says whose that is. The handler does nothing but atomic
//! additions. Refused: `perf_event_open`, which containers forbid.
//!
//! The counter is that of the next instruction to finish, so time shows at the instruction behind the one that takes it.

use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Who samples: a process has one handler for a signal.
static HANDLER: Mutex<()> = Mutex::new(());

/// How often the program counter was where.
#[derive(Debug)]
pub(super) struct Counts {
    spans: [Span; 2],
    elsewhere: AtomicU64,
}

/// A piece of code, and how often it was at each of its bytes.
#[derive(Debug)]
struct Span {
    start: usize,
    counts: Box<[AtomicU64]>,
}

impl Counts {
    /// None yet, in two pieces of code, each an address and a number of bytes.
    pub(super) fn new(code: [(usize, usize); 2]) -> Counts {
        let span = |(start, bytes)| Span { start, counts: (0..bytes).map(|_| AtomicU64::new(0)).collect() };
        Counts { spans: code.map(span), elsewhere: AtomicU64::new(0) }
    }

    /// Counts that address. Called in a signal handler.
    fn add(&self, address: usize) {
        let within = |span: &'_ Span| address.checked_sub(span.start).filter(|at| *at < span.counts.len());
        for span in &self.spans {
            if let Some(at) = within(span) {
                span.counts[at].fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        self.elsewhere.fetch_add(1, Ordering::Relaxed);
    }

    /// Of each piece, the samples at each of its bytes.
    pub(super) fn pieces(&self) -> [Vec<u64>; 2] {
        let read = |span: &Span| span.counts.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        [read(&self.spans[0]), read(&self.spans[1])]
    }

    /// Samples in neither piece.
    pub(super) fn elsewhere(&self) -> u64 {
        self.elsewhere.load(Ordering::Relaxed)
    }
}

/// The calling thread is sampled while there is this.
pub(super) struct Sampling<'c> {
    timer: libc::timer_t,
    handler: libc::sigaction,
    mask: libc::sigset_t,
    /// The samples go there; and the thread is this one.
    counts: PhantomData<(&'c Counts, *mut ())>,
    _own: MutexGuard<'static, ()>,
}

impl Sampling<'_> {
    /// Samples the calling thread each time it has run for `interval`, or as seldom as the kernel looks.
    ///
    /// # Errors
    /// The system has no such timer, or does not let this process have it.
    pub(super) fn start(counts: &Counts, interval: Duration) -> io::Result<Sampling<'_>> {
        // The lock guards no data that a panic could leave halfway.
        let own = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: all zeroes is a value of these plain structures.
        let (mut action, mut before, mut wanted, mut mask): (
            libc::sigaction,
            libc::sigaction,
            libc::sigset_t,
            libc::sigset_t,
        ) = unsafe { std::mem::zeroed() };
        // SAFETY: all zeroes is a value of it.
        let mut event: libc::sigevent = unsafe { std::mem::zeroed() };
        event.sigev_value = libc::sigval { sival_ptr: ptr::from_ref(counts).cast_mut().cast() };
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        // SAFETY: without arguments.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = ptr::null_mut();
        // SAFETY: both structures live over the call.
        checked(unsafe {
            libc::timer_create(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut event, &raw mut timer)
        })?;
        action.sa_sigaction = sampled as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        // SAFETY: the structures live over the calls; the handler does only what handlers may. From `sigaction` on `before`
        // is what was there.
        let installed =
            checked(unsafe { libc::sigaction(libc::SIGPROF, &raw const action, &raw mut before) });
        if let Err(error) = installed {
            // SAFETY: a timer that was made above, and is set to nothing.
            unsafe { libc::timer_delete(timer) };
            return Err(error);
        }
        // SAFETY: the sets live over the calls.
        unsafe {
            libc::sigemptyset(&raw mut wanted);
            libc::sigaddset(&raw mut wanted, libc::SIGPROF);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const wanted, &raw mut mask);
        }
        let sampling = Sampling { timer, handler: before, mask, counts: PhantomData, _own: own };
        let every = libc::timespec {
            tv_sec: interval.as_secs() as libc::time_t,
            tv_nsec: interval.subsec_nanos().into(),
        };
        let times = libc::itimerspec { it_interval: every, it_value: every };
        // SAFETY: the timer was made above; the times live over the call. If it fails, `sampling` puts all back.
        checked(unsafe { libc::timer_settime(timer, 0, &raw const times, ptr::null_mut()) })?;
        Ok(sampling)
    }
}

impl Drop for Sampling<'_> {
    fn drop(&mut self) {
        // SAFETY: the timer, handler and mask of `start`, on the same thread. A signal that is on its way arrives when the
        // first call returns; then there are no more, and the handler goes.
        unsafe {
            libc::timer_delete(self.timer);
            libc::sigaction(libc::SIGPROF, &raw const self.handler, ptr::null_mut());
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.mask, ptr::null_mut());
        }
    }
}

fn checked(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The handler.
extern "C" fn sampled(_signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel hands a handler with `SA_SIGINFO` both; `si_code` is in every `siginfo_t`.
    if unsafe { (*info).si_code } != libc::SI_TIMER {
        return;
    }
    // SAFETY: a timer's signal has a value, and the only timer with this signal has the `Counts`, which live longer than it.
    let counts = unsafe { &*(*info).si_value().sival_ptr.cast::<Counts>() };
    // SAFETY: as above: what was interrupted.
    let registers = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs };
    counts.add(registers[libc::REG_RIP as usize] as usize);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::Instant;

    /// Runs for so long, or until it is told to stop.
    fn spin(time: Duration, stop: impl Fn() -> bool) {
        let start = Instant::now();
        while start.elapsed() < time && !stop() {
            black_box(start);
        }
    }

    #[test]
    fn the_thread_is_sampled_until_it_is_not() {
        let counts = Counts::new([(0, 0), (0, 0)]);
        let sampling = Sampling::start(&counts, Duration::from_millis(1)).unwrap();
        spin(Duration::from_secs(30), || counts.elsewhere() > 0);
        drop(sampling);
        let found = counts.elsewhere();
        assert!(found > 0);
        spin(Duration::from_millis(100), || false);
        assert_eq!(counts.elsewhere(), found);
    }

    #[test]
    fn several_take_turns_and_leave_the_handler_as_it_was() {
        let handler = || {
            // SAFETY: all zeroes is a value of it, which the call fills.
            let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
            let own = HANDLER.lock().unwrap_or_else(PoisonError::into_inner);
            // SAFETY: asks only.
            unsafe { libc::sigaction(libc::SIGPROF, ptr::null(), &raw mut now) };
            drop(own);
            now.sa_sigaction
        };
        let before = handler();
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let counts = Counts::new([(0, usize::MAX >> 60), (0, 0)]);
                    let _sampling = Sampling::start(&counts, Duration::from_millis(1)).unwrap();
                    spin(Duration::from_millis(50), || false);
                });
            }
        });
        assert_eq!(handler(), before);
    }

    #[test]
    fn addresses_are_counted_where_they_are() {
        let counts = Counts::new([(100, 4), (200, 2)]);
        for address in [99, 100, 103, 103, 104, 201, 202] {
            counts.add(address);
        }
        assert_eq!(counts.pieces(), [vec![1, 0, 0, 2], vec![0, 1]]);
        assert_eq!(counts.elsewhere(), 3);
    }
}
