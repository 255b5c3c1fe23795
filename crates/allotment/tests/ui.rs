//! The guarantee, as programs that must not compile: each file of `tests/ui` with the error that
//! its first line names.
//!
//! They are compiled as users compile theirs, against the library that cargo built for this test.
//! `UI=part` compiles only those whose names contain `part`.
//!
//! Refused: a tool that compares whole messages, which change with every compiler.

mod library;

use library::library;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether a program compiles, and the compiler's output.
fn compile(library: &Path, deps: &Path, file: &Path, text: &str, out: &Path) -> (bool, String) {
    // A library without code is cheap to make. Assertions about generic types come with code, so a
    // program with a `main` is compiled to code.
    let (kind, emit) = if text.contains("fn main(") { ("bin", "obj") } else { ("lib", "metadata") };
    let output = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition=2024", "--crate-name=program", "--cap-lints=forbid"])
        .arg(format!("--crate-type={kind}"))
        .arg(format!("--emit={emit}"))
        .arg("-Aunused")
        .arg("--extern")
        .arg(format!("allotment={}", library.display()))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--out-dir")
        .arg(out)
        .arg(file)
        .output()
        .expect("rustc runs");
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Whether that is what the first lines of the file expect.
fn as_expected(text: &str, compiled: bool, errors: &str) -> bool {
    let mut lines = text.lines().map_while(|line| line.strip_prefix("// "));
    let first = lines.next().unwrap_or_default();
    let kind = first.split([' ', ':']).next().unwrap_or_default();
    let kind_fits = match kind {
        "compiles" => return compiled,
        "future" => errors.contains("future cannot be sent between threads safely"),
        "lifetime" => ["lifetime may not live long enough", "error[E0515]", "error[E0521]", "error[E0700]"]
            .iter()
            .any(|text| errors.contains(text)),
        // An error of a derive or macro, which has no code.
        "macro" => {
            errors.lines().any(|line| line.starts_with("error: ") && !line.contains("aborting due to"))
        }
        // The check that a carried struct's spans are replaced.
        "carry" => ["lifetime may not live long enough", "error[E0308]", "error[E0521]"]
            .iter()
            .any(|text| errors.contains(text)),
        "unsafe_code" => errors.contains("unsafe_code"),
        code => errors.contains(&format!("error[{code}]")),
    };
    !compiled
        && kind_fits
        && lines.all(|line| {
            let once = line.strip_prefix("says once: ");
            let says = line.strip_prefix("says: ").is_none_or(|says| errors.contains(says));
            says && once.is_none_or(|once| {
                errors.matches(once).count() == 1 && errors.matches("\nerror[").count() == 0
            })
        })
}

#[test]
fn programs_that_break_the_rule_do_not_compile() {
    let (library, deps) = library();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("tests/ui is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    assert!(files.len() >= 200, "only {} programs were found", files.len());
    if let Ok(part) = std::env::var("UI") {
        files.retain(|file| file.to_string_lossy().contains(&part));
    }
    let next = AtomicUsize::new(0);
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let work = || {
            let out = tempfile::tempdir().expect("a directory for what compiles");
            let mut wrong = Vec::new();
            while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                let text = std::fs::read_to_string(file).expect("a program is text");
                let (compiled, errors) = compile(&library, &deps, file, &text, out.path());
                if !as_expected(&text, compiled, &errors) {
                    let expected =
                        text.lines().take_while(|line| line.starts_with("// ")).collect::<Vec<_>>();
                    wrong.push(format!(
                        "==== {}\n{}\n{}",
                        file.display(),
                        expected.join("\n"),
                        if compiled { "it compiles" } else { &errors }
                    ));
                }
            }
            wrong
        };
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a worker does not panic")).collect()
    });
    assert!(wrong.is_empty(), "{} of {} programs:\n{}", wrong.len(), files.len(), wrong.join("\n"));
}
