//! JDKs made of shell scripts, for tests.

use super::machine::Prefetch;
use super::{Jdk, Jvm};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Writes a shell program.
pub(crate) fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // The file is written elsewhere and renamed: a file that is open for writing cannot be run.
    let draft = path.with_extension("draft");
    fs::write(&draft, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(&draft, path).unwrap();
}

/// Makes a folder that looks like a JDK of `version`. Its `java` does `behaviour` and then prints
/// the version.
pub(crate) fn fake_jdk(home: &Path, version: &str, behaviour: &str) -> PathBuf {
    let told = format!("echo 'openjdk version \"{version}\" 2026-04-21' >&2");
    script(&home.join("bin/java"), &format!("{behaviour}\n{told}"));
    script(&home.join("bin/javac"), "exit 0");
    fs::write(home.join("release"), format!("IMPLEMENTOR=\"Nobody\"\nJAVA_VERSION=\"{version}\"\n")).unwrap();
    home.canonicalize().unwrap()
}

/// A JVM that has not been asked for its properties, with ordinary headers.
pub(crate) fn jvm(feature: u32, collector: &str) -> Jvm {
    let jdk = Jdk { home: "/jdk".into(), feature, version: format!("{feature}.0.1"), vendor: None };
    let prefetch = Prefetch { distance: 192, step: 64, lines: 4 };
    Jvm { jdk, collector: collector.parse().unwrap(), extra: vec![], header_bytes: 12, prefetch }
}

/// The programs `java` and `javac` of the `PATH`, if both run.
pub(crate) fn java_tools() -> Option<(&'static str, &'static str)> {
    let runs = |program: &str| {
        Command::new(program).arg("-version").output().is_ok_and(|output| output.status.success())
    };
    (runs("java") && runs("javac")).then_some(("java", "javac"))
}

/// Returns when the process of this number has ended, and not before.
pub(crate) fn wait_for_end(process: &str) {
    let state = || fs::read_to_string(format!("/proc/{}/stat", process.trim()));
    // A zombie waits until its adoptive parent reaps it.
    while state().is_ok_and(|state| !state.contains(") Z")) {
        std::thread::yield_now();
    }
}

/// JMH's output for a fork with two iterations.
pub(crate) const RESULT: &str = r#"[{"jmhVersion": "1.37", "benchmark": "allotment.Allocation.allocate",
    "mode": "thrpt", "threads": 1, "forks": 1, "jvm": "/jdk/bin/java", "jvmArgs": ["-Xmx64m"],
    "jdkVersion": "25.0.3", "vmName": "OpenJDK 64-Bit Server VM", "vmVersion": "25.0.3+9-LTS",
    "warmupIterations": 5, "warmupTime": "200 ms", "warmupBatchSize": 1, "measurementIterations": 2,
    "measurementTime": "100 ms", "measurementBatchSize": 1, "params": {"size": "16"},
    "primaryMetric": {"score": 250.0, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
        "scorePercentiles": {"0.0": 240.0}, "scoreUnit": "ops/us", "rawData": [[240.0, 2.6E2]]},
    "secondaryMetrics": {
        "gc.alloc.rate": {"score": 3814.7, "scoreError": "NaN", "scoreConfidence": ["NaN", "NaN"],
            "scorePercentiles": {}, "scoreUnit": "MB/sec", "rawData": [[3800.0, 3829.4]]},
        "·gc.count": {"score": 3.0, "scoreError": "NaN", "scoreConfidence": [3.0, 3.0],
            "scorePercentiles": {}, "scoreUnit": "counts", "rawData": [[1.0, 2.0]]},
        "once": {"score": 7.0, "scoreUnit": "ms", "rawData": [[]]}}}]"#;
