//! Timelines as a program gets them: where they are written, and what happens when they cannot be.

mod fork_common;

use allotment::heap::BuildError;
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use fork_common::{WELL, alone, in_child};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Where a program of a test below writes.
const PLACE: &str = "ALLOTMENT_TEST_TIMELINE";

fn heap(path: &Path) -> Heap {
    let builder = Heap::builder().max_heap_size(8 << 20).timeline(path.to_path_buf());
    builder.build().expect("a heap with a timeline")
}

/// Allocates, and collects so often.
fn run(heap: &Heap, collections: usize) {
    let allocated = heap.attach(|mu| {
        for _ in 0..collections {
            for _ in 0..100 {
                alloc!(mu, NewStr::from("in the heap"))?;
            }
            mu.collect();
        }
        Ok::<(), OutOfMemory>(())
    });
    allocated.expect("attached").expect("room");
}

fn events(text: &str) -> Vec<Value> {
    serde_json::from_str(text).expect("JSON")
}

fn read(path: &Path) -> Vec<Value> {
    events(&std::fs::read_to_string(path).expect("the file is there"))
}

/// How many collections the file has.
fn collections(events: &[Value]) -> usize {
    events.iter().filter(|event| event["cat"] == "pause").count()
}

fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder");
    names.map(|entry| entry.expect("a file").file_name().into_string().expect("a text")).collect()
}

#[test]
fn a_file_is_at_its_place_when_the_heap_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, "old").unwrap();
    let heap = heap(&path);
    run(&heap, 5);
    let count = heap.collections().count as usize;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    drop(heap.clone());
    assert_eq!(names_in(folder.path()).len(), 2, "a clone is not the heap");
    drop(heap);
    assert_eq!(collections(&read(&path)), count);
    assert_eq!(names_in(folder.path()), ["t.json"]);
}

#[test]
fn each_heap_has_its_own_file_and_of_one_path_the_heap_that_ends_last() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one.json", "two.json"].map(|name| folder.path().join(name));
    let heaps = [heap(&one), heap(&two)];
    run(&heaps[0], 3);
    run(&heaps[1], 4);
    drop(heaps);
    assert_eq!([&one, &two].map(|path| collections(&read(path))), [3, 4]);

    let [first, second] = [heap(&one), heap(&one)];
    run(&second, 2);
    run(&first, 6);
    drop(first);
    assert_eq!(collections(&read(&one)), 6);
    drop(second);
    assert_eq!(collections(&read(&one)), 2, "whole, in place of the other's");
    assert_eq!(names_in(folder.path()).len(), 2);
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_of_the_builder() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/folder/t.json");
    for (path, why) in [
        (missing.as_path(), "No such file or directory"),
        (folder.path(), "Is a directory"),
        (Path::new("/dev/null/t.json"), "Not a directory"),
        (Path::new("/dev/full"), "No space left on device"),
    ] {
        let error = Heap::builder().max_heap_size(8 << 20).timeline(path.to_path_buf()).build();
        let error = error.expect_err("an error");
        assert!(matches!(error, BuildError::Timeline(_)), "{error}");
        let text = error.to_string();
        let begin = format!("Timeline={}: the file cannot be written: ", path.display());
        assert!(text.starts_with(&begin) && text.contains(why), "{text}");
        assert!(text.ends_with("in which this program may make files"), "{text}");
    }
    let path = folder.path().join("t.json");
    let builder = Heap::builder().max_heap_size(8 << 20).timeline(path);
    let error = builder.clock(|| std::time::Duration::ZERO).build().expect_err("an error");
    assert!(error.to_string().contains("a clock of the program's"), "{error}");
    assert!(names_in(folder.path()).is_empty(), "nothing is left over");
}

/// The program of the next tests: a heap whose timeline is too long for its place.
#[test]
#[ignore = "a program of the tests below"]
fn a_heap_with_a_long_timeline() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let heap = heap(Path::new(&path));
    run(&heap, 600);
    println!("collected {} times", heap.collections().count);
    drop(heap);
    println!("went on");
}

/// Runs that program from a shell, behind `before`.
fn program(before: &str, path: &Path) -> Output {
    let program = std::env::current_exe().expect("the test's own program");
    let arguments = ["--ignored", "--exact", "--nocapture", "a_heap_with_a_long_timeline"];
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{before} exec \"$0\" \"$@\"")).arg(program).args(arguments);
    command.env(PLACE, path).output().expect("a shell")
}

/// The program went on, and said once why it has no timeline.
fn check_went_on(output: &Output, path: &Path, why: &str) {
    let [out, error] =
        [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success() && out.contains("collected 600 times"), "{out}{error}");
    assert!(out.contains("went on"), "{out}{error}");
    let line = format!("allotment: the timeline {} cannot be written: {why}", path.display());
    assert_eq!(error.matches(&line).count(), 1, "{error}");
    assert!(error.contains("; the program goes on without it"), "{error}");
}

