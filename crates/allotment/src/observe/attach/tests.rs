//! Callers of all kinds, with a raw client: honest ones and harmful ones.

use super::Patience;
use super::protocol::{Answer, AnswerError};
use crate::heap::HeapBuilder;
use crate::platform::{sockets_in_runtime, sockets_in_tmp};
use crate::raw::{Element, Shape};
use crate::{Field, Heap, NewStr, Object, Root, alloc, root};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::fs::{self, File, OpenOptions};
use std::io::{IoSlice, Read, Seek, SeekFrom, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

#[derive(Object)]
struct Pair {
    next: Field<Option<Pair>>,
    key: u64,
}

fn builder(name: &str, options: &str) -> HeapBuilder {
    let builder = Heap::builder().name(name).max_heap_size(16 << 20).use_transparent_huge_pages(false);
    builder.options(&format!("+StartAttachListener,{options}")).expect("options")
}

fn listening(name: &str, options: &str) -> Heap {
    builder(name, options).build().expect("a heap")
}

/// A heap that waits for its callers for a second only.
fn impatient(name: &str) -> Heap {
    let heap = builder(name, "-StartAttachListener").build().expect("a heap");
    let wait = Duration::from_secs(1);
    heap.observed_with(Some(name), Patience { line: wait, answer: wait }, None).expect("a socket")
}

/// The socket at which the heap of that name listens, or would.
fn place(name: &str) -> PathBuf {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|runtime| sockets_in_runtime(Path::new(&runtime)));
    let tmp = sockets_in_tmp(rustix::process::geteuid().as_raw());
    let name = format!("{}-{name}", std::process::id());
    let places = runtime.into_iter().chain([tmp]).map(|folder| folder.join(&name));
    places.clone().find(|path| path.exists()).or(places.clone().next_back()).expect("one")
}

fn call(name: &str) -> UnixStream {
    UnixStream::connect(place(name)).expect("it listens")
}

fn send(caller: &UnixStream, line: &str, files: &[BorrowedFd<'_>]) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(4))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(files.is_empty() || control.push(SendAncillaryMessage::ScmRights(files)));
    let sent = sendmsg(caller, &[IoSlice::new(line.as_bytes())], &mut control, SendFlags::NOSIGNAL);
    assert_eq!(sent, Ok(line.len()));
}

fn ask_with(name: &str, line: &str, files: &[BorrowedFd<'_>]) -> Result<Answer, AnswerError> {
    let mut caller = call(name);
    send(&caller, line, files);
    Answer::read(&mut caller)
}

/// The answer to a question.
fn ask(name: &str, question: &str) -> String {
    match ask_with(name, &format!("allotment/1 {question}\n"), &[]) {
        Ok(Answer::Done(text)) => text,
        other => panic!("{question}: {other:?}"),
    }
}

/// The reason why there is no answer.
fn refusal(name: &str, line: &str, files: &[BorrowedFd<'_>]) -> String {
    match ask_with(name, line, files) {
        Ok(Answer::Failed(text)) => text,
        other => panic!("{line}: {other:?}"),
    }
}

/// The file that a question writes, and the answer.
fn filled(name: &str, question: &str) -> (Vec<u8>, String) {
    let mut file = tempfile::tempfile().expect("a file");
    let answer = ask_with(name, &format!("allotment/1 {question}\n"), &[file.as_fd()]);
    let Ok(Answer::Done(text)) = answer else { panic!("{question}: {answer:?}") };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).expect("a file");
    file.read_to_end(&mut bytes).expect("a file");
    (bytes, text)
}

/// Allocates until it is told to end, with some objects alive.
fn work(heap: &Heap, ends: &AtomicBool) {
    heap.attach(|mu| {
        let mut list = None;
        for key in 0..100 {
            list = Some(alloc!(mu, NewPair { next: list, key }).expect("room"));
        }
        root!(mu, list = list);
        while !ends.load(Ordering::Relaxed) {
            for key in 0..100 {
                alloc!(mu, NewPair { next: None, key }).expect("room");
            }
        }
        let length = std::iter::successors(list.get(mu), |pair| pair.next.load(mu)).count();
        assert_eq!(length, 100);
    })
    .expect("attached");
}

/// Runs `body` while two threads work for the heap.
fn beside_threads(heap: &Heap, body: impl FnOnce()) {
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        for number in 0..2 {
            let named = thread::Builder::new().name(format!("worker-{number}"));
            named.spawn_scoped(scope, || work(heap, &ends)).expect("a thread");
        }
        // However the body ends, the threads do.
        struct End<'e>(&'e AtomicBool);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _end = End(&ends);
        while heap.metrics().threads.now < 2 {
            thread::yield_now();
        }
        body();
    });
}

