//! `StartAttachListener` where it depends on the process: its folder, its users, its children, its
//! end. What is asked and answered has tests beside the code.

mod fork_common;

use allotment::{Heap, Root, alloc};
use fork_common::*;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::{self, Permissions};
use std::io::{IoSlice, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

unsafe extern "C" {
    fn geteuid() -> u32;
}

/// A user who owns nothing here.
const NOBODY: u32 = 65534;

/// What a child is to do.
const TASK: &str = "ALLOTMENT_TEST_TASK";

fn is_root() -> bool {
    // SAFETY: it only asks.
    unsafe { geteuid() == 0 }
}

/// Runs the test of that name again in a process with this task and runtime folder.
fn child(test: &str, task: &str, runtime: &Path) -> Command {
    let mut command = own_program();
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]).env(TASK, task);
    command.env("XDG_RUNTIME_DIR", runtime).env("ALLOTMENT_OPTIONS", "+StartAttachListener");
    command
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

fn task() -> Option<String> {
    std::env::var(TASK).ok()
}

fn listening() -> Heap {
    Heap::builder().max_heap_size(16 << 20).start_attach_listener(true).build().expect("a heap")
}

/// The socket of this process: of its one heap.
fn socket() -> PathBuf {
    // SAFETY: it only asks.
    let user = unsafe { geteuid() };
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|runtime| Path::new(&runtime).join("allotment"));
    let places = runtime.into_iter().chain([format!("/tmp/allotment-{user}").into()]);
    let mut sockets = places.map(|folder| folder.join(format!("{}-heap", std::process::id())));
    sockets.find(|socket| socket.exists()).expect("it listens")
}

fn answer(mut caller: UnixStream) -> String {
    let mut text = String::new();
    // A caller that is turned away finds the connection reset or closed.
    let _ = caller.read_to_string(&mut text);
    text
}

fn ask(socket: &Path, question: &str) -> String {
    let mut caller = UnixStream::connect(socket).expect("it listens");
    let _ = caller.write_all(format!("allotment/1 {question}\n").as_bytes());
    answer(caller)
}

#[test]
fn a_child_of_a_fork_neither_listens_nor_removes_its_parent_s_socket() {
    alone("a_child_of_a_fork_neither_listens_nor_removes_its_parent_s_socket", || {
        for uses in [false, true] {
            let heap = listening();
            work(&heap);
            let (socket, own) = (socket(), heap.clone());
            let ended = in_child(|| {
                assert!(!has_thread("allotment-attach"));
                if uses {
                    work(&own);
                }
                assert!(ask(&socket, "heap").starts_with("allotment/1 ok "), "the parent answers");
                // Both clones: the heap ends in the child.
                // SAFETY: the child ends by `_exit`, and uses neither again.
                drop(unsafe { std::ptr::read(&own) });
                // SAFETY: as above.
                drop(unsafe { std::ptr::read(&heap) });
                assert!(socket.exists());
                assert!(ask(&socket, "heap").starts_with("allotment/1 ok "), "the parent still answers");
            });
            assert_eq!(ended, WELL, "{uses}");
            assert!(ask(&socket, "gc").starts_with("allotment/1 ok "));
            drop((heap, own));
            assert!(!socket.exists());
        }
    });
}

#[test]
fn callers_learn_of_the_end_though_a_child_has_copies_of_the_connections() {
    alone("callers_learn_of_the_end_though_a_child_has_copies_of_the_connections", || {
        let heap = listening();
        let call = || UnixStream::connect(socket()).expect("it listens");
        let mut served = call();
        served.write_all(b"allotment/1 he").expect("it is taken");
        // Most likely the listener has this one now, and waits for the rest.
        std::thread::sleep(Duration::from_millis(200));
        let waiting = call();
        // SAFETY: the child only waits for its end.
        let child = unsafe { fork() };
        if child == 0 {
            std::thread::sleep(Duration::from_secs(10 * u64::from(HANGS)));
            // SAFETY: nothing of this process is used after it.
            unsafe { _exit(0) };
        }
        drop(heap);
        // Both reads end. If one did not, the alarm would.
        let (served, waiting) = (answer(served), answer(waiting));
        assert!(served.is_empty() || served.ends_with("the heap is gone"), "{served}");
        assert!(waiting.is_empty() || waiting.ends_with("the heap is gone"), "{waiting}");
        assert!(Command::new("kill").arg(child.to_string()).status().expect("it runs").success());
        wait_for(child);
    });
}

