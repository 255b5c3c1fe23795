//! Logs written by a model, read, and compared with the model.

use super::source::read_text;
use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

mod order;
mod prefixed;
mod real;

fn read(text: &[u8]) -> Log {
    let mut log = Log::default();
    read_text(text, &mut log).unwrap();
    log.finish();
    log
}

fn replayed(log: &Log, candidate: &Candidate, most_desired: u64) -> Replayed {
    Replay::new(&log.cycles, &Candidate::default(), most_desired).run(candidate)
}

/// Reads a line without its end. `whole`: the end of the line was there.
fn parse(line: &[u8], whole: bool) -> Line {
    let message = |placed: place::Placed<'_>| line::message(placed.message, whole, placed.is_decorated());
    place::placed(line).map_or(Line::Foreign, message)
}

/// Why there is no verdict on a log's threads.
fn silence(log: &Log) -> Option<String> {
    Judge::of(log).silence().map(String::from)
}

/// The logs of real JVMs beside the tests.
fn real(name: &str) -> String {
    let path = format!("{}/tests/logs/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

const FAST: &str = "[0.5s][trace][gc,tlab] GC(0) TLAB: gc thread: 0x00007f7b7c018670 [id: 3813] desired_size: 122KB slow allocs: 6  refill waste: 1960B alloc: 0.99996     6144KB refills: 49 waste  0.5% gc: 12B slow: 30112B fast: 8B";
const SLOW: &str = "[0.064s][trace][gc,tlab     ] TLAB: fill thread: 0x00007fbccc02afe0 [id: 4457] desired_size: 286KB slow allocs: 0  refill waste: 4584B alloc: 1.00000     1024KB refills: 1 waste  0.0% gc: 0B slow: 0B";
const NEW_GC: &str = "TLAB GC: thread: 0x00007f00 [id: 9] desired: 64K allocated: 640K slow allocs: 3  refill waste: 1024B refills: 10 waste  2.5% gc: 16000B slow: 384B";
const NEW_FILL: &str =
    "[7ms][gc,tlab] TLAB fill: thread: 0x00007f00 [id: 9] capacity: 64K slow allocs: 3  refills: 10";

#[test]
fn threads_lines_of_each_dialect() {
    let Line::Gc(line) = parse(FAST.as_bytes(), true) else { panic!() };
    assert_eq!(line.thread, ThreadId { id: 3813, pointer: 0x7f7b_7c01_8670 });
    assert_eq!((line.desired, line.capacity, line.allocated), (Some(122 << 10), None, None));
    assert_eq!((line.slow_allocations, line.refills, line.dialect), (6, 49, Dialect::Fast));
    assert_eq!(line.waste, Some(Waste { gc: 12, slow: 30112, fast: 8 }));
    let (fraction, bytes) = line.expected.unwrap();
    assert!((fraction - 0.99996).abs() < 1e-9 && bytes == 6144 << 10);
    let Line::Fill(line) = parse(SLOW.as_bytes(), true) else { panic!() };
    assert_eq!((line.thread.id, line.desired, line.refills), (4457, Some(286 << 10), 1));
    assert_eq!((line.waste, line.dialect), (Some(Waste::default()), Dialect::Slow));
    let Line::Gc(line) = parse(NEW_GC.as_bytes(), true) else { panic!() };
    assert_eq!((line.desired, line.allocated), (Some(64 << 10), Some(640 << 10)));
    assert_eq!((line.slow_allocations, line.refills, line.dialect), (3, 10, Dialect::Capacity));
    assert_eq!(line.waste, Some(Waste { gc: 16000, slow: 384, fast: 0 }));
    let Line::Fill(line) = parse(NEW_FILL.as_bytes(), true) else { panic!() };
    assert_eq!((line.capacity, line.waste, line.refills), (Some(64 << 10), None, 10));
}

#[test]
fn resizes_totals_and_requests() {
    for (text, from, to, target) in [
        (
            "GC(0) TLAB new size: thread: 0x7f [id: 5] refills 50  alloc: 0.987578 desired_size: 15728 -> 10355",
            15728 * 8,
            10355 * 8,
            Some(50),
        ),
        (
            "TLAB resize: thread: 0x7f [id: 5] alloc-fraction: 0.125 desired_size: 64K -> 32K",
            64 << 10,
            32 << 10,
            None,
        ),
    ] {
        let Line::Resize(line) = parse(text.as_bytes(), true) else { panic!("{text}") };
        assert_eq!((line.thread.id, line.from, line.to, line.target), (5, from, to, target), "{text}");
    }
    for (text, waste, dialect) in [
        (
            "[0.9s][debug][gc,tlab] GC(0) TLAB totals: thrds: 3  refills: 49 max: 46 slow allocs: 3 max 2 waste:  3.8% gc: 11B max: 9B slow: 7B max: 5B fast: 3B max: 3B",
            Waste { gc: 11, slow: 7, fast: 3 },
            Dialect::Fast,
        ),
        (
            "TLAB totals: thrds: 3  refills: 49 max: 46 slow allocs: 3 max 2 waste:  3.8% gc: 11B max: 9B slow: 7B max: 5B",
            Waste { gc: 11, slow: 7, fast: 0 },
            Dialect::Slow,
        ),
        (
            "TLAB totals: thrds: 3 alloc-frac: 91.5% refills: 49 max: 46 slow allocs: 3 max 2 waste:  3.8% gc: 11B( 1.5%) max: 9B refill: 7B(0.5%) max: 5B",
            Waste { gc: 11, slow: 7, fast: 0 },
            Dialect::Capacity,
        ),
    ] {
        let Line::Totals(line) = parse(text.as_bytes(), true) else { panic!("{text}") };
        assert_eq!((line.threads, line.refills, line.slow_allocations), (3, 49, 3), "{text}");
        assert_eq!((line.waste, line.dialect), (waste, dialect), "{text}");
    }
    let request = |text: &str| parse(text.as_bytes(), true);
    let size = "[0.1s][trace][gc,tlab] ThreadLocalAllocBuffer::compute_size(4) returns ";
    assert_eq!(
        request(&format!("{size}15730")),
        Line::Request(Request { object: 32, size: Some(15730 * 8) })
    );
    assert_eq!(request(&format!("{size}failure")), Line::Request(Request { object: 32, size: None }));
}

#[test]
fn other_lines_are_foreign_and_cut_ones_damaged() {
    for text in [
        "",
        "[0.1s][info][gc] GC(0) Pause Young 5M->1M(8M) 1.1ms",
        "[unclosed",
        "TLAB: slow thread: 0x7f [id: 3]",
        "\u{1F980}",
    ] {
        assert_eq!(parse(text.as_bytes(), true), Line::Foreign, "{text}");
    }
    for text in ["[0.1s] TLAB: fi", "TLAB: gc thread: 0x1 [id: 2] desired_size: 1"] {
        assert_eq!(parse(text.as_bytes(), true), Line::Damaged, "{text}");
    }
    // Another line runs into it.
    assert_eq!(parse(format!("{}{SLOW}", &SLOW[..150]).as_bytes(), true), Line::Damaged);
    // Without the line's end the last number may be incomplete.
    assert_eq!(parse(NEW_FILL.as_bytes(), false), Line::Damaged);
    assert!(matches!(parse(SLOW.as_bytes(), false), Line::Fill(_)));
    // A collector of logs puts its own stamp before the line.
    assert!(matches!(parse(format!("Nov 22 host java[1]: {SLOW}").as_bytes(), true), Line::Fill(_)));
}

#[test]
fn a_lost_collection_begins_a_new_cycle() {
    let fill = |refills: u32| NEW_FILL.replace("refills: 10", &format!("refills: {refills}")) + "\r\n";
    let later = |refills| fill(refills).replace("[7ms]", "[9ms]");
    let log = read((fill(1) + &fill(2) + &fill(3) + &later(1) + &later(2)).as_bytes());
    let account = &log.accounts()[0];
    assert_eq!((account.refills, account.most_refills, account.cycles), (5, 3, 2));
    assert_eq!((account.slow_allocations, account.buffers), (6, 5 * (64 << 10)));
}

#[test]
fn percentages_correct_sizes_that_are_not_logged() {
    // Epsilon gives less than was desired: 2 buffers of 2 KiB instead of 2.6 MB.
    let line = "TLAB: fill thread: 0x1 [id: 2] desired_size: 1310KB slow allocs: 0  refill waste: 9B alloc: 1.00000        4KB refills: 2 waste 13.6% gc: 0B slow: 584B\n";
    let buffers = read(line.as_bytes()).accounts()[0].buffers;
    assert!((4270..4330).contains(&buffers), "{buffers}");
}

#[test]
fn lines_beyond_all_measure_are_skipped() {
    let mut text = vec![b'x'; 1 << 20];
    text.extend(format!("\n{SLOW}\n").bytes());
    let log = read(&text);
    assert_eq!((log.read, log.skipped, log.accounts().len()), (1, Skipped { damaged: 0, foreign: 1 }, 1));
}

#[test]
fn rotated_files_are_found_and_sorted_by_time() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let write = |name: &str, line: &str| std::fs::write(path(name), format!("{line}\n")).unwrap();
    write("gc.log", "[10.000s] newest");
    write("gc.log.0", "[5.000s] middle");
    write("gc.log.1", "no time\n[0.500s] oldest");
    write("gc.log.old", "[0.100s] of another");
    let expected: Vec<PathBuf> = ["gc.log.1", "gc.log.0", "gc.log"].map(path).to_vec();
    assert_eq!(Sources::find(&[path("gc.log")]).unwrap().paths, expected);
    assert_eq!(Sources::find(&[path("gc.log.0"), path("gc.log")]).unwrap().paths, expected);
    write("gc.log.0", "[2026-01-05T10:00:01.123+0000] middle");
    // The files do not all have the same kind of time, so they stay in the order found, with the
    // file being written last.
    let found = ["gc.log.0", "gc.log.1", "gc.log"].map(path);
    assert_eq!(Sources::find(&[path("gc.log")]).unwrap().paths, found);
    // By their dates in UTC; 02:30 came twice that night. One of them is packed.
    let dated = |date: &str| format!("[2024-10-27T{date}][9.000s] x");
    write("gc.log", &dated("02:30:00.000+0100"));
    write("gc.log.1", &dated("02:40:00.000+0200"));
    std::fs::remove_file(path("gc.log.0")).unwrap();
    write("gc.log.7", &dated("00:35:00.000+0000"));
    let mut packed = GzEncoder::new(std::fs::File::create(path("gc.log.2.gz")).unwrap(), Compression::fast());
    std::io::Write::write_all(&mut packed, dated("02:20:00.000+0200").as_bytes()).unwrap();
    packed.finish().unwrap();
    let by_date = ["gc.log.2.gz", "gc.log.7", "gc.log.1", "gc.log"].map(path);
    assert_eq!(Sources::find(&[path("gc.log")]).unwrap().paths, by_date);
    let error = Sources::find(&[path("gone")]).unwrap_err().to_string();
    assert!(error.contains("gone") && error.contains("No such file"), "{error}");
}

#[test]
fn a_replay_of_more_refills_than_can_be_tried_is_their_arithmetic() {
    // 1 PiB in each of 2000 lines.
    let mut text = String::new();
    for gc in 0..2000 {
        let _ = writeln!(
            text,
            "[{gc}.5s] GC({gc}) TLAB GC: thread: 0x1 [id: 1] desired: 64K allocated: 1048576G slow allocs: 0  refill waste: 320B refills: 50 waste  0.0% gc: 0B slow: 0B"
        );
    }
    let log = read(text.as_bytes());
    let settings = "TLABSize=64k,ResizeTLAB=false,RegionSize=1m";
    let done = replayed(&log, &Candidate::list(settings).unwrap()[0], 64 << 10);
    // The waiting object adds 64 bytes to each buffer.
    let each = (1_u64 << 50).div_ceil((64 << 10) + 64);
    assert_eq!((log.cycles.len(), done.refills), (2000, 2000 * each));
}

#[test]
fn a_replay_of_a_steady_thread_is_its_arithmetic() {
    // 1 MiB per collection of one thread, of an eden of 1 MiB.
    let mut text = String::new();
    for gc in 0..10 {
        let _ = writeln!(
            text,
            "[{gc}.5s] GC({gc}) TLAB GC: thread: 0x1 [id: 1] desired: 20K allocated: 1024K slow allocs: 0  refill waste: 320B refills: 50 waste  0.0% gc: 0B slow: 0B"
        );
        let _ = writeln!(
            text,
            "[{gc}.5s] GC({gc}) TLAB totals: thrds: 1 alloc-frac: 100.0% refills: 50 max: 50 slow allocs: 0 max 0 waste:  0.0% gc: 0B(0.0%) max: 0B refill: 0B(0.0%) max: 0B"
        );
        let _ = writeln!(
            text,
            "[{gc}.5s] GC({gc}) TLAB resize: thread: 0x1 [id: 1] alloc-fraction: 1.000 desired_size: 20K -> 20K"
        );
    }
    let log = read(text.as_bytes());
    assert_eq!(
        (log.cycles.len(), log.totals.collections, log.difference()),
        (10, 10, Some(Difference::default()))
    );
    let refills = |settings: &str| {
        let done = replayed(&log, &Candidate::list(settings).unwrap()[0], 20 << 10);
        assert_eq!((done.gc_waste, done.slow_waste, done.buffers), (0, 0, 10 << 20), "{settings}: {done:?}");
        done.refills
    };
    // The waiting object adds 64 bytes to each buffer.
    assert_eq!(refills("TLABSize=64k,ResizeTLAB=false,RegionSize=1m"), 10 * 16);
    assert_eq!(refills("TLABSize=4k,ResizeTLAB=false"), 10 * 253);
    assert_eq!(refills("TLABPolicy=hotspot"), 10 * 50);
}

/// The sums of a modelled JVM's threads.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Truth {
    refills: u64,
    slow_allocations: u64,
    waste: Waste,
}

