//! What is at a path, and what is there after a write.

use allotment_output::{LogFile, OutputFile, Place, Rotation};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(text.as_bytes())?;
    file.finish()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

/// Runs a program. `false` if it fails, as programs that need root do.
fn runs(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|done| done.status.success())
}

/// Runs this test again in a process that the arguments of a program start, with `ROLE` set.
fn again(program: &str, arguments: &[&str], test: &str) -> std::process::Output {
    let this = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    command.args(arguments).arg(this).args(["--exact", test, "--nocapture", "--test-threads=1"]);
    command.env("ROLE", "child").output().unwrap()
}

/// This test in a process of another user, with `ROLE` set, and with `FOLDER`, which is open to all.
fn as_nobody(test: &str, folder: &Path) -> Command {
    // A copy that the other user may run, wherever this one is. Another program makes it: what is open
    // here to be written, for an instant in each child of another test, too, cannot be run.
    let (this, program) = (std::env::current_exe().unwrap(), folder.join("test"));
    assert!(runs("cp", &[this.to_str().unwrap(), program.to_str().unwrap()]));
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    command.args(["--exact", test, "--nocapture"]).env("ROLE", "child").env("FOLDER", folder);
    command.current_dir("/");
    command
}

fn is_child() -> bool {
    std::env::var_os("ROLE").is_some()
}

#[test]
fn a_file_is_at_its_place_when_it_is_whole_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert!(!path.exists() && names(folder.path()).len() == 1);
    file.finish().unwrap();
    assert_eq!((read(&path).as_str(), names(folder.path())), ("new", vec!["out".into()]));
    let mut given_up = OutputFile::create(&path).unwrap();
    given_up.write_all(b"half").unwrap();
    drop(given_up);
    assert_eq!((read(&path).as_str(), names(folder.path())), ("new", vec!["out".into()]));
}

#[test]
fn a_place_that_was_tried_holds_nothing_new() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let place = Place::open(&path).unwrap();
    assert_eq!(names(folder.path()), [""; 0]);
    fs::write(&path, "old").unwrap();
    drop(Place::open(&path).unwrap());
    assert_eq!((read(&path).as_str(), names(folder.path())), ("old", vec!["out".into()]));
    place.create().unwrap().finish().unwrap();
    assert_eq!(read(&path), "");
}

#[test]
fn the_mode_stays_and_a_new_file_has_the_usual() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o7777;
    fs::write(at("usual"), "").unwrap();
    for bits in [0o600, 0o644, 0o666, 0o755] {
        fs::write(at("old"), "").unwrap();
        fs::set_permissions(at("old"), fs::Permissions::from_mode(bits)).unwrap();
        write(&at("old"), "new").unwrap();
        assert_eq!((read(&at("old")).as_str(), mode("old")), ("new", bits));
    }
    write(&at("new"), "new").unwrap();
    assert_eq!(mode("new"), mode("usual"));
    if fs::metadata(folder.path()).unwrap().uid() == 0 {
        std::os::unix::fs::chown(at("old"), Some(12345), Some(54321)).unwrap();
        write(&at("old"), "root's").unwrap();
        let about = fs::metadata(at("old")).unwrap();
        assert_eq!((about.uid(), about.gid(), read(&at("old")).as_str()), (12345, 54321, "root's"));
    }
}

#[test]
fn a_private_file_is_for_its_owner_alone_unless_it_replaces_another() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    OutputFile::create_private(&path).unwrap().finish().unwrap();
    assert_eq!(mode(), 0o600);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    OutputFile::create_private(&path).unwrap().finish().unwrap();
    assert_eq!(mode(), 0o644);
}

#[test]
fn links_are_followed_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("below")).unwrap();
    symlink("below/real", at("first")).unwrap();
    symlink(at("first"), at("second")).unwrap();
    symlink("below", at("folder")).unwrap();
    symlink("../up", at("below/to-up")).unwrap();
    // The first write makes what the link leads to, the second one replaces it.
    for text in ["made", "replaced"] {
        for (path, real) in [
            ("first", "below/real"),
            ("second", "below/real"),
            ("folder/other", "below/other"),
            ("folder/to-up", "up"),
        ] {
            write(&at(path), text).unwrap();
            assert_eq!(read(&at(real)), text);
            assert!(!at(real).is_symlink());
        }
    }
    assert!(["first", "second", "folder", "below/to-up"].iter().all(|link| at(link).is_symlink()));
    assert_eq!(names(folder.path()).len(), 5);
    symlink("circle", at("circle")).unwrap();
    symlink("missing/file", at("nowhere")).unwrap();
    assert!(write(&at("circle"), "").is_err() && write(&at("nowhere"), "").is_err());
}

