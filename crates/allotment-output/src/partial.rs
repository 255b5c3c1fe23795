//! A file beside its place, under another name, until it is whole.
//!
//! The file of `heap.json` is `.heap.json.4711-0.partial` while process 4711 writes it. If the
//! process is killed, the file stays. The next writer of the same place removes it.
//!
//! **Who is dead?** A writer holds a lock (`flock`) on its file as long as it lives, and the kernel
//! gives the lock back, however the process ends. So whoever gets the lock knows that nobody writes
//! the file. The number in the name proves nothing: numbers are used again, and a container counts
//! its own. All containers of one kernel see one lock. Other machines may not: a network file
//! system may keep locks on each machine by itself. So files are removed on file systems of one
//! machine alone. Files of other users are left to them.
//!
//! A file is new for an instant before its writer has the lock. A remover may take the lock first.
//! Then the writer makes another file.

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The end of a partial file's name.
const SUFFIX: &[u8] = b".partial";

/// The most bytes of a name (`NAME_MAX`).
const LONGEST_NAME: usize = 255;

/// Room for what is added to a name: dots, two numbers, a dash, the suffix.
const ADDED: usize = 32;

/// Names that are tried.
const ATTEMPTS: u32 = 1000;

/// Types of file systems that one machine has for itself, from `linux/magic.h` and the sources of
/// those that are not in the kernel.
const OF_ONE_MACHINE: [u64; 15] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // XFS
    0x9123_683e, // Btrfs
    0x2fc1_2fc1, // ZFS
    0xca45_1a4e, // bcachefs
    0xf2f5_2010, // F2FS
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlayfs
    0x3153_464a, // JFS
    0x5265_4973, // ReiserFS
    0x3434,      // NILFS
    0x2011_bab0, // exFAT
    0x4d44,      // FAT
    0x7366_746e, // NTFS
];

/// A new file that goes away when it is dropped, unless it was moved to its place.
#[derive(Debug)]
pub(crate) struct PartialFile {
    file: File,
    path: PathBuf,
    /// The process that made the file. A child of `fork()` does not remove it.
    process: u32,
    stays: bool,
}

impl PartialFile {
    /// Makes a file beside `target`, which must be a path with a directory and a name.
    pub(crate) fn create(target: &Path) -> io::Result<PartialFile> {
        let directory = target.parent().unwrap_or(Path::new("/"));
        let prefix = prefix(target.file_name().unwrap_or_default());
        let process = std::process::id();
        // Other threads of the process may write there, and processes of other containers.
        for attempt in 0..ATTEMPTS {
            let mut name = prefix.clone();
            name.push(format!("{process}-{attempt}"));
            name.push(OsStr::from_bytes(SUFFIX));
            let path = directory.join(name);
            let made = OpenOptions::new().write(true).create_new(true).mode(0o666).open(&path);
            let file = match made {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            let partial = PartialFile { file, path, process, stays: false };
            match flock(&partial.file, FlockOperation::NonBlockingLockExclusive) {
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    // A remover has it, and removes it.
                }
                // A file system without locks: nobody removes files there.
                Err(_) => return Ok(partial),
                Ok(()) if partial.is_there() => return Ok(partial),
                Ok(()) => {}
            }
            // The name may be another writer's by now.
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
    /// That of the rename, with the file, which is as it was.
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
            // The first error has been told; there is no better place for this one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// How names of partial files of a place begin. A long name is cut, so that the numbers have room.
fn prefix(name: &OsStr) -> OsString {
    let name = name.as_bytes();
    let mut prefix = vec![b'.'];
    prefix.extend(&name[..name.len().min(LONGEST_NAME - ADDED)]);
    prefix.push(b'.');
    OsString::from_vec(prefix)
}

/// Whether that is a name of a partial file with this prefix: two numbers follow, and the suffix.
fn is_partial(name: &OsStr, prefix: &OsStr) -> bool {
    let numbers = name.as_bytes().strip_prefix(prefix.as_bytes());
    let Some(numbers) = numbers.and_then(|rest| rest.strip_suffix(SUFFIX)) else { return false };
    let mut parts = numbers.split(|byte| *byte == b'-');
    let is_number = |part: Option<&[u8]>| {
        part.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
    };
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// Removes what dead writers of `target` left. What cannot be removed stays, and is no error of the
/// write that comes now.
pub(crate) fn remove_left(target: &Path) {
    let (Some(directory), Some(name)) = (target.parent(), target.file_name()) else { return };
    let is_of_one_machine =
        rustix::fs::statfs(directory).is_ok_and(|about| OF_ONE_MACHINE.contains(&(about.f_type as u64)));
    if !is_of_one_machine {
        return;
    }
    let prefix = prefix(name);
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten().filter(|entry| is_partial(&entry.file_name(), &prefix)) {
        remove_if_left(&entry.path());
    }
}

/// Removes the file if it is this user's and nobody holds its lock.
fn remove_if_left(path: &Path) {
    let is_own = |about: &Metadata| about.is_file() && about.uid() == rustix::process::geteuid().as_raw();
    // Looked at before it is opened: a device might do something.
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

    /// The partial file's name that a process with this number leaves.
    fn left_by(process: u32, target: &Path) -> PathBuf {
        let mut name = prefix(target.file_name().unwrap());
        name.push(format!("{process}-0.partial"));
        target.with_file_name(name)
    }

    #[test]
    fn what_nobody_holds_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.json");
        let held = PartialFile::create(&target).unwrap();
        // Numbers prove nothing: one is this process's, and one is no process's.
        let left = [left_by(std::process::id() + 1, &target), left_by(u32::MAX, &target)];
        let others = [
            "out.json",
            ".out.json.partial",
            ".out.json.1.partial",
            ".out.json.1-2-3.partial",
            ".out.json.1-x.partial",
            ".out.json.old.1-0.partial",
            ".out.json.1-0.partial.txt",
            "out.json.1-0.partial",
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
        for length in [200, 222, 223, 224, 255] {
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

    /// A remover that sees a file before its writer has the lock must not take it away from under
    /// the writer.
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
