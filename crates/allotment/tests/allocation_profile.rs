//! Profiles of allocations, as a program gets them and as `go tool pprof` reads them.

use allotment::raw::{ByCaller, FrameName, FrameSink, Shape, ShapeRef, Site, StackWalker};
use allotment::stats::AllocationProfile;
use allotment::{Heap, Mutator};
use std::cell::Cell;
use std::io::Read;
use std::path::Path;
use std::process::Command;

thread_local! {
    /// The function that the interpreter is in.
    static FUNCTION: Cell<u64> = const { Cell::new(0) };
}

/// An interpreter whose functions are called by its main loop.
struct Interpreter;

const MAIN: u64 = 1000;

impl StackWalker for Interpreter {
    fn walk(&self, frames: &mut FrameSink<'_>) {
        let _ = frames.push(FUNCTION.get()) && frames.push(MAIN);
    }

    fn name(&self, frame: u64) -> FrameName {
        let function = match frame {
            MAIN => "main".to_owned(),
            _ => format!("function-{frame}"),
        };
        FrameName { function, file: "program.lisp".to_owned(), line: frame as u32 + 1 }
    }
}

fn heap(options: &str) -> Heap {
    let builder = Heap::builder().max_heap_size(64 << 20).stack_walker(Interpreter);
    // A clock of its own: the samples are the same in each run.
    let builder = builder.clock(|| std::time::Duration::from_millis(5));
    builder.options(options).expect(options).build().expect(options)
}

/// Allocates in a function of the program.
fn allocate<const BYTES: usize>(mutator: &mut Mutator<'_>, shape: ShapeRef, function: u64, objects: usize) {
    FUNCTION.set(function);
    let site: Site<BYTES, ByCaller> = Site::new(shape).unwrap();
    for _ in 0..objects {
        // SAFETY: the shape is the heap's and has no slots, and nothing uses the object.
        if unsafe { mutator.raw().try_alloc_raw(site) }.is_none() {
            // SAFETY: as above.
            unsafe { mutator.raw_mut().alloc_raw(shape, 0) }.unwrap();
        }
    }
}

/// 10 MB of small objects in one function, 30 MB of large ones in another. All of the first kind
/// die, and `kept` of the second stay.
fn run(heap: &Heap, kept: usize) {
    let small = heap.register(Shape::fixed("Small", 32)).unwrap();
    let large = heap.register(Shape::fixed("Large", 3000)).unwrap();
    heap.attach(|mutator| {
        allocate::<32>(mutator, small, 1, 312_500);
        allocate::<3000>(mutator, large, 2, 10_000 - kept);
        mutator.collect();
        FUNCTION.set(2);
        let roots: Vec<_> = (0..kept)
            .map(|_| {
                // SAFETY: the shape is the heap's, and the object is in a root at once.
                unsafe {
                    let object = mutator.raw_mut().alloc_raw(large, 0).unwrap();
                    mutator.raw().new_root(object.as_ptr() as u64)
                }
            })
            .collect();
        mutator.collect();
        drop(roots);
    })
    .unwrap();
}

fn sum(profile: &AllocationProfile, name: &str) -> [f64; 4] {
    let sites = profile.sites().iter().filter(|site| &*site.type_name == name);
    sites.fold([0.0; 4], |sum, site| {
        let values =
            [site.allocated_objects(), site.allocated_bytes(), site.objects_in_use(), site.bytes_in_use()];
        std::array::from_fn(|index| sum[index] + values[index])
    })
}

fn assert_near(found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected, "{found} instead of {expected}");
}

#[test]
fn a_profile_has_what_was_allocated_and_what_is_in_use_by_type_and_stack() {
    let heap = heap("AllocationSampleInterval=4k");
    run(&heap, 1000);
    let profile = heap.allocation_profile();
    let [small, large] = ["Small", "Large"].map(|name| sum(&profile, name));
    // 2,500 samples of the one, 5,200 of the other; each within 4 standard deviations.
    assert_near(small[0], 312_500.0, 0.08);
    assert_near(small[1], 10e6, 0.08);
    assert_eq!(small[2], 0.0);
    assert_near(large[0], 10_000.0, 0.04);
    assert_near(large[1], 30e6, 0.04);
    assert_near(large[2], 1000.0, 0.12);
    assert_near(large[3], 3e6, 0.12);
    for site in profile.sites() {
        let function = if &*site.type_name == "Small" { 1 } else { 2 };
        assert_eq!(profile.stack(site), (&[function, MAIN][..], false));
        assert_eq!(profile.frame_name(function).unwrap().function, format!("function-{function}"));
    }
    assert_eq!((profile.interval(), profile.dropped_samples()), (4096, 0));
    let table = profile.to_string();
    let line = |name: &str| table.lines().position(|line| line.ends_with(name)).expect(&table);
    assert!(line("Large") < line("Small"), "{table}");
}