#[test]
fn places_that_cannot_be_written_are_refused_and_stay_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("directory")).unwrap();
    fs::write(at("file"), "kept").unwrap();
    for (path, why) in [
        (folder.path().to_owned(), "Is a directory"),
        (at("directory"), "Is a directory"),
        (at("directory/."), "Is a directory"),
        (at("directory/.."), "Is a directory"),
        (at("new/"), "Is a directory"),
        (at("missing/new"), "No such file or directory"),
        (at("file/new"), "Not a directory"),
        ("/".into(), "Is a directory"),
        ("".into(), "empty"),
        (at(&"n".repeat(256)), "File name too long"),
    ] {
        let error = Place::open(&path).unwrap_err().to_string();
        assert!(error.contains(why), "{}: {error}", path.display());
    }
    assert_eq!(names(folder.path()), ["directory", "file"]);
    assert_eq!(read(&at("file")), "kept");
}

#[test]
fn a_directory_is_tried_and_so_is_one_that_is_to_be_made() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("file"), "").unwrap();
    Place::try_directory(folder.path()).unwrap();
    Place::try_directory(&at("new")).unwrap();
    for (path, why) in
        [("missing/new", "No such file"), ("file", "Not a directory"), ("file/new", "Not a directory")]
    {
        let error = Place::try_directory(&at(path)).unwrap_err().to_string();
        assert!(error.contains(why), "{path}: {error}");
    }
    assert_eq!(names(folder.path()), ["file"]);
}

