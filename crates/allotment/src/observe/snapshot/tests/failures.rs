//! Failures, and what they leave; threads that run; texts that are secret.

use super::{COLLECTORS, heap, heapsnapshot, hprof};
use crate::heap::BuildError;
use crate::object::{Element, Shape, SlotKind};
use crate::observe::{SnapshotError, SnapshotFormat, SnapshotSettings};
use crate::{Heap, NewStr, alloc, root};
use allotment_output::OutputFile;
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Takes this many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let count = bytes.len().min(self.0);
        self.0 -= count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `body` with a heap that has a list of `length` pairs, while a root holds it.
fn with_list<R>(heap: &Heap, length: usize, body: impl FnOnce(&mut crate::Mutator<'_>) -> R) -> R {
    let shape = Shape::fixed("Pair", 24).slot("car", 8, SlotKind::Strong).slot("cdr", 16, SlotKind::Strong);
    let pair = heap.register(shape).unwrap();
    heap.attach(|mutator| {
        // SAFETY: null refers to nothing.
        let list = unsafe { mutator.raw().new_root(0) };
        for _ in 0..length {
            // SAFETY: the shape is the heap's; the words are null, or refer to live objects.
            unsafe {
                let new = mutator.raw_mut().alloc_raw(pair, 0).expect("room");
                let next = list.get(mutator).expect("of this heap");
                mutator.raw().store(new.as_ptr().byte_add(16).cast(), next);
                list.set(mutator, new.as_ptr() as u64);
            }
        }
        let outcome = body(mutator);
        drop(list);
        outcome
    })
    .unwrap()
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_writer_that_fails_is_an_error_and_the_program_goes_on() {
    for collector in COLLECTORS {
        let heap = heap(4096, 64, collector);
        with_list(&heap, 1000, |mutator| {
            let mut whole = Vec::new();
            mutator.snapshot(&mut whole, &SnapshotSettings::default()).unwrap();
            for bytes in [0, 1, 1000, whole.len() / 2, whole.len() - 1] {
                let error = mutator.snapshot(&mut Full(bytes), &SnapshotSettings::default()).unwrap_err();
                assert!(
                    matches!(&error, SnapshotError::Write(error) if error.kind() == io::ErrorKind::StorageFull),
                    "{error}"
                );
            }
            let mut again = Vec::new();
            mutator.snapshot(&mut again, &SnapshotSettings::default()).unwrap();
            assert!(whole == again);
        });
        with_list(&heap, 10, |mutator| mutator.collect());
        heap.verify().unwrap();
    }
}

#[test]
fn a_file_is_whole_or_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let heap = heap(4096, 64, "Collector=parallel");
    with_list(&heap, 100, |mutator| {
        let settings = SnapshotSettings::default();
        let path = directory.path().join("one.heapsnapshot");
        let summary = mutator.snapshot_to_file(&path, &settings).unwrap();
        let about = std::fs::metadata(&path).unwrap();
        assert_eq!(about.len(), summary.file_bytes);
        assert_eq!(about.permissions().mode() & 0o777, 0o600, "a heap is its owner's");
        let nodes = heapsnapshot::read(&std::fs::read(&path).unwrap());
        assert_eq!(nodes.len(), 107);
        // A file that was there is replaced.
        mutator.snapshot_to_file(&path, &settings).unwrap();
        assert_eq!(names_in(directory.path()), ["one.heapsnapshot"]);
        for wrong in
            [directory.path().join("missing/two"), directory.path().to_owned(), "/".into(), "".into()]
        {
            let error = mutator.snapshot_to_file(&wrong, &settings).unwrap_err();
            assert!(matches!(&error, SnapshotError::File { path, .. } if *path == wrong), "{error}");
            assert!(error.to_string().contains("the snapshot cannot be written"), "{error}");
        }
        assert_eq!(names_in(directory.path()), ["one.heapsnapshot"]);
    });
}

#[test]
fn the_first_allocation_without_room_leaves_a_snapshot_and_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let gone = directory.path().join("gone");
    for (place, files) in [(directory.path(), 1), (&gone.join("new"), 0)] {
        for collector in COLLECTORS {
            std::fs::create_dir(&gone).unwrap();
            let heap = Heap::builder().test_geometry(4096, 16).snapshot_on_out_of_memory(place.to_path_buf());
            let heap = heap.options(collector).unwrap().build().unwrap();
            std::fs::remove_dir(&gone).unwrap();
            let shape = Shape::fixed("Link", 24).slot("next", 8, SlotKind::Strong);
            let link = heap.register(shape).unwrap();
            let length = heap
                .attach(|mutator| {
                    // SAFETY: null refers to nothing.
                    let list = unsafe { mutator.raw().new_root(0) };
                    let mut length = 0;
                    let mut fill = |mutator: &mut crate::Mutator<'_>| {
                        // SAFETY: the shape is the heap's; the words are null, or refer to live
                        // objects.
                        while let Ok(new) = unsafe { mutator.raw_mut().alloc_raw(link, 0) } {
                            let next = list.get(mutator).expect("of this heap");
                            // SAFETY: as above.
                            unsafe {
                                mutator.raw().store(new.as_ptr().byte_add(8).cast(), next);
                                list.set(mutator, new.as_ptr() as u64);
                            }
                            length += 1;
                        }
                        length
                    };
                    let first = fill(mutator);
                    fill(mutator);
                    first
                })
                .unwrap();
            assert!(length > 1000);
            let names = names_in(directory.path());
            assert_eq!(names.len(), files, "{names:?}");
            for name in names {
                assert!(name.starts_with("allotment-") && name.ends_with(".heapsnapshot"), "{name}");
                let path = directory.path().join(name);
                let nodes = heapsnapshot::read(&std::fs::read(&path).unwrap());
                assert_eq!(nodes.len(), 7 + length);
                std::fs::remove_file(path).unwrap();
            }
            heap.verify().unwrap();
            heap.attach(|mutator| mutator.collect()).unwrap();
        }
    }
}

