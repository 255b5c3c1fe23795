//! `allotment tlab-log` from the outside, on the logs of the JVMs that are installed and on what is
//! no log.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn tlab_log(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.arg("tlab-log").args(arguments).stdin(Stdio::null());
    command
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Feeds standard input.
fn fed(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = tlab_log(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// The `java` programs of this machine, each once.
fn javas() -> BTreeSet<PathBuf> {
    let homes = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter();
    let installed = fs::read_dir("/usr/lib/jvm").into_iter().flatten().flatten().map(|entry| entry.path());
    let in_homes = homes.chain(installed).map(|home| home.join("bin/java"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|directory| directory.join("java"));
    in_homes.chain(on_path).filter_map(|java| fs::canonicalize(java).ok()).collect()
}

const PROGRAM: &str = "
public class Threads {
    static Object[] kept = new Object[8];
    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            int me = i;
            threads[i] = new Thread(() -> {
                for (int n = 0; n < (me + 1) * 100_000; n++) {
                    kept[me] = new byte[16 + (n * 31 + me) % (me == 7 ? 5000 : 200)];
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) thread.join();
    }
}";

/// Runs the program and returns its log's path; none if this `java` cannot.
fn logged(java: &Path, collector: &str, directory: &Path) -> Option<PathBuf> {
    let (source, log) = (directory.join("Threads.java"), directory.join("tlab.log"));
    fs::write(&source, PROGRAM).unwrap();
    let output = Command::new(java)
        .args([&format!("-XX:+Use{collector}GC"), "-Xmx32m", "-XX:TieredStopAtLevel=1"])
        .arg(format!("-Xlog:gc+tlab=trace:file={}::filecount=100,filesize=1m", log.display()))
        .arg(&source)
        .output()
        .unwrap();
    if !output.status.success() {
        println!("skipped {}: {}", java.display(), String::from_utf8_lossy(&output.stderr));
        return None;
    }
    Some(log)
}

/// A thread that gives its buffer up itself is left out of totals that were added up before.
#[test]
fn totals_of_zgc_are_not_called_missing() {
    let log = real("zgc-25.log");
    let own = |line: &&str| line.contains("TLAB: gc thread") && !line.contains("GC(");
    let line = log.lines().find(own).unwrap();
    let id = line.split("[id: ").nth(1).unwrap().split(']').next().unwrap();
    let late = line.replace(&format!("[id: {id}]"), "[id: 999999]");
    let at = log.rfind("TLAB totals").unwrap();
    let start = log[..at].rfind('\n').unwrap() + 1;
    let log = format!("{}{late}\n{}", &log[..start], &log[start..]);
    let told = text(fed(&["-"], log.as_bytes()));
    assert!(told.contains("ZGC's totals are not sums of the threads' lines"), "{told}");
    assert!(!told.contains("are missing"), "{told}");
}

/// Whatever a JVM's largest buffer is, the second of these takes many more than the last.
const SIZES: &str = "--replay=TLABPolicy=hotspot;TLABSize=4k,ResizeTLAB=false;TLABSize=64k,ResizeTLAB=false;TLABPolicy=adaptive";

#[test]
fn logs_of_the_jvms_here_are_read() {
    let javas = javas();
    if javas.is_empty() {
        println!("skipped: no java in JAVA_HOME, PATH or /usr/lib/jvm");
    }
    for (java, collector) in javas.iter().take(3).zip(["G1", "Parallel", "Serial"]) {
        let directory = tempfile::tempdir().unwrap();
        let Some(log) = logged(java, collector, directory.path()) else { continue };
        let (text, found) = told(&log, directory.path());
        // ZGC logs its usage among them.
        assert_eq!(found["lines"]["foreign"], 0, "{text}");
        // Every line of the collector's totals is the sum of the threads' lines, to the last
        // refill.
        assert!(!text.contains("lines are missing"), "{text}");
        let threads = found["threads"].as_array().unwrap();
        let sum = |key: &str| threads.iter().map(|thread| thread[key].as_u64().unwrap()).sum::<u64>();
        assert!(sum("refills") >= found["totals"]["refills"].as_u64().unwrap(), "{text}");
        assert!(sum("slowAllocations") >= found["totals"]["slowAllocations"].as_u64().unwrap());
        // The last thread allocates 800000 arrays of 2.5 KB on average, outside its buffers
        // included.
        let most = threads.iter().map(|thread| thread["allocatedBytes"].as_u64().unwrap()).max().unwrap();
        assert!((1_200_000_000..2_600_000_000).contains(&most), "{most}: {text}");
        let replays = found["replay"].as_array().unwrap();
        assert_eq!(replays[1]["flags"], "-XX:TLABSize=4k -XX:-ResizeTLAB");
        let refills: Vec<u64> = replays.iter().map(|row| row["refills"].as_u64().unwrap()).collect();
        assert!(refills[1] > 4 * refills[2] && refills.iter().all(|refills| *refills > 0), "{text}");
        println!("{}, {collector}:\n{text}", java.display());
    }
}

/// These take threads' buffers away while they run; Shenandoah more often than it logs totals.
#[test]
fn logs_of_concurrent_collectors_are_read() {
    for (java, collector) in javas().iter().take(2).zip(["Shenandoah", "Z"]) {
        // On a busy machine these collectors now and then log a refill of the next collection
        // before the totals of the last one, which is then told. They do not in one log after the
        // other.
        let mut texts = Vec::new();
        let is_whole = (0..4).any(|_| {
            let directory = tempfile::tempdir().unwrap();
            let Some(log) = logged(java, collector, directory.path()) else { return true };
            let (text, found) = told(&log, directory.path());
            let collections = found["totals"]["collections"].as_u64().unwrap();
            assert!(collections > 0 && text.contains(&format!("\n{collections} collection")), "{text}");
            assert!(text.contains(&format!("replay of {collections} collection")), "{text}");
            let is_whole = !text.contains("lines are missing") && !text.contains("have -");
            texts.push(text);
            is_whole
        });
        assert!(is_whole, "{}", texts.join("\n"));
    }
}

const SLEEPERS: &str = include_str!("java/Sleepers.java");

/// The answer of the command on the program's log, under flags.
fn answer(java: &Path, directory: &Path, flags: &[&str]) -> Option<Value> {
    // A JVM renames the log of an earlier one, and the command would add it up.
    let log = directory.join(format!("sleepers-{}.log", flags.len()));
    let source = directory.join("Sleepers.java");
    let json = directory.join("sleepers.json");
    fs::write(&source, SLEEPERS).unwrap();
    let output = Command::new(java)
        .args(["-XX:+UseParallelGC", "-Xms20m", "-Xmx20m", "-XX:TieredStopAtLevel=1"])
        .args(flags)
        .arg(format!("-Xlog:gc+tlab=trace:file={}::filesize=0", log.display()))
        .arg(&source)
        .args(["150", "60", "100", "600"])
        .output()
        .unwrap();
    if !output.status.success() {
        println!("left out: {} {flags:?}: {}", java.display(), String::from_utf8_lossy(&output.stdout));
        return None;
    }
    let told = text(tlab_log(&[log.to_str().unwrap(), "--json", json.to_str().unwrap()]).output().unwrap());
    let found: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    let answer = found["advice"]["answer"].as_str().unwrap();
    assert!(told.ends_with(&format!("\n\n{answer}\n")), "{told}");
    Some(found["advice"].clone())
}

/// The proposal is followed, and the JVM then does what was to be expected.
#[test]
fn what_is_proposed_helps_as_was_said() {
    let Some(java) = javas().into_iter().next() else {
        println!("left out: no java in JAVA_HOME, PATH or /usr/lib/jvm");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let Some(before) = answer(&java, directory.path(), &[]) else { return };
    let proposed = before["flags"].as_str().unwrap();
    assert!(proposed.starts_with("-XX:"), "{before}");
    let mut flags: Vec<&str> = proposed.split(' ').collect();
    // What JDK 17 wants beside a MinTLABSize above 8 KiB; the others take it as well.
    let said = before["answer"].as_str().unwrap();
    let also = said.split([' ', ')']).find(|word| word.starts_with("-XX:OldPLABSize="));
    flags.extend(also);
    let Some(after) = answer(&java, directory.path(), &flags) else { return };
    let count = |of: &Value, key: &str| of[key].as_u64().unwrap();
    let calls = |of: &Value| count(of, "refills") + count(of, "slowAllocations");
    // The JVM has other settings now than the replay is told.
    let found = &after["found"];
    let (was, said) = (&before["found"], &before["expected"]);
    println!("{was} {said} {after}");
    let (is, said) = (calls(found) as f64, calls(said) as f64);
    assert!(is < said * 1.5 && is > said / 1.5, "{before} {after}");
    assert!(count(found, "slowAllocations") < count(was, "slowAllocations") / 2, "{before} {after}");
}

/// The text and the JSON about a log that is whole.
fn told(log: &Path, directory: &Path) -> (String, Value) {
    let json = directory.join("out.json");
    let output =
        tlab_log(&[log.to_str().unwrap(), SIZES, "--json", json.to_str().unwrap()]).output().unwrap();
    let text = text(output);
    let found: Value = serde_json::from_slice(&fs::read(json).unwrap()).unwrap();
    assert_eq!(found["lines"]["damaged"], 0, "{text}");
    assert_eq!(found["dialects"].as_array().unwrap().len(), 1, "{text}");
    assert!(!text.contains("JDK JDK") && found["jvms"] == 1, "{text}");
    (text, found)
}

const LINES: &str = "\
[0.1s][trace][gc,tlab] TLAB fill: thread: 0x7f [id: 9] capacity: 64K slow allocs: 0  refills: 1\n\
[0.1s][trace][gc,tlab] TLAB fill: thread: 0x80 [id: 8] capacity: 32K slow allocs: 0  refills: 1\n";

#[test]
fn standard_input_limits_and_damage() {
    let all = text(fed(&["-"], LINES.as_bytes()));
    assert!(all.contains("\n9 ") && all.contains("\n8 ") && all.contains("\nall 2"), "{all}");
    let top = text(fed(&["-", "--top", "1"], LINES.as_bytes()));
    assert!(top.contains("\n9 ") && !top.contains("\n8 ") && top.contains("1 more thread;"), "{top}");
    let one = text(fed(&["-", "--thread", "8"], LINES.as_bytes()));
    assert!(!one.contains("\n9 ") && one.contains("\n8 "), "{one}");
    let by_address = text(fed(&["-", "--thread", "0x80"], LINES.as_bytes()));
    assert_eq!(one, by_address);
    let damaged = [LINES.as_bytes(), b"\xff\xfe\n[0.1s] TLAB fill: thread: 0x7f [id"].concat();
    let damaged = text(fed(&["-"], &damaged));
    assert!(damaged.contains("skipped 1 damaged line and 1 about something else"), "{damaged}");
}

#[test]
fn what_is_no_log_is_said_in_one_line() {
    let directory = tempfile::tempdir().unwrap();
    let gone = directory.path().join("gone.log");
    let gone = gone.to_str().unwrap();
    for (arguments, input, code, hint) in [
        (vec!["-"], "", 1, "-Xlog:gc+tlab=trace"),
        (vec!["-"], "", 1, "standard input is empty"),
        (vec!["-"], "no log\n", 1, "no line about TLABs in standard input (1 line of something else)"),
        (vec!["-"], "BZh9 packed", 1, "cannot read standard input: it is packed by bzip2"),
        (vec!["-"], "[1s] TLAB: fill thread\n", 1, "is whole in standard input (1 damaged, 0 requests"),
        (vec!["-"], "{\"log\":\"[1s] TLAB: fill thread\\n\"}\n", 1, "jq -r .log FILE | allotment tlab-log -"),
        (vec![gone], "", 1, "gone.log"),
        (vec![directory.path().to_str().unwrap()], "", 1, "directory"),
        (vec!["-", "--thread", "7"], LINES, 1, "thread 7 is not among the 2"),
        (vec!["-", "--thread", "x"], "", 2, "its id"),
        (vec!["-", "--replay=TLABSise=1"], "", 2, "TLABSize"),
        (vec![], "", 2, "FILE"),
    ] {
        let output = fed(&arguments, input.as_bytes());
        let line = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), line.lines().count()), (Some(code), 1), "{arguments:?}: {line}");
        assert!(line.contains(hint) && output.stdout.is_empty(), "{arguments:?}: {line}");
    }
}

/// The log of a real JVM beside the tests.
fn real(name: &str) -> String {
    fs::read_to_string(format!("{}/../allotment-tools/tests/logs/{name}", env!("CARGO_MANIFEST_DIR")))
        .unwrap()
}

#[test]
fn a_container_s_log_gives_the_same_table() {
    let log = real("decorated-17.log");
    let plain = text(fed(&["-", "--replay"], log.as_bytes()));
    assert!(plain.contains("76 lines of JDK 16 to 26\n4 collections of at most 6 threads"), "{plain}");
    let prefixed: String =
        log.lines().map(|line| format!("2024-01-01T00:00:00.5Z stdout F {line}\n")).collect();
    assert_eq!(text(fed(&["-", "--replay"], prefixed.as_bytes())), plain);
    let wide: Vec<u8> = log.encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(text(fed(&["-", "--replay"], &[b"\xff\xfe", &wide[..]].concat())), plain);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(prefixed.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(text(fed(&["-", "--replay"], &packed)), plain);
    let cut = text(fed(&["-"], &packed[..packed.len() - 4]));
    assert!(cut.contains("a file was cut off"), "{cut}");
}

#[test]
fn what_is_known_too_little_of_has_no_verdict() {
    let log = real("decorated-17.log");
    let zeros = "[1.0s] GC(0) TLAB: gc thread: 0x1 [id: 2] desired_size: 1KB slow allocs: 0  refill waste: 0B \
        alloc: 0.0 0KB refills: 0 waste 0.0% gc: 0B slow: 0B\n";
    // Every other line.
    let cut = |(index, line): (usize, &str)| line[..line.len() - index % 2 * 60].to_string() + "\n";
    let damaged: String = log.lines().enumerate().map(cut).collect();
    let fills: String =
        log.lines().filter(|line| line.contains("TLAB: fill")).map(|line| format!("{line}\n")).collect();
    for (log, why) in [
        (zeros, "no verdict: no line tells of a buffer that a thread was given"),
        (damaged.as_str(), " lines about TLABs are damaged ("),
        (fills.as_str(), "no collection is in the log: refills and waste are judged between two collections"),
        (&log.replace("trace", ""), "starve"),
    ] {
        let output = text(fed(&["-", "--replay"], log.as_bytes()));
        assert!(output.contains(why), "{why}: {output}");
        assert!(!output.contains("no thread starves or hoards"), "{output}");
        let judged = why == "starve";
        assert_eq!(output.contains("replay of"), judged, "{output}");
    }
}

#[test]
fn a_page_says_which_charts_it_lacks() {
    let log = real("decorated-17.log");
    let bare: String = log.lines().map(|line| line.split_once("] ").unwrap().1.to_string() + "\n").collect();
    let fills: String =
        log.lines().filter(|line| line.contains("TLAB: fill")).map(|line| format!("{line}\n")).collect();
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.html");
    for (log, lacks) in [
        (&log, None),
        (&bare, Some("no chart of sizes over time: 58 of the lines of collections do not say when")),
        (&fills, Some("no chart of sizes over time: sizes change at collections")),
    ] {
        let output = text(fed(&["-", "--replay", "--report", page.to_str().unwrap()], log.as_bytes()));
        let written = fs::read_to_string(&page).unwrap();
        assert_eq!(written.contains("Desired size over time"), lacks.is_none(), "{lacks:?}");
        assert_eq!(output.contains("no chart of sizes"), lacks.is_some(), "{output}");
        if let Some(lacks) = lacks {
            assert!(output.contains(lacks) && written.contains(lacks), "{output}");
            assert!(
                lacks.starts_with("no chart of sizes over time: sizes") || output.contains(":uptime"),
                "{output}"
            );
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(48))]

    /// All of it, down to the page: what a fuzzer calls.
    #[test]
    fn whatever_a_log_has_become_is_told_or_refused(
        which in 0_usize..4,
        damage in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), proptest::prelude::any::<u8>(), 0_u8..5), 0..80),
    ) {
        let log = real(["decorated-17.log", "shenandoah-17.log", "zgc-25.log", "stdout-25.log"][which]);
        let mut bytes: Vec<u8> = log.lines().take(40).flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len().max(1));
            let end = (at + usize::from(byte)).min(bytes.len());
            match kind {
                _ if at >= bytes.len() => break,
                0 => bytes[at] = byte,
                1 => bytes[at..end].fill(b'9'),
                2 => drop(bytes.drain(at..end)),
                3 => bytes.extend_from_within(at..end),
                _ => bytes.insert(at, b'\n'),
            }
        }
        let told = allotment_tools::command::tell_tlab_log(&bytes);
        let said = match &told {
            Ok(text) | Err(text) => text,
        };
        proptest::prop_assert!(!said.is_empty());
    }
}
