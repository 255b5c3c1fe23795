//! Logs: whole lines, numbers, several writers, and what a restart finds.

use allotment_output::{LogError, LogFile, Rotation};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown, symlink};
use std::path::Path;

const NONE: Rotation = Rotation { file_bytes: 0, files: 0 };

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn lines_are_there_at_once_and_a_restart_adds_to_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    for turn in 1..=3 {
        let mut log = LogFile::open(&path, NONE).unwrap();
        log.append("one\n").unwrap();
        log.append("two\nthree\n").unwrap();
        assert_eq!(read(&path), "one\ntwo\nthree\n".repeat(turn));
    }
    assert_eq!(names(folder.path()), ["gc.log"]);
}

#[test]
fn the_log_of_a_process_before_gets_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    for turn in 0..5 {
        let mut log = LogFile::open(&path, Rotation { file_bytes: 0, files: 3 }).unwrap();
        // An empty log gets none.
        drop(LogFile::open(&path, Rotation { file_bytes: 0, files: 3 }).unwrap());
        log.append(&format!("turn {turn}\n")).unwrap();
    }
    assert_eq!(names(folder.path()), ["gc.log", "gc.log.0", "gc.log.1", "gc.log.2"]);
    assert_eq!(read(&path), "turn 4\n");
    assert_eq!(read(&folder.path().join("gc.log.0")), "turn 3\n");
    assert_eq!(read(&folder.path().join("gc.log.1")), "turn 1\n");
}

#[test]
fn files_are_as_large_as_allowed_and_their_lines_are_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let mut log = LogFile::open(&path, Rotation { file_bytes: 100, files: 11 }).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    // 30 lines of 30 bytes, alone and in batches, and a long one that no file has room for.
    let line = |number: u32| format!("line {number:03}{}\n", ".".repeat(21));
    for number in 0..10 {
        log.append(&line(number)).unwrap();
    }
    log.append(&(10..30).map(line).collect::<String>()).unwrap();
    assert_eq!(names(folder.path()).len(), 10);
    assert_eq!(names(folder.path())[1..3], ["gc.log.00", "gc.log.01"]);
    let all: String = (0..9).map(|number| read(&folder.path().join(format!("gc.log.{number:02}")))).collect();
    assert_eq!(all + &read(&path), (0..30).map(line).collect::<String>());
    let long = "x".repeat(500) + "\n";
    log.append(&(long.clone() + "short\n")).unwrap();
    assert_eq!((read(&path), read(&folder.path().join("gc.log.10"))), ("short\n".into(), long));
    for name in names(folder.path()) {
        let about = fs::metadata(folder.path().join(&name)).unwrap();
        assert!(about.len() <= 100 || name == "gc.log.10", "{name} has {} bytes", about.len());
        assert_eq!(about.permissions().mode() & 0o777, 0o640, "{name}");
    }
    // The oldest goes.
    log.append(&line(30).repeat(4)).unwrap();
    assert!(read(&folder.path().join("gc.log.00")).starts_with("short"));
}

#[test]
fn several_writers_lose_no_line_and_break_none() {
    const WRITERS: usize = 4;
    const LINES: usize = 500;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let rotation = Rotation { file_bytes: 3000, files: 1000 };
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let path = &path;
            scope.spawn(move || {
                let mut log = LogFile::open(path, rotation).unwrap();
                for number in 0..LINES {
                    log.append(&format!("{writer} {number} {}\n", "-".repeat(number % 50))).unwrap();
                }
            });
        }
    });
    let mut seen = HashMap::new();
    for name in names(folder.path()) {
        for line in read(&folder.path().join(name)).lines() {
            let mut parts = line.split(' ');
            let mut next = || parts.next().unwrap();
            let (writer, number, dashes) = (next(), next(), next());
            let number: usize = number.parse().unwrap();
            assert_eq!(dashes, "-".repeat(number % 50));
            *seen.entry((writer.to_owned(), number)).or_insert(0) += 1;
        }
    }
    assert_eq!(seen.len(), WRITERS * LINES);
    // How many files there are depends on the scheduler: while a writer is about to rename the log, the
    // others add to it.
    assert!(seen.values().all(|count| *count == 1) && names(folder.path()).len() > 1);
}