/// Runs the tool on files; `None` if it is not there.
fn pprof(arguments: &[&str], files: &[&Path]) -> Option<String> {
    let output = Command::new("go").args(["tool", "pprof"]).args(arguments).args(files).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{arguments:?}: {text}{}", String::from_utf8_lossy(&output.stderr));
    Some(text)
}

/// The first number of the line that ends with `name`, in its unit.
fn flat<'t>(text: &'t str, name: &str) -> &'t str {
    let line = text.lines().find(|line| line.trim_end().ends_with(name)).expect(text);
    line.split_whitespace().next().expect(text)
}

fn kilobytes(text: &str) -> f64 {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).expect(text));
    let factor = match unit {
        "B" => 1.0 / 1024.0,
        "kB" => 1.0,
        "MB" => 1024.0,
        _ => panic!("{text}"),
    };
    number.parse::<f64>().expect(text) * factor
}

#[test]
fn go_tool_pprof_reads_what_the_end_of_a_heap_writes() {
    if Command::new("go").args(["tool", "pprof", "-h"]).output().is_err() {
        eprintln!("left out: there is no `go` on this machine, and so no `go tool pprof`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = ["one.pb.gz", "other.pb.gz"].map(|name| folder.path().join(name));
    for (path, kept) in [(&one, 1000), (&other, 4000)] {
        run(&heap(&format!("AllocationSampleInterval=4k,AllocationProfile={}", path.display())), kept);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing but the profiles: {left:?}");
    let pprof = |arguments: &[&str], files: &[&Path]| pprof(arguments, files).expect("it was there");

    // What is in use is the default.
    let top = pprof(&["-top"], &[&one]);
    assert!(top.contains("Type: inuse_space"), "{top}");
    assert_near(kilobytes(flat(&top, "function-2")), 3e6 / 1024.0, 0.12);
    assert_eq!(flat(&top, "main"), "0", "{top}");
    let top = pprof(&["-top", "-sample_index=alloc_space"], &[&one]);
    assert_near(kilobytes(flat(&top, "function-1")), 10e6 / 1024.0, 0.08);
    assert_near(kilobytes(flat(&top, "function-2")), 30e6 / 1024.0, 0.04);
    let top = pprof(&["-top", "-sample_index=alloc_objects"], &[&one]);
    assert_near(flat(&top, "function-1").parse().unwrap(), 312_500.0, 0.08);
    let lines = pprof(&["-top", "-lines", "-sample_index=inuse_objects"], &[&one]);
    assert_near(flat(&lines, "function-2 program.lisp:3").parse().unwrap(), 1000.0, 0.12);

    let tags = pprof(&["-tags", "-sample_index=alloc_space"], &[&one]);
    for expected in [" type: Total ", " bytes: Total ", "Small", "Large", "32B", "2.93kB"] {
        assert!(tags.contains(expected), "{expected}: {tags}");
    }
    let rooted = pprof(&["-top", "-cum", "-tagroot=type"], &[&one]);
    assert!(rooted.lines().any(|line| line.trim_end().ends_with("Large")), "{rooted}");

    let difference = pprof(&["-top", &format!("-diff_base={}", one.display())], &[&other]);
    assert_near(kilobytes(flat(&difference, "function-2")), 9e6 / 1024.0, 0.1);
    // What the program allocated is the same, within the error of the estimates.
    let raw = pprof(&["-raw"], &[&one]);
    assert!(raw.contains("PeriodType: space bytes") && raw.contains("Period: 4096"), "{raw}");
}

#[test]
fn a_path_that_cannot_be_written_is_an_error_with_its_name_and_the_program_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let heap = heap("AllocationSampleInterval=4k");
    run(&heap, 10);
    let profile = heap.allocation_profile();
    let missing = folder.path().join("no/such/folder/profile.pb.gz");
    let error = profile.save(&missing).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the allocation profile ") && error.contains("no/such/folder"));
    assert!(error.ends_with("No such file or directory (os error 2)"), "{error}");
    // A full disk.
    let error = profile.save("/dev/full").unwrap_err().to_string();
    assert_eq!(error, "cannot write the allocation profile /dev/full: No space left on device (os error 28)");
    let error = profile.save(folder.path()).unwrap_err().to_string();
    assert!(error.contains("Is a directory"), "{error}");
    // Regression: of a long name the file beside it had a name that was too long.
    for path in [folder.path().join("p".repeat(255)), folder.path().join("profile.pb.gz")] {
        std::fs::write(&path, "old").unwrap();
        profile.save(&path).unwrap();
        assert_eq!(&std::fs::read(&path).unwrap()[..2], [0x1f, 0x8b], "gzip");
    }
    run(&heap, 10);
}

/// Regression: the file beside the place had one name for all, and went where a link led that
/// another user had put there. The link at the place was replaced, and a pipe without a reader
/// hung.
#[test]
fn a_profile_goes_through_links_and_pipes_and_to_a_name_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let profile = heap("AllocationSampleInterval=4k").allocation_profile();
    let is_gzip = |path: &Path| std::fs::read(path).unwrap().starts_with(&[0x1f, 0x8b]);

    std::fs::write(at("victim"), "old").unwrap();
    std::os::unix::fs::symlink(at("victim"), at("real.part")).unwrap();
    std::fs::write(at("real"), "old").unwrap();
    std::os::unix::fs::symlink(at("real"), at("link")).unwrap();
    profile.save(at("link")).unwrap();
    assert!(at("link").is_symlink() && is_gzip(&at("real")));
    assert_eq!(std::fs::read(at("victim")).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4, "nothing is left over");

    assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
    let error = profile.save(at("pipe")).unwrap_err().to_string();
    assert!(error.contains("a pipe that nobody reads"), "{error}");
    let mut reader = std::fs::File::options().read(true).write(true).open(at("pipe")).unwrap();
    profile.save(at("pipe")).unwrap();
    let mut start = [0; 2];
    reader.read_exact(&mut start).unwrap();
    assert_eq!(start, [0x1f, 0x8b]);
}

/// The program that the next test runs: a heap whose profile cannot be written.
#[test]
#[ignore = "a program of the test below"]
fn a_heap_whose_profile_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let heap = heap(&format!("AllocationProfile={}/profile.pb.gz", folder.path().display()));
    drop(folder);
    drop(heap);
    println!("went on");
}

