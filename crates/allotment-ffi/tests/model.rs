//! The model test in C, with each collector, plain and with zeal.

mod common;

use common::{Compiler, all_instructions, build, compilers, emulator, run, run_under, scratch, text, works};
use std::process::Output;
use std::time::{Duration, Instant};

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

/// The options and steps of each collector with each kind of zeal that it has.
fn runs() -> impl Iterator<Item = (String, u32)> {
    let all = COLLECTORS.iter().flat_map(|collector| ZEAL.map(|(zeal, steps)| (collector, zeal, steps)));
    // Only a concurrent cycle's copies can fail.
    let some = all.filter(|(collector, zeal, _)| {
        !zeal.contains("EvacuationFailure") || collector.contains("shenandoah")
    });
    some.map(|(collector, zeal, steps)| (format!("{collector}{zeal}"), steps))
}

fn assert_well(output: &Output, what: &str) {
    assert!(output.status.success(), "{what}: {}, {}", output.status, text(output));
    assert!(text(output).contains("well"), "{what}: {}", text(output));
}

fn well(flags: &[&str], name: &str, threads: &str, options: &str, steps: u32) {
    well_with(compilers(), flags, name, threads, options, steps);
}

fn well_with(compilers: &[Compiler], flags: &[&str], name: &str, threads: &str, options: &str, steps: u32) {
    // An emulator takes that much longer.
    let steps = if emulator().is_empty() { steps } else { steps / 20 };
    for compiler in compilers {
        let program = build(compiler, "c/model.c", name, flags);
        let output = run(&program, &[options, &steps.to_string(), threads, "1"], "", 300);
        assert_well(&output, &format!("{options}, {}", compiler.name()));
    }
}

#[test]
fn threads_and_their_models_agree_with_each_collector_and_zeal() {
    // Each run has another of the compilers.
    for ((options, steps), compiler) in runs().zip(compilers().iter().cycle()) {
        let flags = ["-O2", "-std=gnu11"];
        let compiler = std::slice::from_ref(compiler);
        well_with(compiler, &flags, "model", "2", &format!("{options},MaxHeapSize=32m"), steps);
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

/// Those of a machine of its own, where a compiler has the sanitizer.
fn sanitizing(flag: &str) -> Vec<Compiler> {
    if emulator().is_empty() {
        compilers().iter().filter(|compiler| compiler.sanitizes(flag)).cloned().collect()
    } else {
        println!("not checked: {flag} needs a machine of its own");
        Vec::new()
    }
}

const TWO_COLLECTORS: [&str; 2] =
    ["Collector=parallel", "Collector=shenandoah,ShenandoahGCMode=generational"];

#[test]
fn sanitizers_of_memory_have_nothing_to_say() {
    let flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for collector in TWO_COLLECTORS {
        let options = format!("{collector},MaxHeapSize=32m,ZealInterval=100,+ZealMove");
        well_with(&sanitizing(flags[2]), &flags, "model-sanitized", "2", &options, 2_000);
    }
}

/// The words before a program under ThreadSanitizer: the suppression of `src/sanitizer.rs`. The
/// sanitizer knows no more than 28 random bits of addresses.
fn under_thread_sanitizer(suppressions: &str) -> Vec<String> {
    let file = scratch("tsan.supp");
    std::fs::write(&file, suppressions).expect("a file");
    let bits = std::fs::read_to_string("/proc/sys/vm/mmap_rnd_bits").unwrap_or_default();
    let options = format!("TSAN_OPTIONS=suppressions={}:halt_on_error=1:exitcode=66", file.display());
    let mut words = vec!["env".to_owned(), options];
    if bits.trim().parse::<u32>().is_ok_and(|bits| bits > 28) {
        words.extend(["setarch", "-R"].map(str::to_owned));
    }
    words
}

#[test]
fn the_sanitizer_of_threads_has_nothing_to_say() {
    const FLAG: &str = "-fsanitize=thread";
    let words = under_thread_sanitizer("called_from_lib:liballotment\n");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for compiler in sanitizing(FLAG) {
        let program = build(&compiler, "c/model.c", "model-threads", &["-g", "-O1", FLAG]);
        for (collector, zeal) in TWO_COLLECTORS
            .iter()
            .flat_map(|with| ["", ",ZealInterval=100,+ZealMove"].map(|zeal| (with, zeal)))
        {
            let options = format!("{collector},MaxHeapSize=32m{zeal}");
            let output = run_under(&words, &program, &[&options, "3000", "3", "1"], "", 300);
            assert_well(&output, &format!("{options}, {}", compiler.name()));
        }
    }
}

#[test]
fn valgrind_has_nothing_to_say() {
    if !works(&["valgrind"]) || !emulator().is_empty() {
        println!("not checked: valgrind is missing, or would run under an emulator");
        return;
    }
    let words = [
        "valgrind",
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--show-leak-kinds=definite",
        "--errors-for-leak-kinds=definite",
    ];
    // Its processor has fewer instructions than this one.
    let program = build(&compilers()[0], "c/model.c", "model-valgrind", &["-g", "-O1"]);
    for collector in TWO_COLLECTORS {
        let options = format!("{collector},MaxHeapSize=32m");
        let output = run_under(&words, &program, &[&options, "400", "2", "1"], "", 300);
        assert_well(&output, &options);
        assert!(output.stderr.is_empty(), "{options}: {}", text(&output));
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
        // A minute for each mutant.
        let output = run(&program, &[options, steps, "2", "1"], "", 60);
        let said = text(&output);
        assert!(!said.contains("usage"), "{said}");
        assert_eq!(output.status.success(), mutant.is_empty(), "{mutant}: {said}");
        assert_ne!(output.status.code(), Some(TIMED_OUT), "{mutant}");
    }
}

/// The seconds are those of `ALLOTMENT_MODEL_SECONDS`. Each run has another seed.
#[test]
#[ignore = "in the nightly part: it takes ten minutes"]
fn the_model_for_ten_minutes() {
    let seconds =
        std::env::var("ALLOTMENT_MODEL_SECONDS").map_or(600, |text| text.parse().expect("a number"));
    let (begun, mut seed) = (Instant::now(), 1);
    while begun.elapsed() < Duration::from_secs(seconds) {
        for (options, steps) in runs() {
            let options = format!("{options},MaxHeapSize=64m");
            let compiler = &compilers()[seed % compilers().len()];
            let program = build(compiler, "c/model.c", "model-long", &["-O2"]);
            let threads = (2 + seed % 7).to_string();
            let arguments = [options.as_str(), &(steps * 3).to_string(), &threads, &seed.to_string()];
            let output = run(&program, &arguments, "", 600);
            assert_well(&output, &format!("{arguments:?}, {}", compiler.name()));
            seed += 1;
        }
    }
    println!("{} runs", seed - 1);
}