/// Root may write everywhere, so another user has to try.
#[test]
fn permissions_are_told_before_the_work() {
    if is_child() {
        let folder = std::env::var("FOLDER").unwrap();
        let at = |name: &str| Path::new(&folder).join(name);
        for (path, why) in [("closed/new", "Permission denied"), ("open/protected", "Permission denied")] {
            let error = Place::open(&at(path)).unwrap_err().to_string();
            assert!(error.contains(why), "{path}: {error}");
        }
        assert!(
            Place::try_directory(&at("closed")).is_err() && Place::try_directory(&at("closed/new")).is_err()
        );
        // No file can be made beside it, but the file itself is open to all.
        let mut half = OutputFile::create(&at("closed/open-file")).unwrap();
        assert_eq!(read(&at("closed/open-file")), "old and long", "nothing is lost before the first byte");
        half.write_all(b"half").unwrap();
        drop(half);
        assert_eq!(read(&at("closed/open-file")), "", "half of a file never looks like a whole one");
        write(&at("closed/open-file"), "new").unwrap();
        assert_eq!(read(&at("closed/open-file")), "new");
        // Regression: the whole file was opened again, with the mode of the one that is there.
        write(&at("sticky/write-only"), "new").unwrap();
        // A rename over another user's file is refused where the sticky bit is. The directory's owner
        // is trusted.
        write(&at("sticky/open-file"), "new").unwrap();
        assert_eq!(
            (read(&at("sticky/open-file")).as_str(), names(&at("sticky"))),
            ("new", vec!["open-file".into(), "write-only".into()])
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 || !runs("setpriv", &["--version"]) {
        eprintln!("left out: only root can become another user, by setpriv");
        return;
    }
    for (directory, mode) in [("", 0o755), ("closed", 0o755), ("open", 0o777), ("sticky", 0o1777)] {
        let path = folder.path().join(directory);
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    for (file, mode) in [
        ("closed/open-file", 0o666),
        ("open/protected", 0o444),
        ("sticky/open-file", 0o666),
        ("sticky/write-only", 0o222),
    ] {
        let path = folder.path().join(file);
        fs::write(&path, "old and long").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let done = as_nobody("permissions_are_told_before_the_work", folder.path()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(read(&folder.path().join("sticky/write-only")), "new");
}

/// A folder that all users share, for tests of what they plant. `None` if this process is not root.
fn shared_folder() -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    if fs::metadata(folder.path()).unwrap().uid() != 0 {
        eprintln!("left out: only root can make what belongs to another user");
        return None;
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    Some(folder)
}

/// A user that this test is not.
const OTHER: Option<u32> = Some(12345);

/// Regression: links were followed in folders such as `/tmp`, too, even if another user had put
/// them there.
#[test]
fn links_that_another_user_planted_are_refused() {
    let Some(folder) = shared_folder() else { return };
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("home")).unwrap();
    fs::write(at("home/.bashrc"), "kept").unwrap();
    for (link, target) in [("gc.log", "home/.bashrc"), ("new", "home/.profile"), ("second", "gc.log")] {
        symlink(target, at(link)).unwrap();
    }
    let own = |name: &str, user| std::os::unix::fs::lchown(at(name), user, None).unwrap();
    own("gc.log", OTHER);
    own("new", OTHER);
    let rotation = Rotation { file_bytes: 4, files: 1 };
    for name in ["gc.log", "new", "second"] {
        let error = Place::open(&at(name)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("belongs to another user"), "{error}");
        let error = LogFile::open(&at(name), rotation).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }
    assert_eq!((names(&at("home")), read(&at("home/.bashrc")).as_str()), (vec![".bashrc".into()], "kept"));
    // Links of the directory's owner are followed, and so are those in folders that not all share.
    own("new", Some(777));
    assert!(write(&at("new"), "").is_err());
    std::os::unix::fs::chown(folder.path(), Some(777), None).unwrap();
    write(&at("new"), "own").unwrap();
    assert_eq!(read(&at("home/.profile")), "own");
    for mode in [0o1755, 0o777] {
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        write(&at("second"), "followed").unwrap();
        assert_eq!(read(&at("home/.bashrc")), "followed");
    }
}

/// Regression: what another user had put at the path of results in `/tmp` got the results, and
/// root gave its own file away.
#[test]
fn files_and_pipes_that_another_user_planted_are_refused() {
    if is_child() {
        // Not root: no rename can replace what another user puts there meanwhile.
        let at = |name: &str| Path::new(&std::env::var("FOLDER").unwrap()).join(name);
        let mut file = OutputFile::create(&at("late")).unwrap();
        file.write_all(b"results").unwrap();
        fs::write(at("written"), "").unwrap();
        while !at("planted").exists() {
            std::thread::yield_now();
        }
        let error = file.finish().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        let text = error.to_string();
        assert!(text.contains("belongs to another user"), "{text}");
        let whole = text.split('`').find(|part| part.ends_with(".partial")).unwrap();
        assert_eq!(read(Path::new(whole)), "results", "results are not lost");
        return;
    }
    let Some(folder) = shared_folder() else { return };
    let at = |name: &str| folder.path().join(name);
    let own = |name: &str, user| std::os::unix::fs::chown(at(name), user, None).unwrap();
    let plant = |name: &str| {
        fs::write(at(name), "planted").unwrap();
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o666)).unwrap();
        own(name, OTHER);
    };
    let between = Place::open(&at("between")).unwrap();
    ["file", "between"].into_iter().for_each(plant);
    assert!(runs("mkfifo", &["-m", "666", at("pipe").to_str().unwrap()]));
    own("pipe", OTHER);
    let _reader = fs::OpenOptions::new().read(true).write(true).open(at("pipe")).unwrap();
    let rotation = Rotation { file_bytes: 4, files: 1 };
    for error in [
        Place::open(&at("file")).map(drop),
        Place::open(&at("pipe")).map(drop),
        LogFile::open(&at("file"), rotation).map(drop),
        LogFile::open(&at("pipe"), rotation).map(drop),
        between.create().map(drop),
    ] {
        let error = error.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("belongs to another user"), "{error}");
    }
    assert_eq!(names(folder.path()), ["between", "file", "pipe"]);
    assert!(read(&at("file")) == "planted" && read(&at("between")) == "planted");
    // Where not all may write, the file is as good as any.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1755)).unwrap();
    write(&at("file"), "own").unwrap();
    assert_eq!((read(&at("file")).as_str(), fs::metadata(at("file")).unwrap().uid()), ("own", 12345));
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    if !runs("setpriv", &["--version"]) {
        eprintln!("left out: setpriv is missing");
        return;
    }
    let child = as_nobody("files_and_pipes_that_another_user_planted_are_refused", folder.path())
        .stderr(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..1000 {
        if at("written").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    plant("late");
    fs::write(at("planted"), "").unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(read(&at("late")), "planted");
}

/// A file of the host in a container: it is mounted by itself.
#[test]
fn a_file_that_is_mounted_by_itself_is_written_into() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("host"), "old and long").unwrap();
    fs::write(at("mounted"), "").unwrap();
    let (host, mounted) = (at("host"), at("mounted"));
    if !runs("mount", &["--bind", host.to_str().unwrap(), mounted.to_str().unwrap()]) {
        eprintln!("left out: nothing can be mounted here");
        return;
    }
    let written = write(&mounted, "new");
    let (found, inside) = (read(&host), names(folder.path()));
    // Lazily: for an instant a child of another test has the file open.
    assert!(runs("umount", &["--lazy", mounted.to_str().unwrap()]));
    written.unwrap();
    assert_eq!((found.as_str(), inside), ("new", vec!["host".into(), "mounted".into()]));
}

/// `snapshot_to_file` once replaced a device by a regular file. Never in `/dev`: root has it.
#[test]
fn pipes_and_devices_are_written_through_and_stay() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (pipe, null) = (at("pipe"), at("null"));
    assert!(runs("mkfifo", &[pipe.to_str().unwrap()]));
    let error = Place::open(&pipe).unwrap_err().to_string();
    assert!(error.contains("a pipe that nobody reads"), "{error}");
    let reader = {
        let pipe = pipe.clone();
        std::thread::spawn(move || read(&pipe))
    };
    // More than a pipe holds.
    let text = "through the pipe ".repeat(20_000);
    while let Err(error) = write(&pipe, &text) {
        assert!(error.to_string().contains("nobody reads"), "{error}");
        std::thread::yield_now();
    }
    assert!(reader.join().unwrap() == text);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    let socket = at("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let error = Place::open(&socket).unwrap_err().to_string();
    assert!(error.contains("it is a socket"), "{error}");
    if !runs("mknod", &["-m", "666", null.to_str().unwrap(), "c", "1", "3"]) {
        eprintln!("left out: devices cannot be made here");
        return;
    }
    symlink("null", at("link")).unwrap();
    for path in [&null, &at("link")] {
        write(path, "gone").unwrap();
        assert!(fs::symlink_metadata(&null).unwrap().file_type().is_char_device());
        assert!(Place::open(path).unwrap().path().is_none());
    }
    assert!(at("link").is_symlink());
    let full = at("full");
    if runs("mknod", &["-m", "666", full.to_str().unwrap(), "c", "1", "7"]) {
        let error = write(&full, "x").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}

/// `/dev/stdout` is a link to a descriptor, and that may be anything.
#[test]
fn a_descriptor_of_the_process_is_written_through() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "before ").unwrap();
    let mut open = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&open);
    let process = std::process::id();
    for name in [
        format!("/proc/self/fd/{number}"),
        format!("/proc/{process}/fd/{number}"),
        format!("/proc/thread-self/fd/{number}"),
        format!("/dev/fd/{number}"),
    ] {
        write(Path::new(&name), "through ").unwrap();
    }
    symlink(format!("/proc/self/fd/{number}"), folder.path().join("link")).unwrap();
    write(&folder.path().join("link"), "the link").unwrap();
    open.write_all(b" after").unwrap();
    let text = "before through through through through the link after";
    assert_eq!(read(&path), text);
    assert_eq!(names(folder.path()), ["link", "log"]);
    // A file without a name, and a socket, which cannot be opened at all.
    fs::remove_file(&path).unwrap();
    write(Path::new(&format!("/dev/fd/{number}")), "!").unwrap();
    assert_eq!(
        (open.metadata().unwrap().nlink(), open.metadata().unwrap().len()),
        (0, text.len() as u64 + 1)
    );
    let (ours, mut theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&ours);
    write(Path::new(&format!("/proc/self/fd/{number}")), "through the socket").unwrap();
    drop(ours);
    let mut text = String::new();
    theirs.read_to_string(&mut text).unwrap();
    assert_eq!(text, "through the socket");
    // Not open, and open to be read.
    assert!(Place::open(Path::new("/proc/self/fd/123456")).is_err());
    let reading = fs::File::open("/proc/self/status").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&reading);
    let error = Place::open(Path::new(&format!("/dev/fd/{number}"))).unwrap_err().to_string();
    assert!(error.contains("open for reading only"), "{error}");
}

