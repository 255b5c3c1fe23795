//! Programs that break a rule of the header. Each says in its head what finds the mistake: the
//! compiler, `-DAL_CHECK`, a zeal mode, or a line of the library.
//!
//! Where a line is marked `HERE`, the finder names that file and line.

mod common;

use common::{Compiler, PACKAGE, STRICT, compilers, library_folder, run, scratch, text};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;

/// A wrong program, as its head describes it.
struct Wrong {
    file: PathBuf,
    found_by: String,
    says: String,
    /// The line that is named.
    line: Option<usize>,
}

fn wrong_programs() -> Vec<Wrong> {
    let folder = Path::new(PACKAGE).join("tests/wrong");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    let read = |file: PathBuf| {
        let source = std::fs::read_to_string(&file).unwrap();
        let field = |name: &str| {
            let line = source.lines().find_map(|line| line.strip_prefix(name));
            line.unwrap_or_else(|| panic!("{}: no line `{name}`", file.display())).trim().to_owned()
        };
        Wrong {
            found_by: field(" * found by:"),
            says: field(" * says:"),
            line: source.lines().position(|line| line.contains("/* HERE */")).map(|line| line + 1),
            file,
        }
    };
    files.into_iter().map(read).collect()
}

fn compile(compiler: &Compiler, wrong: &Wrong, flags: &[&str]) -> (PathBuf, Output) {
    let program = scratch(&format!("wrong-{}", wrong.file.file_stem().unwrap().to_string_lossy()));
    let folder = library_folder();
    let output = compiler
        .start(false)
        .args(STRICT)
        .args(["-std=gnu11", "-O1", "-g", "-Wno-unused-variable"])
        // clang refuses such a jump without being told.
        .args((compiler.command[0] == "gcc").then_some("-Wjump-misses-init"))
        .args(flags)
        .arg(&wrong.file)
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .args(["-lallotment_ffi", "-lpthread"])
        .output()
        .expect("the compiler runs");
    (program, output)
}

/// Whether the mistake was found as the program's head says, and all that was said.
fn is_found(compiler: &Compiler, wrong: &Wrong) -> (bool, String) {
    let (finder, options) = wrong.found_by.split_once(' ').unwrap_or((&wrong.found_by, ""));
    let options = options.trim_start_matches("ALLOTMENT_OPTIONS=");
    let place =
        wrong.line.map(|line| format!("{}:{line}", wrong.file.file_name().unwrap().to_string_lossy()));
    let named = |said: &str| {
        said.contains(&wrong.says) && place.as_ref().is_none_or(|place| said.contains(place.as_str()))
    };
    let flags: &[&str] = if finder == "AL_CHECK" { &["-DAL_CHECK"] } else { &[] };
    let (program, output) = compile(compiler, wrong, flags);
    let said = text(&output);
    if finder == "compiler" {
        return (!output.status.success() && named(&said), said);
    }
    assert!(output.status.success(), "{}: {said}", wrong.file.display());
    let output = run(&program, &[], options, 60);
    let said = text(&output);
    match &*wrong.says {
        // The line is the debugger's, or AddressSanitizer's.
        "fault" => {
            let status = output.status;
            (status.signal() == Some(11) || status.code() == Some(128 + 11), format!("{status}: {said}"))
        }
        _ => (named(&said), said),
    }
}

#[test]
fn each_wrong_program_is_found_as_its_head_says() {
    let programs = wrong_programs();
    assert!(programs.len() >= 20, "{} programs", programs.len());
    let mut missed = Vec::new();
    for compiler in compilers() {
        for wrong in &programs {
            let (found, said) = is_found(compiler, wrong);
            if !found {
                missed.push(format!("{}, {}: {said}", wrong.file.display(), compiler.name()));
            }
        }
    }
    assert!(missed.is_empty(), "not found:\n{}", missed.join("\n"));
}
