//! A socket in the file system that other processes of the user call.
//!
//! All descriptors are non-blocking, and each wait has an end: a moment, or the end of the
//! listener. [`end`](LocalListener::end) shuts the socket down, which every wait notices. So the
//! end needs no second descriptor.
//!
//! A child of `fork()` has a copy of the descriptor of its parent's socket. It must neither shut
//! the socket down nor remove its name, and forgets it.
//!
//! The caller may send a descriptor with its line (`SCM_RIGHTS`). Only a regular file is accepted:
//! a write to it waits for no reader.

use super::ProcessMark;
use super::private_folder::{LockedFolder, private_folder, remove_stale, socket_name};
use rustix::cmsg_space;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, Shutdown, SocketAddrUnix,
    SocketFlags, SocketType, accept_with, bind, connect, listen, recvmsg, send, shutdown, socket_with,
};
use rustix::process::geteuid;
use std::fs::{self, File};
use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Callers that wait while another one is served.
const BACKLOG: i32 = 16;

/// The heaps of one name in one process that can listen.
const MOST_OF_A_NAME: u32 = 1000;

/// The time that a listener rests after the system refused a call, for example because there are no
/// descriptors.
const REST: Duration = Duration::from_millis(200);

/// The time that a process waits for another that gives itself a name. That takes a moment, unless
/// the process is stopped meanwhile.
const LOCK_TIME: Duration = Duration::from_secs(3);

/// The mark of the process that made a listener.
const HERE: u32 = 1;

/// The reason why a heap cannot listen (`StartAttachListener`).
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum AttachListenerError {
    /// The folder for sockets cannot be made or examined.
    #[error("StartAttachListener: the folder {} for the heap's socket cannot be made: {source}; XDG_RUNTIME_DIR can name another place", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Other users could use the folder for sockets.
    #[error("StartAttachListener: the folder {} is not private: {reason}; remove it, or make it a folder of this user with mode 700", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// The fault of the folder.
        reason: String,
    },
    /// The socket cannot be made.
    #[error("StartAttachListener: the socket {} cannot be made: {source}", path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The system gives no thread that listens.
    #[error(
        "StartAttachListener: the system refused the thread that listens: {source}; a higher limit on threads may work"
    )]
    Thread {
        /// The error of the system.
        source: io::Error,
    },
}
crate::debug::debug_is_display!(AttachListenerError);

/// A socket at which this process listens.
pub(crate) struct LocalListener {
    socket: OwnedFd,
    path: PathBuf,
    /// The process that listens. Its children do not.
    process: ProcessMark,
    /// Whether [`end`](Self::end) has begun. From then on another heap may have the name. Relaxed.
    ended: AtomicBool,
}

impl LocalListener {
    /// Listens for callers of the heap called `heap`.
    pub(crate) fn bind(heap: &str) -> Result<LocalListener, AttachListenerError> {
        LocalListener::bind_in(&private_folder()?, heap, LOCK_TIME)
    }

    fn bind_in(folder: &Path, heap: &str, wait: Duration) -> Result<LocalListener, AttachListenerError> {
        // Without the lock the socket of another process may look left.
        let _locked = LockedFolder::lock(folder, wait).inspect(|_| remove_stale(folder));
        let name = socket_name(std::process::id(), heap);
        let failed = |path: &Path, errno: Errno| AttachListenerError::Socket {
            path: path.to_owned(),
            source: errno.into(),
        };
        let path = folder.join(&name);
        let socket = new_socket().map_err(|errno| failed(&path, errno))?;
        // A heap of that name may listen already.
        let mut number = 1;
        let path = loop {
            let path = if number == 1 { folder.join(&name) } else { folder.join(format!("{name}-{number}")) };
            match SocketAddrUnix::new(&path).and_then(|address| bind(&socket, &address)) {
                Ok(()) => break path,
                Err(Errno::ADDRINUSE) if number < MOST_OF_A_NAME => number += 1,
                Err(errno) => return Err(failed(&path, errno)),
            }
        };
        let (process, ended) = (ProcessMark::new(HERE), AtomicBool::new(false));
        let listener = LocalListener { socket, path, process, ended };
        // If this fails, the name goes with the listener.
        listen(&listener.socket, BACKLOG).map_err(|errno| failed(&listener.path, errno))?;
        Ok(listener)
    }

