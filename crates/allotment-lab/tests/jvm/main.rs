//! `allotment run --jvm`, from the outside: with JDKs that are scripts, and with those of this
//! machine.

mod layout;

#[path = "../own_folder/mod.rs"]
mod own_folder;

use own_folder::{VARIABLE, own_folder};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The shortest run that has a counterpart on JVMs.
const SHORT: [&str; 14] = [
    "run",
    "tlab",
    "--quick",
    "--mode=tlab,bare",
    "--size=64",
    "--threads=1",
    "--forks=1",
    "--iterations=3",
    "--warmup-iterations=1",
    "--warmup-time=10ms",
    "--time=20ms",
    "--eden=256k",
    "--timeout=30s",
    "--jvm-collector=parallel",
];

fn allotment(cache: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    command.env_remove("ALLOTMENT_OPTIONS").env("XDG_CACHE_HOME", cache).stdin(Stdio::null());
    command
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A JDK that knows its version, and does `behaviour` where it is to run the jar or to tell
/// layouts.
fn fake_jdk(home: &Path, behaviour: &str) -> PathBuf {
    let text = format!(
        "case \" $* \" in\n*\" -jar \"*|*Layouts*) {behaviour} ;;\n*) echo 'openjdk version \"25.0.3\" 2026-04-21' >&2 ;;\nesac"
    );
    script(&home.join("bin/java"), &text);
    home.to_path_buf()
}

/// Makes a Maven that makes an empty jar. Returns the `PATH` with it.
fn fake_maven(folder: &Path) -> String {
    script(&folder.join("tools/mvn"), "mkdir target && echo jar > target/benchmarks.jar");
    path_to_tools(folder)
}

/// A `PATH` of the folder's tools and the system's.
fn path_to_tools(folder: &Path) -> String {
    format!("{}:/usr/bin:/bin", folder.join("tools").display())
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// Runs beside a JDK that behaves so; its failure is one of the run, since it was asked for by its
/// name.
fn beside(behaviour: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(&folder.path().join("jdk"), behaviour);
    let path = fake_maven(folder.path());
    let mut command = allotment(folder.path());
    let output = command.args(SHORT).arg("--jvm").arg(jdk).env("PATH", path).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    texts(&output)
}

#[test]
fn a_jvm_that_fails_is_told_of_and_the_rest_runs() {
    for (behaviour, expected) in [
        ("echo nonsense", "JMH's result cannot be read"),
        ("echo 'java.lang.OutOfMemoryError: Java heap space'; exit 1", "it said: java.lang.OutOfMemoryError"),
        ("kill -SEGV $$", "was killed by signal 11"),
    ] {
        let (table, told) = beside(behaviour);
        let last = told.lines().last().unwrap();
        assert!(last.starts_with("allotment: tlab.tlab (") && last.contains(expected), "{told}");
        let failed = table.lines().find(|line| line.starts_with("failed: ")).unwrap();
        assert!(failed.contains("jvm = 25-parallel") && failed.contains(expected), "{failed}");
        let of_jvm = |line: &&str| line.starts_with("tlab.tlab*") && line.contains(" failed ");
        assert!(table.contains("\ntlab.bare ") && table.lines().any(|line| of_jvm(&line)), "{table}");
    }
}

#[test]
fn without_maven_or_a_collector_the_heap_alone_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(&folder.path().join("jdk"), "exit 1");
    let none = folder.path().join("nothing");
    let mut command = allotment(folder.path());
    let output = command.args(SHORT).arg("--jvm").arg(&jdk).env("PATH", &none).output().unwrap();
    let (table, told) = texts(&output);
    assert!(output.status.code() == Some(1) && table.contains("\ntlab.tlab "), "{output:?}");
    assert!(told.contains("note: no Maven (mvn) on the PATH") && !table.contains("25-parallel"), "{told}");
    assert!(
        told.lines().last().unwrap().starts_with("allotment: --jvm: no Maven (mvn) on the PATH"),
        "{told}"
    );

    let mut command = allotment(folder.path());
    command.args(SHORT).arg("--jvm").arg(&jdk).env_remove("XDG_CACHE_HOME").env_remove("HOME");
    let output = command.output().unwrap();
    let (table, told) = texts(&output);
    assert!(output.status.code() == Some(1) && table.contains("\ntlab.tlab "), "{output:?}");
    let last = told.lines().last().unwrap();
    assert!(last.starts_with("allotment: --jvm: no folder for the Java benchmarks: neither XDG"), "{told}");

    let lacking = folder.path().join("lacking");
    script(
        &lacking.join("bin/java"),
        "case \"$*\" in *PrintFlags*) echo Error: no such collector; exit 1;; esac; echo 'openjdk version \"25\"'",
    );
    let output = allotment(folder.path()).args(SHORT).arg("--jvm").arg(&lacking).output().unwrap();
    let (table, told) = texts(&output);
    assert!(output.status.code() == Some(1) && table.contains("\ntlab.tlab "), "{output:?}");
    assert!(told.contains("note: 25-parallel does not run: Error: no such collector"), "{told}");
    assert!(told.lines().last().unwrap().starts_with("allotment: --jvm: 25-parallel does not run"), "{told}");

    // Nothing of `clock` is measured on JVMs.
    let output =
        allotment(folder.path()).args(["run", "clock"]).args(QUICK).arg("--jvm").arg(&jdk).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        texts(&output).1.lines().last().unwrap().contains("--jvm: nothing of this run has a counterpart")
    );
}

