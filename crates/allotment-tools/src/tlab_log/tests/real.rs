//! Logs that JDK 17 and 25 wrote, and logs as JDK 8 and 11 write them by their sources.

use super::*;

/// The numbers of the collections in a log's text.
fn numbers(text: &str) -> usize {
    let numbers = text.split("GC(").skip(1).filter_map(|rest| rest.split(')').next());
    numbers.collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn shenandoah_s_collections_are_counted_once_and_its_refills_by_threads() {
    for (name, collections, more) in [("shenandoah-17.log", 7, 104), ("shenandoah-25.log", 8, 34)] {
        let text = real(name);
        let log = read(text.as_bytes());
        assert_eq!(numbers(&text), collections, "{name}");
        assert_eq!((log.totals.collections, log.cycles.len()), (collections as u64, collections), "{name}");
        assert_eq!(log.difference(), Some(Difference { missing: 0, more }), "{name}");
        assert_eq!((log.skipped, log.jvms()), (Skipped::default(), 1), "{name}");
        assert_eq!(silence(&log), None, "{name}");
        // Every share belongs to the cycle of its collection, and none is lost.
        assert_eq!(log.cycles.ends.last().unwrap().shares, log.cycles.shares.len(), "{name}");
    }
}

#[test]
fn zgc_s_two_generations_are_one_collection() {
    let text = real("zgc-25.log");
    let log = read(text.as_bytes());
    assert_eq!((log.totals.collections, log.totals.lines, log.cycles.len()), (12, 15, 12));
    assert_eq!((log.difference(), log.skipped.damaged), (Some(Difference::default()), 0));
    assert!(log.is_zgc() && !log.is_shenandoah());
    for other in ["shenandoah-17.log", "shenandoah-25.log", "decorated-17.log", "stdout-25.log"] {
        assert!(!read(real(other).as_bytes()).is_zgc(), "{other}");
    }
}

#[test]
fn each_decoration_is_read() {
    let text = real("decorated-17.log");
    let log = read(text.as_bytes());
    assert_eq!((log.totals.collections, log.skipped, log.untimed), (4, Skipped::default(), 0));
    assert_eq!(log.releases(), ["JDK 16 to 26"]);
    // Each decoration alone, and no decoration.
    for keep in 0..=12 {
        let one = |line: &str| {
            let (decorations, message) = line.split_once("] ").unwrap();
            let one = decorations.split("][").nth(keep).map(|one| one.trim_matches(['[', ']']));
            one.map_or(message.to_string(), |one| format!("[{one}] {message}")) + "\n"
        };
        let alone = read(text.lines().map(one).collect::<String>().as_bytes());
        assert_eq!((alone.totals, alone.read, alone.jvms()), (log.totals, log.read, 1), "{keep}");
        assert_eq!(alone.accounts(), log.accounts(), "{keep}");
        let timed = alone.history.of(0).len();
        assert_eq!((timed > 0, alone.untimed == 0), (keep < 7, keep < 7), "{keep}");
        assert_eq!(alone.releases(), ["JDK 16 to 26"], "{keep}");
    }
}

#[test]
fn what_else_is_on_standard_output_is_foreign() {
    let text = real("stdout-25.log");
    let log = read(text.as_bytes());
    let foreign = text.lines().filter(|line| !line.contains("tlab")).count() as u64;
    assert_eq!((log.skipped.foreign, log.skipped.damaged), (foreign, 0));
    assert_eq!((log.totals.collections, log.difference()), (2, Some(Difference::default())));
    // The program does not end its lines, and talks of TLABs.
    let talk =
        text.lines().map(|line| format!("50 % of the TLAB: {line}\nTLAB\nTLAB: ok\n")).collect::<String>();
    let talked = read(talk.as_bytes());
    assert_eq!((talked.accounts(), talked.read, talked.skipped.damaged), (log.accounts(), log.read, 0));
}

/// The output of `ThreadLocalAllocBuffer::print_stats` of JDK 8, amid that of `-XX:+PrintGCDetails
/// -XX:+PrintGCDateStamps -XX:+PrintGCTimeStamps`.
const JDK_8: &str = "\
OpenJDK 64-Bit Server VM (25.402-b06) for linux-amd64 JRE (1.8.0_402-b06)
TLAB: fill thread: 0x00007f8b2c009000 [id: 12345] desired_size: 64KB slow allocs: 0  refill waste: 1024B alloc: 1.00000     3200KB refills: 1 waste  0.0% gc: 0B slow: 0B fast: 0B
2024-01-01T10:00:00.000+0200: 0.143: [GC (Allocation Failure) TLAB: gc thread: 0x00007f8b2c009000 [id: 12345] desired_size: 64KB slow allocs: 3  refill waste: 1024B alloc: 1.00000     3200KB refills: 50 waste  1.0% gc: 30000B slow: 2768B fast: 8B
TLAB: gc thread: 0x00007f8b2c00a000 [id: 12346] desired_size: 64KB slow allocs: 0  refill waste: 1024B alloc: 0.01000       32KB refills: 1 waste  1.0% gc: 640B slow: 0B fast: 0B
TLAB totals: thrds: 2  refills: 51 max: 50 slow allocs: 3 max 3 waste:  1.0% gc: 30640B max: 30000B slow: 2768B max: 2768B fast: 8B max: 8B
[PSYoungGen: 33280K->5118K(38400K)] 33280K->6000K(125952K), 0.0045 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]
2024-01-01T10:00:01.000+0200: 1.143: [GC (Allocation Failure) TLAB: gc thread: 0x00007f8b2c009000 [id: 12345] desired_size: 64KB slow allocs: 0  refill waste: 1024B alloc: 1.00000     3200KB refills: 40 waste  1.0% gc: 30000B slow: 0B fast: 0B
TLAB totals: thrds: 1  refills: 40 max: 40 slow allocs: 0 max 0 waste:  1.0% gc: 30000B max: 30000B slow: 0B max: 0B fast: 0B max: 0B
[PSYoungGen: 33280K->5118K(38400K)] 33280K->6000K(125952K), 0.0045 secs] [Times: user=0.01 sys=0.00, real=0.00 secs]
";

#[test]
fn jdk_8_is_named_and_its_collections_are_timed() {
    let log = read(JDK_8.as_bytes());
    assert_eq!(log.releases(), ["JDK 8"]);
    assert_eq!((log.totals.collections, log.difference(), log.untimed), (2, Some(Difference::default()), 0));
    assert_eq!((log.read, log.skipped), (6, Skipped { damaged: 0, foreign: 3 }));
    let account = &log.accounts()[0];
    assert_eq!((account.refills, account.most_refills, account.waste.fast), (90, 50, 8));
    assert_eq!(log.history.of(0), [(143_000_000, 64 << 10), (1_143_000_000, 64 << 10)]);
    let undated = JDK_8.replace("2024-01-01T10:00:00.000+0200: 0.143: ", "");
    let undated = read(undated.replace("2024-01-01T10:00:01.000+0200: 1.143: ", "").as_bytes());
    assert_eq!((undated.releases(), undated.untimed), (vec!["JDK 8"], 3));
    assert_eq!(undated.accounts(), log.accounts());
}

/// JDK 9 to 15 write the same messages, decorated; sizes that change look as they do in JDK 17.
fn jdk_11() -> String {
    let mut text = String::new();
    for line in real("decorated-17.log").lines() {
        let fast = if line.contains("totals") { " fast: 0B max: 0B" } else { " fast: 0B" };
        let has_waste = line.contains(" slow: ");
        let _ = writeln!(text, "{line}{}", if has_waste { fast } else { "" });
    }
    text
}

#[test]
fn one_jvm_s_log_is_one_dialect() {
    let log = read(jdk_11().as_bytes());
    assert_eq!(log.releases(), ["JDK 9 to 15"]);
    // A last line without its last field looks like one of JDK 16 to 26.
    let text = jdk_11();
    let cut = &text[..text.rfind(" fast: ").unwrap()];
    assert_eq!(read(cut.as_bytes()).releases(), ["JDK 9 to 15"]);
    let both = jdk_11() + &real("shenandoah-25.log");
    assert_eq!(read(both.as_bytes()).releases(), ["JDK 9 to 15", "JDK 16 to 26"]);
}

#[test]
fn two_starts_are_two_jvms() {
    let one = real("shenandoah-17.log");
    let log = read((one.clone() + &one).as_bytes());
    assert_eq!((log.jvms(), log.totals.collections), (2, 14));
    let single = read(one.as_bytes());
    for (both, single) in log.accounts().iter().zip(single.accounts()) {
        assert_eq!((both.refills, both.waste.gc), (single.refills * 2, single.waste.gc * 2));
        assert_eq!(both.most_refills, single.most_refills);
    }
    // The second goes on where the first ended.
    let points = log.history.of(1);
    assert!(points.windows(2).all(|pair| pair[0].0 <= pair[1].0), "{points:?}");
    // Without times the numbers of collections tell.
    let bare =
        one.lines().map(|line| line.split_once("] ").unwrap().1.to_string() + "\n").collect::<String>();
    assert_eq!(read((bare.clone() + &bare).as_bytes()).jvms(), 2);
    // Interleaved by a log collector that names the origin of each line.
    let mixed = one.lines().map(|line| format!("web-1  | {line}\nweb-2  | {line}\n")).collect::<String>();
    let mixed = read(mixed.as_bytes());
    assert_eq!((mixed.jvms(), mixed.is_mixed()), (2, true));
    assert!(silence(&mixed).unwrap().contains("lines of 2 JVMs are mixed"));
}

#[test]
fn what_is_not_whole_has_no_verdict() {
    let text = real("decorated-17.log");
    let whole = read(text.as_bytes());
    assert_eq!(silence(&whole), None);
    assert!(whole.accounts().iter().any(|account| !Judge::of(&whole).verdicts(account).is_empty()));
    // Of 76 lines 15 are less than a fifth and 16 are not.
    assert_eq!(whole.read, 76);
    for (damaged, said) in
        [(15, None), (16, Some("no verdict: 16 of the 76 lines about TLABs are damaged (21 %)"))]
    {
        // The last lines are cut: damage before them does not change how they are read.
        let cut = |(index, line): (usize, &str)| {
            let length = if index >= 76 - damaged {
                line.find("TLAB: ")
                    .or(line.find("TLAB n"))
                    .or(line.find("TLAB t"))
                    .or(line.find("compute"))
                    .unwrap()
                    + 8
            } else {
                line.len()
            };
            line[..length].to_string() + "\n"
        };
        let log = read(text.lines().enumerate().map(cut).collect::<String>().as_bytes());
        assert_eq!(log.skipped.damaged, damaged as u64);
        let why = silence(&log).filter(|why| why.contains("damaged"));
        assert_eq!(why.is_some(), said.is_some(), "{why:?}");
        if let (Some(why), Some(said)) = (why, said) {
            assert!(why.starts_with(said), "{why}");
            assert!(log.accounts().iter().all(|account| Judge::of(&log).verdicts(account).is_empty()));
        }
    }
    // Zeros are no verdict either.
    let zeros = "[1s] GC(0) TLAB: gc thread: 0x1 [id: 2] desired_size: 1KB slow allocs: 0  refill waste: 0B alloc: 0.0 0KB refills: 0 waste 0.0% gc: 0B slow: 0B\n";
    assert!(silence(&read(zeros.as_bytes())).unwrap().contains("-Xlog:gc+tlab=trace from the JVM's start"));
    let debug = text
        .lines()
        .filter(|line| line.contains("totals"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    assert!(silence(&read(debug.as_bytes())).unwrap().contains("it takes -Xlog:gc+tlab=trace"));
    // Most refills are in lines that are missing.
    let missing = text
        .lines()
        .filter(|line| !line.contains("GC(1) TLAB: gc"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let log = read(missing.as_bytes());
    assert_eq!(log.difference(), Some(Difference { missing: 38, more: 0 }));
    assert!(silence(&log).unwrap().contains("of 38 of 153 refills are missing"), "{:?}", silence(&log));
}

#[test]
fn refills_and_waste_are_judged_between_collections_only() {
    let fill = |refills| {
        format!(
            "[0.1s] TLAB: fill thread: 0x1 [id: 2] desired_size: 64KB slow allocs: 0  refill waste: 9B alloc: 1.0 4KB refills: {refills} waste 1.0% gc: 0B slow: 9B\n"
        )
    };
    let text = (1..=300).map(fill).collect::<String>();
    let log = read(text.as_bytes());
    assert_eq!((log.accounts()[0].refills, Judge::of(&log).verdicts(&log.accounts()[0])), (300, vec![]));
    let gc = fill(300).replace("TLAB: fill", "GC(0) TLAB: gc");
    let log = read((text + &gc).as_bytes());
    assert_eq!(Judge::of(&log).verdicts(&log.accounts()[0]), [Verdict::ManyRefills]);
}

#[test]
fn lost_totals_and_lost_lines_are_told_apart() {
    let text = real("decorated-17.log");
    let without = |what: &str| {
        let kept = text.lines().filter(|line| !line.contains(what)).map(|line| format!("{line}\n"));
        read(kept.collect::<String>().as_bytes())
    };
    let lost = without("GC(1) TLAB totals");
    assert_eq!((lost.difference(), lost.totals.collections), (Some(Difference::default()), 4));
    assert_eq!(without("GC(2) TLAB: gc").difference(), Some(Difference { missing: 40, more: 0 }));
}

#[test]
fn huge_and_negative_numbers_and_commas() {
    let line = "[1,5s] GC(18446744073709551616) TLAB: gc thread: 0xffffffffffffffffffff [id: 99999999999999999999999] desired_size: 99999999999999999999KB slow allocs: 18446744073709551615  refill waste: 9B alloc: 0,5 99999999999999999999KB refills: 18446744073709551615 waste  1,5% gc: 18446744073709551615B slow: 18446744073709551615B\n";
    let log = read(line.repeat(3).as_bytes());
    assert_eq!((log.read, log.totals.collections), (3, 1));
    assert_eq!((log.accounts()[0].refills, log.accounts()[0].waste.sum()), (u64::MAX, u64::MAX));
    for candidate in Candidate::list(BUILT_IN).unwrap() {
        let done = replayed(&log, &candidate, u64::MAX);
        assert!(done.largest <= done.buffers || done.buffers == 0, "{done:?}");
    }
    // One after the other, each more than can be counted.
    let number = |number: u64| {
        let line = line.replace("18446744073709551616", &number.to_string());
        line.replace("gc: 18446744073709551615B slow: 18446744073709551615B", "gc: 0B slow: 0B")
    };
    let threads = |text: String| text.replace("99999999999999999999999]", "7]") + &text;
    let log = read((0..5).map(number).map(threads).collect::<String>().as_bytes());
    assert_eq!((log.read, log.totals.collections), (10, 5));
    for candidate in Candidate::list(BUILT_IN).unwrap() {
        assert!(replayed(&log, &candidate, u64::MAX).refills > 0);
    }
    let negative = line.replace("gc: 18446744073709551615B", "gc: -5B");
    assert_eq!(read(negative.as_bytes()).skipped, Skipped { damaged: 1, foreign: 0 });
}