    /// Waits for a caller. Returns `None` after the end of the listener. Refuses callers of other
    /// users, except root.
    pub(crate) fn next(&self) -> Option<Connection<'_>> {
        loop {
            if self.poll(None, None) == Ready::Ended {
                return None;
            }
            match self.accept() {
                Ok(socket) => {
                    if socket_peer(&socket).is_ok_and(|peer| may_ask(peer.user, geteuid().as_raw())) {
                        return Some(Connection { socket, listener: self });
                    }
                }
                Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => thread::sleep(REST),
            }
        }
    }

    /// Removes the name, refuses the callers that wait, and ends all waits of this listener. Does
    /// nothing in a child of `fork()`.
    pub(crate) fn end(&self) {
        if !self.is_here() || self.ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let _ = fs::remove_file(&self.path);
        // A child may have a copy of the descriptor, and then the kernel does not hang up on
        // waiting callers.
        while let Ok(waiting) = self.accept() {
            let _ = shutdown(&waiting, Shutdown::Both);
        }
        let _ = shutdown(&self.socket, Shutdown::Both);
    }

    fn accept(&self) -> Result<OwnedFd, Errno> {
        accept_with(&self.socket, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)
    }

    /// Whether this is the process that made the listener.
    pub(crate) fn is_here(&self) -> bool {
        self.process.load() == HERE
    }

    /// Waits until `until` for an event of a connection, or for a caller if there is no connection.
    fn poll(&self, connection: Option<(&OwnedFd, PollFlags)>, until: Option<Instant>) -> Ready {
        let own = if connection.is_none() { PollFlags::IN } else { PollFlags::empty() };
        let mut waits = vec![PollFd::new(&self.socket, own)];
        waits.extend(connection.map(|(socket, wanted)| PollFd::new(socket, wanted)));
        loop {
            let time = until.map(left);
            if time == Some(None) {
                return Ready::Late;
            }
            match poll(&mut waits, time.flatten().and_then(|time| Timespec::try_from(time).ok()).as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) if waits[0].revents().intersects(PollFlags::HUP | PollFlags::NVAL) => {
                    return Ready::Ended;
                }
                Ok(_) => return Ready::Yes,
                // The kernel has no memory for the call.
                Err(_) => thread::sleep(REST),
            }
        }
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        self.end();
    }
}

/// The reason why a wait ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ready {
    /// The event came.
    Yes,
    /// The time was over.
    Late,
    /// The listener ended.
    Ended,
}

/// The process at the other end of a local socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketPeer {
    /// The number of the process that called or listened, as the calling process sees it; 0 if it
    /// does not see the process.
    pub process: u32,
    /// Its effective user at that time.
    pub user: u32,
}

/// Asks the kernel which process is at the other end of a connected local socket.
///
/// Refused: the call of `rustix`. Its numbers of processes cannot be 0, as they are for a caller
/// from outside a container.
///
/// # Errors
/// The kernel's error.
pub fn socket_peer(socket: impl AsFd) -> io::Result<SocketPeer> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut bytes = size_of_val(&peer) as libc::socklen_t;
    let socket = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel writes at most `bytes` into memory of the type that this option has.
    let answer = unsafe {
        let place = (&raw mut peer).cast();
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_PEERCRED, place, &mut bytes)
    };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(SocketPeer { process: peer.pid.try_into().unwrap_or(0), user: peer.uid })
}

/// Whether a process of `user` may ask one of `own`.
fn may_ask(user: u32, own: u32) -> bool {
    user == own || user == 0
}

/// The reason why a line did not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoLine {
    /// Nobody reads the message.
    #[error("the caller hung up before the end of the question")]
    HungUp,
    #[error("the question did not end in time")]
    Late,
    #[error("the question is too long")]
    TooLong,
    #[error("more than one file came with the question")]
    Descriptors,
    #[error("what came with the question is not a regular file, and a reader could hold up the program")]
    NoFile,
    #[error("the heap is gone")]
    Ended,
}

/// A caller.
pub(crate) struct Connection<'l> {
    socket: OwnedFd,
    listener: &'l LocalListener,
}