/// A pipe that its owner has set not to wait is waited for, and stays as it is set.
#[test]
fn a_pipe_that_does_not_wait_is_waited_for() {
    let (mut reader, writer) = io::pipe().unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    let text = "x".repeat(1 << 20);
    let length = std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            let mut bytes = vec![0; 1 << 20];
            reader.read_exact(&mut bytes).map(|()| bytes.len())
        });
        write(Path::new(&format!("/proc/self/fd/{number}")), &text).unwrap();
        reading.join().unwrap()
    });
    assert_eq!(length.unwrap(), text.len());
    assert!(rustix::fs::fcntl_getfl(&writer).unwrap().contains(rustix::fs::OFlags::NONBLOCK));
}

/// Regression: in a daemon without standard streams a file got the number 2, and lines for standard
/// error went into it.
#[test]
fn no_file_gets_the_number_of_a_standard_stream() {
    let Some(folder) = std::env::var_os("FOLDER") else {
        let folder = tempfile::tempdir().unwrap();
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "no_file_gets_the_number_of_a_standard_stream", "--nocapture"])
            .env("FOLDER", folder.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        return;
    };
    let at = |name: &str| Path::new(&folder).join(name);
    fs::write(at("old.log"), "old\n").unwrap();
    assert!(runs("mkfifo", &[at("pipe").to_str().unwrap()]));
    let _reader = fs::OpenOptions::new().read(true).write(true).open(at("pipe")).unwrap();
    // SAFETY: the numbers are the process's own, no other thread uses them, and they come back.
    let kept = unsafe {
        [0, 1, 2].map(|number| {
            let kept = libc::fcntl(number, libc::F_DUPFD, 10);
            libc::close(number);
            kept
        })
    };
    let rotation = Rotation { file_bytes: 4, files: 3 };
    let opened = [
        OutputFile::create(&at("new")).map(drop),
        OutputFile::create(&at("new")).and_then(|mut file| {
            file.write_all(b"x")?;
            is_none_open()?;
            file.finish()
        }),
        OutputFile::create(&at("pipe")).and_then(|_file| is_none_open()),
        LogFile::open(&at("new.log"), rotation).and_then(|_log| is_none_open()),
        LogFile::open(&at("old.log"), rotation).and_then(|mut log| {
            log.append("one\ntwo\n").map_err(io::Error::other)?;
            is_none_open()
        }),
    ];
    for (number, kept) in kept.into_iter().enumerate() {
        // SAFETY: as above.
        unsafe { libc::dup2(kept, number as libc::c_int) };
    }
    for (turn, opened) in opened.into_iter().enumerate() {
        assert!(opened.is_ok(), "{turn}: {opened:?}");
    }
}