/// A heap of each collector, with zeal where it collects.
const HEAPS: [(&str, &str); 5] = [
    ("all-parallel", "Collector=parallel,ZealInterval=1000,+ZealMove,+VerifyAfterGC"),
    ("all-mark-compact", "Collector=mark-compact,ZealInterval=1000,+ZealMove,+ZealPoison"),
    ("all-shenandoah", "Collector=shenandoah,ZealInterval=1000,+ZealMove,+ZealPoison"),
    ("all-generational", "Collector=shenandoah,ShenandoahGCMode=generational,ZealInterval=1000,+ZealMove"),
    ("all-unused", "Collector=parallel,-UseTLAB,ZealInterval=1000"),
];

#[test]
fn every_question_is_answered_while_threads_run_under_every_collector() {
    for (name, options) in HEAPS {
        let heap = listening(name, options);
        beside_threads(&heap, || {
            for _ in 0..3 {
                let said = ask(name, "heap");
                assert!(said.contains(&format!("collector     {}", heap.collector())), "{said}");
                assert!(
                    said.contains("reserved      16777216 bytes") && said.contains("2 attached"),
                    "{said}"
                );
                let said = ask(name, "threads");
                assert!(said.contains("  worker-0\n") && said.contains("  worker-1\n"), "{said}");
                let said = ask(name, "metrics");
                assert!(said.contains(" {thread}       allotment.threads\n"), "{said}");
                let said = ask(name, "options");
                assert!(
                    said.contains("StartAttachListener                = true                 {command line}"),
                    "{said}"
                );
                let said = ask(name, "gc");
                assert!(said.contains(" bytes in use before, "), "{said}");
                // Each worker may hold one more that it has just made.
                let said = ask(name, "census retained=true");
                let pairs = said.lines().find(|line| line.ends_with("  Pair")).expect("pairs");
                let count: u64 =
                    pairs.split_whitespace().next().expect("a column").parse().expect("a number");
                assert!((100..=202).contains(&count), "{said}");
                let (file, said) = filled(name, "snapshot");
                let json: serde_json::Value = serde_json::from_slice(&file).expect("JSON");
                assert!(json["snapshot"]["node_count"].as_u64().is_some_and(|count| count > 100), "{said}");
                assert!(said.ends_with(&format!("a file of {} bytes\n", file.len())), "{said}");
                let (file, _) = filled(name, "snapshot format=hprof string-bytes=9");
                assert!(file.starts_with(b"JAVA PROFILE 1.0.2\0"));
            }
            let (file, said) = filled(name, "profile seconds=1 interval=4096");
            assert_eq!(file[..2], [0x1f, 0x8b], "gzip");
            assert!(
                said.ends_with(" samples, one in 4096 bytes on average\n") && !said.starts_with("0 "),
                "{said}"
            );
        });
        assert_eq!(heap.shared.watch.sampler.interval(), 0, "as before");
        heap.verify().expect("in order");
    }
}

#[test]
fn a_heap_that_never_collects_says_so() {
    let heap = listening("epsilon", "Collector=epsilon");
    // Threads that allocate without end would fill this heap.
    heap.attach(|mu| {
        let pair = alloc!(mu, NewPair { next: None, key: 1 }).expect("room");
        root!(mu, _pair = pair);
        mu.blocking(|| {
            let said = refusal("epsilon", "allotment/1 gc\n", &[]);
            assert_eq!(said, "nothing was collected: the collector is epsilon");
            let said = ask("epsilon", "census");
            assert!(said.contains("  Pair\n") && said.contains("all live objects"), "{said}");
        });
    })
    .expect("attached");
}