#[test]
fn a_second_writer_joins_the_log_of_a_living_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let rotation = Rotation { file_bytes: 0, files: 2 };
    let mut first = LogFile::open(&path, rotation).unwrap();
    first.append("first\n").unwrap();
    let mut second = LogFile::open(&path, rotation).unwrap();
    second.append("second\n").unwrap();
    drop(first);
    let mut third = LogFile::open(&path, rotation).unwrap();
    third.append("third\n").unwrap();
    assert_eq!((read(&path).as_str(), names(folder.path()).len()), ("first\nsecond\nthird\n", 1));
    drop((second, third));
    LogFile::open(&path, rotation).unwrap();
    assert_eq!(names(folder.path()), ["gc.log", "gc.log.0"]);
}

#[test]
fn a_log_that_others_rename_or_remove_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (path, kept) = (folder.path().join("gc.log"), folder.path().join("kept"));
    let mut log = LogFile::open(&path, NONE).unwrap();
    log.append("one\n").unwrap();
    fs::rename(&path, &kept).unwrap();
    log.append("two\n").unwrap();
    assert_eq!((read(&kept).as_str(), read(&path).as_str()), ("one\n", "two\n"));
    fs::remove_file(&path).unwrap();
    log.append("three\n").unwrap();
    assert_eq!(read(&path), "three\n");
}

#[test]
fn a_link_stays_and_its_target_gets_the_numbers() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("logs")).unwrap();
    symlink("logs/real", folder.path().join("link")).unwrap();
    let mut log = LogFile::open(&folder.path().join("link"), Rotation { file_bytes: 4, files: 1 }).unwrap();
    log.append("one\ntwo\n").unwrap();
    assert!(folder.path().join("link").is_symlink());
    assert_eq!(names(&folder.path().join("logs")), ["real", "real.0"]);
    assert_eq!(read(&folder.path().join("link")), "two\n");
}

/// Regression: the writer looked for its file at the link, rotated the link's target, looked again,
/// and never ended.
#[test]
fn a_log_that_is_moved_and_linked_back_goes_on_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("big")).unwrap();
    let mut log = LogFile::open(&at("gc.log"), Rotation { file_bytes: 10, files: 3 }).unwrap();
    log.append("one\n").unwrap();
    fs::rename(at("gc.log"), at("big/gc.log")).unwrap();
    symlink("big/gc.log", at("gc.log")).unwrap();
    log.append("two\nthree\nfour\n").unwrap();
    assert_eq!(names(folder.path()), ["big", "gc.log"]);
    assert_eq!(names(&at("big")), ["gc.log", "gc.log.0", "gc.log.1"]);
    assert!(at("gc.log").is_symlink());
    assert_eq!(read(&at("big/gc.log.0")), "one\ntwo\n");
    assert_eq!(read(&at("big/gc.log.1")) + &read(&at("gc.log")), "three\nfour\n");
    // A link to a descriptor is written through from then on.
    let (mut reader, writer) = std::io::pipe().unwrap();
    fs::remove_file(at("gc.log")).unwrap();
    fs::rename(at("big"), at("gone")).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
    symlink(format!("/dev/fd/{number}"), at("gc.log")).unwrap();
    log.append("five\nsix\nseven\n").unwrap();
    drop((log, writer));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "five\nsix\nseven\n");
}

