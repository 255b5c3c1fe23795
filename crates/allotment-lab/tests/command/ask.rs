//! `allotment ask` from the outside: programs that listen, do not, have several heaps, end meanwhile.
//!
//! The programs are this test's own program, run again.

use super::{allotment, code_and_text, failure, output};
use allotment::{Field, Heap, Object, alloc, root};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Tells the process that it is such a program, and the names of its heaps.
const PROGRAM: &str = "ALLOTMENT_TEST_PROGRAM";

#[derive(Object)]
struct Session {
    next: Field<Option<Session>>,
    key: u64,
}

/// The program: each heap has a thread that keeps 100 sessions and makes more, until standard input
/// ends.
#[test]
fn the_program_that_is_asked() {
    let Ok(names) = std::env::var(PROGRAM) else { return };
    let heaps: Vec<Heap> = names
        .split(',')
        .map(|name| Heap::builder().name(name).max_heap_size(16 << 20).build().unwrap())
        .collect();
    let (is_ready, ready) = mpsc::channel();
    for (heap, name) in heaps.iter().zip(names.split(',')) {
        let heap = heap.clone();
        let is_ready = is_ready.clone();
        let worker = move || {
            heap.attach(|mu| {
                let mut list = None;
                for key in 0..100 {
                    list = Some(alloc!(mu, NewSession { next: list, key }).unwrap());
                }
                root!(mu, list = list);
                is_ready.send(()).unwrap();
                loop {
                    for key in 0..1000 {
                        alloc!(mu, NewSession { next: None, key }).unwrap();
                    }
                    assert_eq!(list.get(mu).map(|session| session.key), Some(99));
                    mu.blocking(|| thread::sleep(Duration::from_millis(1)));
                }
            })
            .unwrap();
        };
        thread::Builder::new().name(format!("worker-{name}")).spawn(worker).unwrap();
    }
    heaps.iter().for_each(|_| ready.recv().expect("each heap's thread has made its list"));
    println!("\nready");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    std::process::exit(0);
}

/// A program that runs until it is dropped.
struct Program(Child);

impl Program {
    fn start(heaps: &str, options: &str) -> Program {
        Program::start_by(Command::new(std::env::current_exe().unwrap()), heaps, options)
    }