#[test]
fn at_the_end_of_a_heap_the_error_is_a_line_on_standard_error() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "--nocapture", "a_heap_whose_profile_cannot_be_written"];
    let output = Command::new(program).args(arguments).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("went on"), "{out}{error}");
    assert!(
        error.contains("allotment: cannot write the allocation profile /")
            && error.contains("/profile.pb.gz: No such file or directory"),
        "{error}"
    );
}

/// The profile of a run of hours was lost, because its folder was mistyped.
#[test]
fn a_place_that_cannot_be_written_is_told_when_the_heap_is_built() {
    let builder = Heap::builder().max_heap_size(64 << 20);
    let error = builder.allocation_profile("/no/such/folder/profile.pb.gz".into()).build().unwrap_err();
    assert_eq!(
        error.to_string(),
        "AllocationProfile=/no/such/folder/profile.pb.gz: the file cannot be written: No such file or directory \
         (os error 2); choose a file in a folder that is there, and in which this program may make files"
    );
}

#[test]
fn a_profile_s_name_can_have_the_process_and_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("%p-%t-%%.pb.gz");
    drop(heap(&format!("AllocationProfile={}", path.display())));
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let name = names[0].to_str().unwrap();
    // 2026-03-01_14-05-09
    let time =
        name.strip_prefix(&format!("{}-", std::process::id())).and_then(|rest| rest.strip_suffix("-%.pb.gz"));
    let digits = time.map(|time| time.replace(|c: char| c.is_ascii_digit(), "0"));
    assert_eq!((digits.as_deref(), names.len()), (Some("0000-00-00_00-00-00"), 1), "{name}");
}

/// An interpreter that panics in the walk of its stack.
struct Panics;

impl StackWalker for Panics {
    fn walk(&self, _frames: &mut FrameSink<'_>) {
        panic!("no stack");
    }

    fn name(&self, _frame: u64) -> FrameName {
        FrameName::default()
    }
}

/// The program that the next test runs.
#[test]
#[ignore = "a program of the test below"]
fn a_walker_that_panics() {
    let builder = Heap::builder().max_heap_size(64 << 20).stack_walker(Panics);
    let heap = builder.build().unwrap();
    heap.set_allocation_sample_interval(1);
    let shape = heap.register(Shape::fixed("Small", 32)).unwrap();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        // SAFETY: the shape is the heap's, and nothing uses the object.
        heap.attach(|mutator| _ = unsafe { mutator.raw_mut().alloc_raw(shape, 0) }).unwrap();
    }));
    println!("went on: {}", caught.is_err());
}

/// Regression: the object had no header then, and the next collection read what was there.
#[test]
fn a_walker_that_panics_ends_the_process_with_a_line() {
    let program = std::env::current_exe().unwrap();
    let arguments = ["--ignored", "--exact", "--nocapture", "a_walker_that_panics"];
    let output = Command::new(program).args(arguments).output().unwrap();
    let (out, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && !out.contains("went on"), "{out}{error}");
    assert!(error.contains("no stack") && error.contains("because a StackWalker panicked"), "{out}{error}");
}