#[test]
fn the_profile_so_far_wants_sampling_and_says_how_to_turn_it_on() {
    let heap = listening("so-far", "");
    let file = tempfile::tempfile().unwrap();
    let said = refusal("so-far", "allotment/1 profile\n", &[file.as_fd()]);
    assert!(said.contains("--seconds 10") && said.contains("AllocationSampleInterval=512k"), "{said}");
    heap.set_allocation_sample_interval(64);
    heap.attach(|mu| (0..1000).for_each(|_| _ = alloc!(mu, NewStr::from("some text")).expect("room")))
        .unwrap();
    let (file, said) = filled("so-far", "profile");
    assert!(file.starts_with(&[0x1f, 0x8b]) && said.contains("one in 64 bytes on average"), "{said}");
}

#[test]
fn callers_that_send_anything_else_are_refused_and_the_next_is_served() {
    let _heap = listening("garbage", "");
    for (line, expected) in [
        ("GET / HTTP/1.1\r\n\r\n", "this is not a question"),
        ("\n", "this is not a question"),
        ("allotment/2 heap\n", "speaks version 1"),
        ("allotment/1 destroy\n", "there is no question \"destroy\""),
        (&"x".repeat(100_000), "the question is too long"),
    ] {
        let said = refusal("garbage", line, &[]);
        assert!(said.contains(expected), "{said}");
        assert!(ask("garbage", "heap").contains("collector"));
    }
    call("garbage").write_all(&[0xff; 10]).unwrap();
    drop(call("garbage"));
    assert!(ask("garbage", "heap").contains("collector"));
}

#[test]
fn a_caller_that_hangs_is_cut_off() {
    let heap = impatient("hang");
    let (silent, mut half, stopped) = (call("hang"), call("hang"), call("hang"));
    half.write_all(b"allotment/1 he").unwrap();
    stopped.shutdown(Shutdown::Write).unwrap();
    // Nothing of the heap waits for them.
    heap.attach(|mu| mu.collect()).unwrap();
    assert!(ask("hang", "heap").contains("collector"));
    let answer = Answer::read(&mut half).unwrap();
    assert_eq!(answer, Answer::Failed("the question did not end in time".into()));
    drop(silent);
}

#[test]
fn a_caller_that_does_not_read_holds_neither_the_world_nor_the_next_caller_for_long() {
    let heap = impatient("slow");
    let name = |number: usize| format!("{number}{}", "x".repeat(2000));
    let shapes: Vec<_> = (0..1000)
        .map(|number| heap.register(Shape::array(name(number), 16, Element::Plain { bytes: 1 })).unwrap())
        .collect();
    let shapes = &shapes;
    let (begin, begun) = channel();
    let (end, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(|| {
            let (begin, ended) = (begin, ended);
            heap.attach(|mu| {
                for shape in shapes {
                    // SAFETY: the shape is this heap's.
                    let object = unsafe { mu.raw_mut().alloc_raw(*shape, 1).unwrap() };
                    // SAFETY: it is an object, and the pin keeps it.
                    std::mem::forget(unsafe { mu.raw().pin(object) });
                }
                mu.blocking(|| {
                    begin.send(()).unwrap();
                    let _ = ended.recv();
                });
            })
            .unwrap();
        });
        begun.recv().unwrap();
        let mut slow = call("slow");
        slow.write_all(b"allotment/1 census\n").unwrap();
        // This one waits until the slow one is cut off. Meanwhile the world goes on.
        heap.attach(|mu| mu.collect()).unwrap();
        assert!(ask("slow", "heap").contains("collector"));
        assert!(matches!(Answer::read(&mut slow), Err(AnswerError::Ended)), "a part of it");
        assert!(ask("slow", "census").len() > 1_000_000, "a caller that reads gets all");
        drop(end);
    });
}