/// The path that the program below was started with is relative, and the folder is another at the
/// end.
#[test]
fn a_program_may_go_to_another_folder() {
    alone("a_program_may_go_to_another_folder", || {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        std::env::set_current_dir(first.path()).unwrap();
        let heap = heap(Path::new("t.json"));
        run(&heap, 2);
        std::env::set_current_dir(second.path()).unwrap();
        drop(heap);
        assert_eq!(collections(&read(&first.path().join("t.json"))), 2);
        assert_eq!((names_in(first.path()).len(), names_in(second.path()).len()), (1, 0));
    });
}

/// The limit on the size of files ends a write before its end, as a full disk does. Regression: it
/// ended the process by a signal.
#[test]
fn of_a_file_that_cannot_grow_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    std::fs::write(&path, "old").unwrap();
    check_went_on(&program("ulimit -f 64;", &path), &path, "File too large (os error 27)");
    assert_eq!(names_in(folder.path()), ["t.json"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[test]
fn on_a_full_disk_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let disk = folder.path().display();
    let mount = format!("mount -t tmpfs -o size=64k tmpfs '{disk}'");
    let own = ["--user", "--map-root-user", "--mount", "sh", "-c"];
    if !Command::new("unshare").args(own).arg(&mount).output().is_ok_and(|tried| tried.status.success()) {
        return eprintln!("left out: this process may not mount a small disk");
    }
    let program = std::env::current_exe().expect("the test's own program");
    let path = folder.path().join("t.json");
    let arguments = ["--ignored", "--exact", "--nocapture", "a_heap_with_a_long_timeline"];
    // The disk ends with the shell.
    let script = format!("{mount} && \"$0\" \"$@\" && echo \"left: $(ls -A '{disk}')\"");
    let mut command = Command::new("unshare");
    command.args(own).arg(script).arg(program).args(arguments);
    let output = command.env(PLACE, &path).output().expect("it was there");
    check_went_on(&output, &path, "No space left on device (os error 28)");
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.ends_with("left: \n"), "{out}");
}

/// What is in the file that is not at its place yet.
fn partial(path: &Path) -> String {
    let folder = path.parent().expect("a file in a folder");
    let names = names_in(folder);
    assert!(names.len() == 1 && names[0].starts_with(".t.json."), "{names:?}");
    let text = std::fs::read_to_string(folder.join(&names[0])).unwrap();
    // The last event may not be whole.
    let end = text.rfind(",\n").unwrap_or(text.len());
    text[..end].to_owned()
}

/// The program of the next test: it is killed.
#[test]
#[ignore = "a program of the test below"]
fn a_program_that_is_killed() {
    let Some(path) = std::env::var_os(PLACE) else { return };
    let path = Path::new(&path);
    let heap = heap(path);
    run(&heap, 7);
    // A thread of the heap's own writes.
    while collections(&events(&(partial(path) + "]"))) < 7 {
        std::thread::yield_now();
    }
    std::process::abort();
}

#[test]
fn a_killed_program_leaves_a_file_that_lacks_its_end_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let program = std::env::current_exe().expect("the test's own program");
    let arguments = ["--ignored", "--exact", "a_program_that_is_killed"];
    let output = Command::new(program).args(arguments).env(PLACE, &path).output().expect("it starts");
    assert!(!output.status.success());
    assert_eq!(collections(&events(&(partial(&path) + "]"))), 7);
}

#[test]
fn a_child_of_fork_leaves_the_file_to_its_parent() {
    alone("a_child_of_fork_leaves_the_file_to_its_parent", || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.json");
        let mut heap = Some(heap(&path));
        run(heap.as_ref().expect("it is there"), 2);
        let child = || {
            let heap = heap.take().expect("it is there");
            run(&heap, 3);
            assert_eq!(heap.collections().count, 5);
        };
        assert_eq!(in_child(child), WELL);
        // A child that ends at once, and one that drops a heap that it never used.
        assert_eq!(in_child(|| ()), WELL);
        assert_eq!(in_child(|| drop(heap.take())), WELL);
        let heap = heap.expect("the child took its own");
        run(&heap, 2);
        drop(heap);
        assert_eq!(collections(&read(&path)), 4);
        assert_eq!(names_in(folder.path()), ["t.json"]);
    });
}

#[test]
fn the_environment_can_ask_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let program = std::env::current_exe().expect("the test's own program");
    let options = format!("Timeline={}", path.display());
    let arguments = ["--ignored", "--exact", "--nocapture", "a_heap_whose_user_wants_a_timeline"];
    let mut command = Command::new(program);
    let output = command.args(arguments).env("ALLOTMENT_OPTIONS", options).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(collections(&read(&path)), 3);
}

/// The program of the test before.
#[test]
#[ignore = "a program of the test above"]
fn a_heap_whose_user_wants_a_timeline() {
    run(&Heap::builder().max_heap_size(8 << 20).build().expect("a heap"), 3);
}
