//! The binary interface: the symbols of the library are those of `tests/abi/symbols.txt`, and the
//! types of the header are those of `tests/abi/allotment.abi`.
//!
//! abidiff compares libraries by their debug information. That of the Rust library describes Rust.
//! So the header has a witness: a C library that includes the header and defines each function of
//! it. What abidiff finds between the witness and the recorded interface is a change that C
//! programs would feel.
//!
//! A change that is meant: `ALLOTMENT_WRITE_ABI=1 cargo test -p allotment-ffi --test abi` records
//! it. Before 1.0 it needs a new minor version, which is in the library's SONAME. From 1.0 on,
//! functions, codes and members at the end of structures may be added, and nothing else may change.

mod common;

use common::{PACKAGE, emulator, library, scratch, text, works};
use object::{Object, ObjectSymbol};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RECORD: &str = "ALLOTMENT_WRITE_ABI";

fn recorded(name: &str) -> PathBuf {
    Path::new(PACKAGE).join("tests/abi").join(name)
}

#[test]
fn the_symbols_of_the_library_are_those_on_the_list() {
    let file = fs::read(library("so")).expect("the library");
    let file = object::File::parse(&*file).expect("an ELF file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let mut names: Vec<&str> = symbols.filter_map(|symbol| symbol.name().ok()).collect();
    names.retain(|name| name.starts_with("al_"));
    names.sort();
    let (now, list) = (names.join("\n") + "\n", recorded("symbols.txt"));
    if std::env::var_os(RECORD).is_some() {
        fs::write(&list, &now).expect("a file");
    }
    let before = fs::read_to_string(&list).expect("the list");
    let gone: Vec<&str> = before.lines().filter(|name| !names.contains(name)).collect();
    assert!(gone.is_empty(), "programs that call {gone:?} do not start any more");
    assert_eq!(now, before, "functions are new: {RECORD}=1 records them");
}

/// The code of a header outside of comments and directives.
fn code(header: &str) -> String {
    let parts = header.split("/*").map(|part| part.split_once("*/").map_or(part, |(_, code)| code));
    let mut code = String::new();
    let mut in_directive = false;
    for line in parts.collect::<String>().lines() {
        if !in_directive && !line.trim_start().starts_with('#') {
            code.push_str(line);
            code.push('\n');
            continue;
        }
        in_directive = line.ends_with('\\');
    }
    code
}

/// The functions that a header declares and does not define, each without its semicolon.
fn prototypes(header: &str) -> Vec<String> {
    let (mut found, mut statement, mut depth) = (Vec::new(), String::new(), 0);
    for letter in code(header).chars() {
        match letter {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                // The end of a function's body.
                if depth == 0 && !statement.trim_start().starts_with("typedef") {
                    statement.clear();
                }
            }
            ';' if depth == 0 => {
                let whole = std::mem::take(&mut statement);
                let whole = whole.trim();
                let is_function = whole.ends_with(')')
                    && !["typedef", "AL_ASSERT_"].iter().any(|start| whole.starts_with(start));
                found.extend(is_function.then(|| whole.to_owned()));
            }
            other if depth == 0 => statement.push(other),
            _ => {}
        }
    }
    found
}

