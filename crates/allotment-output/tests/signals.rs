//! Signals that writes cause, and limits: a program that does nothing about them goes on, and finds
//! its own signals as they were. Each test runs in a process of its own, as limits and handlers are the
//! process's.

use allotment_output::{LogError, LogFile, OutputFile, Rotation, write_without_signals};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;

/// Runs `body` in a process of its own, which gets an empty folder.
fn apart(test: &str, body: impl FnOnce(&Path)) {
    if let Some(folder) = std::env::var_os("FOLDER") {
        return body(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("FOLDER", folder.path())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
}

/// Sets what a program in C has.
fn by_default(signal: libc::c_int) {
    // SAFETY: the default is a known handler.
    assert_ne!(unsafe { libc::signal(signal, libc::SIG_DFL) }, libc::SIG_ERR);
}

/// Whether the signal waits for this thread to unblock it.
fn is_waiting(signal: libc::c_int) -> bool {
    // SAFETY: the set is initialised by the first call and read by the second.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigpending(&raw mut set);
        libc::sigismember(&raw const set, signal) == 1
    }
}

/// Blocks the signal, and has it wait.
fn have_waiting(signal: libc::c_int) {
    // SAFETY: the set is initialised by the first call; the signal is blocked when it is raised.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
        libc::raise(signal);
    }
    assert!(is_waiting(signal));
}

#[test]
fn a_closed_pipe_is_an_error() {
    apart("a_closed_pipe_is_an_error", |_| {
        by_default(libc::SIGPIPE);
        let write = || {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let path = format!("/proc/self/fd/{}", writer.as_raw_fd());
            OutputFile::create(Path::new(&path)).unwrap().write_all(b"x").unwrap_err()
        };
        assert_eq!(write().kind(), std::io::ErrorKind::BrokenPipe);
        assert!(!is_waiting(libc::SIGPIPE));
        // The program's own signal is not taken away.
        have_waiting(libc::SIGPIPE);
        assert_eq!(write().kind(), std::io::ErrorKind::BrokenPipe);
        assert!(is_waiting(libc::SIGPIPE));
    });
}

#[test]
fn a_limit_on_file_sizes_is_an_error() {
    apart("a_limit_on_file_sizes_is_an_error", |folder| {
        by_default(libc::SIGXFSZ);
        let path = folder.join("out");
        fs::write(&path, "old").unwrap();
        setrlimit(Resource::Fsize, Rlimit { current: Some(4096), maximum: None }).unwrap();
        let mut file = OutputFile::create(&path).unwrap();
        let error = file.write_all(&[b'x'; 5000]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
        let mut log = LogFile::open(&folder.join("log"), Rotation { file_bytes: 0, files: 0 }).unwrap();
        let line = "x".repeat(999) + "\n";
        let error = log.append(&line.repeat(7)).unwrap_err();
        assert!(matches!(error, LogError::Write { lost: 3, .. }), "{error:?}");
        assert_eq!(fs::read_to_string(folder.join("log")).unwrap(), line.repeat(4));
        assert!(!is_waiting(libc::SIGXFSZ));
    });
}

/// Regression: lines for standard error were written without the guard that files have.
#[test]
fn standard_error_that_takes_nothing_ends_no_program() {
    apart("standard_error_that_takes_nothing_ends_no_program", |folder| {
        by_default(libc::SIGPIPE);
        by_default(libc::SIGXFSZ);
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let error = write_without_signals(&writer, b"x").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
        let file = fs::File::create(folder.join("err.log")).unwrap();
        setrlimit(Resource::Fsize, Rlimit { current: Some(4), maximum: None }).unwrap();
        assert_eq!(write_without_signals(&file, b"123456").unwrap(), 4);
        let error = write_without_signals(&file, b"56").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge);
        assert!(!is_waiting(libc::SIGPIPE) && !is_waiting(libc::SIGXFSZ));
    });
}

/// Regression: when no new file could be opened after a rename, the log was never renamed again.
#[test]
fn a_limit_on_descriptors_does_not_end_the_rotation_of_a_log() {
    apart("a_limit_on_descriptors_does_not_end_the_rotation_of_a_log", |folder| {
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let mut log = LogFile::open(&folder.join("log"), Rotation { file_bytes: 4, files: 3 }).unwrap();
        log.append("one\n").unwrap();
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).unwrap();
        let (renamed, next) = (log.append("two\n"), log.append("lost\n"));
        setrlimit(Resource::Nofile, before).unwrap();
        renamed.unwrap();
        assert!(matches!(next, Err(LogError::Write { lost: 1, .. })), "{next:?}");
        assert_eq!(read("log.0"), "one\ntwo\n");
        log.append("six\nten\n").unwrap();
        assert_eq!((read("log.1").as_str(), read("log").as_str()), ("six\n", "ten\n"));
    });
}
