//! A type among the arguments of a derive's macro expands anew at each use, so it may be another
//! type each time. The tests are the programs of `tests/expansions`, with each choice of up to two
//! expansions.
//!
//! The compiler refuses each, or it runs as it should: whatever the choice, safe code does not
//! break the heap.
//!
//! Refused: one choice for each hole that there was. It would be another after every change of a
//! macro.

mod library;

use library::library;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

fn compile(source: &Path, to: &Path, kind: &str, picks: u64) -> Output {
    let (library, deps) = library();
    Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition=2024", "-Aunused", "--crate-type", kind])
        .arg("--extern")
        .arg(format!("allotment={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("-L")
        .arg(to)
        .args(if kind == "bin" { ["--extern", "pick"] } else { ["--extern", "proc_macro"] })
        .arg("-o")
        .arg(match kind {
            "bin" => to.join(format!("{}-{picks}", source.file_stem().unwrap().to_string_lossy())),
            _ => to.join(format!("{}pick{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)),
        })
        .arg(source)
        .env("PICKS", picks.to_string())
        .output()
        .expect("rustc runs")
}

/// How often a compilation has asked for a choice.
fn asked(output: &Output) -> usize {
    String::from_utf8_lossy(&output.stderr).matches("picked ").count()
}

#[test]
fn no_choice_of_expansions_breaks_the_heap() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expansions");
    let out = tempfile::tempdir().expect("a directory for what compiles");
    let macros = compile(&directory.join("pick.rs"), out.path(), "proc-macro", 0);
    assert!(macros.status.success(), "{}", String::from_utf8_lossy(&macros.stderr));
    let mut tries = Vec::new();
    for name in ["predicate_of_carry", "kind_of_a_slot", "plain_type", "type_of_a_word"] {
        let source = directory.join(name).with_extension("rs");
        let asked = asked(&compile(&source, out.path(), "bin", 0));
        assert!((2..12).contains(&asked), "{name}: {asked} expansions");
        let two_at_most = (0..1_u64 << asked).filter(|picks| picks.count_ones() <= 2);
        tries.extend(two_at_most.map(|picks| (source.clone(), picks)));
    }
    let next = AtomicUsize::new(0);
    let run = AtomicUsize::new(0);
    let work = || {
        while let Some((source, picks)) = tries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let compiled = compile(source, out.path(), "bin", *picks);
            if compiled.status.success() {
                let name = source.file_stem().unwrap().to_string_lossy();
                let program = out.path().join(format!("{name}-{picks}"));
                let ran = Command::new(&program).output().expect("a program runs");
                let errors = String::from_utf8_lossy(&ran.stderr);
                assert!(ran.status.success(), "{name}, picks {picks:b}: {}\n{errors}", ran.status);
                std::fs::remove_file(&program).expect("the program is there");
                run.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    // The words and the plain types that are all the same.
    assert!(run.load(Ordering::Relaxed) >= 2, "programs without a wrong expansion compile");
}
