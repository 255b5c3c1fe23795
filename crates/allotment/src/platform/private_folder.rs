//! The folder of sockets at which the heaps of a user's processes listen.
//!
//! ```text
//! $XDG_RUNTIME_DIR/allotment/4711-heap     where the session of the user has such a folder
//! /tmp/allotment-1000/4711-heap            elsewhere: numbers of the user and the process, the name
//! ```
//!
//! Everybody may make names in `/tmp`. So the folder must not be a link, must belong to the user,
//! and nobody else may enter it. Any other folder is refused, not repaired, because its maker is
//! unknown. Afterwards the folder is safe in `/tmp`, since nobody else may rename a user's file
//! there.
//!
//! A killed process leaves its socket. The next heap that listens removes the sockets of processes
//! that are gone. A container starts each process under one number, most often 1, and may keep its
//! folder. So a socket under the number of this process is removed, too, if nobody listens there.
//!
//! A socket that has its name and does not listen yet looks like an abandoned one. So names are
//! given and removed under a lock of the folder, which ends with its process. Refused: a temporary
//! name until the socket listens. Between the check of a socket and its removal another heap may
//! take the name.
//!
//! Refused: sockets in the abstract namespace, which leave nothing. Any user may take such a name
//! first, and a container with its own network does not show them.

use super::linux::plain_name;
use super::{AttachListenerError, call_socket};
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{io, process, thread};

/// The folder of sockets within a user's runtime folder, such as `/run/user/1000`.
#[must_use]
pub fn sockets_in_runtime(runtime: &Path) -> PathBuf {
    runtime.join("allotment")
}

/// The folder of sockets of the user with this number if there is no runtime folder.
#[must_use]
pub fn sockets_in_tmp(user: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/allotment-{user}"))
}

/// The process and the heap in a socket's name; `None` for another file.
#[must_use]
pub fn parse_socket_name(name: &OsStr) -> Option<(u32, &str)> {
    let (process, heap) = name.to_str()?.split_once('-')?;
    // `parse` accepts a sign, which our names never have.
    let is_number = process.bytes().all(|digit| digit.is_ascii_digit());
    Some((process.parse().ok().filter(|process| is_number && *process != 0)?, heap))
}

/// The name under which a heap listens, without its number among heaps of one name: at most 32
/// characters, which fit into an address with the longest of these folders, with `-` for each
/// character that a file's name may not have.
#[must_use]
pub fn listening_name(heap: &str) -> String {
    let name = plain_name(heap, 32);
    if name.is_empty() { "heap".into() } else { name }
}

/// The name of the socket of a heap.
pub(super) fn socket_name(process: u32, heap: &str) -> String {
    format!("{process}-{}", listening_name(heap))
}

/// Finds the folder for the sockets of this process, or makes it.
pub(super) fn private_folder() -> Result<PathBuf, AttachListenerError> {
    let user = geteuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    // A folder of another user comes from `sudo` or `su`.
    let runtime = runtime.filter(|path| path.is_absolute() && owner(path) == Some(user));
    let folder = runtime.map_or_else(|| sockets_in_tmp(user), |runtime| sockets_in_runtime(&runtime));
    check(&folder, user)?;
    Ok(folder)
}

/// The user to whom a folder belongs.
fn owner(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().filter(fs::Metadata::is_dir).map(|status| status.uid())
}

/// Makes the folder if nothing is there, and checks that only the user can enter it.
fn check(folder: &Path, user: u32) -> Result<(), AttachListenerError> {
    let failed = |source| AttachListenerError::Folder { path: folder.into(), source };
    match fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let status = fs::symlink_metadata(folder).map_err(failed)?;
    let (owner, mode) = (status.uid(), status.mode() & 0o777);
    let reason = match () {
        () if status.is_symlink() => "it is a symbolic link".to_owned(),
        () if !status.is_dir() => "it is not a folder".to_owned(),
        () if owner != user => format!("it belongs to user {owner}, and this process to user {user}"),
        () if mode != 0o700 => format!("its mode is {mode:03o}, not 700"),
        () => return Ok(()),
    };
    Err(AttachListenerError::NotPrivate { path: folder.into(), reason })
}

/// The folder, in which no other process gives or removes names.
pub(super) struct LockedFolder(File);

