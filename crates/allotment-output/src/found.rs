//! What is at a place, opened to be written.
//!
//! There is one opening, so that what is looked at is what is written: between a look and an opening
//! somebody could put something else there.

use super::descriptor;
use super::planted::refuse_planted;
use super::resolve::Target;
use rustix::fs::{FileType, Mode, OFlags, fcntl_setfl, open};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

/// What is at a path.
pub(crate) enum Found {
    /// Nothing, and its directory is there.
    Nothing(PathBuf),
    /// A regular file, opened to be written.
    File(PathBuf, File),
    /// What is written through.
    Stream(File),
}

/// Opens what is there to write to it.
///
/// # Errors
/// The system's; a pipe that nobody reads; or another user has put a file or a pipe into a
/// directory that all share. Users cannot make devices.
pub(crate) fn found(target: Target) -> io::Result<Found> {
    let path = match target {
        Target::Descriptor(number) => return Ok(Found::Stream(duplicate(number)?)),
        Target::Foreign(path) => return Ok(Found::Stream(open_there(&path, OFlags::APPEND)?.0)),
        Target::Path(path) => path,
    };
    // Links have been followed: one that is here now was put here since.
    match open_there(&path, OFlags::NOFOLLOW) {
        Ok((file, kind)) => {
            if matches!(kind, FileType::RegularFile | FileType::Fifo) {
                refuse_planted(&path, &rustix::fs::fstat(&file)?)?;
            }
            Ok(if kind == FileType::RegularFile { Found::File(path, file) } else { Found::Stream(file) })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing(path)),
        Err(error) => Err(error),
    }
}

/// Opens what is at `path`. A pipe that nobody reads is an error instead of a wait without end.
fn open_there(path: &Path, more: OFlags) -> io::Result<(File, FileType)> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK | more;
    let mut opened = match open(path, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NXIO) => return Err(unreadable(path)),
        Err(error) => return Err(error.into()),
    };
    descriptor::lift(&mut opened)?;
    // A pipe that is full is waited for.
    fcntl_setfl(&opened, more & OFlags::APPEND)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    Ok((opened, kind))
}

/// What "no such device or address" means.
fn unreadable(path: &Path) -> io::Error {
    let kind = rustix::fs::stat(path).map(|about| FileType::from_raw_mode(about.st_mode));
    match kind {
        Ok(FileType::Fifo) => io::Error::new(
            io::ErrorKind::NotConnected,
            "it is a pipe that nobody reads; start the reader first",
        ),
        Ok(FileType::Socket) => io::Error::new(
            io::ErrorKind::Unsupported,
            "it is a socket, to which programs connect; write to a pipe that a program such as socat reads",
        ),
        _ => Errno::NXIO.into(),
    }
}

/// Another descriptor of what the process has open under this number. Both write at one position.
pub(crate) fn duplicate(number: RawFd) -> io::Result<File> {
    // Closed between the two calls, the number is that of nothing, or of what the program opened
    // since. The calls are harmless for either.
    if rustix::fs::fcntl_getfl(borrowed(number)?)? & OFlags::RWMODE == OFlags::RDONLY {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the descriptor {number} is open for reading only"),
        ));
    }
    Ok(File::from(rustix::io::fcntl_dupfd_cloexec(borrowed(number)?, 3)?))
}

fn borrowed<'f>(number: RawFd) -> io::Result<BorrowedFd<'f>> {
    if number < 0 {
        return Err(Errno::BADF.into());
    }
    // SAFETY: the number is not -1. It is used for two system calls that only look at it, and if
    // the program closes the descriptor meanwhile, they fail or see another open file.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

/// Whether a file cannot be made because of who asks, or where.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}
