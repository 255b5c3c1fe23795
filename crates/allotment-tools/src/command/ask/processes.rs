//! Which processes have heaps that listen, and where.
//!
//! A process may run in a container. Then it has another number there, other users and another file
//! system: its sockets are below `/proc/PID/root`, under the last number of `NSpid`. A socket is
//! taken for a process's only if the kernel says that this process listens there. So a socket that
//! somebody else has put in that place is never asked.

use allotment::internals::attach::{
    call_socket, listening_name, parse_socket_name, socket_peer, sockets_in_runtime, sockets_in_tmp,
};
use allotment_report::command::Failure;
use allotment_report::format::printable;
use rustix::process::geteuid;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The way to make a process listen.
pub(super) const HOW_TO_LISTEN: &str = "a program's heaps listen if it is started with \
     ALLOTMENT_OPTIONS=+StartAttachListener, or asks for the option itself";

/// A heap that can be asked.
#[derive(Debug)]
pub(super) struct ListeningHeap {
    /// The number of its process, here.
    pub(super) process: u32,
    /// Its name.
    pub(super) name: String,
    /// The connection.
    pub(super) socket: UnixStream,
}

/// Whether a heap that listens under a name is meant by another: its own, or how it is listed.
pub(super) fn is_called(listening: &str, name: &str) -> bool {
    listening == name || listening == listening_name(name)
}

/// The heaps of a process, at least one, by name. It is an error if too many others wait for the heap
/// that is `wanted`, or for any if none is.
pub(super) fn heaps_of(process: u32, wanted: Option<&str>) -> Result<Vec<ListeningHeap>, Failure> {
    let failed = |why: String| Err(Failure::Failed(why));
    let Some(target) = Target::of(process) else {
        return failed(format!("there is no process {process}; allotment ask lists those that can be asked"));
    };
    let (heaps, busy) = target.heaps();
    if let Some(busy) = refusing(&busy, &heaps, wanted) {
        return failed(format!(
            "process {process} does not answer: other callers already wait for its heap `{busy}`; is the process \
             stopped?"
        ));
    }
    if !heaps.is_empty() {
        return Ok(heaps);
    }
    let own = geteuid().as_raw();
    if own != 0 && own != target.user {
        let user = target.user;
        return failed(format!(
            "process {process} belongs to user {user}; only that user and root may ask its heaps"
        ));
    }
    failed(format!("process {process} has no heap that listens; {HOW_TO_LISTEN}"))
}

/// The busy heap for which nobody can be asked: the one that is wanted, or any if it may be meant.
fn refusing<'n>(busy: &'n [String], heaps: &[ListeningHeap], wanted: Option<&str>) -> Option<&'n String> {
    let is_free = wanted.is_some_and(|name| heaps.iter().any(|heap| heap.name == name));
    let may_be_meant = |busy: &str| heaps.is_empty() || wanted.is_none_or(|name| is_called(busy, name));
    busy.iter().find(|busy| !is_free && may_be_meant(busy))
}

/// All heaps that can be asked, by process and name.
pub(super) fn all() -> Vec<ListeningHeap> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers: BTreeSet<u32> =
        numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.into_iter().filter_map(Target::of).flat_map(|target| target.heaps().0).collect()
}

/// Whether the process is there and has not ended: one that nobody has waited for yet is in `/proc`.
pub(super) fn is_there(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    field(&status, "State").is_some_and(|state| !state.starts_with(['Z', 'X']))
}

/// The command line of a process, or its name where it shows none.
pub(super) fn command_of(process: u32) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let line = words.join(" ");
    let name = || fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    let line = if line.trim().is_empty() { format!("[{}]", name().trim()) } else { line.trim().to_owned() };
    printable(&line.replace('\n', " ")).chars().take(100).collect()
}

/// A process that may have heaps.
struct Target {
    process: u32,
    /// Its number in its own container.
    inner_process: u32,
    user: u32,
    /// The number of its user in its own container.
    inner_user: u32,
    /// The root of its paths, as seen from here.
    root: PathBuf,
    /// The folder of its session, as it was at its start.
    runtime: Option<PathBuf>,
}

impl Target {
    /// `None` if there is no such process.
    fn of(process: u32) -> Option<Target> {
        let at = |name: &str| format!("/proc/{process}/{name}");
        let status = fs::read_to_string(at("status")).ok()?;
        // A thread has a folder in `/proc`, too.
        if field(&status, "Tgid") != Some(process.to_string().as_str()) || !is_there(process) {
            return None;
        }
        let last = |text: &str| text.split_ascii_whitespace().next_back()?.parse().ok();
        let inner_process = field(&status, "NSpid").and_then(last).unwrap_or(process);
        // Real, effective, saved, of the file system.
        let user = field(&status, "Uid")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let space = |of: &str, kind: &str| fs::read_link(format!("/proc/{of}/ns/{kind}")).ok();
        let is_shared = |kind: &str| space("self", kind) == space(&process.to_string(), kind);
        let inner_user = if is_shared("user") {
            user
        } else {
            fs::read_to_string(at("uid_map")).ok().and_then(|map| inner(&map, user)).unwrap_or(user)
        };
        // Paths to sockets must be short, so a root that is the same has none before it. Where the
        // process's root cannot be looked at, it is most likely this one.
        let place = |path: &Path| fs::metadata(path).ok().map(|root| (root.dev(), root.ino()));
        let there = at("root");
        let is_here = place(Path::new(&there))
            .is_none_or(|there| Some(there) == place(Path::new("/")) && is_shared("mnt"));
        let root = PathBuf::from(if is_here { "/" } else { &*there });
        let environment = fs::read(at("environ")).unwrap_or_default();
        let runtime = environment
            .split(|byte| *byte == 0)
            .find_map(|variable| variable.strip_prefix(b"XDG_RUNTIME_DIR="));
        let runtime = runtime.map(|runtime| PathBuf::from(OsStr::from_bytes(runtime)));
        Some(Target { process, inner_process, user, inner_user, root, runtime })
    }

