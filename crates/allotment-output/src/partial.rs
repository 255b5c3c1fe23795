//! A file that lies beside its place, under another name, until it is whole.
//!
//! The file of `heap.json` is `.heap.json.4711-0-5c1f03a9be274d10.partial` while process 4711 writes
//! it. If the process is killed, the file stays. The next writer of the same place removes it.
//!
//! **Who is dead?** A writer holds a lock (`flock`) on its file as long as it lives, and the kernel
//! gives the lock back, however the process ends. So a process that gets the lock knows that nobody
//! writes the file. The number of the process proves nothing: numbers are reused, and a container
//! has its own.
//!
//! **Who sees the lock?** All containers of one kernel, if they write to one mounted file system.
//! Other machines may not see it. The machine that exports a disk may not see it either, since it
//! has one kind of locks for its own processes and another kind for its clients. So the name has a
//! mark of the kernel's start and of the file system, and a file with another mark stays. Files
//! from before the last start of the machine stay, too, and so do files of other users.
//!
//! For an instant a new file exists before its writer has the lock. A remover may take the lock
//! first. Then the writer makes another file.

use super::descriptor;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The end of a partial file's name.
const SUFFIX: &[u8] = b".partial";

/// The most bytes of a name (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// Room for the additions to a name: dots, dashes, two numbers, the mark, the suffix.
const ADDED: usize = 48;

/// The number of names to try.
const ATTEMPTS: u32 = 1000;

/// A new file that is removed when it is dropped, unless it was moved to its place.
#[derive(Debug)]
pub(crate) struct PartialFile {
    file: File,
    path: PathBuf,
    /// The process that made the file. A child of `fork()` does not remove it.
    process: u32,
    stays: bool,
}

impl PartialFile {
    /// Makes a file beside `target`, which must be a path with a directory and a name. If `target`
    /// exists, only the owner can open the new file until it gets the mode of `target`: a private
    /// target must never be public, not even for an instant.
    pub(crate) fn create(target: &Path) -> io::Result<PartialFile> {
        let is_new = fs::symlink_metadata(target).is_err();
        PartialFile::with_mode(target, if is_new { 0o666 } else { 0o600 })
    }

    /// As [`create`](Self::create), but only the owner can open the file.
    pub(crate) fn create_private(target: &Path) -> io::Result<PartialFile> {
        PartialFile::with_mode(target, 0o600)
    }