#[test]
fn the_socket_of_a_killed_process_is_removed_by_the_next_that_listens() {
    const TEST: &str = "the_socket_of_a_killed_process_is_removed_by_the_next_that_listens";
    if let Some(task) = task() {
        let _heap = Heap::builder().max_heap_size(16 << 20).build().expect("a heap");
        println!("child: {}", socket().display());
        match &*task {
            "abort" => std::process::abort(),
            _ => return,
        }
    }
    let runtime = tempfile::tempdir().expect("a folder");
    let left = || fs::read_dir(runtime.path().join("allotment")).expect("it was made").count();
    let aborted = child(TEST, "abort", runtime.path()).output().expect("it runs");
    assert!(text(&aborted).contains("child: "), "{}", text(&aborted));
    assert_eq!(left(), 1, "it is left behind");
    let ended = child(TEST, "end", runtime.path()).output().expect("it runs");
    assert!(ended.status.success() && text(&ended).contains("child: "), "{}", text(&ended));
    assert_eq!(left(), 0);
}

#[test]
fn a_folder_that_others_can_use_is_refused_and_the_message_says_what_to_do() {
    const TEST: &str = "a_folder_that_others_can_use_is_refused_and_the_message_says_what_to_do";
    if task().is_some() {
        match Heap::builder().max_heap_size(16 << 20).build() {
            Ok(_) => println!("child: listens at {}", socket().display()),
            Err(error) => println!("child: {error}"),
        }
        return;
    }
    let runtime = tempfile::tempdir().expect("a folder");
    let folder = runtime.path().join("allotment");
    let said = || text(&child(TEST, "build", runtime.path()).output().expect("it runs"));
    fs::create_dir(&folder).expect("it is new");
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("it is ours");
    let refused = said();
    assert!(refused.contains("is not private: its mode is 755, not 700; remove it"), "{refused}");
    fs::remove_dir(&folder).expect("it is empty");
    symlink("/tmp", &folder).expect("it is new");
    assert!(said().contains("is not private: it is a symbolic link"));
    fs::remove_file(&folder).expect("it is there");
    fs::write(&folder, "").expect("it is new");
    assert!(said().contains("is not private: it is not a folder"));
    fs::remove_file(&folder).expect("it is there");
    assert!(said().contains(&format!("child: listens at {}", folder.display())));
    if is_root() {
        // As `sudo` leaves it: the folder of another user's session.
        std::os::unix::fs::chown(runtime.path(), Some(NOBODY), None).expect("root may");
        assert!(said().contains("child: listens at /tmp/allotment-0/"));
        std::os::unix::fs::chown(&folder, Some(NOBODY), None).expect("root may");
        std::os::unix::fs::chown(runtime.path(), Some(0), None).expect("root may");
        let refused = said();
        assert!(refused.contains("it belongs to user 65534, and this process to user 0"), "{refused}");
    }
    let long = runtime.path().join("x".repeat(100));
    fs::create_dir(&long).expect("it is new");
    let refused = text(&child(TEST, "build", &long).output().expect("it runs"));
    assert!(
        refused.contains("StartAttachListener: the socket ") && refused.contains("cannot be made"),
        "{refused}"
    );
}

