//! The lines of a timeline, its bounds, and what happens when it cannot be written.

use super::event::{Microseconds, Quoted};
use super::writer::{MOST_NAMES, Names};
use super::*;
use proptest::prelude::*;
use serde_json::Value;
use std::cmp::Reverse;
use std::os::fd::AsRawFd;

fn timeline(path: &Path) -> Timeline {
    Timeline::begin(path, &Clock::new(None), "a \"heap\"").expect("a path in a folder that is there")
}

/// The events of a file that is whole.
fn events(path: &Path) -> Vec<Value> {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn named<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["name"] == name).collect()
}

fn slice(category: Category, name: &'static str, start: u64, time: u64) -> Slice {
    let [start, time] = [start, time].map(Duration::from_nanos);
    Slice { row: Row::Stops, category, name: name.into(), start, time, arguments: Arguments::default() }
}

proptest! {
    #[test]
    fn a_text_is_read_back(text: String) {
        let read: String = serde_json::from_str(&Quoted(&text).to_string()).unwrap();
        prop_assert_eq!(read, text);
    }

    #[test]
    fn a_time_keeps_its_nanoseconds(nanoseconds in 0u64..1 << 50) {
        let text = Microseconds(Duration::from_nanos(nanoseconds)).to_string();
        let read: f64 = text.parse().unwrap();
        prop_assert_eq!((read * 1e3).round() as u64, nanoseconds);
    }
}

#[test]
fn an_empty_timeline_names_its_process_and_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    timeline(&path).finish();
    let events = events(&path);
    assert_eq!(named(&events, "process_name")[0]["args"]["name"], "a \"heap\"");
    let rows: Vec<_> = named(&events, "thread_name").iter().map(|row| row["args"]["name"].clone()).collect();
    assert_eq!(rows, ["World stopped", "Concurrent cycles"]);
    assert_eq!(named(&events, "thread_sort_index").len(), 2);
    assert_eq!(events.len(), 5);
}

/// The part of the timeline that its thread has.
fn writer(path: &Path) -> Writer {
    let file = TraceFile::create(path, "a heap").expect("a path in a folder that is there");
    Writer::new(Arc::new(Queue::default()), file, path.to_owned(), Instant::now())
}

/// A share of this thread at such a time of the heap, in ns.
fn share(born: Instant, start: u64, time: u64) -> Share {
    let start = born + Duration::from_nanos(start);
    let end = start + Duration::from_nanos(time);
    Share { thread: std::thread::current(), number: SystemThread::current().number(), start, end }
}

fn pending(slices: Vec<Slice>, shares: Vec<Share>) -> Pending {
    Pending { events: slices.into_iter().map(Event::Slice).collect(), shares, ..Pending::default() }
}

#[test]
fn a_share_has_the_name_of_its_phase_and_what_is_within_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let mut writer = writer(&path);
    let born = writer.born;
    // Nobody hands over the longer one first.
    let slices = vec![slice(Category::Phase, "Mark", 10, 80), slice(Category::Pause, "Pause", 10, 90)];
    writer.write(pending(slices, vec![share(born, 20, 30)]), false).unwrap();
    writer
        .write(pending(vec![slice(Category::Phase, "Mark", 100, 10)], vec![share(born, 105, 20)]), false)
        .unwrap();
    writer.write(pending(Vec::new(), vec![share(born, 120, 30)]), true).unwrap();
    writer.file.finish().unwrap();
    let events = events(&path);
    let slices: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    let names: Vec<&str> = slices.iter().map(|slice| slice["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["Pause", "Mark", "Mark"], "{events:?}");
    assert_eq!((slices[2]["cat"].as_str(), slices[2]["tid"].as_i64().is_some()), (Some("share"), true));
    assert_eq!(names[3..], ["Mark", "Work", "Work"], "the phase of two is not known");
    let own = std::thread::current();
    let threads = named(&events, "thread_name");
    assert_eq!(threads.len(), 3);
    assert_eq!(threads[2]["args"]["name"].as_str(), own.name());
}

#[test]
fn a_share_waits_until_a_later_phase_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let mut writer = writer(&path);
    let born = writer.born;
    writer.write(pending(Vec::new(), vec![share(born, 120, 30)]), false).unwrap();
    writer.write(pending(vec![slice(Category::Phase, "Early", 0, 110)], Vec::new()), false).unwrap();
    writer.write(pending(vec![slice(Category::Phase, "Late", 110, 50)], Vec::new()), false).unwrap();
    // More than there is room for: they wait for a phase that never comes.
    let shares = (0..MOST_PENDING as u64 + 5).map(|number| share(born, 1000 + number, 1)).collect();
    writer.write(pending(Vec::new(), shares), false).unwrap();
    writer.write(Pending::default(), true).unwrap();
    writer.file.finish().unwrap();
    let events = events(&path);
    assert_eq!(named(&events, "Late").len(), 2);
    assert_eq!(named(&events, "Work").len(), MOST_PENDING);
    assert_eq!(named(&events, "events dropped: 5").len(), 1);
}