/// A heap of 16 regions of 4096 bytes that writes a snapshot to `directory` when it has no room.
fn small_heap(directory: &Path) -> Heap {
    let heap = Heap::builder().test_geometry(4096, 16).snapshot_on_out_of_memory(directory.to_path_buf());
    heap.options("Collector=parallel").unwrap().build().unwrap()
}

/// Keeps objects until there is no room for one, `times` times, and calls `before` each time.
fn exhaust(heap: &Heap, times: usize, mut before: impl FnMut(usize)) {
    let kept = heap.register(Shape::array("Kept", 16, Element::Plain { bytes: 1 })).unwrap();
    heap.attach(|mutator| {
        for time in 0..times {
            before(time);
            let mut roots = Vec::new();
            // SAFETY: the shape is the heap's, and the object goes to a root at once.
            while let Ok(new) = unsafe { mutator.raw_mut().alloc_raw(kept, 1000) } {
                // SAFETY: as above.
                roots.push(unsafe { mutator.raw().new_root(new.as_ptr() as u64) });
            }
            assert!(roots.len() > 10);
        }
    })
    .unwrap();
}

/// A process that has no room is often killed while it writes, and the next one has another number.
#[test]
fn what_killed_processes_left_of_their_snapshots_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let heap = small_heap(directory.path());
    let living = OutputFile::create(&directory.path().join("allotment-1-7f00-1.heapsnapshot")).unwrap();
    let held = names_in(directory.path()).remove(0);
    // Nobody holds the lock of the other name.
    let left = directory.path().join(held.replace("-0-", "-1-"));
    std::fs::write(&left, "half").unwrap();
    exhaust(&heap, 1, |_| {});
    let names = names_in(directory.path());
    assert!(names.len() == 2 && names.contains(&held) && !left.exists(), "{names:?}");
    drop(living);
}

#[test]
fn a_request_beyond_the_heap_does_not_use_up_the_snapshot() {
    let directory = tempfile::tempdir().unwrap();
    let heap = small_heap(directory.path());
    let huge = heap.register(Shape::array("Huge", 16, Element::Plain { bytes: 1 })).unwrap();
    heap.attach(|mutator| {
        // SAFETY: the shape is the heap's; there will be no object.
        assert!(unsafe { mutator.raw_mut().alloc_raw(huge, 1 << 40) }.is_err());
    })
    .unwrap();
    assert_eq!(names_in(directory.path()), [""; 0]);
    exhaust(&heap, 2, |_| {});
    assert_eq!(names_in(directory.path()).len(), 1);
}