const QUICK: [&str; 7] = [
    "--quick",
    "--threads=1",
    "--mode=tsc",
    "--forks=1",
    "--iterations=1",
    "--warmup-iterations=0",
    "--time=5ms",
];

#[test]
fn jdks_that_nobody_named_and_that_are_not_there_are_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let lacking = folder.path().join("lacking");
    script(
        &lacking.join("bin/java"),
        "case \"$*\" in *PrintFlags*) echo Error: no such collector; exit 1;; esac; echo 'openjdk version \"25\"'",
    );
    // Others of this machine may be found too, but none has a Maven.
    let auto = |more: &[&str]| {
        let mut command = allotment(folder.path());
        command.args(SHORT).arg("--jvm=auto").args(more).env("JAVA_HOME", &lacking).env("PATH", "/nothing");
        let output = command.output().unwrap();
        let (table, told) = texts(&output);
        assert!(table.contains("\ntlab.tlab "), "{output:?}");
        (output.status.code(), told)
    };
    let (code, told) = auto(&[]);
    assert!(code == Some(0) && told.contains("note: 25-parallel does not run"), "{told}");
    let (code, told) = auto(&["--jvm-collector=genshen-compact"]);
    let machine_has_one = !told.contains("no JDK here runs genshen-compact");
    assert!(machine_has_one || code == Some(1), "{told}");
}

#[test]
fn wrong_words_are_refused_before_anything_is_measured() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, expected) in [
        (["--jvm=/no/such/jdk", "--quiet"], "`/no/such/jdk` is not a JDK"),
        (["--jvm=auto,/no/such/jdk", "--quiet"], "`auto` goes with nothing else"),
        (["--jvm=auto", "--jvm-collector=cms"], "`cms` is not a collector of a JVM"),
    ] {
        let output = allotment(folder.path()).args(["run", "tlab"]).args(flags).output().unwrap();
        let (table, told) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.lines().count() == 1 && told.contains(expected) && table.is_empty(), "{told}");
    }
}

