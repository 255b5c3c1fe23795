//! The lock of measuring commands. Two commands that measure at once on one machine would disturb
//! each other.
//!
//! The lock is a file in the folder for temporary files, locked with `flock` while a command
//! measures. The kernel releases the lock with its process, so the file of a killed run does not
//! block others. The file has the process id of its last holder, and every user may lock it.
//!
//! Refused: JMH's own file, `jmh.lock`. It belongs to the user who ran JMH first, and others cannot
//! lock it.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The name of the file.
const NAME: &str = "allotment-run.lock";

/// The right to measure on this machine, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// The reason for a missing lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another command measures.
    #[error("another allotment measures on this machine{}, and both would disturb each other; wait for its end, or \
             measure nevertheless with --ignore-lock", holder(*process))]
    Held {
        /// Its process id, if it is known.
        process: Option<u32>,
    },
    /// The file cannot be opened or locked.
    #[error("cannot tell whether another allotment measures on this machine: {}: {why}", path.display())]
    Unknown {
        /// The file.
        path: PathBuf,
        /// The cause.
        why: io::Error,
    },
}

fn holder(process: Option<u32>) -> String {
    process.map_or(String::new(), |process| format!(" (process {process})"))
}

impl Lock {
    /// Takes the lock of this machine.
    ///
    /// # Errors
    /// Another process has it, or the file cannot be opened.
    pub fn take() -> Result<Lock, LockError> {
        Lock::take_in(&std::env::temp_dir())
    }

    fn take_in(folder: &Path) -> Result<Lock, LockError> {
        let path = folder.join(NAME);
        let unknown = |why| LockError::Unknown { path: path.clone(), why };
        let mut file = open(&path).map_err(unknown)?;
        match file.try_lock() {
            Ok(()) => {
                // Without the number, the next command cannot name this process.
                let _ = note_process(&mut file);
                Ok(Lock { _file: file })
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                Err(LockError::Held { process: text.trim().parse().ok() })
            }
            Err(TryLockError::Error(why)) => Err(unknown(why)),
        }
    }
}

/// Opens the file, or makes one that every user may lock. An existing file is opened without
/// `O_CREAT`: in a folder that all may write to, Linux allows that flag only to the file's owner.
fn open(path: &Path) -> io::Result<File> {
    let mut existing = OpenOptions::new();
    existing.read(true).write(true).custom_flags(libc::O_NOFOLLOW);
    match existing.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    match OpenOptions::new().read(true).write(true).create_new(true).open(path) {
        Ok(file) => {
            file.set_permissions(Permissions::from_mode(0o666))?;
            Ok(file)
        }
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => existing.open(path),
        Err(error) => Err(error),
    }
}

fn note_process(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_of_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let first = Lock::take_in(folder.path()).unwrap();
        let refused = Lock::take_in(folder.path()).unwrap_err().to_string();
        let process = format!("(process {})", std::process::id());
        assert!(refused.contains(&process) && refused.contains("--ignore-lock"), "{refused}");
        drop(first);
        Lock::take_in(folder.path()).unwrap();
    }

    #[test]
    fn a_file_that_was_left_behind_holds_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), "a long word that is no number\n").unwrap();
        let lock = Lock::take_in(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(NAME)).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
        drop(lock);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        std::fs::remove_file(folder.path().join(NAME)).unwrap();
        drop(Lock::take_in(folder.path()).unwrap());
        assert_eq!(mode(&folder.path().join(NAME)), 0o666, "every user may lock it");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told_apart_from_another_run() {
        let error = Lock::take_in(Path::new("/no/such/folder")).unwrap_err();
        assert!(matches!(error, LockError::Unknown { .. }), "{error}");
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), folder.path().join(NAME)).unwrap();
        let error = Lock::take_in(folder.path()).unwrap_err();
        assert!(matches!(error, LockError::Unknown { .. }), "a link is not followed: {error}");
        assert!(!folder.path().join("elsewhere").exists());
    }
}