    /// `mode` is the most permissive mode: the process's umask takes bits away.
    fn with_mode(target: &Path, mode: u32) -> io::Result<PartialFile> {
        let directory = target.parent().unwrap_or(Path::new("/"));
        let stem = stem(target);
        let mark = mark(directory).unwrap_or(0);
        let process = std::process::id();
        // Other threads of the process, and processes of other containers, may use names, too.
        for attempt in 0..ATTEMPTS {
            let path = directory.join(partial_name(stem, process, attempt, mark));
            let made = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&path);
            let file = match made {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let mut partial = PartialFile { file, path, process, stays: false };
            descriptor::lift(&mut partial.file)?;
            match flock(&partial.file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    // A remover has the lock, and removes the file.
                }
                // A file system without locks: nobody removes files there.
                Err(_) => return Ok(partial),
                Ok(()) if partial.is_there() => return Ok(partial),
                Ok(()) => {}
            }
            // The name may belong to another writer now.
            partial.leave();
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves the file to `target`.
    ///
    /// # Errors
    /// The error of the rename, with the unchanged file.
    pub(crate) fn move_to(self, target: &Path) -> Result<(), (PartialFile, io::Error)> {
        match fs::rename(&self.path, target) {
            Ok(()) => {
                self.leave();
                Ok(())
            }
            Err(error) => Err((self, error)),
        }
    }

    /// Closes the file, which stays at its path.
    pub(crate) fn leave(mut self) {
        self.stays = true;
    }

    /// Whether the file is at its path.
    fn is_there(&self) -> bool {
        is_at(&self.file, &self.path)
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        if !self.stays && self.process == std::process::id() {
            // The first error has been reported; there is no place for this one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The part of a place's name in the names of its partial files. A long name is cut, so that the
/// additions have room.
fn stem(target: &Path) -> &OsStr {
    let name = target.file_name().unwrap_or_default().as_bytes();
    OsStr::from_bytes(&name[..name.len().min(LONGEST_NAME - ADDED)])
}

fn partial_name(stem: &OsStr, process: u32, attempt: u32, mark: u64) -> OsString {
    let mut name = OsString::from(".");
    name.push(stem);
    name.push(format!(".{process}-{attempt}-{mark:016x}"));
    name.push(OsStr::from_bytes(SUFFIX));
    name
}

/// The stem in the name of a partial file with that mark; `None` for any other name.
fn stem_in(name: &OsStr, mark: u64) -> Option<&OsStr> {
    let inner = name.as_bytes().strip_prefix(b".")?.strip_suffix(SUFFIX)?;
    let inner = inner.strip_suffix(format!("-{mark:016x}").as_bytes())?;
    let dot = inner.iter().rposition(|byte| *byte == b'.')?;
    let mut numbers = inner[dot + 1..].split(|byte| *byte == b'-');
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let two = is_number(numbers.next()?) && is_number(numbers.next()?) && numbers.next().is_none();
    two.then(|| OsStr::from_bytes(&inner[..dot]))
}

/// A number for this start of the kernel and for the file system of the directory.
fn mark(directory: &Path) -> Option<u64> {
    let start = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = start.chars().filter(char::is_ascii_hexdigit).take(16).collect();
    Some(u64::from_str_radix(&digits, 16).ok()? ^ fs::metadata(directory).ok()?.dev())
}

/// Removes the files that dead writers of `target` left. A file that cannot be removed stays, which
/// is not an error of the coming write.
pub(crate) fn remove_left(target: &Path) {
    let stem = stem(target);
    remove_left_in(target.parent().unwrap_or(Path::new("/")), |name| name == stem);
}

/// Removes the files that dead writers left in `directory`, if `is_name` accepts the name of the
/// place.
pub(crate) fn remove_left_in(directory: &Path, is_name: impl Fn(&OsStr) -> bool) {
    let (Some(mark), Ok(entries)) = (mark(directory), fs::read_dir(directory)) else { return };
    for entry in entries.flatten() {
        if stem_in(&entry.file_name(), mark).is_some_and(&is_name) {
            remove_if_left(&entry.path());
        }
    }
}

/// Removes the file if it belongs to this user and nobody holds its lock.
fn remove_if_left(path: &Path) {
    let is_own = |about: &Metadata| about.is_file() && about.uid() == rustix::process::geteuid().as_raw();
    // Examined before it is opened: opening a device might have an effect.
    if !fs::symlink_metadata(path).is_ok_and(|about| is_own(&about)) {
        return;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else { return };
    let is_left = file.metadata().is_ok_and(|about| is_own(&about))
        && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        // Another remover may have been here, and a new writer after it.
        && is_at(&file, path);
    if is_left {
        let _ = fs::remove_file(path);
    }
}

/// Whether `path` leads to that open file.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    let number = |about: Metadata| (about.dev(), about.ino());
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => number(open) == number(there),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The name of the partial file that a process with this number leaves.
    fn left_by(process: u32, target: &Path) -> PathBuf {
        let mark = mark(target.parent().unwrap()).expect("a kernel says when it started");
        target.with_file_name(partial_name(stem(target), process, 0, mark))
    }

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.json");
        let held = PartialFile::create(&target).unwrap();
        // Numbers of processes prove nothing: one may be alive and one cannot be.
        let left = [left_by(std::process::id() + 1, &target), left_by(u32::MAX, &target)];
        let mark = mark(folder.path()).unwrap();
        let others = [
            "out.json".to_owned(),
            ".out.json.partial".into(),
            ".out.json.1-0.partial".into(),
            format!(".out.json.1-{mark:016x}.partial"),
            format!(".out.json.1-2-3-{mark:016x}.partial"),
            format!(".out.json.1-x-{mark:016x}.partial"),
            format!(".out.json.old.1-0-{mark:016x}.partial"),
            format!(".out.json.1-0-{mark:016x}.partial.txt"),
            format!("out.json.1-0-{mark:016x}.partial"),
            // A file of another machine, or of another file system.
            format!(".out.json.1-0-{:016x}.partial", mark + 1),
        ];
        left.iter().for_each(|path| fs::write(path, "half").unwrap());
        others.iter().for_each(|name| fs::write(folder.path().join(name), "kept").unwrap());
        fs::create_dir(left_by(5, &target)).unwrap();
        std::os::unix::fs::symlink(folder.path().join("out.json"), left_by(6, &target)).unwrap();
        remove_left(&target);
        assert!(left.iter().all(|path| !path.exists()));
        assert!(others.iter().all(|name| folder.path().join(name).exists()));
        assert!(left_by(5, &target).is_dir() && left_by(6, &target).is_symlink() && held.is_there());
        drop(held);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), others.len() + 2);
    }

    #[test]
    fn what_is_left_of_several_names_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| left_by(1, &folder.path().join(name));
        for name in ["heap-1", "heap-2", "other"] {
            fs::write(at(name), "half").unwrap();
        }
        remove_left_in(folder.path(), |name| name.as_bytes().starts_with(b"heap-"));
        assert!(!at("heap-1").exists() && !at("heap-2").exists() && at("other").exists());
    }