#[test]
fn a_snapshot_that_failed_is_tried_again_three_times_in_all() {
    for (appears_at, files) in [(2, 1), (3, 0)] {
        let directory = tempfile::tempdir().unwrap();
        let place = directory.path().join("later");
        std::fs::create_dir(&place).unwrap();
        let heap = small_heap(&place.join("new"));
        std::fs::remove_dir(&place).unwrap();
        exhaust(&heap, 5, |time| {
            if time == appears_at {
                std::fs::create_dir(&place).unwrap();
            }
        });
        assert_eq!(names_in(&place).len(), files, "the directory appears at attempt {appears_at}");
        assert_eq!(place.join("new").read_dir().map_or(0, Iterator::count), files);
    }
}

#[test]
fn a_directory_without_room_for_files_is_told_when_the_heap_is_built() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("file"), "").unwrap();
    for (place, why) in [("missing/new", "No such file or directory"), ("file", "Not a directory")] {
        let place = directory.path().join(place);
        let builder = Heap::builder().test_geometry(4096, 16).snapshot_on_out_of_memory(place.clone());
        let error = builder.build().unwrap_err();
        assert!(matches!(&error, BuildError::Directory { path, .. } if *path == place), "{error}");
        let text = error.to_string();
        assert!(text.starts_with("SnapshotOnOutOfMemory=/") && text.contains(why), "{text}");
    }
    assert_eq!(names_in(directory.path()), ["file"]);
}

#[test]
fn a_directory_for_each_process_is_made_when_it_is_needed() {
    let directory = tempfile::tempdir().unwrap();
    let heap = small_heap(&directory.path().join("heap-%p"));
    assert_eq!(names_in(directory.path()), [""; 0]);
    exhaust(&heap, 1, |_| {});
    let made = format!("heap-{}", std::process::id());
    assert_eq!(names_in(directory.path()), [made.as_str()]);
    assert_eq!(names_in(&directory.path().join(made)).len(), 1);
}

/// Regression: a snapshot replaced a pipe, a device or the link `/dev/stdout` by a regular file. As
/// root on `/dev/null` this broke the machine, so here is a device of the test's own.
#[test]
fn a_pipe_or_a_device_is_written_through_and_stays() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let heap = heap(4096, 64, "Collector=parallel");
    with_list(&heap, 100, |mutator| {
        let settings = SnapshotSettings::default();
        let mut expected = Vec::new();
        mutator.snapshot(&mut expected, &settings).unwrap();
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let error = mutator.snapshot_to_file(at("pipe"), &settings).unwrap_err().to_string();
        assert!(error.contains("a pipe that nobody reads"), "{error}");
        let mut reader = std::fs::File::options().read(true).write(true).open(at("pipe")).unwrap();
        let (length, mut found) = (expected.len(), vec![0; expected.len()]);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| reader.read_exact(&mut found));
            let summary = mutator.snapshot_to_file(at("pipe"), &settings).unwrap();
            assert_eq!(summary.file_bytes, length as u64);
            reading.join().unwrap().unwrap();
        });
        assert!(found == expected && at("pipe").symlink_metadata().unwrap().file_type().is_fifo());
        // The file that `/dev/stdout` leads to.
        let mut log = std::fs::File::options().read(true).append(true).create(true).open(at("log")).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&log);
        std::os::unix::fs::symlink(format!("/proc/self/fd/{number}"), at("stdout")).unwrap();
        mutator.snapshot_to_file(at("stdout"), &settings).unwrap();
        assert!(at("stdout").is_symlink());
        found.clear();
        std::io::Seek::rewind(&mut log).unwrap();
        log.read_to_end(&mut found).unwrap();
        assert!(found == expected);
        let null = at("null");
        let device = Command::new("mknod").args(["-m", "666"]).arg(&null).args(["c", "1", "3"]).status();
        if !device.is_ok_and(|made| made.success()) {
            eprintln!("left out: devices cannot be made here");
            return;
        }
        mutator.snapshot_to_file(&null, &settings).unwrap();
        assert!(null.symlink_metadata().unwrap().file_type().is_char_device());
    });
}

#[test]
fn a_snapshot_that_is_there_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let heap = small_heap(directory.path());
    let base = heap.shared.space.free.table().base();
    let name = |number| format!("allotment-{}-{base:x}-{number}.heapsnapshot", std::process::id());
    std::fs::write(directory.path().join(name(1)), "of a process before").unwrap();
    exhaust(&heap, 1, |_| {});
    assert_eq!(names_in(directory.path()), [name(1), name(2)]);
    assert_eq!(std::fs::read(directory.path().join(name(1))).unwrap(), b"of a process before");
}