/// A log of `dialect` that a model writes: for each step a thread that refills, or a collection.
fn model(dialect: Dialect, steps: &[(u8, u16)]) -> (String, BTreeMap<u64, Truth>) {
    let mut text = String::new();
    let mut sums: BTreeMap<u64, Truth> = BTreeMap::new();
    let mut open: BTreeMap<u64, Truth> = BTreeMap::new();
    let line = |tag: &str, id: u64, truth: &Truth| {
        let (refills, slow, waste) = (truth.refills, truth.slow_allocations, truth.waste);
        let fast = if dialect == Dialect::Fast { format!(" fast: {}B", waste.fast) } else { String::new() };
        match (dialect, tag) {
            (Dialect::Capacity, "fill") => format!(
                "TLAB fill: thread: 0x{id:016x} [id: {id}] capacity: 64K slow allocs: {slow}  refills: {refills}\n"
            ),
            (Dialect::Capacity, _) => format!(
                "TLAB GC: thread: 0x{id:016x} [id: {id}] desired: 64K allocated: 3K slow allocs: {slow}  refill waste: 1024B refills: {refills} waste  0.0% gc: {}B slow: {}B\n",
                waste.gc, waste.slow
            ),
            _ => format!(
                "TLAB: {tag} thread: 0x{id:016x} [id: {id}] desired_size: 64KB slow allocs: {slow}  refill waste: 1024B alloc:{:8.5} {:8.0}KB refills: {refills} waste {:4.1}% gc: {}B slow: {}B{fast}\n",
                0.5, 100.0, 0.0, waste.gc, waste.slow
            ),
        }
    };
    let mut number = 0;
    for &(thread, amount) in steps.iter().chain([&(0, 0)]) {
        if thread == 0 {
            let mut refills = 0;
            number += 1;
            for (id, mut truth) in std::mem::take(&mut open) {
                refills += truth.refills;
                truth.waste.gc = u64::from(amount);
                let _ = write!(text, "[{number}.5s][trace][gc,tlab] GC({number}) {}", line("gc", id, &truth));
                let sum = sums.entry(id).or_default();
                sum.refills += truth.refills;
                sum.slow_allocations += truth.slow_allocations;
                sum.waste.add(&truth.waste);
            }
            let _ = writeln!(
                text,
                "[{number}.5s][debug][gc,tlab] GC({number}) TLAB totals: thrds: 1  refills: {refills} max: 9 slow allocs: 0 max 0 waste:  0.0% gc: 0B max: 0B slow: 0B max: 0B"
            );
            continue;
        }
        let truth = open.entry(u64::from(thread)).or_default();
        truth.refills += 1;
        truth.slow_allocations += u64::from(amount % 3);
        truth.waste.slow += u64::from(amount);
        truth.waste.fast += if dialect == Dialect::Fast { 8 } else { 0 };
        let _ = write!(text, "[{number}.9s][trace][gc,tlab] {}", line("fill", u64::from(thread), truth));
    }
    (text, sums)
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop_oneof![Just(Dialect::Fast), Just(Dialect::Slow), Just(Dialect::Capacity)]
}