    /// Regression: another user could put a link there, and the file went where the link led.
    #[test]
    fn a_name_at_which_something_is_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let planted = left_by(std::process::id(), &target);
        std::os::unix::fs::symlink(folder.path().join("victim"), &planted).unwrap();
        let partial = PartialFile::create(&target).unwrap();
        assert!(partial.is_there() && partial.path() != planted && !folder.path().join("victim").exists());
    }

    #[test]
    fn files_of_other_users_are_left_to_them() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("left out: only root can make files of another user");
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        fs::write(left_by(7, &target), "").unwrap();
        std::os::unix::fs::chown(left_by(7, &target), Some(12345), None).unwrap();
        remove_left(&target);
        assert!(left_by(7, &target).exists());
    }

    #[test]
    fn a_long_name_leaves_room_for_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for length in [200, 206, 207, 208, 255] {
            let target = folder.path().join("n".repeat(length));
            let first = PartialFile::create(&target).unwrap();
            let second = PartialFile::create(&target).unwrap();
            assert_ne!(first.path(), second.path());
            first.move_to(&target).unwrap();
            fs::write(left_by(1, &target), "").unwrap();
            remove_left(&target);
            assert!(target.exists() && second.is_there() && !left_by(1, &target).exists());
        }
    }

    /// Regression: the successor of a private file had the usual mode at first, and another user
    /// could open it then.
    #[test]
    fn what_replaces_a_private_file_is_private_from_the_first_instant() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let mode = |file: &File| file.metadata().unwrap().mode() & 0o777;
        let usual = mode(&File::create(folder.path().join("usual")).unwrap());
        assert_eq!(mode(PartialFile::create(&target).unwrap().file()), usual);
        assert_eq!(mode(PartialFile::create_private(&target).unwrap().file()), 0o600);
        fs::write(&target, "").unwrap();
        assert_eq!(mode(PartialFile::create(&target).unwrap().file()), 0o600);
    }

    /// A remover that sees a file before its writer has the lock must not remove it while the
    /// writer uses it.
    #[test]
    fn a_new_file_is_never_removed_under_its_writer() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out");
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    remove_left(&target);
                }
            });
            for turn in 0..2000 {
                let partial = PartialFile::create(&target).unwrap();
                assert!(partial.is_there(), "turn {turn}");
                if turn % 2 == 0 {
                    partial.leave();
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        remove_left(&target);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