#[test]
fn two_that_ask_at_once_are_both_answered() {
    let heap = listening("two", "");
    beside_threads(&heap, || {
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for question in ["census", "heap", "gc", "threads"] {
                        assert!(!ask("two", question).is_empty());
                    }
                });
            }
        });
    });
}

#[test]
fn only_one_regular_file_is_taken_and_only_where_one_is_due() {
    let _heap = listening("files", "");
    let file = tempfile::tempfile().unwrap();
    let (_reader, pipe) = std::io::pipe().unwrap();
    let null = OpenOptions::new().write(true).open("/dev/null").unwrap();
    let no_file = "what came with the question is not a regular file";
    for (line, files, expected) in [
        ("allotment/1 snapshot\n", vec![], "no file came with the question"),
        ("allotment/1 snapshot\n", vec![pipe.as_fd()], no_file),
        ("allotment/1 snapshot\n", vec![null.as_fd()], no_file),
        ("allotment/1 profile seconds=1\n", vec![file.as_fd(), file.as_fd()], "more than one file"),
        ("allotment/1 profile seconds=1\n", vec![file.as_fd(); 4], "more than one file"),
        ("allotment/1 heap\n", vec![file.as_fd()], "takes no file"),
    ] {
        let said = refusal("files", line, &files);
        assert!(said.contains(expected), "{line} {said}");
    }
    assert_eq!(file.metadata().unwrap().len(), 0);
    let path = tempfile::NamedTempFile::new().unwrap();
    let read_only = File::open(path.path()).unwrap();
    let said = refusal("files", "allotment/1 snapshot\n", &[read_only.as_fd()]);
    assert!(said.contains("the snapshot cannot be written: Bad file descriptor"), "{said}");
    let descriptors = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = descriptors();
    for _ in 0..20 {
        refusal("files", "allotment/1 heap\n", &[file.as_fd()]);
        refusal("files", "allotment/1 snapshot\n", &[pipe.as_fd(), pipe.as_fd()]);
    }
    // Other tests of this process have descriptors, too.
    assert!(descriptors() < before + 20, "descriptors that came along are closed");
}

#[test]
fn the_end_of_a_heap_ends_what_is_asked_and_removes_its_socket() {
    let heap = listening("end", "");
    assert!(place("end").exists());
    let file = tempfile::tempfile().unwrap();
    let mut caller = call("end");
    send(&caller, "allotment/1 profile seconds=80000\n", &[file.as_fd()]);
    while heap.shared.watch.sampler.interval() == 0 {
        thread::yield_now();
    }
    let mut waiting = call("end");
    drop(heap.clone());
    assert!(place("end").exists(), "a clone is there");
    drop(heap);
    assert!(!place("end").exists());
    for caller in [&mut caller, &mut waiting] {
        let answer = Answer::read(caller);
        let is_end = |text: &String| text.contains("the heap ended") || text.contains("the heap is gone");
        assert!(
            matches!(&answer, Err(AnswerError::Ended | AnswerError::Read(_)))
                || matches!(&answer, Ok(Answer::Failed(text)) if is_end(text)),
            "{answer:?}"
        );
    }
}

#[test]
fn a_caller_that_hangs_up_ends_its_window() {
    let heap = listening("window", "");
    let file = tempfile::tempfile().unwrap();
    let caller = call("window");
    send(&caller, "allotment/1 profile seconds=80000 interval=77\n", &[file.as_fd()]);
    while heap.shared.watch.sampler.interval() != 77 {
        thread::yield_now();
    }
    drop(caller);
    assert!(ask("window", "heap").contains("sampling      off"), "as before");
    assert_eq!(file.metadata().unwrap().len(), 0);
}

#[test]
fn a_choice_of_the_program_in_a_window_stays() {
    let heap = listening("choice", "");
    let file = tempfile::tempfile().unwrap();
    let mut caller = call("choice");
    send(&caller, "allotment/1 profile seconds=1\n", &[file.as_fd()]);
    while heap.shared.watch.sampler.interval() == 0 {
        thread::yield_now();
    }
    heap.set_allocation_sample_interval(99);
    assert!(matches!(Answer::read(&mut caller), Ok(Answer::Done(_))));
    assert_eq!(heap.shared.watch.sampler.interval(), 99);
}