/// An error if a standard stream is open. Looks without a descriptor of its own.
fn is_none_open() -> io::Result<()> {
    match (0..3).find(|number| fs::read_link(format!("/proc/self/fd/{number}")).is_ok()) {
        Some(number) => Err(io::Error::other(format!("{number} is open"))),
        None => Ok(()),
    }
}

#[test]
fn standard_output_goes_where_the_shell_sent_it() {
    if is_child() {
        println!("printed");
        write(Path::new("/dev/stdout"), "written\n").unwrap();
        let mut place = Place::standard_output().unwrap().create().unwrap();
        place.write_all(b"dashed\n").unwrap();
        place.finish().unwrap();
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let test = "standard_output_goes_where_the_shell_sent_it";
    let script = format!("\"$0\" \"$@\" > {0}; \"$0\" \"$@\" | cat >> {0}", log.display());
    assert!(again("sh", &["-c", &script], test).status.success());
    let text = read(&log);
    assert_eq!(text.matches("printed\nwritten\ndashed\n").count(), 2, "{text}");
    assert_eq!(names(folder.path()), ["log"]);
}

#[test]
fn a_killed_writer_leaves_nothing_for_long() {
    let folder = tempfile::tempdir().unwrap();
    if let Some(path) = std::env::var_os("KILLED") {
        let mut file = OutputFile::create(Path::new(&path)).unwrap();
        file.write_all(b"half").unwrap();
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).unwrap();
    }
    let path = folder.path().join("out");
    fs::write(&path, "old").unwrap();
    let done = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_killed_writer_leaves_nothing_for_long"])
        .env("KILLED", &path)
        .output()
        .unwrap();
    assert!(!done.status.success());
    assert_eq!((read(&path).as_str(), names(folder.path()).len()), ("old", 2));
    let living = OutputFile::create(&path).unwrap();
    assert_eq!(names(folder.path()).len(), 2, "what the dead one left has gone");
    write(&path, "new").unwrap();
    assert_eq!(
        (read(&path).as_str(), names(folder.path()).len()),
        ("new", 2),
        "and the living one's has not"
    );
    living.finish().unwrap();
    assert_eq!((read(&path).as_str(), names(folder.path())), ("", vec!["out".into()]));
}

#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().to_str().unwrap();
    if !runs("mount", &["-t", "tmpfs", "-o", "size=64k", "none", disk]) {
        eprintln!("left out: nothing can be mounted here");
        return;
    }
    let path = folder.path().join("out");
    let attempt = std::panic::catch_unwind(|| {
        write(&path, "old").unwrap();
        let error = write(&path, &"x".repeat(1 << 20)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert_eq!((read(&path).as_str(), names(folder.path())), ("old", vec!["out".into()]));
    });
    assert!(runs("umount", &["--lazy", disk]));
    attempt.unwrap();
}
