//! Follows the links of a path, even if nothing is at its end.
//!
//! The kernel follows links when it opens a file, but a rename replaces a link by the file. So
//! links are followed here, even a last one that leads to nothing.
//!
//! A path such as `/dev/stdout` leads to a descriptor of the process. It is not followed further:
//! a second opening of a regular file would overwrite what the program has printed, and a socket
//! cannot be opened at all.

use super::planted::refuse_planted;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The most links to follow, as in the kernel.
const MOST_LINKS: usize = 40;

/// The type of the file system `proc`, from `linux/magic.h`.
const PROC: u64 = 0x9fa0;

/// The target of a path.
pub(crate) enum Target {
    /// A descriptor of this process.
    Descriptor(RawFd),
    /// A file of another process, by its entry in `/proc`. No other name is certain.
    Foreign(PathBuf),
    /// An absolute path without links. Only its directory must exist.
    Path(PathBuf),
}

/// Follows the links at the end of `path`.
///
/// # Errors
/// The directory is missing or closed to the process, another user has put a link into a directory
/// that all share, links lead in a circle, or the path has the form of a directory: it is empty,
/// or ends with `/`.
pub(crate) fn resolve(path: &Path) -> io::Result<Target> {
    // The program may go to another folder before the file is written.
    let mut path = std::path::absolute(path)?;
    for _ in 0..MOST_LINKS {
        // `file_name` ignores what follows the last name.
        let form = path.as_os_str().as_bytes();
        if form.ends_with(b"/") || form.ends_with(b"/.") {
            return Err(Errno::ISDIR.into());
        }
        let name = path.file_name().ok_or(Errno::ISDIR)?;
        let directory = fs::canonicalize(path.parent().ok_or(Errno::ISDIR)?)?;
        if let Some(number) = own_descriptor(&directory, name) {
            return Ok(Target::Descriptor(number));
        }
        let here = directory.join(name);
        match fs::read_link(&here) {
            Ok(_) if rustix::fs::statfs(&directory)?.f_type as u64 == PROC => {
                return Ok(Target::Foreign(here));
            }
            Ok(next) => {
                refuse_planted(&here, &rustix::fs::lstat(&here)?)?;
                path = directory.join(next);
            }
            Err(error) if matches!(Errno::from_io_error(&error), Some(Errno::INVAL | Errno::NOENT)) => {
                return Ok(Target::Path(here));
            }
            Err(error) => return Err(error),
        }
    }
    Err(Errno::LOOP.into())
}

/// The number of the descriptor that `name` is in `/proc/self/fd`, or in that directory by another
/// path.
fn own_descriptor(directory: &Path, name: &OsStr) -> Option<RawFd> {
    let number = name.to_str().filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))?;
    let own = directory.ends_with("fd") && directory.starts_with(fs::canonicalize("/proc/self").ok()?);
    if own { number.parse().ok() } else { None }
}
