//! Dumps of JVMs: sizes are those of the JVM's own histogram, retained sizes those of NetBeans.
//!
//! This needs JDKs. NetBeans' heap walker is one of the readers that `.ci/run` installs into
//! `target/readers` for the snapshots of the library; `ALLOTMENT_READERS` may name another directory.
//! What is not here is left out, and the test says so.

use allotment_lab::jvm::{Jdk, Surroundings, find_all};
use allotment_tools::snapshot::{Depth, Snapshot, read};
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A dump of the program `Keeps`, and the lines of the histogram of its JVM: class, objects, bytes.
fn dump(jdk: &Jdk, flags: &[&str], directory: &Path) -> (PathBuf, Vec<(String, u64, u64)>) {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dumps/Keeps.java");
    let tool = |name: &str| Command::new(jdk.home.join("bin").join(name));
    let compiled = tool("javac").args(["-d", directory.to_str().unwrap(), source]).status().unwrap();
    assert!(compiled.success());
    let mut java = Command::new(jdk.java());
    java.args(["-Xmx64m", "-cp", directory.to_str().unwrap()]).args(flags).arg("Keeps");
    let mut program = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(program.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty(), "{jdk:?} {flags:?} did not start");
    let ask = |command: &[&str]| {
        let asked = tool("jcmd").arg(program.id().to_string()).args(command).output().unwrap();
        assert!(asked.status.success(), "{asked:?}");
        String::from_utf8(asked.stdout).unwrap()
    };
    let file = directory.join("dump.hprof");
    ask(&["GC.heap_dump", "-overwrite", file.to_str().unwrap()]);
    let histogram = ask(&["GC.class_histogram"]);
    drop(program.stdin.take());
    assert!(program.wait().unwrap().success());
    // ` 3:  1300  31200  Keeps$Node`, and the module.
    let rows = histogram.lines().filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, objects, bytes, class, ..] = words[..] else { return None };
        Some((class.to_owned(), objects.parse().ok()?, bytes.parse().ok()?))
    });
    (file, rows.collect())
}

/// The name of a class of the histogram in a snapshot.
fn in_snapshot(class: &str) -> String {
    let element = class.trim_start_matches('[');
    let arrays = "[]".repeat(class.len() - element.len());
    let data = [("I", "int"), ("B", "byte"), ("J", "long"), ("C", "char")];
    let known = data.iter().find(|(letter, _)| *letter == element && !arrays.is_empty());
    let plain = element.strip_prefix('L').filter(|_| !arrays.is_empty()).unwrap_or(element);
    known.map_or(plain.trim_end_matches(';'), |(_, name)| *name).to_owned() + &arrays
}

fn whole(file: &Path) -> Snapshot {
    read(&mut File::open(file).unwrap(), Depth::References).unwrap()
}

fn jdks() -> Vec<Jdk> {
    let (jdks, _) = find_all(&Surroundings::of_process());
    let jdks: Vec<Jdk> = jdks.into_iter().filter(|jdk| jdk.home.join("bin/javac").is_file()).collect();
    if jdks.is_empty() {
        eprintln!("left out: there is no JDK on this machine");
    }
    jdks
}

#[test]
fn objects_and_sizes_are_those_of_the_jvm() {
    for jdk in jdks() {
        let other = if jdk.feature >= 25 { "+UseCompactObjectHeaders" } else { "-UseCompressedOops" };
        for flags in [&[][..], &[&*format!("-XX:{other}")]] {
            let directory = tempfile::tempdir().unwrap();
            let (file, histogram) = dump(&jdk, flags, directory.path());
            let snapshot = read(&mut File::open(file).unwrap(), Depth::Rows).unwrap();
            let names = snapshot.by_name();
            let (mut own, mut same, mut others) = (0, 0, Vec::new());
            for (class, objects, bytes) in histogram {
                let Some(found) = names.get(&*in_snapshot(&class)) else { continue };
                if class.contains("Keeps") {
                    assert_eq!(*found, (objects, bytes), "release {}, {flags:?}: {class}", jdk.feature);
                    own += 1;
                }
                // The JVM goes on between the dump and the histogram, so numbers of its objects may
                // differ. Sizes do not.
                let sizes = (found.1 / found.0, bytes / objects);
                if sizes.0 == sizes.1 {
                    same += 1;
                } else if class == "java.lang.Class" {
                    // Sizes differ by static fields, and the JVM may have classes that it hides.
                    assert!(sizes.0.abs_diff(sizes.1) * 20 < sizes.1, "{sizes:?}");
                } else if !class.starts_with('[') {
                    others.push((class, sizes));
                }
            }

            assert!(own >= 6 && same >= 100, "{own} {same}");
            // The JVM pads fields of threads and of pools, and keeps stacks in objects.
            assert!(others.len() < 20 && others.iter().all(|(_, sizes)| sizes.0 < sizes.1), "{others:?}");
        }
    }
}

/// The sizes and retained sizes of objects by id, as NetBeans has them; `None` if it is not here.
fn netbeans(jdk: &Jdk, dump: &Path) -> Option<HashMap<u64, (u64, u64)>> {
    let given = std::env::var_os("ALLOTMENT_READERS").map(PathBuf::from);
    let place =
        given.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/readers"));
    let jars = place.join("jars");
    if !jars.is_dir() {
        eprintln!("left out: there are no readers in {}", jars.display());
        return None;
    }
    let mut java = Command::new(jdk.java());
    java.arg("-cp").arg(jars.join("*"));
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/dumps/NetBeans.java");
    let output = java.arg(source).arg(dump).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let object = |line: &str| {
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().unwrap()).collect();
        (numbers[0], (numbers[1], numbers[2]))
    };
    Some(text.lines().map(object).collect())
}

/// NetBeans reckons sizes in a way of its own, so its sizes are taken over. A referent is not its
/// reference's there: it counts as held by that, and is not reached by it.
#[test]
fn objects_retain_what_they_retain_in_netbeans() {
    for jdk in jdks() {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = dump(&jdk, &[], directory.path());
        let Some(theirs) = netbeans(&jdk, &file) else { return };
        let mut snapshot = whole(&file);
        let size = |id: &u64| theirs.get(id).map_or(0, |(size, _)| *size);
        snapshot.graph.bytes = snapshot.ids.iter().map(size).collect();
        let dominators = snapshot.graph.dominators().unwrap();
        let (mut own, mut same, mut all) = (0, 0, 0);
        for (node, id) in snapshot.ids.iter().enumerate() {
            let Some((_, retained)) = theirs.get(id) else { continue };
            let class = &*snapshot.rows[snapshot.graph.class[node] as usize].name;
            let held = dominators.retained[node];
            if class.starts_with("Keeps") && class != "Keeps$Referent" {
                assert_eq!(held, *retained, "release {}: {class} {id:#x}", jdk.feature);
                own += 1;
            }
            all += 1;
            same += u64::from(held == *retained);
        }
        assert!(own > 1700, "{own}");
        // The JDK's own soft references account for the rest.
        assert!(same * 10 > all * 9, "{same} of {all}");
    }
}