impl Connection<'_> {
    /// Reads up to the first line feed, which must come within `time` and `limit` bytes. Returns
    /// the line without it, and the file that came with it.
    pub(crate) fn line(&self, limit: usize, time: Duration) -> Result<(Vec<u8>, Option<File>), NoLine> {
        let until = Instant::now() + time;
        let (mut line, mut files) = (Vec::new(), Vec::new());
        loop {
            match self.listener.poll(Some((&self.socket, PollFlags::IN)), Some(until)) {
                Ready::Yes => {}
                Ready::Late => return Err(NoLine::Late),
                Ready::Ended => return Err(NoLine::Ended),
            }
            let mut bytes = [0; 512];
            // Room for two, so that a second one is noticed. The kernel closes what has no room.
            let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(2))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let parts = &mut [IoSliceMut::new(&mut bytes)];
            let read = match recvmsg(&self.socket, parts, &mut control, RecvFlags::CMSG_CLOEXEC) {
                Ok(message) => message.bytes,
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(_) => return Err(NoLine::HungUp),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(descriptors) = message {
                    files.extend(descriptors);
                }
            }
            if files.len() > 1 {
                return Err(NoLine::Descriptors);
            }
            if read == 0 {
                return Err(NoLine::HungUp);
            }
            let end = bytes[..read].iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&bytes[..end.unwrap_or(read)]);
            if line.len() > limit {
                return Err(NoLine::TooLong);
            }
            if end.is_some() {
                let file = files.pop().map(regular_file).transpose()?;
                return Ok((line, file));
            }
        }
    }

    /// Sends all of `bytes` within `time`. Returns `false` if the caller hung up or did not read in
    /// time, or the listener ended.
    pub(crate) fn send(&self, mut bytes: &[u8], time: Duration) -> bool {
        let until = Instant::now() + time;
        while !bytes.is_empty() {
            match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
                Ok(sent) => bytes = &bytes[sent..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let room = Some((&self.socket, PollFlags::OUT));
                    if self.listener.poll(room, Some(until)) != Ready::Yes {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
        true
    }

    /// Waits for `time`, or until the listener ends or the caller hangs up. Returns whether both
    /// are still there.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        // The caller has sent its line, so it only wakes this wait when it hangs up, or sends more
        // than it may.
        self.listener.poll(Some((&self.socket, PollFlags::IN)), Some(Instant::now() + time)) == Ready::Late
    }
}

/// The caller learns of the end even if a child of `fork()` has a copy of the descriptor.
impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if self.listener.is_here() {
            let _ = shutdown(&self.socket, Shutdown::Both);
        }
    }
}

fn regular_file(descriptor: OwnedFd) -> Result<File, NoLine> {
    let is_regular =
        fstat(&descriptor).is_ok_and(|file| FileType::from_raw_mode(file.st_mode) == FileType::RegularFile);
    if is_regular { Ok(descriptor.into()) } else { Err(NoLine::NoFile) }
}

/// Calls a local socket without waiting: a stopped listener would never take the call.
///
/// # Errors
/// `ConnectionRefused` if nobody listens, `WouldBlock` if too many others wait, or another error of
/// the kernel.
pub fn call_socket(path: &Path) -> io::Result<UnixStream> {
    let socket = new_socket()?;
    connect(&socket, &SocketAddrUnix::new(path)?)?;
    let socket = UnixStream::from(socket);
    socket.set_nonblocking(false)?;
    Ok(socket)
}

fn new_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// The time until a moment; `None` if the moment has passed.
fn left(until: Instant) -> Option<Duration> {
    until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    /// Longer than any test.
    const NEVER: Duration = Duration::from_secs(60);

    #[test]
    fn both_ends_of_a_socket_are_this_process() {
        let (one, other) = UnixStream::pair().unwrap();
        let own = SocketPeer { process: std::process::id(), user: geteuid().as_raw() };
        assert_eq!([socket_peer(&one).unwrap(), socket_peer(&other).unwrap()], [own, own]);
        assert!(socket_peer(File::open("/dev/null").unwrap()).is_err());
    }

    /// A socket that has a name and does not listen yet would look abandoned to the other process.
    #[test]
    fn a_heap_names_its_socket_while_no_other_process_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("{}-heap", std::process::id()));
        let locked = LockedFolder::lock(folder.path(), NEVER).expect("nobody else has it");
        let other = UnixListener::bind(&path).unwrap();
        thread::scope(|scope| {
            let bound = scope.spawn(|| LocalListener::bind_in(folder.path(), "heap", NEVER).unwrap());
            thread::sleep(Duration::from_millis(50));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "it waits");
            // The other listener ends without removing its name, as in a killed process.
            drop(other);
            assert!(path.exists() && !bound.is_finished());
            drop(locked);
            let bound = bound.join().unwrap();
            assert_eq!(bound.path, path, "the name that was left is free again");
            assert!(call_socket(&path).is_ok());
            assert_ne!(
                LocalListener::bind_in(folder.path(), "heap", NEVER).unwrap().path,
                path,
                "it is taken"
            );
        });
    }

    #[test]
    fn the_user_and_root_may_ask() {
        assert!(may_ask(1000, 1000) && may_ask(0, 1000) && may_ask(0, 0));
        assert!(!may_ask(1000, 0) && !may_ask(1001, 1000) && !may_ask(65534, 1000));
    }
}
