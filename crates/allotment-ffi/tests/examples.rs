//! The examples in C: they compile without a word, they run well with each collector, and the stack
//! language uses every function and macro of the headers.

mod common;

use common::{Compiler, PACKAGE, compilers, emulator, library, library_folder, run, scratch, text};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder of the examples, from the package.
const EXAMPLES: &str = "../../examples/c";

fn stack() -> PathBuf {
    Path::new(PACKAGE).join(EXAMPLES).join("stack")
}

/// `make -C examples/c` with the library of this test, in a folder of its own. `None`, with a
/// sentence, beside an emulator: the Makefile runs programs without one.
fn make(target: &str, folder: &str, compiler: &Compiler, variables: &[&str]) -> Option<Output> {
    if !emulator().is_empty() {
        println!("not checked: the Makefile runs programs without an emulator");
        return None;
    }
    library("so");
    let output = Command::new("make")
        .arg("-C")
        .arg(Path::new(PACKAGE).join(EXAMPLES))
        .arg(target)
        .arg(format!("CC={}", compiler.command.join(" ")))
        .arg(format!("LIBRARY_FOLDER={}", library_folder().display()))
        .arg("LIBRARY_NAME=allotment_ffi")
        .arg(format!("BUILD={}", scratch(folder).display()))
        .arg("CFLAGS=-O2 -Werror")
        .args(variables)
        .env_remove("MAKEFLAGS")
        .output()
        .expect("make runs: apt-get install make");
    Some(output)
}

#[test]
fn the_examples_run_well_with_each_collector() {
    for compiler in compilers() {
        let Some(output) = make("check", "examples", compiler, &[]) else { return };
        let said = text(&output);
        assert!(output.status.success(), "{}: {said}", compiler.name());
        let well = said.lines().filter(|line| line.ends_with(": well")).count();
        assert!(well >= 6, "{said}");
    }
}

/// The comparison of outputs can fail: with a wrong expectation it does.
#[test]
fn a_program_that_prints_something_else_is_found() {
    let wrong = scratch("wrong.st");
    std::fs::write(&wrong, "1 2 + print\n").expect("a file");
    std::fs::write(wrong.with_extension("out"), "4\n").expect("a file");
    let programs = format!("STACK_PROGRAMS={}", wrong.display());
    let Some(output) = make("check-stack", "examples-wrong", &compilers()[0], &[&programs]) else { return };
    let said = text(&output);
    assert!(!output.status.success() && said.contains("another output"), "{said}");
}

/// Load barriers are needed: with bare reads the language is right with a collector that moves
/// objects in stops, and soon fails with one that moves them while threads run.
#[test]
fn bare_reads_are_right_with_parallel_only() {
    let Some(output) = make("bare", "examples-bare", &compilers()[0], &[]) else { return };
    assert!(output.status.success(), "{}", text(&output));
    let program = scratch("examples-bare").join(compilers()[0].name()).join("stack-bare");
    let chase = stack().join("programs/chase.st");
    let run = |options: &str| {
        let arguments = ["--argument", "20", "--options", options, chase.to_str().expect("a path")];
        run(&program, &arguments, "", 60)
    };
    let output = run("Collector=parallel,MaxHeapSize=16m");
    assert!(output.status.success(), "{}", text(&output));
    let concurrent = "Collector=shenandoah,ShenandoahGCMode=generational,MaxHeapSize=16m,ZealInterval=100,+ZealMove,\
                      +ZealProtect,ZealQuarantine=2,+VerifyBeforeGC,+VerifyAfterGC";
    // A run is well if no bare read falls into an evacuation.
    assert!((0..100).any(|_| !run(concurrent).status.success()), "bare reads are not found");
}

#[test]
fn the_measurement_of_load_barriers_prints_a_ratio() {
    let rounds = ["ROUNDS=2"];
    let Some(output) = make("barrier-cost", "examples-cost", &compilers()[0], &rounds) else { return };
    let said = text(&output);
    assert!(output.status.success() && said.contains("load barriers cost"), "{said}");
}

/// C without its comments, as words.
fn words(file: &Path) -> BTreeSet<String> {
    let source = std::fs::read_to_string(file).expect("a source");
    let code: String =
        source.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    code.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
}

fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let files = entries.map(|entry| entry.expect("an entry").path());
    let wanted = |file: &PathBuf| {
        file.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension))
    };
    files.filter(wanted).collect()
}

/// The functions that the library exports for programs: all but the slow halves of inlines, and the
/// checks of `AL_CHECK`.
fn functions() -> BTreeSet<String> {
    let file = std::fs::read(library("so")).expect("the library");
    let file = object::File::parse(&*file).expect("an ELF file");
    file.dynamic_symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| name.starts_with("al_") && !name.starts_with("al_check_") && !name.ends_with("_slow"))
        .collect()
}

/// The macros of the headers. The constants of `layout.h` are for compilers; a name that ends with
/// `_` is the headers' own.
fn macros() -> BTreeSet<String> {
    let headers = files(&Path::new(PACKAGE).join("include/allotment"), &["h"]);
    let for_programs = headers.iter().filter(|header| {
        let name = header.file_name().expect("a name");
        name != "layout.h" && name != "check.h"
    });
    let mut found = BTreeSet::new();
    for header in for_programs {
        let source = std::fs::read_to_string(header).expect("a header");
        let defined = source.lines().filter_map(|line| line.strip_prefix("#define "));
        let names = defined.filter_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').next());
        found.extend(names.filter(|name| name.starts_with("AL_") && !name.ends_with('_')).map(str::to_owned));
    }
    found
}

#[test]
fn the_stack_language_uses_every_function_and_macro_of_the_headers() {
    let sources = files(&stack(), &["c", "h"]);
    let used: BTreeSet<String> = sources.iter().flat_map(|source| words(source)).collect();
    let (functions, macros) = (functions(), macros());
    assert!(functions.len() > 80 && macros.len() >= 10, "{functions:?} {macros:?}");
    let unused: Vec<&String> = functions.iter().chain(&macros).filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "examples/c/stack does not use {unused:?}");
}

/// Files stay readable: each opens with what it is, and is short.
#[test]
fn each_source_opens_with_its_name_and_is_short() {
    for source in files(&stack(), &["c", "h"]) {
        let text = std::fs::read_to_string(&source).expect("a source");
        let name = source.file_name().expect("a name").to_string_lossy();
        assert!(text.starts_with(&format!("/* {name}: ")), "{name} does not open with its name");
        assert!(text.lines().count() < 400, "{name} has 400 lines or more");
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{name} has a line over 100 columns");
    }
}

#[test]
fn each_program_has_its_output() {
    let programs = files(&stack().join("programs"), &["st"]);
    assert!(programs.len() >= 8, "{programs:?}");
    for program in programs {
        assert!(program.with_extension("out").exists(), "{}", program.display());
    }
}