/// Drops handles and makes others whenever it is called, as a thread that is not attached may.
struct Dropping {
    file: Vec<u8>,
    handles: Vec<crate::mutator::RootHandle>,
    calls: usize,
}

impl Write for Dropping {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.calls += 1;
        let rest = self.handles.len() * 2 / 3;
        self.handles.truncate(rest);
        self.handles.extend(self.handles.first().cloned());
        self.file.extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The writer runs while the world stands still, and so do threads that are not attached. Roots may
/// change meanwhile, and their locks must be free.
#[test]
fn roots_that_change_while_a_snapshot_is_written_leave_it_whole() {
    const ROOTS: usize = 30_000;
    let heap = heap(4096, 64, "Collector=parallel");
    for format in [SnapshotFormat::HeapSnapshot, SnapshotFormat::Hprof] {
        let mut writer = with_list(&heap, 100, |mutator| {
            let object = heap.register(Shape::fixed("Held", 16)).unwrap();
            // SAFETY: the shape is the heap's, and the object goes to a root at once.
            let first = unsafe {
                let new = mutator.raw_mut().alloc_raw(object, 0).unwrap();
                mutator.raw().new_root(new.as_ptr() as u64)
            };
            let handles = vec![first; ROOTS];
            Dropping { file: Vec::new(), handles, calls: 0 }
        });
        let settings = SnapshotSettings::default().format(format);
        let summary = heap.snapshot(&mut writer, &settings).unwrap();
        assert!(writer.calls > 3 && writer.handles.len() < ROOTS / 3);
        assert_eq!((summary.objects, summary.roots), (1, ROOTS as u64));
        let roots = match format {
            SnapshotFormat::HeapSnapshot => {
                let nodes = heapsnapshot::read(&writer.file);
                heapsnapshot::roots(&nodes)["(handles)"].len()
            }
            SnapshotFormat::Hprof => hprof::read(&writer.file).roots.len(),
        };
        assert_eq!(roots, ROOTS);
    }
    heap.verify().unwrap();
}

/// Takes the file system away when dropped.
struct Mounted<'p>(&'p Path);

impl Drop for Mounted<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(directory.path()).output();
    if !mount.is_ok_and(|mount| mount.status.success()) {
        eprintln!("left out: no file system can be mounted here");
        return;
    }
    let _mounted = Mounted(directory.path());
    let heap = heap(4096, 128, "Collector=parallel");
    let path = directory.path().join("one.heapsnapshot");
    let settings = SnapshotSettings::default();
    with_list(&heap, 10_000, |mutator| {
        let error = mutator.snapshot_to_file(&path, &settings).unwrap_err();
        let full =
            matches!(&error, SnapshotError::File { error, .. } if error.kind() == io::ErrorKind::StorageFull);
        assert!(full, "{error}");
        assert_eq!(names_in(directory.path()), [""; 0]);
    });
    // A later snapshot that fits is written.
    with_list(&heap, 10, |mutator| mutator.snapshot_to_file(&path, &settings).unwrap());
    assert_eq!(names_in(directory.path()), ["one.heapsnapshot"]);
}

#[test]
fn the_tables_take_less_than_three_percent() {
    let heap = Heap::builder().max_heap_size(64 << 20).build().unwrap();
    with_list(&heap, 300_000, |mutator| {
        let summary = mutator.snapshot(&mut io::sink(), &SnapshotSettings::default()).unwrap();
        assert_eq!(summary.bytes, 300_000 * 24);
        assert!(summary.table_bytes * 100 < summary.bytes * 3, "{summary:?}");
    });
}

#[test]
fn an_attached_thread_is_told_to_use_its_mutator() {
    let heap = heap(4096, 64, "");
    heap.attach(|_| {
        let error = heap.snapshot(&mut Vec::new(), &SnapshotSettings::default()).unwrap_err();
        assert!(matches!(error, SnapshotError::Stop(_)), "{error}");
        assert!(matches!(heap.census(false), Err(SnapshotError::Stop(_))));
    })
    .unwrap();
}

