//! Lines on standard error, without a lock.
//!
//! A child of `fork()` has the locks of its parent's threads, and none of these threads. `eprintln!` takes the lock of
//! the standard library's standard error, so in such a child it may wait for ever. A line is one `write` here, so
//! lines of several threads do not mix. An error of the descriptor is ignored, as there is nobody to tell.

use super::linux::write_to_standard_error;
use std::fmt;

/// Writes a line.
pub(crate) fn tell(line: fmt::Arguments<'_>) {
    let mut text = line.to_string();
    text.push('\n');
    write_to_standard_error(text.as_bytes());
}

/// Writes a line, behind the library's name, and ends the process.
#[cold]
pub(crate) fn abort_because(why: fmt::Arguments<'_>) -> ! {
    tell(format_args!("allotment: {why}"));
    std::process::abort()
}