    /// The heaps of the process that can be asked, and the names of those with too many callers.
    fn heaps(&self) -> (Vec<ListeningHeap>, Vec<String>) {
        let session = PathBuf::from(format!("/run/user/{}", self.inner_user));
        let runtimes = self.runtime.iter().filter(|path| path.is_absolute()).chain([&session]);
        let folders: BTreeSet<PathBuf> = runtimes
            .map(|runtime| sockets_in_runtime(runtime))
            .chain([sockets_in_tmp(self.inner_user)])
            .map(|folder| self.root.join(folder.strip_prefix("/").unwrap_or(&folder)))
            .collect();
        let (mut heaps, mut busy) = (Vec::new(), Vec::new());
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let file = entry.file_name();
            match self.heap(&file, &entry.path()) {
                Ok(heap) => heaps.extend(heap),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    busy.extend(parse_socket_name(&file).map(|(_, name)| name.to_owned()));
                }
                Err(_) => {}
            }
        }
        heaps.sort_by(|one: &ListeningHeap, other| one.name.cmp(&other.name));
        (heaps, busy)
    }

    /// The heap with a socket of this name, if it is one of this process.
    fn heap(&self, name: &OsStr, path: &Path) -> io::Result<Option<ListeningHeap>> {
        let own = parse_socket_name(name).filter(|(process, _)| *process == self.inner_process);
        let Some((_, name)) = own else { return Ok(None) };
        let socket = call_socket(path)?;
        let is_its = socket_peer(&socket)?.process == self.process;
        Ok(is_its.then(|| ListeningHeap { process: self.process, name: name.to_owned(), socket }))
    }
}

/// The value of a line `key: value`.
fn field<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
}

/// The number that a user has inside, by a map of lines `inside outside length`.
fn inner(map: &str, outside: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let numbers: Vec<u32> = line.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        let [inside, first, length] = numbers[..] else { return None };
        let place = outside.checked_sub(first).filter(|place| *place < length)?;
        inside.checked_add(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_mapped_into_containers() {
        let map = "         0       1000          1\n         1     100000      65536\n";
        let inner = |outside| inner(map, outside);
        assert_eq!([inner(1000), inner(100_000), inner(165_535)], [Some(0), Some(1), Some(65_536)]);
        assert_eq!([inner(0), inner(1001), inner(165_536)], [None; 3]);
        assert_eq!(super::inner("0 0 4294967295", 1000), Some(1000));
        assert_eq!(super::inner("nonsense\n1 2\n", 1), None);
    }

    fn listening(name: &str) -> ListeningHeap {
        ListeningHeap { process: 1, name: name.into(), socket: UnixStream::pair().unwrap().0 }
    }

    #[test]
    fn a_heap_is_found_by_its_own_name_and_by_the_name_that_is_listed() {
        let long = "x".repeat(40);
        for (listed, name) in
            [("a-b", "a/b"), ("caf-", "café"), (&long[..32], &long), ("heap", ""), ("a", "a")]
        {
            assert!(
                is_called(&listening(listed).name, name) && is_called(&listening(listed).name, listed),
                "{name}"
            );
        }
        assert!(!is_called(&listening("a-b").name, "a"));
    }

    #[test]
    fn a_busy_heap_refuses_only_those_who_may_mean_it() {
        let (heaps, busy) = ([listening("idle")], ["a-b".to_owned()]);
        let refusing = |wanted| refusing(&busy, &heaps, wanted).map(String::as_str);
        assert_eq!(refusing(None), Some("a-b"));
        assert_eq!([refusing(Some("a/b")), refusing(Some("a-b"))], [Some("a-b"); 2]);
        assert_eq!([refusing(Some("idle")), refusing(Some("other"))], [None; 2]);
        assert!(super::refusing(&busy, &[], Some("other")).is_some(), "a heap does listen");
    }

    #[test]
    fn this_process_is_there_and_a_thread_is_no_process() {
        let own = std::process::id();
        let target = Target::of(own).expect("it runs");
        assert_eq!((target.inner_user, target.root.as_path()), (geteuid().as_raw(), Path::new("/")));
        assert!(is_there(own) && Target::of(u32::MAX).is_none() && !is_there(u32::MAX));
        let threads = std::thread::spawn(|| rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
        assert!(Target::of(threads.join().unwrap()).is_none());
        assert!(command_of(own).contains("allotment"), "{}", command_of(own));
    }
}
