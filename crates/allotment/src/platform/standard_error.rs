//! Lines on standard error, without a lock.
//!
//! A child of `fork()` inherits the locks of its parent's threads, but not the threads. `eprintln!`
//! takes the lock of standard error in `std`, so in such a child it may block forever. Here a line
//! is one `write`, so lines of several threads do not mix. Errors of the descriptor are ignored, as
//! there is no way to report them.

use allotment_output::write_without_signals;
use std::fmt;
use std::io::stderr;
use std::os::fd::AsFd;

/// Writes a line, or as much of the line as the descriptor takes. A closed pipe, or a file as large
/// as allowed, does not end the process.
pub(crate) fn tell(line: fmt::Arguments<'_>) {
    let text = format!("{line}\n");
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        match write_without_signals(stderr().as_fd(), bytes) {
            Ok(0) | Err(_) => return,
            Ok(written) => bytes = &bytes[written..],
        }
    }
}

/// Writes a line, prefixed with the library's name, and aborts the process.
#[cold]
pub(crate) fn abort_because(why: fmt::Arguments<'_>) -> ! {
    tell(format_args!("allotment: {why}"));
    std::process::abort()
}
