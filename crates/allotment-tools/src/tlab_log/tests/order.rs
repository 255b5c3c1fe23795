//! Logs whose lines are mixed, turned round, doubled or lost.

use super::*;

/// A JVM's log: five threads, ten collections, and three refills of each thread before each
/// collection.
fn jvm(first_thread: u64, begins_ms: u64) -> Vec<(u64, String)> {
    let mut lines = Vec::new();
    for gc in 0..10 {
        let at = begins_ms + gc * 100;
        let mut add = |ms: u64, text: String| {
            lines.push((ms, format!("[{}ms][trace][gc,tlab] {text}", ms - begins_ms + 50)))
        };
        let line = |tag: &str, id: u64, refills: u64| {
            format!(
                "TLAB: {tag} thread: 0x{id:x} [id: {id}] desired_size: 64KB slow allocs: 0  refill waste: 9B alloc: 1.0 4KB refills: {refills} waste 1.0% gc: 0B slow: {}B",
                refills * 9
            )
        };
        for refills in 1..=3 {
            (first_thread..first_thread + 5).for_each(|id| add(at + refills * 10, line("fill", id, refills)));
        }
        (first_thread..first_thread + 5)
            .for_each(|id| add(at + 50, format!("GC({gc}) {}", line("gc", id, 3))));
        add(
            at + 50,
            format!(
                "GC({gc}) TLAB totals: thrds: 5  refills: 15 max: 3 slow allocs: 0 max 0 waste:  0.0% gc: 0B max: 0B slow: 0B max: 0B"
            ),
        );
    }
    lines
}

fn joined(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| line + "\n").collect()
}

fn plain() -> Vec<String> {
    jvm(1, 0).into_iter().map(|(_, line)| line).collect()
}

/// Two JVMs' lines in the order they were written, each with the text that a log collector puts before it.
fn mixed(with: impl Fn(&str, usize) -> String) -> Log {
    let mut lines: Vec<(u64, usize, String)> = Vec::new();
    for (which, (first, begins)) in [(1, 0), (8, 130)].into_iter().enumerate() {
        lines.extend(jvm(first, begins).into_iter().map(|(ms, line)| (ms, which, line)));
    }
    lines.sort_by_key(|line| line.0);
    read(joined(lines.iter().map(|(_, which, line)| with(line, *which))).as_bytes())
}

#[test]
fn lines_of_two_jvms_are_told_whatever_is_before_them() {
    assert_eq!(silence(&read(joined(plain()).as_bytes())), None);
    let prefixes: [fn(&str, usize) -> String; 11] = [
        |line, _| line.to_string(),
        |line, which| format!("[{which}]{line}"),
        |line, which| format!("web-5d8f7-{which} java {line}"),
        |line, which| format!("Jan 01 00:00:00 host{which} java: {line}"),
        |line, which| format!("2024-01-01T00:00:00Z {{pod=\"p{which}\"}} {line}"),
        |line, which| format!("tlab{which}.log:{line}"),
        |line, which| format!("<30>1 2024-01-01T00:00:00Z host java {which} - - {line}"),
        |line, which| format!("2024-01-01T00:00:00.0+00:00 app[web.{which}]: {line}"),
        |line, which| format!("web.1.xyz@node-{which}    | {line}"),
        // Without decorations.
        |line, _| line.split_once("] ").unwrap().1.to_string(),
        |line, which| format!("job{which}\tRun\t2024-01-01T00:00:00.0000000Z {line}"),
    ];
    for (index, with) in prefixes.into_iter().enumerate() {
        let log = mixed(with);
        let why = silence(&log).unwrap_or_default();
        assert!(log.is_mixed() && log.jvms() >= 2 && why.contains("are mixed"), "{index}: {why}");
    }
}

#[test]
fn the_newest_line_first_has_no_verdict() {
    let bare = |line: String| line.split_once("] ").unwrap().1.to_string();
    for text in [
        joined(plain().into_iter().rev()),
        joined(plain().into_iter().rev().map(bare)),
        real("decorated-17.log").lines().rev().map(|line| format!("{line}\n")).collect(),
    ] {
        let log = read(text.as_bytes());
        assert!(log.is_newest_first() && !log.is_mixed());
        assert!(silence(&log).unwrap().contains("newest line first; give `tac FILE`"));
    }
}

#[test]
fn lines_that_came_twice_are_counted_once() {
    let lines = plain();
    let once = read(joined(lines.clone()).as_bytes());
    assert_eq!(once.repeated, 0);
    // Each twice; every seventh twice; a batch of them sent again, later.
    let twice = lines.iter().flat_map(|line| [line.clone(), line.clone()]).collect::<Vec<_>>();
    let some = lines
        .iter()
        .enumerate()
        .flat_map(|(index, line)| vec![line.clone(); 1 + usize::from(index % 7 == 0)]);
    let batch = [&lines[..200], &lines[150..200], &lines[200..]].concat();
    for (name, text) in [("all", twice), ("some", some.collect()), ("batch", batch)] {
        let log = read(joined(text.clone()).as_bytes());
        let difference = (text.len() - lines.len()) as u64;
        assert_eq!((log.repeated, log.read), (difference, once.read + difference), "{name}");
        let sums =
            |log: &Log| log.accounts().iter().map(|a| (a.refills, a.waste, a.cycles)).collect::<Vec<_>>();
        assert_eq!(sums(&log), sums(&once), "{name}");
        assert_eq!((log.totals, log.difference()), (once.totals, Some(Difference::default())), "{name}");
        assert_eq!(silence(&log), None, "{name}");
    }
    // Without times no repeat can be recognised, and too many refills give no verdict.
    let bare = |line: &String| line.split_once("] ").unwrap().1.to_string();
    let text = lines.chunks(10).flat_map(|lines| [lines, lines].concat()).collect::<Vec<_>>();
    let log = read(joined(text.iter().map(bare)).as_bytes());
    assert!(silence(&log).unwrap().contains("lines came twice"), "{:?}", silence(&log));
}

#[test]
fn what_is_missing_is_told_beside_what_is_more() {
    let lost = |line: &&String| {
        line.contains("GC(2) TLAB totals")
            || line.contains("GC(3) TLAB: gc thread: 0x1")
            || line.contains("GC(5) TLAB: gc")
    };
    let log = read(joined(plain().iter().filter(|line| !lost(line)).cloned()).as_bytes());
    assert_eq!(log.difference(), Some(Difference { missing: 15, more: 12 }));
    assert!(!log.is_shenandoah());
    // Most are missing, and one of the totals is.
    let lost = |line: &&String| {
        line.contains("GC(2) TLAB totals")
            || !line.contains("GC(2)") && !line.contains("GC(3)") && line.contains("TLAB: gc")
    };
    let log = read(joined(plain().iter().filter(|line| !lost(line)).cloned()).as_bytes());
    let why = silence(&log).unwrap_or_default();
    assert!(why.contains("refills are missing"), "{why}: {:?}", log.difference());
}

#[test]
fn two_releases_are_two_jvms() {
    let old = |line: &String| line.split_once("] ").unwrap().1.replace("GC(", "(") + " fast: 0B";
    let lines = plain();
    let fast: Vec<String> = lines
        .iter()
        .map(|line| if line.contains("totals") { old(line) + " max: 0B" } else { old(line) })
        .collect();
    for both in [[lines.clone(), fast.clone()].concat(), [fast, lines].concat()] {
        let log = read(joined(both).as_bytes());
        assert_eq!((log.jvms(), log.totals.collections, log.releases().len()), (2, 20, 2));
        assert_eq!(silence(&log), None);
    }
}