impl LockedFolder {
    /// Waits for the lock for this time; `None` if it did not come, or the file system has none.
    pub(super) fn lock(folder: &Path, wait: Duration) -> Option<LockedFolder> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let locked = LockedFolder(open(folder, flags, Mode::empty()).ok()?.into());
        let until = Instant::now() + wait;
        loop {
            match locked.0.try_lock() {
                Ok(()) => return Some(locked),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return None,
            }
        }
    }
}

/// A child of `fork()` may have a copy of the descriptor, which would keep the lock.
impl Drop for LockedFolder {
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Removes the sockets of processes that are gone, and of processes that had the number of this
/// one. A socket that cannot be removed stays. The folder is locked.
pub(super) fn remove_stale(folder: &Path) {
    let own = process::id();
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_gone = parse_socket_name(&name).is_some_and(|(process, _)| process == own || is_gone(process));
        // This process may have other heaps. Containers may share the folder and have other
        // numbers, and a child may have its parent's socket. Then a process takes the call.
        if is_gone && is_refused(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether no process has this number.
fn is_gone(process: u32) -> bool {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(Errno::SRCH))
}

/// Whether nobody listens at a socket.
fn is_refused(path: &Path) -> bool {
    call_socket(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    fn refusal(folder: &Path, user: u32) -> String {
        check(folder, user).expect_err("refused").to_string()
    }

    #[test]
    fn a_folder_is_made_for_its_user_alone_and_another_is_refused() {
        let (place, user) = (tempfile::tempdir().unwrap(), geteuid().as_raw());
        let at = |name: &str| place.path().join(name);
        for _ in 0..2 {
            check(&at("new"), user).expect("made, and then found");
        }
        assert_eq!(fs::metadata(at("new")).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(refusal(&at("new"), user + 1).contains("it belongs to user"));
        for mode in [0o755, 0o770, 0o701, 0o500] {
            fs::set_permissions(at("new"), Permissions::from_mode(mode)).unwrap();
            let said = refusal(&at("new"), user);
            assert!(said.contains(&format!("its mode is {mode:03o}, not 700")), "{said}");
        }
        fs::set_permissions(at("new"), Permissions::from_mode(0o700)).unwrap();
        symlink(at("new"), at("link")).unwrap();
        assert!(refusal(&at("link"), user).contains("it is a symbolic link"));
        symlink(at("nowhere"), at("dangling")).unwrap();
        assert!(refusal(&at("dangling"), user).contains("it is a symbolic link"));
        fs::write(at("file"), "").unwrap();
        assert!(refusal(&at("file"), user).contains("it is not a folder"));
        assert!(refusal(&at("no/such"), user).contains("No such file"));
    }

    #[test]
    fn names_of_sockets_are_read_as_they_are_written() {
        for (heap, expected) in [("heap", "heap"), ("a b/c", "a-b-c"), ("", "heap"), ("../x", "..-x")] {
            let name = socket_name(4711, heap);
            assert_eq!(parse_socket_name(OsStr::new(&name)), Some((4711, expected)));
        }
        assert_eq!(socket_name(1, &"x".repeat(100)).len(), 2 + 32);
        for name in ["", "heap", "x-heap", "-heap", "+1-heap", "0-heap", "4294967296-heap"] {
            assert_eq!(parse_socket_name(OsStr::new(name)), None, "{name}");
        }
    }

    #[test]
    fn sockets_that_were_left_are_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: String| folder.path().join(name);
        // Above the kernel's largest number of a process.
        let gone = (1_u32 << 22) + 1;
        let own = std::process::id();
        let (stale, taken, other) = (at(format!("{gone}-a")), at(format!("{gone}-b")), at("notes".into()));
        let (left, mine) = (at(format!("{own}-c")), at(format!("{own}-d")));
        for dead in [&stale, &left] {
            drop(UnixListener::bind(dead).unwrap());
        }
        let _listen = [&taken, &mine].map(|live| UnixListener::bind(live).unwrap());
        // This number belongs to a process.
        let parent = at(format!("{}-e", std::os::unix::process::parent_id()));
        drop(UnixListener::bind(&parent).unwrap());
        fs::write(&other, "").unwrap();
        remove_stale(folder.path());
        let there = [&stale, &left, &taken, &mine, &parent, &other].map(|path| path.exists());
        assert_eq!(there, [false, false, true, true, true, true]);
        remove_stale(&at("missing".into()));
    }
}
