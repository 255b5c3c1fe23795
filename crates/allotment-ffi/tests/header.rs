//! The header: it compiles without a word in each standard of C and C++, alone and with all of its
//! inlines used, and the library exports what it declares.

mod common;

use common::{Compiler, PACKAGE, STRICT, all_instructions, compilers, library, scratch, text};
use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where a compiler's object goes, which nobody reads. With `/dev/null` `zig cc` writes another file.
fn object_file(compiler: &Compiler) -> PathBuf {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or_default();
    scratch(&format!("{test}-{}.o", compiler.name()))
}

/// Compiles `tests/c/uses.c`, or as C++, and the header alone.
fn compiles(compiler: &Compiler, plus_plus: bool, flags: &[&str]) {
    let tests = Path::new(PACKAGE).join("tests/c");
    let (uses, language) = if plus_plus { ("uses.cc", "c++") } else { ("uses.c", "c") };
    for source in [tests.join(uses), Path::new(PACKAGE).join("include/allotment.h")] {
        let output = compiler
            .start(plus_plus)
            .args(STRICT)
            .args(flags)
            .args(["-c", "-x", language, "-o"])
            .arg(object_file(compiler))
            .arg(&source)
            .output()
            .expect("the compiler runs");
        let name = compiler.name();
        assert!(output.status.success(), "{name} {flags:?} {}: {}", source.display(), text(&output));
    }
}

#[test]
fn the_header_compiles_without_a_word_in_each_standard() {
    for compiler in compilers() {
        for standard in ["-std=c99", "-std=c11", "-std=c17", "-std=c2x", "-std=gnu11"] {
            compiles(compiler, false, &[standard, "-O2"]);
        }
        for standard in ["-std=c++17", "-std=c++20"] {
            compiles(compiler, true, &[standard, "-O2"]);
        }
    }
}

#[test]
fn the_header_compiles_with_each_of_its_switches() {
    for compiler in compilers() {
        for flags in [&["-O0"][..], &["-O3", all_instructions()], &["-DAL_PLAIN_CALLS"], &["-DAL_CHECK"]] {
            compiles(compiler, false, &[&["-std=c11"], flags].concat());
            compiles(compiler, true, &[&["-std=c++17"], flags].concat());
        }
    }
}

#[test]
fn the_program_in_the_readme_compiles() {
    let readme = std::fs::read_to_string(Path::new(PACKAGE).join("README.md")).expect("a file");
    let program = readme.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let file = scratch("readme.c");
    std::fs::write(&file, program).expect("a file");
    for compiler in compilers() {
        let mut command = compiler.start(false);
        command.args(STRICT).args(["-Wno-unused-function", "-c", "-o"]).arg(object_file(compiler)).arg(&file);
        let output = command.output().expect("the compiler runs");
        assert!(output.status.success(), "{}: {}", compiler.name(), text(&output));
    }
}

/// A cross compiler for the other machine, where it is.
#[test]
fn the_header_compiles_for_aarch64() {
    let cross = Compiler { command: vec!["aarch64-linux-gnu-gcc"], plus_plus: vec!["aarch64-linux-gnu-g++"] };
    if Command::new(cross.command[0]).arg("--version").output().is_err() {
        let required = std::env::var("ALLOTMENT_REQUIRE_AARCH64").is_ok_and(|value| value == "1");
        assert!(!required, "aarch64-linux-gnu-gcc is missing: apt-get install gcc-aarch64-linux-gnu");
        println!("not checked: aarch64-linux-gnu-gcc is missing");
        return;
    }
    for flags in
        [&["-O2"][..], &["-O0"], &["-O3", "-march=armv8.2-a+sve"], &["-DAL_PLAIN_CALLS"], &["-DAL_CHECK"]]
    {
        compiles(&cross, false, &[&["-std=c99"], flags].concat());
    }
}

/// The functions that a header in `include/allotment` declares or defines, outside of macros.
fn functions(header: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(header).expect("a header");
    let mut found = BTreeSet::new();
    let code: String =
        text.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code)).collect();
    let lines = code.lines().filter(|line| !line.starts_with('#') && !line.starts_with(' '));
    for line in lines.filter(|line| !line.starts_with("typedef")) {
        let Some((before, _)) = line.split_once('(') else { continue };
        // Attributes have parentheses, too.
        let before = before.strip_prefix("__attribute__").map_or(before, |_| line);
        let name = before.split(|c: char| !c.is_alphanumeric() && c != '_').rfind(|word| !word.is_empty());
        let names = name.into_iter().chain(
            line.split(|c: char| !c.is_alphanumeric() && c != '_')
                .filter(|_| line.starts_with("__attribute__")),
        );
        found.extend(names.filter(|name| name.starts_with("al_") && !name.ends_with('_')).map(str::to_owned));
    }
    found
}

/// The functions that the library exports under names of ours.
fn exported() -> BTreeSet<String> {
    let file = std::fs::read(library("so")).expect("the library");
    let file = object::File::parse(&*file).expect("an ELF file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let names: BTreeSet<String> =
        symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect();
    let foreign: Vec<&String> = names
        .iter()
        .filter(|name| !name.starts_with("al_") && !name.starts_with("rust_eh_personality"))
        .collect();
    assert!(foreign.is_empty(), "the library exports {foreign:?}");
    names
}

/// Inlines have a function of their name, for languages that cannot use the header's.
#[test]
fn the_library_exports_what_the_header_declares_and_nothing_else() {
    let folder = std::fs::read_dir(Path::new(PACKAGE).join("include/allotment")).expect("a folder");
    let mut declared = BTreeSet::new();
    for header in folder.map(|entry| entry.expect("an entry").path()) {
        // The others there are inlines of AL_CHECK.
        let of_check = header.ends_with("check.h");
        let found = functions(&header).into_iter().filter(|name| !of_check || name.starts_with("al_check_"));
        declared.extend(found.filter(|name| name != "al_check_thread"));
    }
    let exported = exported();
    let missing: Vec<&String> = declared.difference(&exported).collect();
    assert!(missing.is_empty(), "declared and not exported: {missing:?}");
    let undeclared: Vec<&String> =
        exported.difference(&declared).filter(|name| name.starts_with("al_")).collect();
    assert!(undeclared.is_empty(), "exported and not declared: {undeclared:?}");
    assert!(declared.len() > 100, "{declared:?}");
}