proptest! {
    #[test]
    fn what_a_model_writes_reads_back(dialect in dialects(), steps in prop::collection::vec((0_u8..6, 0_u16..2000), 0..200), returns in any::<bool>(), foreign in any::<bool>()) {
        let (mut text, sums) = model(dialect, &steps);
        if foreign {
            text = text.replace('\n', "\n[1.4s][info][gc] GC(1) Pause Young 3M->1M(8M) 0.1ms\n");
        }
        if returns {
            text = text.replace('\n', "\r\n");
        }
        let log = read(text.as_bytes());
        let found: BTreeMap<u64, Truth> = log.accounts().iter().map(|account| {
            let truth = Truth { refills: account.refills, slow_allocations: account.slow_allocations, waste: account.waste };
            (account.thread.id, truth)
        }).collect();
        prop_assert_eq!(log.difference(), if sums.is_empty() { None } else { Some(Difference::default()) });
        prop_assert_eq!(log.totals.collections, steps.iter().filter(|step| step.0 == 0).count() as u64 + 1);
        prop_assert_eq!(found, sums);
        prop_assert_eq!(log.skipped.damaged, 0);
        prop_assert_eq!(log.skipped.foreign, if foreign { log.read } else { 0 });
    }

    #[test]
    fn damage_is_counted_and_never_fatal(dialect in dialects(), steps in prop::collection::vec((0_u8..6, any::<u16>()), 0..60), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 0..40)) {
        let mut text = model(dialect, &steps).0.into_bytes();
        for (at, byte, kind) in damage {
            if text.is_empty() {
                break;
            }
            let at = at.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => text.truncate(at.max(text.len() / 2)),
                _ => text.insert(at, byte),
            }
        }
        let log = read(&text);
        let end = if text.contains(&b'\n') { b'\n' } else { b'\r' };
        let lines = text.split(|byte| *byte == end).map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        prop_assert_eq!(log.read + log.skipped.damaged + log.skipped.foreign, lines.filter(|line| !line.is_empty()).count() as u64);
        for candidate in Candidate::list("TLABPolicy=adaptive;TLABPolicy=hotspot;TLABPolicy=epsilon").unwrap() {
            let done = replayed(&log, &candidate, 0);
            prop_assert!(done.refills > 0 || log.cycles.is_empty(), "{:?}", done);
        }
    }
}