/// Builds a witness from the header, of which `edit` may change a file.
fn witness(name: &str, edit: impl Fn(&str, String) -> String) -> PathBuf {
    let folder = scratch(name);
    fs::create_dir_all(folder.join("allotment")).expect("a folder");
    let include = Path::new(PACKAGE).join("include");
    let mut functions = "#include <allotment.h>\n".to_owned();
    let parts = fs::read_dir(include.join("allotment")).expect("a folder");
    let mut files: Vec<PathBuf> = parts.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.push(include.join("allotment.h"));
    for file in files {
        let inside = file.strip_prefix(&include).expect("it is there");
        let part = inside.to_string_lossy();
        let mut source = edit(&part, fs::read_to_string(&file).expect("a header"));
        if part == "allotment/base.h" {
            // Inlines become functions of the witness.
            let inlined = "#define AL_HOT_ __attribute__((always_inline)) static inline";
            assert!(source.contains(inlined));
            source = source.replace(inlined, "#define AL_HOT_");
        }
        if !["allotment/check.h", "allotment/cxx.h", "allotment.h"].contains(&&*part) {
            functions.extend(
                prototypes(&source).iter().map(|one| format!("{one} {{ __builtin_unreachable(); }}\n")),
            );
        }
        fs::write(folder.join(inside), source).expect("a file");
    }
    let (source, file) = (folder.join("witness.c"), folder.join("witness.so"));
    fs::write(&source, functions).expect("a file");
    let output = Command::new("gcc")
        .args(["-std=c11", "-g", "-O0", "-fPIC", "-shared", "-w", "-DAL_PLAIN_CALLS", "-I"])
        .arg(&folder)
        // The record names no folder of the machine.
        .arg(format!("-fdebug-prefix-map={}=/witness", folder.display()))
        .arg(&source)
        .arg("-o")
        .arg(&file)
        .output()
        .expect("gcc");
    assert!(output.status.success(), "{}", text(&output));
    file
}

/// Whether the tools are there and the machine is the one whose interface is recorded.
fn compares() -> bool {
    let tools = cfg!(target_arch = "x86_64") && emulator().is_empty() && works(&["abidiff"]);
    if !tools {
        println!("not checked: abidiff is missing (apt-get install abigail-tools), or this is not x86-64");
    }
    tools
}

fn compare(with: &Path) -> Output {
    let before = recorded("allotment.abi");
    Command::new("abidiff").arg("--no-default-suppression").arg(before).arg(with).output().expect("abidiff")
}

#[test]
fn the_header_describes_the_recorded_interface() {
    if !compares() {
        return;
    }
    let now = witness("witness", |_, source| source);
    if std::env::var_os(RECORD).is_some() {
        let output = Command::new("abidw")
            .args([
                "--no-show-locs",
                "--no-corpus-path",
                "--no-comp-dir-path",
                "--no-elf-needed",
                "--out-file",
            ])
            .arg(recorded("allotment.abi"))
            .arg(&now)
            .output()
            .expect("abidw");
        assert!(output.status.success(), "{}", text(&output));
    }
    let output = compare(&now);
    assert!(output.status.success(), "the interface changed; {RECORD}=1 records it:\n{}", text(&output));
}

/// The witness defines each function of the library: what it lacks would go unnoticed.
#[test]
fn the_witness_has_each_function() {
    let file = fs::read(witness("witness-whole", |_, source| source)).expect("the witness");
    let file = object::File::parse(&*file).expect("an ELF file");
    let names: Vec<&str> = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok()).collect();
    let list = fs::read_to_string(recorded("symbols.txt")).expect("the list");
    let listed = list.lines().filter(|name| !name.starts_with("al_check_"));
    let missing: Vec<&str> = listed.filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn a_change_is_named() {
    // The record is being written.
    if std::env::var_os(RECORD).is_some() || !compares() {
        return;
    }
    let changes: [(&str, &str, &str, &[&str]); 4] = [
        ("allotment/heap.h", "uint64_t number;", "uint32_t epoch_, number;", &["al_record", "epoch_"]),
        ("allotment/heap.h", "  void *data;\n} al_options;", "} al_options;", &["al_options", "data"]),
        ("allotment/base.h", "AL_E_OPTION = 3,", "AL_E_OPTION = 23,", &["AL_E_OPTION"]),
        (
            "allotment/roots.h",
            "void al_pin_free(al_pin *pin)",
            "void al_pin_free(al_handle *pin)",
            &["al_pin_free"],
        ),
    ];
    for (index, (file, from, to, named)) in changes.into_iter().enumerate() {
        let changed = witness(&format!("witness-{index}"), |part, source| {
            assert!(part != file || source.contains(from), "{file} has no `{from}`");
            if part == file { source.replacen(from, to, 1) } else { source }
        });
        let output = compare(&changed);
        let said = text(&output);
        assert_eq!(output.status.code().map(|code| code & 4), Some(4), "{from}: {said}");
        assert!(named.iter().all(|name| said.contains(name)), "{from}: {said}");
    }
}
