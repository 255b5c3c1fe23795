//! Lines on standard error, without a lock.
//!
//! A child of `fork()` inherits the locks of its parent's threads, but not the threads. `eprintln!`
//! takes the lock of standard error in `std`, so in such a child it may block forever. Here a line
//! is one `write`, so lines of several threads do not mix. Errors of the descriptor are ignored, as
//! there is no way to report them.

use super::linux::write_to_standard_error;
use std::fmt;

/// Writes a line.
pub(crate) fn tell(line: fmt::Arguments<'_>) {
    let mut text = line.to_string();
    text.push('\n');
    write_to_standard_error(text.as_bytes());
}

/// Writes a line, prefixed with the library's name, and aborts the process.
#[cold]
pub(crate) fn abort_because(why: fmt::Arguments<'_>) -> ! {
    tell(format_args!("allotment: {why}"));
    std::process::abort()
}
