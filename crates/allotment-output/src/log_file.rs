//! A file of lines that grows while a program runs, and is rotated by size.
//!
//! The newest lines are always in the file at the path. When it has no room for the next, it is
//! renamed to `gc.log.0`, `gc.log.1` and so on, and a new one begins; when all numbers are used, the
//! oldest file is replaced. That is how HotSpot's `-Xlog:gc:file=gc.log` does it. So is what happens
//! at the start: a log that is there gets a number, and is not lost.
//!
//! **Several writers** of one path, such as two heaps of a program, or two programs, write one log.
//! Each line, or batch of lines, is one write at the end of the file, so lines stay whole. Before
//! each write a writer looks whether its file is still the one at the path. If another writer, or
//! `logrotate`, has renamed it, the writer follows the links of the path again, and opens what is
//! there. Each holds a shared lock (`flock`) on
//! its file. So a writer that starts sees whether the log is somebody's, and then joins it instead
//! of renaming it. Two locks of another kind, of the open file description, keep two writers from
//! renaming at once.
//!
//! **A gap.** When a disk is full within a line, the writer takes the part of the line away if nobody
//! has added something since. Another writer's line that comes between the look and the cut is cut
//! off, and nobody tells. Linux has no call that does both at once, and a lock would have to be taken
//! for each line of each writer.
//!
//! Refused: a file that is written whole at its end, as [`OutputFile`](super::OutputFile) is. A log
//! is read while the program runs, and after it was killed.

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

/// Openings that are tried while other writers rename the log.
const ATTEMPTS: u32 = 1000;

/// When a log gets a number and a new one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// Bytes of a file at most, unless one line is longer; 0: no limit.
    pub file_bytes: u64,
    /// Files with a number beside the log; 0: none, and the log grows, over restarts too.
    pub files: usize,
}

