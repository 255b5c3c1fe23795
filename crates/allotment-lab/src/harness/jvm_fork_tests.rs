//! Forks on JVMs that are shell scripts.

use super::super::case::examples::case;
use super::super::{Settings, TimeUnit};
use super::*;
use crate::format::{Combine, examples};
use crate::jvm::Workload;
use crate::jvm::examples::{RESULT, jvm, script, wait_for_end};

/// Runs a fork on a `java` that does `behaviour`; `$result` is the file to write.
fn fork_within(behaviour: &str, silence: Duration, interrupt: &Interrupt) -> Fork {
    let folder = tempfile::tempdir().unwrap();
    let find = r#"for word; do test "$before" = -rff && result=$word; before=$word; done"#;
    script(&folder.path().join("bin/java"), &format!("{find}\n{behaviour}"));
    let mut jvm = jvm(25, "parallel");
    jvm.jdk.home = folder.path().into();
    let workload = Workload::new("allotment.Allocation.allocate", 64 << 20).param("size", 16).operations(2);
    let on_jvm = JvmCase { beside: 0, experiment: "a".into(), jvm, workload };
    let case = Case { unit: TimeUnit::Microseconds, ..case(JmhMode::Throughput, 1) };
    let plan = Plan { iterations: 2, ..Settings::default().jvm_plan(JmhMode::Throughput) };
    let order = JvmOrder { jar: Path::new("/jar"), on_jvm: &on_jvm, case: &case, plan };
    run(&order, silence, interrupt)
}

fn fork(behaviour: &str) -> Fork {
    fork_within(behaviour, Duration::from_secs(60), &Interrupt::never())
}

fn failure(behaviour: &str) -> String {
    match fork(behaviour).end {
        End::Failed(text) => text,
        end => panic!("{end:?}"),
    }
}

/// Writes a result as JMH does.
fn writes(result: &str) -> String {
    format!("cat > $result <<'END'\n{result}\nEND\n")
}

#[test]
fn the_result_of_jmh_is_read() {
    let says =
        "echo '# Warmup Iteration   1: 3.0 ops/us'; echo 'Iteration   1: 4.0 ops/us'; echo '  gc.time: 1';";
    let fork = fork(&format!("{says}\n{}", writes(RESULT)));
    assert_eq!(fork.end, End::Finished);
    let values: Vec<&Measured> = fork.iterations.iter().map(|record| &record.measured).collect();
    assert_eq!(values, [&Measured::Value(240.0), &Measured::Value(260.0)]);
    let secondary = |index: usize| {
        let values = fork.iterations[index].secondary.iter();
        values.map(|value| (value.label.as_str(), value.combine, value.value)).collect::<Vec<_>>()
    };
    let rate = |value| ("gc.alloc.rate", Combine::Average, value);
    let count = |value| ("gc.count", Combine::Sum, value);
    assert_eq!(secondary(0), [rate(3800.0), count(1.0), ("once", Combine::Average, 7.0)]);
    assert_eq!(secondary(1), [rate(3829.4), count(2.0)]);
    assert_eq!(fork.machine.unwrap().vm_version, "25.0.3+9-LTS");
}

#[test]
fn a_flag_that_is_ignored_is_told() {
    let says = "echo 'OpenJDK 64-Bit Server VM warning: Ignoring option X'; echo fine;";
    let fork = fork(&format!("{says}\n{}", writes(RESULT)));
    assert_eq!(
        (fork.end, fork.complaints.as_str()),
        (End::Finished, "OpenJDK 64-Bit Server VM warning: Ignoring option X")
    );
}

#[test]
fn the_command_line_is_jmhs() {
    let text = failure("echo \"$*\" > $0.line; cat $0.line; exit 1");
    assert!(text.contains("exited with code 1"), "{text}");
    let mut on_jvm = JvmCase {
        beside: 0,
        experiment: "a".into(),
        jvm: jvm(25, "g1"),
        workload: Workload::new("a.B.c", 64 << 20),
    };
    on_jvm.jvm.extra = vec!["-Xss1m".into()];
    on_jvm.workload = on_jvm.workload.operations(7);
    let case = case(JmhMode::SingleShot, 3);
    let plan = Settings::default().jvm_plan(JmhMode::SingleShot);
    let order = JvmOrder { jar: Path::new("/jar"), on_jvm: &on_jvm, case: &case, plan };
    let command = command(&order, Path::new("/r"));
    let line: Vec<String> = command.get_args().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = line.join(" ");
    for expected in [
        "-jar /jar ^a\\.B\\.c$ -opi 7 -f 1 -t 3 -bm ss -tu ns -wi 5 -i 3 ",
        "-jvmArgs -XX:+UseG1GC -Xms68m -Xmx68m -XX:+UseTransparentHugePages -Xss1m -prof gc",
        "-foe true -rf json -rff /r",
    ] {
        assert!(line.contains(expected), "{line}");
    }
    assert!(!line.contains("-r 0"), "a single shot has no time: {line}");
    assert!(!line.contains("-to "), "{line}");
    on_jvm.workload = on_jvm.workload.whole(Duration::from_secs(90)).profiler("a.Figures");
    let order = JvmOrder { jar: Path::new("/jar"), on_jvm: &on_jvm, case: &case, plan };
    let command = super::command(&order, Path::new("/r"));
    let words: Vec<&std::ffi::OsStr> = command.get_args().collect();
    for pair in [["-to", "90 s"], ["-prof", "a.Figures"]] {
        assert!(words.windows(2).any(|words| words == pair), "{words:?}");
    }
}

