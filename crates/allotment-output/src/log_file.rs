//! A file of lines that grows while a program runs, and is rotated by size.
//!
//! The newest lines are always in the file at the path. When it has no room for the next line, it
//! is renamed to `gc.log.0`, `gc.log.1` and so on, and a new file begins. When all numbers are
//! used, the oldest file is replaced. At the start an existing log gets a number too, and is not
//! lost. HotSpot's `-Xlog:gc:file=gc.log` does all of this.
//!
//! **Several writers** of one path, such as two heaps of a program, or two programs, write one log.
//! Each line, or batch of lines, is one write at the end of the file, so lines stay whole. Before
//! each write a writer checks whether its file is still at the path. If another writer, or
//! `logrotate`, has renamed the file, the writer follows the links of the path again, and opens
//! what is there. Each writer holds a shared lock (`flock`) on its file. So a writer that starts
//! sees whether the log has a writer, and then joins it instead of renaming it. Locks of another
//! kind, of the open file description, keep two writers from renaming at once.
//!
//! **A gap.** When a disk is full within a line, the writer removes the part of the line if nobody
//! has added a line since. If another writer adds a line between the check and the cut, that line
//! is lost without a report. Linux has no call that does both at once, and a lock would cost every
//! line of every writer.
//!
//! Refused: a file that is complete only at the end, as [`OutputFile`](super::OutputFile). People
//! read a log while the program runs, and after it was killed.

use super::descriptor;
use super::found::{Found, found};
use super::partial::is_at;
use super::resolve::resolve;
use rustix::fs::{FlockOperation, Mode, OFlags, fcntl_setfl, flock, open};
use std::fmt;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The number of attempts to open the log while other writers rename it.
const ATTEMPTS: u32 = 1000;

/// When a log gets a number and a new one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// The most bytes of a file, unless one line is longer; 0: no limit.
    pub file_bytes: u64,
    /// The number of rotated files beside the log; 0: none, and the log grows, even over restarts.
    pub files: usize,
}

/// The reason why lines were lost, or why a log is larger than it should be.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// Lines could not be written. The next ones may be.
    Write {
        /// The number of lost lines.
        lost: usize,
        /// The error of the system.
        source: io::Error,
    },
    /// The lines were written, but the log could not be renamed. It grows from now on, or as long
    /// as another program holds a lock on it ([`WouldBlock`](io::ErrorKind::WouldBlock)).
    Rotation {
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogError::Write { source, .. } => write!(f, "cannot be written: {source}"),
            LogError::Rotation { source } => write!(f, "cannot be renamed, and grows from now on: {source}"),
        }
    }
}

impl std::error::Error for LogError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LogError::Write { source, .. } | LogError::Rotation { source } => Some(source),
        }
    }
}

/// A log that is open.
#[derive(Debug)]
pub struct LogFile {
    file: File,
    /// The path that the user gave, absolute. Links in it are followed whenever the log is opened.
    path: PathBuf,
    /// The place of the file; `None` for a device, a pipe, or a descriptor of the process.
    place: Option<PathBuf>,
    rotation: Rotation,
    /// The number to try first when the log is renamed.
    next: usize,
    /// Whether the user has been told that another program's lock prevents the renaming.
    has_told: bool,
}

impl LogFile {
    /// Opens the log at `path`. A relative path starts at the program's current folder. A link is
    /// followed, and a device or a pipe is written through, as in
    /// [`Place::open`](super::Place::open). An existing log without a writer is renamed first, if
    /// `rotation` has numbers and the system allows it.
    ///
    /// # Errors
    /// The file cannot be made or written.
    pub fn open(path: &Path, rotation: Rotation) -> io::Result<LogFile> {
        let path = std::path::absolute(path)?;
        let (file, place) = open_at(&path, None)?;
        let mut log = LogFile { file, path, place, rotation, next: 0, has_told: false };
        if log.place.is_none() {
            return Ok(log);
        }
        if rotation.files > 0 && log.bytes()? > 0 && log.is_nobodys() {
            // A log that cannot be renamed stays in use. When it becomes too large, `append`
            // reports that.
            let _ = log.rotate();
        }
        if log.has_moved() {
            log.reopen()?;
        }
        log.join();
        Ok(log)
    }