/// The files of the last run may be all that is left of it.
#[test]
fn a_heap_that_cannot_listen_leaves_the_files_of_the_last_run() {
    const TEST: &str = "a_heap_that_cannot_listen_leaves_the_files_of_the_last_run";
    let folder = task();
    let heap = |folder: &Path| {
        let options = "AllocationSampleInterval=1k,PrintGC=true";
        let builder = Heap::builder().max_heap_size(16 << 20).options(options).expect("options");
        let builder = builder.timeline(folder.join("timeline.json"));
        builder.allocation_profile(folder.join("profile.pb.gz")).build()
    };
    if let Some(folder) = folder {
        match heap(Path::new(&folder)) {
            Ok(heap) => println!("child: {}", heap.collections().count),
            Err(error) => println!("child: {error}"),
        }
        return;
    }
    let (runtime, files) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let places = ["timeline.json", "profile.pb.gz"].map(|name| files.path().join(name));
    places.iter().for_each(|place| fs::write(place, "of the last run").expect("it is new"));
    let sockets = runtime.path().join("allotment");
    fs::create_dir(&sockets).expect("it is new");
    let run = |mode: u32| {
        fs::set_permissions(&sockets, Permissions::from_mode(mode)).expect("it is ours");
        let files = files.path().to_str().expect("a text");
        let said = text(&child(TEST, files, runtime.path()).output().expect("it runs"));
        let stay = places.each_ref().map(|place| fs::read(place).expect("it is there") == b"of the last run");
        (said, stay)
    };
    let (said, stay) = run(0o755);
    assert!(said.contains("is not private"), "{said}");
    assert_eq!(stay, [true; 2]);
    assert_eq!(fs::read_dir(files.path()).expect("it is there").count(), 2, "nothing else is left");
    let (said, stay) = run(0o700);
    assert!(said.contains("child: 0"), "{said}");
    assert_eq!(stay, [false; 2], "a heap that is built writes its files");
}

/// Otherwise a signal would end the program.
#[test]
fn a_limit_on_sizes_of_files_ends_a_snapshot_and_not_the_program() {
    const TEST: &str = "a_limit_on_sizes_of_files_ends_a_snapshot_and_not_the_program";
    if task().is_some() {
        let heap = listening();
        work(&heap);
        let _kept = heap.attach(|mu| {
            let mut list = None;
            for value in 0..NODES {
                list = Some(alloc!(mu, NewNode { next: list, value }).expect("room"));
            }
            Root::new(mu, list)
        });
        let file = tempfile::tempfile().expect("a file");
        let caller = UnixStream::connect(socket()).expect("it listens");
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let files = [file.as_fd()];
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
        let line = [IoSlice::new(b"allotment/1 snapshot\n")];
        sendmsg(&caller, &line, &mut control, SendFlags::NOSIGNAL).expect("it is taken");
        println!("child: {}", answer(caller));
        assert!(ask(&socket(), "heap").starts_with("allotment/1 ok "));
        return;
    }
    let runtime = tempfile::tempdir().expect("a folder");
    let own = child(TEST, "ask", runtime.path());
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -f 20; exec \"$0\" \"$@\""]).arg(own.get_program()).args(own.get_args());
    limited.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = limited.output().expect("it runs");
    assert!(output.status.success(), "{}", text(&output));
    assert!(text(&output).contains("the snapshot cannot be written: File too large"), "{}", text(&output));
}

/// The folder keeps other users out. This looks at the second fence, behind it.
#[test]
fn another_user_is_turned_away_and_root_is_not() {
    const TEST: &str = "another_user_is_turned_away_and_root_is_not";
    match task().as_deref() {
        None if is_root() => {
            // A folder of its own: it is open to all for a while.
            let runtime = tempfile::tempdir().expect("a folder");
            let said = text(&child(TEST, "listen", runtime.path()).output().expect("it runs"));
            assert!(said.contains("other: []\n"), "{said}");
            assert!(said.contains("root: [allotment/1 ok "), "{said}");
        }
        None => println!("left out: only root can be another user"),
        Some("listen") => {
            let _heap = listening();
            let socket = socket();
            let folder = socket.parent().expect("it has one");
            let runtime = folder.parent().expect("it has one");
            // The test's own program may lie where nobody else may go.
            let program = runtime.join("program");
            fs::copy(std::env::current_exe().expect("the test's own program"), &program).expect("a copy");
            for path in [runtime, folder, &socket, &program] {
                fs::set_permissions(path, Permissions::from_mode(0o777)).expect("it is ours");
            }
            for (who, user) in [("other", NOBODY), ("root", 0)] {
                let mut asks = Command::new(&program);
                asks.args(["--exact", TEST, "--nocapture", "--test-threads", "1"])
                    .env(TASK, &socket)
                    .uid(user);
                let said = text(&asks.current_dir("/").output().expect("it runs"));
                let said = said.split("child: ").nth(1).expect(&said);
                println!("{who}: {}", said.lines().next().unwrap_or_default());
            }
        }
        Some(socket) => {
            println!("child: [{}]", ask(Path::new(socket), "heap").lines().next().unwrap_or_default());
        }
    }
}