/// Regression: a pipe that was put in the place of a log held the writer for ever, and a link was
/// followed.
#[test]
fn what_is_put_in_the_place_of_a_log_is_looked_at_first() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (path, pipe) = (at("gc.log"), at("pipe"));
    let mut log = LogFile::open(&path, NONE).unwrap();
    // No program: its process would have the pipes of the other tests open for an instant.
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    fs::rename(&pipe, &path).unwrap();
    let error = log.append("one\ntwo\n").unwrap_err();
    assert!(matches!(error, LogError::Write { lost: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("nobody reads"), "{error}");
    fs::remove_file(&path).unwrap();
    log.append("three\n").unwrap();
    assert_eq!(read(&path), "three\n");
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        eprintln!("left out: only root can make what belongs to another user");
        return;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    fs::write(at("victim"), "kept").unwrap();
    fs::rename(&path, at("gc.log.0")).unwrap();
    symlink("victim", &path).unwrap();
    lchown(&path, Some(12345), None).unwrap();
    let error = log.append("four\n").unwrap_err();
    assert!(error.to_string().contains("belongs to another user"), "{error}");
    assert_eq!((read(&at("victim")).as_str(), read(&at("gc.log.0")).as_str()), ("kept", "three\n"));
}

/// Locks the whole file for its open descriptor, or takes the lock away.
fn lock(file: &fs::File, kind: libc::c_int) -> bool {
    // SAFETY: a struct of numbers, all of which may be zero.
    let mut whole: libc::flock = unsafe { std::mem::zeroed() };
    whole.l_type = kind as libc::c_short;
    // SAFETY: the descriptor is open, and the struct is what this command reads.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const whole) == 0 }
}

/// Regression: a program that reads the log could keep it from being renamed, and nobody knew.
#[test]
fn a_log_that_another_program_locks_grows_and_tells_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let mut log = LogFile::open(&path, Rotation { file_bytes: 4, files: 2 }).unwrap();
    let reader = fs::File::open(&path).unwrap();
    assert!(lock(&reader, libc::F_RDLCK));
    for line in ["one\n", "two\n", "six\n"] {
        log.append(line).unwrap();
    }
    let error = log.append("ten\n").unwrap_err();
    assert!(matches!(&error, LogError::Rotation { .. }), "{error:?}");
    assert!(error.to_string().contains("another program holds a lock"), "{error}");
    log.append("all\n").unwrap();
    assert_eq!((read(&path).as_str(), names(folder.path()).len()), ("one\ntwo\nsix\nten\nall\n", 1));
    drop(reader);
    log.append("new\n").unwrap();
    assert_eq!((read(&path).as_str(), names(folder.path()).len()), ("new\n", 2));
}

/// Regression: a writer that failed to rename the log kept the others from doing so.
#[test]
fn a_log_that_cannot_be_renamed_is_not_locked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    fs::create_dir_all(folder.path().join("gc.log.0/full")).unwrap();
    let mut log = LogFile::open(&path, Rotation { file_bytes: 4, files: 1 }).unwrap();
    log.append("one\n").unwrap();
    assert!(matches!(log.append("two\n").unwrap_err(), LogError::Rotation { .. }));
    assert!(lock(&fs::File::options().write(true).open(&path).unwrap(), libc::F_WRLCK));
}

/// Regression: a log that `logrotate` renamed went on in a file that all could read.
#[test]
fn a_private_log_stays_private_when_it_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let mut log = LogFile::open(&path, NONE).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&path, folder.path().join("kept")).unwrap();
    log.append("secret\n").unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn pipes_are_written_through_and_places_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
    let rotation = Rotation { file_bytes: 4, files: 1 };
    let mut log = LogFile::open(Path::new(&format!("/dev/fd/{number}")), rotation).unwrap();
    drop(writer);
    log.append("one\ntwo\nthree\n").unwrap();
    let mut text = [0; 14];
    reader.read_exact(&mut text).unwrap();
    assert_eq!(&text, b"one\ntwo\nthree\n");
    drop(reader);
    assert!(matches!(log.append("four\nfive\n").unwrap_err(), LogError::Write { lost: 2, .. }));
    for path in [folder.path().to_owned(), folder.path().join("missing/log"), "".into()] {
        assert!(LogFile::open(&path, rotation).is_err());
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

#[test]
fn a_log_that_cannot_be_renamed_grows_and_tells_so_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    // A directory is where the number would be.
    fs::create_dir_all(folder.path().join("gc.log.0/full")).unwrap();
    let mut log = LogFile::open(&path, Rotation { file_bytes: 4, files: 1 }).unwrap();
    log.append("one\n").unwrap();
    let error = log.append("two\n").unwrap_err();
    assert!(matches!(&error, LogError::Rotation { .. }), "{error:?}");
    assert!(error.to_string().contains("grows from now on"), "{error}");
    log.append("three\n").unwrap();
    drop(log);
    // At the start it is added to.
    LogFile::open(&path, Rotation { file_bytes: 0, files: 1 }).unwrap().append("four\n").unwrap();
    assert_eq!(read(&path), "one\ntwo\nthree\nfour\n");
}