#[test]
fn the_largest_of_one_value_is_known_by_its_label() {
    let with = |label: &str| {
        let fork = fork(&writes(&RESULT.replace("gc.count", label)));
        let combined = |value: &SecondaryValue| value.combine == Combine::Maximum;
        let found = fork.iterations[0].secondary.iter().find(|value| value.label == label);
        found.map(combined)
    };
    assert_eq!(with("pause.max"), Some(false), "two values say by themselves that they are a sum");
    let metric = |label: &str| Metric {
        label: label.into(),
        unit: "us".into(),
        combine: Combine::Sum,
        samples: Samples::Values(vec![vec![3.0]]),
    };
    let combine = |label: &str| secondary(&metric(label), 0, 1).map(|value| value.combine);
    assert_eq!(combine("save.p100"), Some(Combine::Maximum));
    assert_eq!(combine("gc.count"), Some(Combine::Sum));
}

#[test]
fn every_other_end_is_told() {
    let text = failure(
        "echo '# Fork: 1 of 1'; echo '<failure>'; echo 'java.lang.OutOfMemoryError: Java heap space'; exit 1",
    );
    assert_eq!(text, "it exited with code 1; it said: java.lang.OutOfMemoryError: Java heap space");
    assert!(failure("kill -SEGV $$").contains("was killed by signal 11"));
    assert!(failure("exit 0").contains("cannot be read"));
    for text in ["nonsense", "", &RESULT[..400], &RESULT.replace("240.0, 2.6E2", "\"many\"")] {
        assert!(failure(&writes(text)).contains("JMH's result cannot be read"), "{text}");
    }
    let twice =
        RESULT.replace("[{\"jmhVersion\"", &format!("{},{{\"jmhVersion\"", &RESULT[..RESULT.len() - 1]));
    for text in ["[]", &twice] {
        assert!(failure(&writes(text)).contains("does not have exactly one benchmark"), "{text}");
    }
    let none = RESULT.replace("[[240.0, 2.6E2]]", "[]").replace("250.0", "\"NaN\"");
    assert_eq!(failure(&writes(&none)), "it measured 0 iterations instead of 2");
    assert!(failure(&writes(&RESULT.replace("ops/us", "ops/s"))).contains("in ops/s instead of ops/us"));
    let one = RESULT.replace("240.0, 2.6E2", "240.0").replace("\"score\": 250.0", "\"score\": 240.0");
    assert_eq!(failure(&writes(&one)), "it measured 1 iteration instead of 2");
}

#[test]
fn a_jvm_that_hangs_is_killed_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("child");
    let behaviour = format!("sleep 1000 & echo $! > {}; wait", note.display());
    let fork = fork_within(&behaviour, Duration::from_millis(300), &Interrupt::never());
    assert!(matches!(fork.end, End::Failed(text) if text.contains("said nothing for 0.3 s")));
    wait_for_end(&std::fs::read_to_string(note).unwrap());
}

#[test]
fn an_interrupt_ends_it() {
    let interrupt = Interrupt::never();
    interrupt.request();
    let fork = fork_within("exec sleep 1000", Duration::from_secs(60), &interrupt);
    assert_eq!(fork.end, End::Interrupted);
}

#[test]
fn timings_are_scaled_to_nanoseconds() {
    let on_jvm = JvmCase {
        beside: 0,
        experiment: "a".into(),
        jvm: jvm(25, "g1"),
        workload: Workload::new("a.B.c", 64 << 20),
    };
    let case = Case { unit: TimeUnit::Microseconds, ..case(JmhMode::SampleTime, 1) };
    let plan = Settings::default().jvm_plan(JmhMode::SampleTime);
    let order = JvmOrder { jar: Path::new("/jar"), on_jvm: &on_jvm, case: &case, plan };
    let mut row = examples::row();
    row.primary.samples = Samples::Histograms(vec![vec![vec![(0.25, 3), (1.5, 1)]]]);
    let found = records(&order, &row);
    assert_eq!(found[0].measured, Measured::Histogram(vec![(250, 3), (1500, 1)]));
}
