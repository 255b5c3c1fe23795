//! Tests of the page for processors that are given as data, and of refused questions.

use super::AsmArguments;
use super::arguments::{Arrangement, Question, refused};
use super::ours::Ours;
use super::page::{Page, options};
#[cfg(target_arch = "x86_64")]
use super::profile;
use super::stage::{Stage, stages};
use crate::command::{Command, Failure, parse};
use crate::machine::processors::{NEOVERSE, ZEN};
use allotment::Heap;
use allotment::raw::{PrefetchSettings, PrefetchStyle, Processor};
use allotment_jit::Part;
use std::ffi::OsString;
#[cfg(target_arch = "x86_64")]
use std::time::Duration;

/// The arguments of a command line, blanks between.
fn arguments(line: &str) -> Result<AsmArguments, String> {
    let line = ["allotment", "asm"].into_iter().chain(line.split_whitespace()).map(OsString::from);
    match parse(line, &[]) {
        Ok(Command::Asm(arguments)) => Ok(*arguments),
        Err(Failure::Usage(text)) => Err(text),
        other => panic!("{other:?}"),
    }
}

/// This machine's processor, where it is of x86-64; otherwise one for which code is only printed.
fn here() -> Processor {
    match Processor::detect() {
        here @ Processor::X86_64(_) => here,
        _ => ZEN,
    }
}

fn asked(line: &str) -> Result<(Question, Ours), String> {
    asked_on(here(), line)
}

fn asked_on(here: Processor, line: &str) -> Result<(Question, Ours), String> {
    let usage = |failure| match failure {
        Failure::Usage(text) => text,
        other => panic!("{other:?}"),
    };
    let question = Question::of(&arguments(line)?, here).map_err(usage)?;
    let ours = Ours::emit(&question).map_err(|error| usage(refused(&question, &error)))?;
    Ok((question, ours))
}

fn page(line: &str, layout: Arrangement, columns: Option<usize>) -> String {
    let (question, ours) = asked(line).unwrap();
    let barriers = arguments(line).unwrap().barriers;
    Page { question: &question, ours: &ours, profile: None, layout, columns, barriers }.text().unwrap()
}

/// Each file is the output of `allotment asm` with these arguments and no terminal.
#[test]
fn pages_are_as_they_were() {
    for (line, expected) in [
        (
            "--processor rapids --style 2 --instr w --size 64 --layout beside",
            include_str!("snapshots/watermark.txt"),
        ),
        (
            "--processor rapids --defaults hotspot --size 24 --count 2 --zeroing caller --compact-headers",
            include_str!("snapshots/folded.txt"),
        ),
        (
            "--processor nehalem --array --element 4 --form stub --style 3 --barriers",
            include_str!("snapshots/array.txt"),
        ),
    ] {
        let beside = line.contains("--layout beside");
        let layout = if beside { Arrangement::Beside } else { Arrangement::Below };
        assert_eq!(page(line, layout, None), expected, "{line}");
    }
}

#[test]
fn columns_stand_beside_each_other_where_they_fit() {
    let page = |columns| page("--processor zen --style 1", Arrangement::Auto, Some(columns));
    assert!(page(200).lines().all(|line| line != "HotSpot, in line"));
    let narrow = page(80);
    let theirs = narrow
        .lines()
        .skip_while(|line| *line != "HotSpot, in line")
        .take_while(|line| !line.starts_with("ours:"));
    assert!(theirs.clone().count() > 10 && theirs.clone().all(|line| line.chars().count() <= 80), "{narrow}");
}