    /// Adds lines, each of which ends with a line break. They are complete in the file when this
    /// returns.
    ///
    /// # Errors
    /// [`LogError::Write`] if lines were lost; then no part of a line is left.
    /// [`LogError::Rotation`] once if the log is too large and cannot be renamed, and once if it
    /// has twice its size because another program holds a lock on it.
    pub fn append(&mut self, lines: &str) -> Result<(), LogError> {
        let mut failed = Ok(());
        let mut rest = lines;
        let mut may_rotate = true;
        while !rest.is_empty() {
            let lost = |source| LogError::Write { lost: line_count(rest.as_bytes()), source };
            // If no new file can be opened, the file that was just renamed takes the lines. The
            // next call tries again.
            if self.has_moved()
                && let Err(source) = self.reopen()
                && may_rotate
            {
                return Err(lost(source));
            }
            if self.place.is_none() {
                return write_all(&self.file, rest.as_bytes()).map_err(|(written, source)| LogError::Write {
                    lost: line_count(&rest.as_bytes()[written..]),
                    source,
                });
            }
            let used = self.bytes().map_err(lost)?;
            let mut fitting = self.fitting(rest, used);
            if fitting == 0 {
                // Once for each piece: if other writers have filled the new file, the lines go
                // there anyway.
                if std::mem::take(&mut may_rotate) {
                    match self.rotate() {
                        Ok(true) => continue,
                        // Another writer is about to rename the log. Otherwise the lock is
                        // reported.
                        Ok(false) => {
                            let is_long = used > self.rotation.file_bytes.saturating_mul(2);
                            if is_long
                                && is_locked_by_others(&self.file)
                                && !std::mem::replace(&mut self.has_told, true)
                            {
                                failed = Err(LogError::Rotation { source: locked() });
                            }
                        }
                        Err(source) => {
                            // Not tried again: the reason stays, and every line would report it.
                            self.rotation.files = 0;
                            failed = Err(LogError::Rotation { source });
                        }
                    }
                }
                fitting = rest.len();
            }
            if let Err((written, source)) = write_all(&self.file, &rest.as_bytes()[..fitting]) {
                let whole =
                    rest.as_bytes()[..written].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
                self.cut(used, written, whole);
                return Err(LogError::Write { lost: line_count(&rest.as_bytes()[whole..]), source });
            }
            rest = &rest[fitting..];
            may_rotate = true;
        }
        failed
    }

    /// Whether another program has renamed or removed the file, or put a link in its place.
    fn has_moved(&self) -> bool {
        self.place.as_ref().is_some_and(|place| !is_at(&self.file, place))
    }