#[test]
fn texts_are_written_only_if_asked_for_and_only_their_beginning() {
    let heap = Heap::builder().max_heap_size(16 << 20).build().unwrap();
    heap.attach(|mutator| {
        root!(mutator, text = alloc!(mutator, NewStr::from("secret \"ключ\" in the heap")).unwrap());
        let file = |mutator: &mut crate::Mutator<'_>, string_bytes| {
            let mut file = Vec::new();
            mutator.snapshot(&mut file, &SnapshotSettings::default().string_bytes(string_bytes)).unwrap();
            (heapsnapshot::read(&file), String::from_utf8(file).unwrap())
        };
        let (nodes, text_of_file) = file(mutator, 0);
        assert!(!text_of_file.contains("secret") && nodes[7].kind == "object");
        let (nodes, _) = file(mutator, 9);
        // The character that is cut is replaced.
        assert_eq!((nodes[7].kind.as_str(), nodes[7].name.as_str()), ("string", "secret \"\u{FFFD}"));
        let (nodes, _) = file(mutator, 1000);
        assert_eq!(nodes[7].name, "secret \"ключ\" in the heap");
        assert!(text.get(mutator).starts_with("secret"));
    })
    .unwrap();
}

#[test]
fn names_that_json_must_escape_and_long_ones_are_read_back() {
    let heap = heap(4096, 64, "");
    let long = "x".repeat(3000);
    let shape = Shape::fixed("a \"b\\\n\u{1}é", 24).slot(long.clone(), 8, SlotKind::Strong);
    let shape = heap.register(shape).unwrap();
    let _keep = heap.register(Shape::array("Unused", 16, Element::Plain { bytes: 1 })).unwrap();
    heap.attach(|mutator| {
        // SAFETY: the shape is the heap's; the slot refers to a live object.
        let _root = unsafe {
            let object = mutator.raw_mut().alloc_raw(shape, 0).unwrap();
            mutator.raw().store(object.as_ptr().byte_add(8).cast(), object.as_ptr() as u64);
            mutator.raw().new_root(object.as_ptr() as u64)
        };
        let mut file = Vec::new();
        mutator.snapshot(&mut file, &SnapshotSettings::default()).unwrap();
        let nodes = heapsnapshot::read(&file);
        assert_eq!(nodes[7].name, "a \"b\\\n\u{1}é");
        assert_eq!((nodes[7].edges[0].name.as_str(), nodes[7].edges[0].to), (&long[..1024], 7));
        assert_eq!(nodes.len(), 8);
    })
    .unwrap();
}

/// Snapshots while threads allocate and collect, and a concurrent cycle may be anywhere.
#[test]
fn snapshots_beside_threads_and_cycles_are_whole() {
    for collector in COLLECTORS.iter().filter(|collector| !collector.contains("epsilon")) {
        let heap = heap(4096, 256, collector);
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2)
                .map(|number| {
                    let (heap, stop) = (&heap, &stop);
                    scope.spawn(move || {
                        with_list(heap, 500 + number, |mutator| {
                            let garbage = Shape::array("Garbage", 16, Element::Plain { bytes: 1 });
                            let garbage = heap.register(garbage).unwrap();
                            let mut turn = 0;
                            while !stop.load(Ordering::Relaxed) {
                                // SAFETY: the shape is the heap's, and the object is dropped.
                                unsafe { mutator.raw_mut().alloc_raw(garbage, 200) }.expect("room");
                                turn += 1;
                                if turn % 500 == 0 {
                                    mutator.collect();
                                }
                            }
                        });
                    })
                })
                .collect();
            let mut seen = 0;
            while seen < 20 {
                let mut file = Vec::new();
                heap.snapshot(&mut file, &SnapshotSettings::default()).unwrap();
                let nodes = heapsnapshot::read(&file);
                let mut lengths = Vec::new();
                for (root, strong) in &heapsnapshot::roots(&nodes)["(handles)"] {
                    assert!(strong);
                    let (mut at, mut length) = (*root, 1);
                    while let Some(edge) = nodes[at].edges.iter().find(|edge| edge.name == "cdr") {
                        (at, length) = (edge.to, length + 1);
                    }
                    lengths.push(length);
                }
                lengths.sort_unstable();
                // Lists that are under construction are shorter.
                assert!(lengths.iter().all(|length| *length <= 501), "{lengths:?}");
                seen += u32::from(lengths == [500, 501]);
                assert!(!threads.iter().any(|thread| thread.is_finished()), "a thread failed");
            }
            stop.store(true, Ordering::Relaxed);
        });
        heap.verify().unwrap();
    }
}