#[test]
fn a_baseline_is_a_jvm_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let jdk = fake_jdk(&folder.path().join("jdk"), "exit 1");
    let json = folder.path().join("r.json");
    let run = |flags: &[&str]| {
        let mut command = allotment(folder.path());
        let command = command.args(SHORT).args(flags).arg("--json").arg(&json);
        let output = command.env("PATH", fake_maven(folder.path())).output().unwrap();
        let (table, told) = texts(&output);
        (output.status.code(), table, told)
    };
    let jvm = format!("--jvm={}", jdk.display());
    let (code, table, told) = run(&[&jvm, "--baseline=jvm=25-g1"]);
    let expected =
        "--baseline `jvm=25-g1`: no JVM of this run has that name; there are 25-parallel, or none for ours";
    assert!(code == Some(2) && table.is_empty() && told.contains(expected), "{told}");
    let (code, table, told) = run(&["--baseline=jvm=25-parallel"]);
    let expected = "--baseline `jvm=25-parallel`: no JVM measures in this run; --jvm asks for them";
    assert!(code == Some(2) && table.is_empty() && told.contains(expected), "{told}");
    let left: Vec<_> =
        fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!json.exists() && !left.contains(&"allotment".into()), "no result, no jar: {left:?}");
    for baseline in ["--baseline=jvm=25-parallel", "--baseline=jvm=none"] {
        let (code, table, told) = run(&[&jvm, baseline]);
        // The script that stands for a JVM measures nothing.
        assert!(code == Some(1) && table.contains("\ntlab.bare "), "{told}");
    }
}

/// A JDK that never prints its flags would be waited for; if that were not ended, it would be told
/// of, and the run go on.
#[test]
fn asking_a_jvm_for_its_flags_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let (jdk, asked) = (folder.path().join("jdk"), folder.path().join("asked"));
    let text = format!(
        "case \"$*\" in *PrintFlags*) echo $$ > {0}.draft; mv {0}.draft {0}; exec sleep 1000;; esac; \
         echo 'openjdk version \"25\"'",
        asked.display()
    );
    script(&jdk.join("bin/java"), &text);
    let mut command = allotment(folder.path());
    command.args(SHORT).arg("--jvm").arg(&jdk).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    while !asked.exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it asked nothing");
        std::thread::yield_now();
    }
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (table, told) = texts(&output);
    assert!(signalled.success() && output.status.code() == Some(130), "{output:?}");
    assert!(table.is_empty() && !told.contains("25-parallel"), "{table}{told}");
    let asked = fs::read_to_string(&asked).unwrap();
    assert!(!Path::new("/proc").join(asked.trim()).join("exe").exists(), "the JVM runs on");
}

/// The `java` of the `PATH`, if it runs and there is a Maven.
fn java() -> Option<String> {
    let runs =
        |program: &str| Command::new(program).arg("-version").output().is_ok_and(|out| out.status.success());
    let path = Command::new("sh").args(["-c", "command -v java"]).output().ok()?.stdout;
    (runs("java") && runs("mvn")).then(|| String::from_utf8_lossy(&path).trim().to_string())
}

