//! The model test in C, with each collector, plain and with zeal.

mod common;

use common::{all_instructions, build, compilers, emulator, run, text};

const COLLECTORS: [&str; 4] = [
    "Collector=parallel",
    "Collector=mark-compact",
    "Collector=shenandoah,ShenandoahGCMode=satb",
    "Collector=shenandoah,ShenandoahGCMode=generational",
];

/// The status of `timeout` when it ended the program.
const TIMED_OUT: i32 = 124;

/// What makes mistakes show.
const ZEAL: [(&str, u32); 4] = [
    ("", 12_000),
    (",ZealInterval=100,+ZealMove,+ZealPoison", 4_000),
    (",ZealInterval=100,+ZealMove,+ZealProtect,ZealQuarantine=2,+VerifyBeforeGC,+VerifyAfterGC", 2_000),
    (",ZealEvacuationFailure=3,ZealInterval=200,+VerifyAfterGC", 3_000),
];

fn well(flags: &[&str], name: &str, threads: &str, options: &str, steps: u32) {
    for compiler in compilers() {
        let program = build(compiler, "c/model.c", name, flags);
        let output = run(&program, &[options, &steps.to_string(), threads, "1"], "", 300);
        assert!(output.status.success(), "{options}, {}: {}", compiler.name(), text(&output));
        assert!(text(&output).contains("well"), "{options}: {}", text(&output));
    }
}

#[test]
fn threads_and_their_models_agree_with_each_collector_and_zeal() {
    for collector in COLLECTORS {
        for (zeal, steps) in ZEAL {
            if zeal.contains("EvacuationFailure") && !collector.contains("shenandoah") {
                continue;
            }
            well(&["-O2", "-std=gnu11"], "model", "2", &format!("{collector},MaxHeapSize=32m{zeal}"), steps);
        }
    }
}

#[test]
fn a_collector_that_never_collects_serves_the_same_program() {
    well(&["-O2"], "model-epsilon", "2", "Collector=epsilon,MaxHeapSize=1g", 2_000);
}

#[test]
fn eight_threads_agree_with_their_models() {
    for collector in ["Collector=parallel", "Collector=shenandoah,ShenandoahGCMode=generational"] {
        well(&["-O2"], "model-eight", "8", &format!("{collector},MaxHeapSize=64m"), 3_000);
    }
}

#[test]
fn wide_vectors_and_plain_calls_change_nothing() {
    let options = "Collector=shenandoah,ShenandoahGCMode=generational,MaxHeapSize=32m,ZealInterval=100,+ZealMove,\
                   +ZealProtect,ZealQuarantine=2";
    well(&["-O3", all_instructions()], "model-native", "2", options, 2_000);
    well(&["-O2", "-DAL_PLAIN_CALLS"], "model-plain", "2", options, 2_000);
    well(&["-O0"], "model-slow", "2", options, 1_000);
}

#[test]
fn sanitizers_have_nothing_to_say() {
    if !emulator().is_empty() {
        println!("not checked: the sanitizers need a machine of their own");
        return;
    }
    for collector in ["Collector=parallel", "Collector=shenandoah,ShenandoahGCMode=generational"] {
        let options = format!("{collector},MaxHeapSize=32m,ZealInterval=100,+ZealMove");
        let flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        well(&flags, "model-sanitized", "2", &options, 2_000);
    }
}

#[test]
fn the_checked_mode_has_nothing_to_say_about_a_right_program() {
    for collector in COLLECTORS {
        let options = format!("{collector},MaxHeapSize=32m,ZealInterval=100,+ZealMove");
        well(&["-O1", "-DAL_CHECK"], "model-check", "2", &options, 1_500);
    }
}

/// Each barrier is needed: without it the model test fails, by what it compares, by the verifier or
/// by a fault. With all barriers the same run is well.
#[test]
fn a_header_without_one_of_its_barriers_fails() {
    let options = "Collector=shenandoah,ShenandoahGCMode=generational,MaxHeapSize=32m,ZealInterval=100,+ZealMove,\
                   +ZealProtect,ZealQuarantine=2,+VerifyBeforeGC,+VerifyAfterGC";
    let compiler = &compilers()[0];
    for mutant in ["", "NO_LOAD_BARRIER", "NO_SATB", "NO_CARD", "NO_COPY_BARRIER"] {
        let flag = format!("-DMUTANT_{mutant}");
        let program = build(compiler, "c/mutant.c", &format!("model-{mutant}"), &["-O2", &flag]);
        let steps = if mutant.is_empty() { "20000" } else { "1000000" };
        let output = run(&program, &[options, steps, "2", "1"], "", 300);
        let said = text(&output);
        assert!(!said.contains("usage"), "{said}");
        assert_eq!(output.status.success(), mutant.is_empty(), "{mutant}: {said}");
        assert_ne!(output.status.code(), Some(TIMED_OUT), "{mutant}");
    }
}