/// Intervals, as pairs of beginning and length.
fn intervals(most: usize) -> impl Strategy<Value = Vec<(u64, u64)>> {
    proptest::collection::vec((0u64..60, 0u64..30), 0..most)
}

proptest! {
    /// The model looks at all phases for each share.
    #[test]
    fn a_share_is_a_part_of_the_phase_that_began_last_of_those_around_it(
        mut phases in intervals(12), shares in intervals(12),
    ) {
        phases.sort_by_key(|&(start, time)| (start, Reverse(time)));
        let slices: Vec<Slice> = phases
            .iter()
            .enumerate()
            .map(|(number, &(start, time))| Slice {
                name: number.to_string().into(),
                ..slice(Category::Phase, "", start, time)
            })
            .collect();
        let part = |&(start, time): &(u64, u64)| (slice(Category::Share, "", start, time), std::thread::current());
        let mut shares: Vec<_> = shares.iter().map(part).collect();
        writer::name_shares(&mut shares, &slices);
        for (share, _) in shares {
            let is_around = |phase: &&Slice| phase.start <= share.start && share.end() <= phase.end();
            let expected = slices.iter().rev().find(is_around).map_or("", |phase| &phase.name);
            prop_assert_eq!(&*share.name, expected);
        }
    }
}

#[test]
fn events_beyond_the_bound_are_dropped_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let timeline = timeline(&path);
    for _ in 0..MOST_PENDING + 6 {
        timeline.did(Category::Assist, "Assist", (Instant::now(), Duration::ZERO), Arguments::default());
        timeline.add_shares({
            let shares = Shares::of(1);
            shares.measure(0, || ());
            shares
        });
    }
    timeline.finish();
    let events = events(&path);
    assert_eq!(named(&events, "Assist").len(), MOST_PENDING);
    assert_eq!(named(&events, "Work").len(), MOST_PENDING);
    assert_eq!(named(&events, "events dropped: 12").len(), 1);
    // A name is not an event of another thread, which could be dropped.
    assert_eq!(named(&events, "thread_name").len(), 3);
}

#[test]
fn a_number_that_went_to_another_thread_is_named_anew() {
    let (mut names, mut events) = (Names::default(), Vec::new());
    let other = std::thread::Builder::new().spawn(std::thread::current).unwrap().join().unwrap();
    let of = |number| Slice { row: Row::Thread(number), ..slice(Category::Share, "Work", 0, 1) };
    names.name(&of(7), &std::thread::current(), &mut events);
    names.name(&of(7), &std::thread::current(), &mut events);
    names.name(&of(7), &other, &mut events);
    assert_eq!(events.len(), 2);
    assert!(matches!(&events[1], Event::Name(Row::Thread(7), name) if name == "thread 7"));
    for number in 0..MOST_NAMES as i32 + 9 {
        names.name(&of(number), &other, &mut events);
    }
    assert!(names.0.len() <= MOST_NAMES);
}

#[test]
fn threads_append_while_another_writes() {
    const THREADS: usize = 4;
    const EACH: usize = 500;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.json");
    let timeline = timeline(&path);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..EACH {
                    let now = (Instant::now(), Duration::ZERO);
                    timeline.did(Category::Assist, "Assist", now, Arguments::default());
                    timeline.add_record(vec![slice(Category::Pause, "Pause", 0, 1)]);
                }
            });
        }
    });
    timeline.finish();
    let events = events(&path);
    for name in ["Assist", "Pause"] {
        assert_eq!(named(&events, name).len(), THREADS * EACH);
    }
}

#[test]
fn a_heap_that_could_not_be_made_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let timeline = timeline(&folder.path().join("t.json"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    timeline.add_record(vec![slice(Category::Pause, "Pause", 0, 1)]);
    drop(timeline);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_pipe_without_a_reader_ends_the_timeline_and_nothing_else() {
    let (reader, end) = std::io::pipe().unwrap();
    let timeline = timeline(Path::new(&format!("/proc/self/fd/{}", end.as_raw_fd())));
    assert!(timeline.is_on());
    drop(reader);
    timeline.add_record(vec![slice(Category::Pause, "Pause", 0, 1)]);
    while timeline.is_on() {
        std::thread::yield_now();
    }
    timeline.did(Category::Assist, "Assist", (Instant::now(), Duration::ZERO), Arguments::default());
    timeline.add_occupied(Occupied { used: 1, old: 0, committed: 1 });
    timeline.finish();
    assert!(timeline.queue.lock().events.is_empty());
}