    /// Opens what is at the path now, and follows its links. A new file gets the mode of the old
    /// one.
    fn reopen(&mut self) -> io::Result<()> {
        let mode = self.file.metadata()?.mode() & 0o777;
        (self.file, self.place) = open_at(&self.path, Some(mode))?;
        self.join();
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// The bytes of whole lines for which a file of `used` bytes has room. An empty file has room
    /// for any first line. 0: the log must be rotated first.
    fn fitting(&self, lines: &str, used: u64) -> usize {
        let Rotation { file_bytes, files } = self.rotation;
        if file_bytes == 0 || files == 0 {
            return lines.len();
        }
        let room = usize::try_from(file_bytes.saturating_sub(used)).unwrap_or(usize::MAX);
        if lines.len() <= room {
            return lines.len();
        }
        match lines.as_bytes()[..room].iter().rposition(|byte| *byte == b'\n') {
            Some(last) => last + 1,
            None if used == 0 => lines.find('\n').map_or(lines.len(), |first| first + 1),
            None => 0,
        }
    }

    /// Removes a part of a line. `written` bytes were added at `used`; `whole` of them stay. Does
    /// nothing if it sees that another writer has added a line since (see the head of this file).
    fn cut(&self, used: u64, written: usize, whole: usize) {
        if whole < written && self.bytes().is_ok_and(|bytes| bytes == used + written as u64) {
            // The caller reports the error of the write; there is no place for this one.
            let _ = self.file.set_len(used + whole as u64);
        }
    }

    /// Whether no other writer has the log open. If so, this writer now holds the lock.
    fn is_nobodys(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Shows other writers that the log is in use. A file system without locks does not show it.
    fn join(&self) {
        let _ = flock(&self.file, FlockOperation::NonBlockingLockShared);
    }

    /// Renames the file to a number. Returns whether the path is free now, by this writer or
    /// another one; `false` if somebody holds a lock on the file.
    fn rotate(&mut self) -> io::Result<bool> {
        let Some(place) = self.place.clone() else { return Ok(false) };
        if !lock(&self.file, libc::F_WRLCK) {
            return Ok(false);
        }
        // Another writer may have renamed it before.
        let renamed = if is_at(&self.file, &place) {
            let (number, name) = numbered(&place, self.rotation.files, self.next);
            self.next = number + 1;
            fs::rename(&place, name)
        } else {
            Ok(())
        };
        lock(&self.file, libc::F_UNLCK);
        renamed.map(|()| true)
    }
}

/// Opens the log at `path`, or makes it. Returns its path without links, or `None` for a device, a
/// pipe or a descriptor. A new log gets `mode`, or the usual mode for `None`.
///
/// A log that exists is opened first and then examined (`found`), and a log is made only where
/// nothing is (`O_EXCL`). So nobody can put a link or a pipe there in between.
fn open_at(path: &Path, mode: Option<u32>) -> io::Result<(File, Option<PathBuf>)> {
    for _ in 0..ATTEMPTS {
        match found(resolve(path)?)? {
            Found::Stream(file) => return Ok((file, None)),
            Found::File(place, file) => {
                fcntl_setfl(&file, OFlags::APPEND)?;
                return Ok((file, Some(place)));
            }
            Found::Nothing(place) => match make(&place, mode) {
                Ok(file) => return Ok((file, Some(place))),
                // Another writer has made it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            },
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Makes the log at a place where nothing is.
fn make(place: &Path, mode: Option<u32>) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::CLOEXEC;
    // The successor of a private log is private from the first instant.
    let first = if mode.is_some() { 0o600 } else { 0o666 };
    let mut file = File::from(open(place, flags, Mode::from_raw_mode(first))?);
    descriptor::lift(&mut file)?;
    if let Some(mode) = mode {
        // A file system without modes has one mode for all files.
        let _ = file.set_permissions(Permissions::from_mode(mode));
    }
    Ok(file)
}

/// Writes all bytes. Otherwise returns the number of written bytes and the error.
fn write_all(file: &File, bytes: &[u8]) -> Result<(), (usize, io::Error)> {
    let mut written = 0;
    while written < bytes.len() {
        match descriptor::write(file, &bytes[written..]) {
            Ok(0) => return Err((written, io::ErrorKind::WriteZero.into())),
            Ok(more) => written += more,
            Err(error) => return Err((written, error)),
        }
    }
    Ok(())
}

fn line_count(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The number and the name for the renamed log: the first free number from `first` on, or that of
/// the oldest file.
fn numbered(log: &Path, files: usize, first: usize) -> (usize, PathBuf) {
    let width = (files - 1).to_string().len();
    let mut oldest: Option<(SystemTime, usize, PathBuf)> = None;
    for number in (0..files).map(|distance| (first + distance) % files) {
        let mut name = log.as_os_str().to_owned();
        name.push(format!(".{number:0width$}"));
        let path = PathBuf::from(name);
        match fs::symlink_metadata(&path).and_then(|about| about.modified()) {
            Err(_) => return (number, path),
            Ok(changed) if oldest.as_ref().is_none_or(|(time, ..)| changed < *time) => {
                oldest = Some((changed, number, path));
            }
            Ok(_) => {}
        }
    }
    let (_, number, path) = oldest.expect("there is a number at least");
    (number, path)
}

/// The error for a log that is not renamed because of a lock.
fn locked() -> io::Error {
    io::Error::new(
        io::ErrorKind::WouldBlock,
        "another program holds a lock on it; it can be renamed when the lock is gone",
    )
}

/// `F_WRLCK` prevents other writers of the file from renaming it, until `F_UNLCK`. Returns `false`
/// if somebody has a lock: another writer, for an instant, or any program that may read the file.
fn lock(file: &File, kind: libc::c_int) -> bool {
    let whole = whole(kind);
    // SAFETY: the descriptor is open, and the struct is what this command reads.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) };
    // On a file system without locks nobody has a lock.
    locked == 0 || !matches!(io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

/// Whether a program that is not a writer of the log has a lock. Writers only have write locks of
/// an open file description, for an instant.
fn is_locked_by_others(file: &File) -> bool {
    let mut found = whole(libc::F_WRLCK);
    // SAFETY: the descriptor is open, and the struct is what this command reads and writes.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut found) };
    let kind = libc::c_int::from(found.l_type);
    asked == 0 && (kind == libc::F_RDLCK || kind == libc::F_WRLCK && found.l_pid != -1)
}

/// A lock of that kind on the whole file.
fn whole(kind: libc::c_int) -> libc::flock {
    // SAFETY: a struct of numbers, all of which may be zero.
    let mut whole: libc::flock = unsafe { std::mem::zeroed() };
    whole.l_type = kind as libc::c_short;
    whole.l_whence = libc::SEEK_SET as libc::c_short;
    whole
}