/// Why lines were lost, or a log is larger than it should be.
#[derive(Debug)]
#[non_exhaustive]
pub enum LogError {
    /// Lines could not be written. The next ones may be.
    Write {
        /// How many.
        lost: usize,
        /// What the system answered.
        source: io::Error,
    },
    /// The lines were written, but the log could not get a number. It grows from now on, or as long
    /// as another program holds a lock on it ([`WouldBlock`](io::ErrorKind::WouldBlock)).
    Rotation {
        /// What the system answered.
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
    /// Where the file is; `None`: it is a device, a pipe, or a descriptor of the process.
    place: Option<PathBuf>,
    rotation: Rotation,
    /// The number that this writer would give first, where others are as good.
    next: usize,
    /// The user knows that another program's lock keeps the log from being renamed.
    has_told: bool,
}

impl LogFile {
    /// Opens the log at `path`. A relative path is that of the folder in which the program is now.
    /// A link is followed, a device or a pipe is written through, as by
    /// [`Place::open`](super::Place::open). A log that is there, and that nobody writes, gets a
    /// number first, if there are any, and if it can be renamed.
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
            // A log that cannot be renamed is added to. If it is too large one day, that is told.
            let _ = log.rotate();
        }
        if log.has_moved() {
            log.reopen()?;
        }
        log.join();
        Ok(log)
    }

    /// Adds lines, each of which ends with a line break. They are in the file, whole, when this
    /// returns.
    ///
    /// # Errors
    /// [`LogError::Write`] if lines were lost; no part of a line is left, then.
    /// [`LogError::Rotation`] once, if the log is too large and cannot be renamed, and once if it is
    /// more than twice too large since another program holds a lock on it.
    pub fn append(&mut self, lines: &str) -> Result<(), LogError> {
        let mut failed = Ok(());
        let mut rest = lines;
        let mut may_rotate = true;
        while !rest.is_empty() {
            let lost = |source| LogError::Write { lost: line_count(rest.as_bytes()), source };
            // What was just given a number takes the lines if no new file can be opened. The next call
            // tries again.
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
                // Once for each piece: a new file that others have filled is not waited for.
                if std::mem::take(&mut may_rotate) {
                    match self.rotate() {
                        Ok(true) => continue,
                        // Another writer is about to rename the log. If it is not, that is told.
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
                            // Not tried again: the reason stays, and each line would be told.
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

    /// Opens what is at the path now, wherever its links lead. A new file has the mode of the old one.
    fn reopen(&mut self) -> io::Result<()> {
        let mode = self.file.metadata()?.mode() & 0o777;
        (self.file, self.place) = open_at(&self.path, Some(mode))?;
        self.join();
        Ok(())
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Bytes of whole lines for which a file of `used` bytes has room. An empty file has room for
    /// any first line. 0: the log is to be rotated first.
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

    /// Takes a part of a line away. `written` bytes were added at `used`; `whole` of them stay.
    /// Not if another writer has added something since, as far as one can see (the head of this file).
    fn cut(&self, used: u64, written: usize, whole: usize) {
        if whole < written && self.bytes().is_ok_and(|bytes| bytes == used + written as u64) {
            // The error of the write is told, and there is no better place for this one.
            let _ = self.file.set_len(used + whole as u64);
        }
    }

    /// Whether no other writer has the log open. If so, the lock that says it is held.
    fn is_nobodys(&self) -> bool {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).is_ok()
    }

    /// Tells other writers that the log is in use. A file system without locks does not tell them.
    fn join(&self) {
        let _ = flock(&self.file, FlockOperation::NonBlockingLockShared);
    }

    /// Gives the file a number. Returns whether its path is free, by this writer or another, or
    /// `false` if somebody holds a lock on the file.
    fn rotate(&mut self) -> io::Result<bool> {
        let Some(place) = self.place.clone() else { return Ok(false) };
        if !lock(&self.file, libc::F_WRLCK) {
            return Ok(false);
        }
        // Another writer may have had the lock before.
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

/// Opens the log at `path`, or makes it, and tells where links lead; `None`: to what is written
/// through. A new log has this `mode`; `None`: the usual one.
///
/// What is there is looked at after it is open (`found`), and a log is made only where nothing is
/// (`O_EXCL`). So nobody can put a link or a pipe under it in between.
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

/// Makes the log where nothing is.
fn make(place: &Path, mode: Option<u32>) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::APPEND | OFlags::CLOEXEC;
    // The log of a private one is private from the first instant.
    let first = if mode.is_some() { 0o600 } else { 0o666 };
    let mut file = File::from(open(place, flags, Mode::from_raw_mode(first))?);
    descriptor::lift(&mut file)?;
    if let Some(mode) = mode {
        // A file system without modes has one for all.
        let _ = file.set_permissions(Permissions::from_mode(mode));
    }
    Ok(file)
}

/// Writes all, or returns how much of it was written, and why not more.
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

/// The number and the name that the log gets: the first that is free, from `first` on, or those of
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

/// Why a log is not renamed although nothing forbids it.
fn locked() -> io::Error {
    io::Error::new(
        io::ErrorKind::WouldBlock,
        "another program holds a lock on it; when the lock is gone, it is renamed again",
    )
}

/// With `F_WRLCK` keeps other writers of the file from renaming it, until `F_UNLCK`. `false` if
/// somebody has a lock: another writer, for an instant, or any program that may read the file.
fn lock(file: &File, kind: libc::c_int) -> bool {
    let whole = whole(kind);
    // SAFETY: the descriptor is open, and the struct is what this command reads.
    let locked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) };
    // On a file system without locks nobody has one.
    locked == 0 || !matches!(io::Error::last_os_error().raw_os_error(), Some(libc::EAGAIN | libc::EACCES))
}

/// Whether somebody has a lock who is no writer of the log: writers have those of an open file
/// description, to write, and for an instant.
fn is_locked_by_others(file: &File) -> bool {
    let mut found = whole(libc::F_WRLCK);
    // SAFETY: the descriptor is open, and the struct is what this command reads and writes.
    let asked = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_GETLK, &raw mut found) };
    let kind = libc::c_int::from(found.l_type);
    asked == 0 && (kind == libc::F_RDLCK || kind == libc::F_WRLCK && found.l_pid != -1)
}

/// All of a file.
fn whole(kind: libc::c_int) -> libc::flock {
    // SAFETY: a struct of numbers, all of which may be zero.
    let mut whole: libc::flock = unsafe { std::mem::zeroed() };
    whole.l_type = kind as libc::c_short;
    whole.l_whence = libc::SEEK_SET as libc::c_short;
    whole
}