#[test]
fn what_is_printed_is_what_was_emitted() {
    let (_, ours) =
        asked("--processor zen --style 1 --instr t0 --distance 128 --step 32 --instance-lines 3").unwrap();
    let prefetches: Vec<&str> = ours
        .lines
        .iter()
        .map(|line| line.assembly.as_str())
        .filter(|line| line.starts_with("prefetch"))
        .collect();
    assert_eq!(prefetches, ["prefetcht0 [rcx + 0x80]", "prefetcht0 [rcx + 0xa0]", "prefetcht0 [rcx + 0xc0]"]);
    let page = page(
        "--processor zen --style 1 --instr t0 --distance 128 --step 32 --instance-lines 3",
        Arrangement::Beside,
        None,
    );
    for expected in [
        "prefetcht0 [rcx + 192]",
        "prefetcht0 [r10 + 192]",
        "3 prefetches for every 64 bytes: 3 for each line of 64",
        "-XX:AllocateInstancePrefetchLines=3",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
}

#[test]
fn instructions_have_the_stages_they_are_at() {
    for (line, expected) in [
        ("--style 0 --size 16 --zeroing caller", &["mov", "lea", "cmp ja", "", "mov", "mov"]),
        ("--style 1 --size 16 --zeroing caller", &["mov", "lea", "cmp ja", "prefetchw", "mov", "mov"]),
        ("--style 2 --size 16 --zeroing ahead", &["mov", "lea", "cmp ja", "cmp jae", "mov", "mov"]),
        (
            "--style 3 --size 16 --zeroing caller",
            &["mov", "lea", "cmp ja", "lea and prefetchw", "mov", "mov"],
        ),
        ("--style 0 --array --zeroing caller", &["mov", "lea", "cmp ja", "", "mov", "mov mov"]),
        ("--style 0 --form stub --size 16 --zeroing caller", &["mov", "lea", "cmp ja", "", "mov", "mov ret"]),
    ] {
        let (question, ours) = asked(&format!("--processor rapids {line}")).unwrap();
        let stages = stages(&ours.lines);
        let of = |part, stage| {
            let here = ours.lines.iter().zip(&stages).filter(|(line, at)| line.part == part && **at == stage);
            let names = here.map(|(line, _)| line.assembly.split(' ').next().unwrap_or_default());
            names.collect::<Vec<_>>().join(" ")
        };
        let found = Stage::ALL[1..].iter().map(|stage| of(Part::Hot, *stage)).collect::<Vec<_>>();
        assert_eq!(found, expected, "{line}");
        let check = if question.is_array() { "cmp ja" } else { "" };
        assert_eq!(of(Part::Hot, Stage::Check), check, "{line}");
        let burst = if line.starts_with("--style 2") { "mov add mov prefetchw jmp" } else { "" };
        assert_eq!(of(Part::Cold, Stage::Prefetch), burst, "{line}");
    }
}

#[test]
fn the_heap_takes_the_options_that_are_printed() {
    let processor = Processor::detect();
    let mut settings = vec![PrefetchSettings::recommended(&processor), PrefetchSettings::hotspot(&processor)];
    for style in 0..4 {
        let style = PrefetchStyle::from_number(style).unwrap();
        settings.push(PrefetchSettings { style, distance: 64, lines: 2, step: 128, ..settings[1] });
    }
    for settings in settings {
        let line = options(&settings).join(" ");
        let heap = Heap::builder().max_heap_size(16 << 20).options(&line).unwrap().build().unwrap();
        let taken = heap.prefetch_settings();
        let same = if settings.style == PrefetchStyle::None {
            taken.style == PrefetchStyle::None
        } else {
            taken == settings
        };
        assert!(same, "{line}: {taken:?}");
    }
}

#[test]
fn another_machine_prints_code_for_a_processor_that_is_named() {
    let lines = |here, line| asked_on(here, line).map(|(_, ours)| ours.lines);
    assert_eq!(lines(NEOVERSE, "--processor nehalem"), lines(ZEN, "--processor nehalem"));
    for (line, expected) in [
        (
            "",
            "--processor this needs x86-64, and this machine is AArch64: name a processor of x86-64, such as \
             --processor zen",
        ),
        ("--profile", "--profile needs x86-64, and this machine is AArch64"),
        ("--profile --processor zen", "--profile needs x86-64, and this machine is AArch64"),
    ] {
        let error = lines(NEOVERSE, line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

#[test]
fn defaults_are_whose_one_says() {
    let of = |line: &str| asked(line).unwrap().0.settings;
    let rapids: Processor = super::arguments::Target::Rapids.processor(NEOVERSE).unwrap().into();
    assert_eq!(of("--processor rapids"), PrefetchSettings::recommended(&rapids));
    assert_eq!(of("--processor rapids --defaults hotspot"), PrefetchSettings::hotspot(&rapids));
    let mixed = of("--processor rapids --defaults hotspot --distance 64 --instr 1");
    let expected = PrefetchSettings { distance: 64, ..PrefetchSettings::hotspot(&rapids) };
    assert_eq!((mixed.distance, mixed.lines, mixed.instruction.number()), (64, expected.lines, 1));
}

#[test]
fn what_does_not_work_is_refused_with_the_nearest_that_does() {
    for (line, expected) in [
        ("--size 17", "no object has 17 bytes: multiples of 8 from 16 up work; 16 is the nearest"),
        ("--size 0", "16 is the nearest"),
        ("--size 2m", "up to 1048576 work"),
        ("--size 99999999999g", "too large"),
        ("--size few", "is not a size"),
        ("--style 4", "the styles are 0 (none)"),
        ("--style 3 --step 48", "64 is the nearest"),
        ("--style 1 --step 513", "1 to 512 work; 512 is the nearest"),
        ("--distance 600", "AllocatePrefetchDistance=600: 0 to 512 work; 512 is the nearest"),
        ("--array --lines 65", "64 is the nearest"),
        ("--instr t1", "nta (0), t0 (1), t2 (2) and w (3)"),
        ("--processor nehalem --style 1 --instr w", "1 (PREFETCHT0) is the nearest"),
        ("--array --element 3", "1, 2, 4 or 8 bytes; 4 is the nearest"),
        ("--array --element 4 --length 262141", "--length 262140 is the nearest"),
        ("--array --length 18446744073709551615", "--length 131070 is the nearest"),
        ("--array --length -1", "write a number of elements"),
        ("--array --size 64", "cannot be used with"),
        ("--element 4", "--array"),
        ("--count 0", "1..=1024"),
        ("--count 1024 --size 1032", "--count 1016 is the nearest"),
        ("--array --count 2", "give the array a --length"),
        ("--form stub --count 2", "--form pasted"),
        ("--processor zen --profile", "leave --processor out"),
        ("--eden 1m", "--profile"),
        ("--profile soon", "not a time"),
        ("--zeroing nobody", "caller, object, ahead"),
    ] {
        let Err(error) = asked(line) else { panic!("{line} works") };
        assert!(error.contains(expected), "{line}: {error}");
    }
    // The alternatives that the error names do work.
    for line in ["--array --element 4 --length 262140", "--count 1016 --size 1032", "--style 3 --step 64"] {
        asked(line).unwrap();
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn samples_are_at_instructions_or_elsewhere() {
    for line in [
        "--style 2 --instr t0 --size 64",
        "--size 4k --zeroing caller --style 0",
        "--array --element 2 --style 1 --instr nta",
        "--array --length 5 --count 3 --zeroing ahead",
        "--array --form stub",
        "--form stub --size 1m",
    ] {
        let (question, ours) = asked(line).unwrap();
        // On a busy machine the kernel may not sample this thread in the first of these times.
        let times = [200, 1000, 5000].map(Duration::from_millis);
        let mut runs = times.iter().map(|time| profile::run(&question, &ours, *time, 1 << 20).unwrap());
        let profile = runs.find(|profile| profile.samples() > 0);
        let profile = profile.unwrap_or_else(|| panic!("{line}: no samples"));
        assert!(profile.objects > 0, "{line}");
        assert_eq!(profile.lines.len(), ours.lines.len());
        if line.contains("stub") {
            // No code stands around the sequence, so only samples that are not at the beginning of
            // an instruction would count here.
            assert_eq!(profile.around, 0, "{line}");
        }
        let page = Page {
            question: &question,
            ours: &ours,
            profile: Some(&Ok(profile)),
            layout: Arrangement::Beside,
            columns: None,
            barriers: false,
        };
        let text = page.text().unwrap();
        assert!(text.contains(" samples in ") && text.contains("% elsewhere"), "{line}: {text}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn an_eden_holds_what_is_allocated_at_once() {
    let (question, ours) = asked("--size 64 --count 2").unwrap();
    let eden = |asked| profile::eden(&question, Some(asked));
    assert!(matches!(eden(100), Err(Failure::Usage(text)) if text.contains("128 is the nearest")));
    assert!(matches!(eden(u64::MAX), Err(Failure::Usage(text)) if text.contains("1g is the nearest")));
    let run = profile::run(&question, &ours, Duration::from_millis(1), eden(128).unwrap());
    assert_eq!(run.unwrap().eden, 128);
}

#[test]
fn without_samples_there_are_no_percentages() {
    let (question, ours) = asked("--processor rapids").unwrap();
    let why = Err(anyhow::anyhow!("this system gives no timer"));
    let page = |profile| {
        Page {
            question: &question,
            ours: &ours,
            profile,
            layout: Arrangement::Beside,
            columns: None,
            barriers: false,
        }
        .text()
        .unwrap()
    };
    let (with, without) = (page(Some(&why)), page(None));
    assert_eq!(with, without + "\nnot sampled: this system gives no timer\n");
}