    fn start_by(mut command: Command, heaps: &str, options: &str) -> Program {
        command.args(["--exact", "ask::the_program_that_is_asked", "--nocapture", "--test-threads=1"]);
        command.env(PROGRAM, heaps).env("ALLOTMENT_OPTIONS", options);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "ready"), "it begins");
        // Nobody reads on, and nothing more is printed.
        Program(child)
    }

    fn number(&self) -> String {
        self.0.id().to_string()
    }

    fn ask(&self, arguments: &[&str]) -> (i32, String) {
        code_and_text(&[&["ask", &*self.number()], arguments].concat())
    }

    fn refusal(&self, arguments: &[&str]) -> (i32, String) {
        failure(&[&["ask", &*self.number()], arguments].concat())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until `holds`, or fails when that surely hangs.
fn wait_until(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(120);
    while !holds() {
        assert!(Instant::now() < end, "it hangs");
        thread::sleep(Duration::from_millis(5));
    }
}

fn path(directory: &Path, name: &str) -> String {
    directory.join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_program_is_asked_everything() {
    let program = Program::start("shop", "+StartAttachListener,Collector=shenandoah");
    for (question, expected) in [
        (&["heap"][..], "collector     shenandoah\n"),
        (&["threads"], "worker-shop\n"),
        (&["metrics"], " {thread}       allotment.threads\n"),
        (&["options"], "StartAttachListener                = true                 {environment}\n"),
        (&["census"], "  Session\n"),
        (&["census", "--retained"], "retained  shape\n"),
        (&["gc"], " bytes in use before, "),
        (&["heap", "--heap", "shop"], "16777216 bytes"),
    ] {
        let (code, said) = program.ask(question);
        assert!(code == 0 && said.contains(expected), "{question:?} {said}");
    }
    let (code, said) = code_and_text(&["ask"]);
    let row = said.lines().find(|line| line.trim_start().starts_with(&program.number())).expect("its row");
    assert!(code == 0 && row.contains("  shop ") && row.contains("the_program_that_is_asked"), "{said}");

    let directory = tempfile::tempdir().unwrap();
    let to = path(directory.path(), "census");
    assert_eq!(program.ask(&["census", "--to", &to]), (0, String::new()));
    assert!(fs::read_to_string(&to).unwrap().contains("  Session\n"));
}

#[test]
fn snapshots_and_profiles_are_files_that_the_command_reads() {
    let program = Program::start("shop", "+StartAttachListener,Collector=mark-compact");
    let directory = tempfile::tempdir().unwrap();
    for format in ["heapsnapshot", "hprof"] {
        let to = path(directory.path(), format);
        let (code, said) = program.ask(&["snapshot", "--format", format, "--to", &to]);
        assert!(
            code == 0 && said.starts_with(&format!("{to}: 10")) && said.contains(" objects of "),
            "{said}"
        );
        let (code, said) = code_and_text(&["heap", "summary", &to]);
        assert!(code == 0 && said.contains("Session"), "{said}");
    }
    let to = path(directory.path(), "profile.pb.gz");
    let (code, said) = program.refusal(&["profile", "--to", &to]);
    assert!(code == 1 && said.contains("--seconds 10 samples"), "{said}");
    // On a busy machine a second may pass in which the program is not run and allocates nothing.
    wait_until(|| {
        let (code, said) = program.ask(&["profile", "--seconds=1", "--interval=4k", "--to", &to]);
        assert!(code == 0 && said.contains(" samples, one in 4096 bytes on average"), "{said}");
        let (code, said) = code_and_text(&["profile", "top", &to]);
        code == 0 && said.starts_with("alloc_space: ") && said.contains("  Session\n")
    });
    // The second one has what came since the first, and neither touches what the program chose.
    let (code, said) = program.ask(&["heap"]);
    assert!(code == 0 && said.contains("sampling      off"), "{said}");

    // Standard output may be a pipe, which the program never sees.
    let Output { status, stdout, stderr } = output(&["ask", &program.number(), "snapshot", "--to", "-"]);
    assert!(status.success() && stdout.starts_with(b"{\"snapshot\""), "{}", String::from_utf8_lossy(&stderr));
    assert!(String::from_utf8(stderr).unwrap().contains(" objects of "));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 3, "nothing else is left");
}

#[test]
fn what_cannot_be_asked_is_told_in_a_line() {
    let quiet = Program::start("heap", "");
    let (code, said) = quiet.refusal(&["heap"]);
    assert!(
        code == 1 && said.contains("has no heap that listens") && said.contains("+StartAttachListener"),
        "{said}"
    );
    let (code, said) = failure(&["ask", "4194305", "heap"]);
    assert!(code == 1 && said.contains("there is no process 4194305"), "{said}");

    let program = Program::start("one,two,two", "+StartAttachListener");
    let (code, said) = program.refusal(&["heap"]);
    assert!(
        code == 2 && said.contains("has 3 heaps that listen; choose one with --heap: one, two, two-2"),
        "{said}"
    );
    let (code, said) = program.refusal(&["heap", "--heap=three"]);
    assert!(code == 1 && said.contains("has no heap `three` that listens; it has one, two, two-2"), "{said}");
    assert!(program.ask(&["--heap", "two-2", "threads"]).1.contains("worker-two\n"));
    for (arguments, expected) in [
        (&["ask", "heap"][..], "no process was given"),
        (&["ask", "--heap=one"], "no process was given"),
        (&["ask", "1"], "no question was given"),
        (&["ask", "1", "dump"], "dump"),
        (&["ask", "1", "snapshot"], "no file was given; write --to NAME.heapsnapshot"),
        (&["ask", "1", "snapshot", "--format=hprof"], "--to NAME.hprof"),
        (&["ask", "1", "snapshot", "--format=pdf"], "pdf"),
        (&["ask", "1", "profile"], "--to NAME.pb.gz"),
        (&["ask", "1", "profile", "--seconds=0"], "1..=86400"),
        (&["ask", "1", "profile", "--interval=4k"], "--seconds"),
        (&["ask", "1", "profile", "--seconds=1", "--interval=0"], "0 samples nothing"),
        (&["ask", "-1", "heap"], "-1"),
        (&["ask", "x", "heap"], "x"),
    ] {
        let (code, said) = failure(arguments);
        assert!(code == 2 && said.contains(expected), "{arguments:?}: {said}");
    }
    let directory = tempfile::tempdir().unwrap();
    let to = path(directory.path(), "no/such");
    let (code, said) = program.refusal(&["snapshot", "--heap=one", "--to", &to]);
    assert!(code == 1 && said.contains("No such file"), "{said}");
    let (code, said) = program.refusal(&["snapshot", "--heap=one", "--to=/dev/full"]);
    assert!(code == 1 && said.contains("cannot write `/dev/full`"), "{said}");
}

#[test]
fn a_program_that_is_stopped_is_given_up_when_too_many_wait_for_it() {
    let program = Program::start("heap", "+StartAttachListener");
    let signal = |name: &str| {
        assert!(Command::new("kill").args([name, &program.number()]).status().unwrap().success());
    };
    signal("-STOP");
    // Each list leaves a call in the queue, and says at once what it found.
    let said: Vec<String> = (0..20).map(|_| code_and_text(&["ask"]).1).collect();
    let is_listed = |said: &String| said.lines().any(|row| row.trim_start().starts_with(&program.number()));
    assert!(is_listed(&said[0]) && !is_listed(&said[19]), "{said:?}");
    let (code, said) = program.refusal(&["heap"]);
    assert!(
        code == 1 && said.contains("other callers already wait for its heap `heap`; is the process stopped?"),
        "{said}"
    );
    signal("-CONT");
    wait_until(|| program.ask(&["heap"]).0 == 0);
}

#[test]
fn a_program_that_ends_while_it_is_asked_leaves_no_file() {
    let program = Program::start("heap", "+StartAttachListener");
    let directory = tempfile::tempdir().unwrap();
    let to = path(directory.path(), "profile");
    let mut asks = allotment();
    asks.args(["ask", &program.number(), "profile", "--seconds=80000", "--to", &to]);
    let asking = asks.stderr(Stdio::piped()).spawn().unwrap();
    // It is connected before it makes its file.
    wait_until(|| fs::read_dir(directory.path()).unwrap().count() > 0);
    drop(program);
    let Output { status, stderr, .. } = asking.wait_with_output().unwrap();
    let said = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("ended before it answered"), "{said}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn who_interrupts_the_command_leaves_no_file_and_the_program_goes_on() {
    let program = Program::start("heap", "+StartAttachListener");
    let directory = tempfile::tempdir().unwrap();
    fs::write(path(directory.path(), "profile"), "old").unwrap();
    let to = path(directory.path(), "profile");
    let mut asks = allotment();
    asks.args(["ask", &program.number(), "profile", "--seconds=80000", "--to", &to]);
    let asking = asks.spawn().unwrap();
    // Its temporary file is made when it listens to signals.
    wait_until(|| fs::read_dir(directory.path()).unwrap().count() > 1);
    assert!(Command::new("kill").args(["-INT", &asking.id().to_string()]).status().unwrap().success());
    assert_eq!(asking.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(&to).unwrap(), "old");
    let (code, said) = program.ask(&["heap"]);
    assert!(code == 0 && said.contains("sampling      off"), "{said}");
}

/// In a container the program has another number and another file system.
#[test]
fn a_program_in_a_container_is_asked_from_outside() {
    let contain = ["--mount", "--pid", "--fork", "--kill-child"];
    let probe = Command::new("unshare").args(contain).args(["mount", "-t", "tmpfs", "none", "/tmp"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        println!("left out: this user can make no container with unshare");
        return;
    }
    let mut command = Command::new("unshare");
    let inside = "mount -t tmpfs none /tmp && exec \"$0\" \"$@\"";
    command.args(contain).args(["sh", "-c", inside]).arg(std::env::current_exe().unwrap());
    command.env_remove("XDG_RUNTIME_DIR");
    let outer = Program::start_by(command, "inside", "+StartAttachListener");
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", outer.number())).unwrap();
    let process = children.trim();
    let directory = tempfile::tempdir().unwrap();
    let to = path(directory.path(), "census");
    let (code, said) = code_and_text(&["ask", process, "census", "--heap=inside", "--to", &to]);
    assert!(code == 0 && fs::read_to_string(&to).unwrap().contains("  Session\n"), "{said}");
    let to = path(directory.path(), "snapshot");
    let (code, said) = code_and_text(&["ask", process, "snapshot", "--to", &to]);
    assert!(code == 0 && fs::metadata(&to).unwrap().len() > 1000, "{said}");
    let (code, said) = code_and_text(&["ask"]);
    assert!(
        code == 0 && said.lines().any(|row| row.trim_start().starts_with(&format!("{process}  inside"))),
        "{said}"
    );
}
