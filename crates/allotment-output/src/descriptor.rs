//! Writes to a descriptor that never end the process by a signal, and numbers of descriptors.
//!
//! The kernel sends `SIGPIPE` to a thread that writes to a pipe without readers, and `SIGXFSZ` to
//! one that writes past `RLIMIT_FSIZE`. Both end a process that does not handle them. Programs in
//! Rust ignore `SIGPIPE`, programs in C do not, and few handle `SIGXFSZ`. Here the writing thread
//! blocks both during the write, and removes the signal that the write caused. Nothing else in the
//! program changes.
//!
//! Refused: ignoring the signals, since handlers belong to the whole program. Refused: reading the
//! limit before each write, since it may change, and pipes have none.

use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// Gives the file a number above those of the standard streams. If a daemon has closed these, the
/// next file gets such a number, and the program would print into the file.
pub(crate) fn lift(file: &mut File) -> io::Result<()> {
    if file.as_raw_fd() <= libc::STDERR_FILENO {
        *file = File::from(rustix::io::fcntl_dupfd_cloexec(&*file, libc::STDERR_FILENO + 1)?);
    }
    Ok(())
}

/// Writes some of `bytes` to an open descriptor, such as standard error, and returns their number.
/// `SIGPIPE` and `SIGXFSZ` do not end the program, however it handles them. The function allocates
/// no memory and takes no lock.
///
/// # Errors
/// The system's: nobody reads the pipe, the file is as large as allowed, or the descriptor is
/// non-blocking and the write would block.
///
/// ```
/// let written = allotment_output::write_without_signals(std::io::stderr(), b"one line\n")?;
/// assert_eq!(written, 9);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_without_signals(descriptor: impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    let descriptor = descriptor.as_fd();
    loop {
        match without_signals(|| rustix::io::write(descriptor, bytes)) {
            Ok(written) => return Ok(written),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes some of `bytes`, and returns their number. Waits for a full pipe, even if the descriptor
/// is non-blocking.
pub(crate) fn write(file: &File, bytes: &[u8]) -> io::Result<usize> {
    loop {
        match write_without_signals(file, bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(file),
            other => return other,
        }
    }
}

/// Waits until the descriptor takes bytes or reports an error.
fn wait_for_room(file: &File) {
    let mut wanted = libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry, which the call alone uses. If it fails, the next write says why.
    unsafe { libc::poll(&raw mut wanted, 1, -1) };
}

/// Calls `write` while the signals that it may cause are blocked.
fn without_signals(write: impl FnOnce() -> Result<usize, Errno>) -> Result<usize, Errno> {
    let both = signals(&[libc::SIGPIPE, libc::SIGXFSZ]);
    let before = block(&both);
    // A signal that was pending before belongs to the program.
    let waiting = waiting();
    let written = write();
    let caused = match written {
        Err(Errno::PIPE) => Some(libc::SIGPIPE),
        Err(Errno::FBIG) => Some(libc::SIGXFSZ),
        _ => None,
    };
    if let Some(signal) = caused
        && !has(&waiting, signal)
    {
        take(signal);
    }
    restore(&before);
    written
}

fn signals(numbers: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the set is the caller's own, and the first call initialises it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for number in numbers {
            libc::sigaddset(set.as_mut_ptr(), *number);
        }
        set.assume_init()
    }
}

/// Blocks the signals of `set` in this thread, and returns those that were blocked before.
fn block(set: &libc::sigset_t) -> libc::sigset_t {
    let mut before = signals(&[]);
    // SAFETY: both sets are initialised, and the operation is a known one, so it cannot fail.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, set, &raw mut before) };
    before
}

fn restore(before: &libc::sigset_t) {
    // SAFETY: the set is what the system gave, and the operation is a known one.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before, ptr::null_mut()) };
}

/// The pending signals: they wait until this thread no longer blocks them.
fn waiting() -> libc::sigset_t {
    let mut set = signals(&[]);
    // SAFETY: the set is initialised, and the call writes to it alone.
    unsafe { libc::sigpending(&raw mut set) };
    set
}

fn has(set: &libc::sigset_t, signal: libc::c_int) -> bool {
    // SAFETY: the set is initialised, and the signal is a known one.
    unsafe { libc::sigismember(set, signal) == 1 }
}

/// Takes the signal if it waits. A program that ignores the signal never has it waiting.
fn take(signal: libc::c_int) {
    let (set, at_once) = (signals(&[signal]), libc::timespec { tv_sec: 0, tv_nsec: 0 });
    loop {
        // SAFETY: the set and the time are initialised; a null pointer wants no information.
        let taken = unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const at_once) };
        if taken != -1 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
