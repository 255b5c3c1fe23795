//! `GCLog`: the lines of collections in a file, as a program gets them.

mod fork_common;

use allotment::heap::BuildError;
use allotment::{Heap, NewStr, OutOfMemory, alloc};
use fork_common::{WELL, alone, in_child};
use std::path::Path;
use std::process::Command;

/// Options of a program that a test starts.
const OPTIONS: &str = "ALLOTMENT_TEST_GC_LOG";

fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(8 << 20).options(options).expect("options");
    builder.build().expect("a heap with a log")
}

/// Collects so often.
fn run(heap: &Heap, collections: usize) {
    let allocated = heap.attach(|mu| {
        for _ in 0..collections {
            alloc!(mu, NewStr::from("in the heap"))?;
            mu.collect();
        }
        Ok::<(), OutOfMemory>(())
    });
    allocated.expect("attached").expect("room");
}

fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<_> =
        names.map(|entry| entry.expect("a file").file_name().into_string().expect("a text")).collect();
    names.sort();
    names
}

/// The numbers of collections whose last line is in the file, in order. All lines must be whole.
fn numbers(text: &str) -> Vec<usize> {
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let number = |line: &str| {
        let (decorations, rest) = line.split_once("][gc] GC(").unwrap_or_else(|| panic!("{line}"));
        assert!(decorations.starts_with('[') && decorations.contains("s]["), "{line}");
        let (number, rest) = rest.split_once(") ").unwrap_or_else(|| panic!("{line}"));
        rest.starts_with("Pause Full (Requested) ").then(|| number.parse().expect("a number"))
    };
    text.lines().filter_map(number).collect()
}

/// What a program prints that has a heap with these options, and collects it three times.
fn printed(options: &str) -> String {
    let program = std::env::current_exe().expect("the test's own program");
    let arguments = ["--ignored", "--exact", "--nocapture", "a_program_with_a_log"];
    let output = Command::new(program).args(arguments).env(OPTIONS, options).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

#[test]
#[ignore = "a program of tests"]
fn a_program_with_a_log() {
    if let Ok(options) = std::env::var(OPTIONS) {
        run(&heap(&options), 3);
    }
}

#[test]
fn the_lines_are_in_the_file_and_not_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    for (options, has_details) in [("", false), (",+PrintGC", false), (",+PrintGCDetails", true)] {
        let text = printed(&format!("NumberOfGCLogFiles=0,GCLog={}{options}", path.display()));
        assert!(!text.contains("][gc]"), "{text}");
        let log = std::fs::read_to_string(&path).unwrap();
        assert_eq!(numbers(&log), [0, 1, 2], "{options}: {log}");
        assert_eq!(log.contains("[debug][gc] GC(0) TLAB totals"), has_details, "{log}");
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn the_lines_are_there_while_the_program_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let heap = heap(&format!("GCLog={}", path.display()));
    run(&heap, 5);
    // A thread of the heap's own writes.
    while numbers(&std::fs::read_to_string(&path).unwrap()).len() < 5 {
        std::thread::yield_now();
    }
    assert_eq!(numbers(&std::fs::read_to_string(&path).unwrap()), [0, 1, 2, 3, 4]);
}

#[test]
fn a_log_is_rotated_by_size_and_begins_anew_with_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc-%p.log");
    let options = format!("GCLog={},GCLogFileSize=4k,NumberOfGCLogFiles=100,+PrintGCDetails", path.display());
    let first = heap(&options);
    run(&first, 30);
    drop(first);
    let name = format!("gc-{}.log", std::process::id());
    let files = names_in(folder.path());
    assert!(
        files.len() > 3 && files[..3] == [name.clone(), format!("{name}.00"), format!("{name}.01")],
        "{files:?}"
    );
    let read = |name: &String| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let texts: Vec<String> = files[1..].iter().map(read).collect();
    assert!(texts.iter().all(|text| text.len() <= 4096));
    // What is under way is in the file without a number.
    assert_eq!(numbers(&(texts.concat() + &read(&name))), (0..30).collect::<Vec<_>>());
    drop(heap(&options));
    assert_eq!((names_in(folder.path()).len(), read(&name).as_str()), (files.len() + 1, ""));
}

#[test]
fn two_heaps_with_one_path_write_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let options = format!("GCLog={}", path.display());
    let heaps = [heap(&options), heap(&options)];
    std::thread::scope(|scope| heaps.iter().for_each(|heap| _ = scope.spawn(|| run(heap, 20))));
    drop(heaps);
    let mut found = numbers(&std::fs::read_to_string(&path).unwrap());
    found.sort_unstable();
    assert_eq!(found, (0..40).map(|number| number / 2).collect::<Vec<_>>());
    assert_eq!(names_in(folder.path()), ["gc.log"]);
}

#[test]
fn a_place_that_cannot_be_written_is_told_when_the_heap_is_built() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("no/such/gc.log"), folder.path().to_owned()] {
        let error = Heap::builder().max_heap_size(8 << 20).gc_log(path.clone()).build().unwrap_err();
        let start = format!("GCLog={}: the file cannot be written: ", path.display());
        assert!(error.to_string().starts_with(&start), "{error}");
        assert!(matches!(error, BuildError::File { option: "GCLog", .. }));
    }
}

#[test]
fn standard_output_can_be_the_log() {
    let program = std::env::current_exe().expect("the test's own program");
    let arguments = ["--ignored", "--exact", "--nocapture", "a_program_with_a_log"];
    let mut command = Command::new(program);
    let output = command.args(arguments).env(OPTIONS, "GCLog=/dev/stdout").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.lines().filter(|line| line.contains("[info][gc] GC(")).count(), 3, "{text}");
}

/// A limit on the size of files ends the log, as a full disk does, and not the program.
#[test]
fn a_log_that_cannot_grow_is_told_once_and_the_program_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gc.log");
    let program = std::env::current_exe().expect("the test's own program");
    let script = "ulimit -f 1; exec \"$0\" --ignored --exact --nocapture a_program_with_a_log";
    let options = format!("GCLog={},+PrintGCDetails", path.display());
    let mut command = Command::new("bash");
    let output = command.args(["-c", script]).arg(program).env(OPTIONS, options).output().expect("a shell");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let told =
        format!("allotment: the GC log {} cannot be written: File too large (os error 27); ", path.display());
    assert_eq!(text.matches(&told).count(), 1, "{text}");
    assert_eq!(text.matches("GC log").count(), 1, "{text}");
    numbers(&std::fs::read_to_string(&path).unwrap());
}

#[test]
fn a_child_of_fork_leaves_the_log_to_its_parent() {
    alone("a_child_of_fork_leaves_the_log_to_its_parent", || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gc.log");
        let mut heap = Some(heap(&format!("GCLog={}", path.display())));
        run(heap.as_ref().expect("it is there"), 2);
        let child = || {
            let heap = heap.take().expect("it is there");
            run(&heap, 3);
            assert_eq!(heap.collections().count, 5);
        };
        assert_eq!(in_child(child), WELL);
        let heap = heap.expect("the child took its own");
        run(&heap, 2);
        drop(heap);
        assert_eq!(numbers(&std::fs::read_to_string(&path).unwrap()), [0, 1, 2, 3]);
    });
}
