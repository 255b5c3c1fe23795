//! Opens what is at a place, for writing.
//!
//! The place is opened once and then examined. Otherwise somebody could replace it between the
//! examination and the opening.

use super::descriptor;
use super::planted::refuse_planted;
use super::resolve::Target;
use rustix::fs::{FileType, Mode, OFlags, fcntl_setfl, open};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::{Path, PathBuf};

/// The file, stream or free place at a path.
pub(crate) enum Found {
    /// Nothing, and its directory is there.
    Nothing(PathBuf),
    /// A regular file, opened to be written.
    File(PathBuf, File),
    /// A device, a pipe or a descriptor, which is written through.
    Stream(File),
}

/// Opens what is there, for writing.
///
/// # Errors
/// The system's; or nobody reads the pipe; or another user has put a file or a pipe into a
/// directory that all share. Users cannot make devices.
pub(crate) fn found(target: Target) -> io::Result<Found> {
    let path = match target {
        Target::Descriptor(number) => return Ok(Found::Stream(duplicate(number)?)),
        Target::Foreign(path) => return Ok(Found::Stream(open_there(&path, OFlags::APPEND)?.0)),
        Target::Path(path) => path,
    };
    // Links have been followed already, so somebody has just put a link here.
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

/// Opens what is at `path`. A pipe that nobody reads is an error, not an endless wait.
fn open_there(path: &Path, more: OFlags) -> io::Result<(File, FileType)> {
    let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK | more;
    let mut opened = match open(path, flags, Mode::empty()) {
        Ok(opened) => File::from(opened),
        Err(Errno::NXIO) => return Err(unreadable(path)),
        Err(error) => return Err(error.into()),
    };
    descriptor::lift(&mut opened)?;
    // The descriptor blocks again, so writes wait for a full pipe.
    fcntl_setfl(&opened, more & OFlags::APPEND)?;
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&opened)?.st_mode);
    Ok((opened, kind))
}

/// The error for "no such device or address": a pipe without readers or a socket.
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

/// Another descriptor of the file that the process has open under this number. Both share a
/// position.
pub(crate) fn duplicate(number: RawFd) -> io::Result<File> {
    // If the program closes the number between the two calls, it is free, or names another open
    // file. The calls are harmless for either.
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
    // SAFETY: the number is not -1. It is used for two system calls that only read it. If the
    // program closes the descriptor meanwhile, they fail or see another open file.
    Ok(unsafe { BorrowedFd::borrow_raw(number) })
}

/// Whether a file cannot be made because of the user or the file system.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::ACCESS | Errno::PERM | Errno::ROFS))
}