#[test]
fn heaps_of_one_name_listen_each_at_a_socket_of_its_own() {
    let (one, other) = (listening("same", ""), listening("same", "Collector=mark-compact"));
    assert!(ask("same", "heap").contains("parallel") && ask("same-2", "heap").contains("mark-compact"));
    drop(one);
    assert!(!place("same").exists() && place("same-2").exists());
    drop(other);
    assert!(!place("same-2").exists());
    let _quiet = Heap::builder().name("quiet").max_heap_size(16 << 20).build().unwrap();
    assert!(!place("quiet").exists(), "off unless asked for");
}

/// Regression: the end of a heap removed its name twice, and the second time it was another's.
#[test]
fn heaps_that_come_and_go_under_one_name_leave_each_other_s_sockets_alone() {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    let heap = listening("turns", "");
                    let own = format!("address       {:#x}", heap.base());
                    let number =
                        |number| if number == 1 { "turns".into() } else { format!("turns-{number}") };
                    let names = (1..=4).map(number);
                    // Those of others may end at any time.
                    let mut said = names.filter_map(|name| {
                        let mut caller = UnixStream::connect(place(&name)).ok()?;
                        caller.write_all(b"allotment/1 heap\n").ok()?;
                        Answer::read(&mut caller).ok()
                    });
                    let is_own = |answer: Answer| matches!(answer, Answer::Done(text) if text.contains(&own));
                    assert!(said.any(is_own), "it has lost its socket");
                }
            });
        }
    });
    assert!(!place("turns").exists());
}

#[test]
fn a_root_that_outlives_its_heap_keeps_no_listener() {
    let heap = listening("root", "");
    let root = heap.attach(|mu| {
        let text = alloc!(mu, NewStr::from("kept")).unwrap();
        Root::new(mu, text)
    });
    drop(heap);
    assert!(!place("root").exists());
    drop(root);
}

#[test]
fn a_hook_that_panics_is_told_and_does_no_harm() {
    let panics = AtomicBool::new(true);
    let heap = builder("hook", "").on_collection(move |_| {
        assert!(!panics.swap(false, Ordering::Relaxed), "as the test wants it");
    });
    let heap = heap.build().unwrap();
    assert_eq!(refusal("hook", "allotment/1 gc\n", &[]), "a hook of the program panicked");
    assert!(ask("hook", "gc").contains("bytes in use"));
    drop(heap);
}

/// The hook runs on the thread that collects: the listener, which would wait for itself, or a
/// thread of the heap's, for which the listener waits.
#[test]
fn a_hook_that_drops_the_last_heap_while_a_collection_is_asked_for_ends_it_under_every_collector() {
    for (name, options) in [
        ("last-mark", "Collector=mark-compact"),
        ("last-parallel", "Collector=parallel"),
        ("last-shenandoah", "Collector=shenandoah"),
        ("last-generational", "Collector=shenandoah,ShenandoahGCMode=generational"),
    ] {
        let last: Arc<Mutex<Option<Heap>>> = Arc::default();
        let dropped = last.clone();
        let heap = builder(name, options).on_collection(move |_| drop(dropped.lock().unwrap().take()));
        let heap = heap.build().unwrap();
        let shared = Arc::downgrade(&heap.shared);
        *last.lock().unwrap() = Some(heap);
        let answer = ask_with(name, "allotment/1 gc\n", &[]);
        assert!(matches!(answer, Ok(_) | Err(AnswerError::Ended | AnswerError::Read(_))), "{answer:?}");
        let until = Instant::now() + Duration::from_secs(60);
        while place(name).exists() || shared.strong_count() > 0 {
            assert!(Instant::now() < until, "{name}: the heap does not end");
            thread::sleep(Duration::from_millis(1));
        }
        assert!(last.lock().unwrap().is_none(), "{name}: the hook was called");
    }
}