/// Runs beside that `java`: the entries of the result, the table, and standard error. The jar is
/// kept in the user's own cache, as in any run. `None`: this machine has no Java or no Maven, or
/// its Maven cannot build the jar.
fn beside_java(arguments: &[&str]) -> Option<(Vec<Value>, String, String)> {
    let Some(java) = java() else {
        println!("skipped: there is no java or no mvn on the PATH");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("r.json");
    let mut command = Command::new(env!("CARGO_BIN_EXE_allotment"));
    command.env(VARIABLE, own_folder());
    command.env_remove("ALLOTMENT_OPTIONS").stdin(Stdio::null()).args(arguments);
    let output = command.args([&format!("--jvm={java}"), "--json"]).arg(&json).output().unwrap();
    let (table, told) = texts(&output);
    if told.contains("the Java benchmarks cannot be built") {
        println!("skipped: {told}");
        return None;
    }
    assert!(output.status.success(), "{output:?}");
    Some((serde_json::from_slice(&fs::read(&json).unwrap()).unwrap(), table, told))
}

#[test]
fn real_jvms_have_rows_beside_ours() {
    let Some((entries, table, told)) = beside_java(&SHORT) else { return };
    let [ours, on_jvm, bare] = entries.as_slice() else { panic!("{table}{told}") };
    assert_eq!((&ours["benchmark"], &bare["benchmark"]), (&"tlab.tlab".into(), &"tlab.bare".into()));
    for key in ["benchmark", "mode", "threads", "forks", "measurementIterations", "measurementTime"] {
        assert_eq!(on_jvm[key], ours[key], "{key}");
    }
    let name = on_jvm["params"]["jvm"].as_str().unwrap();
    assert!(name.ends_with("-parallel"), "{name}");
    for (key, value) in ours["params"].as_object().unwrap() {
        assert_eq!(&on_jvm["params"][key], value, "{key}");
    }
    assert_eq!(ours["params"].get("jvm"), None);
    assert!(on_jvm["vmName"].as_str().unwrap() != "allotment" && on_jvm["jdkVersion"].is_string());
    let flags: Vec<&str> = on_jvm["jvmArgs"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(flags.contains(&"-XX:+UseParallelGC") && flags.contains(&"-Xmn320m"), "{flags:?}");
    let (ours, theirs) = (&ours["primaryMetric"], &on_jvm["primaryMetric"]);
    assert_eq!((ours["scoreUnit"].as_str(), theirs["scoreUnit"].as_str()), (Some("ops/us"), Some("ops/us")));
    assert_eq!(theirs["rawData"][0].as_array().unwrap().len(), 3);
    let norm = on_jvm["secondaryMetrics"]["gc.alloc.rate.norm"]["score"].as_f64().unwrap();
    assert!((norm - 64.0).abs() < 1.0, "objects of {norm} bytes");
    assert!(table.contains("JVMs vs ours") && table.contains(&format!("\n{name}: JDK ")), "{table}");
}

/// A run of the shop of `extremem` on a JVM, beside ours.
#[test]
fn a_shop_on_a_jvm_has_the_rows_and_the_counts_of_ours() {
    let shop = [
        "run",
        "extremem",
        "--quick",
        "--forks=1",
        "--iterations=1",
        "--warmup-iterations=0",
        "--jvm-collector=parallel",
    ];
    let Some((entries, table, told)) = beside_java(&shop) else { return };
    let [ours, theirs] = entries.as_slice() else { panic!("{table}{told}") };
    assert!(theirs["params"]["jvm"].as_str().unwrap().ends_with("-parallel"), "{table}");
    let score = |row: &Value, label: &str| row["secondaryMetrics"][label]["score"].as_f64();
    let of = |row: &Value, label: &str| score(row, label).unwrap_or_else(|| panic!("{label}: {row}"));
    for label in [
        "preparation.p50",
        "preparation.p100",
        "server.sales.n",
        "server.idle.p50",
        "start.preparation.p50",
        "rebuild.customers.mean",
        "gc.young",
        "gc.full",
        "pause.total",
        "start.gc.young",
        "start.cpu",
        "cpu",
        "rss",
    ] {
        assert!(score(theirs, label).is_some() && score(ours, label).is_some(), "{label}: {theirs}");
    }
    for row in [ours, theirs] {
        let engagements = of(row, "engagements");
        // 40 threads have 25 releases each, 20 of them in the measured part. On a slow machine some
        // of the others begin in it too, and some do not begin before its end.
        assert!((100.0..=1000.0).contains(&engagements), "{engagements}");
        assert_eq!(of(row, "preparation.n"), engagements);
        let decided = of(row, "purchase.n") + of(row, "save.n") + of(row, "abandon.n");
        assert_eq!(decided + of(row, "nothing.n"), engagements);
        // Six deviations of what so many draws have.
        let near = |label: &str, expected: f64, deviation: f64| {
            let (found, most) = (of(row, label), 6.0 * deviation / engagements.sqrt());
            assert!((found - expected).abs() < most, "{label}: {found} is not {expected}, within {most}");
        };
        near("share.purchase", 40.0, 49.0);
        near("share.save", 40.0, 49.0);
        near("share.abandon", 20.0, 40.0);
        // 2000 products of 31 words, of which 10000 are different: about Poisson.
        near("candidates", 6.2, 2.5);
        // A customer saves something in two of five of its engagements, and forgets it after about
        // half a second. There are 2000 customers and 400 engagements in a second.
        assert!(of(row, "saved") < 0.2, "{row}");
        assert!(of(row, "rebuild.customers") > 0.0, "{row}");
    }
}
