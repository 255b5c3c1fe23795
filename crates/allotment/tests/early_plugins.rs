//! Libraries that `dlopen` loads while threads allocate, and whose code runs before their
//! initialisers.
//!
//! Programs and libraries are compiled as users compile theirs, against the library that cargo
//! built for this test.

#[path = "library/mod.rs"]
mod library;

use std::path::{Path, PathBuf};
use std::process::Command;

struct Built {
    directory: tempfile::TempDir,
}

fn rustc() -> Command {
    Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
}

impl Built {
    fn path(&self, file: &str) -> PathBuf {
        self.directory.path().join(file)
    }

    /// Compiles a file of `tests/early`.
    fn compile(&self, name: &str, arguments: &[&str]) {
        let (library, deps) = library::library();
        let output = rustc()
            .args(["--edition=2024", "-Aunused", "--crate-name", name, "--out-dir"])
            .arg(self.directory.path())
            .args(arguments)
            .arg("--extern")
            .arg(format!("allotment={}", library.display()))
            .arg("-L")
            .arg(format!("dependency={}", deps.display()))
            .arg("-L")
            .arg(self.directory.path())
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/early").join(name).with_extension("rs"))
            .output()
            .expect("rustc runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// All that share one copy of the library.
    fn shared() -> Built {
        let built = Built { directory: tempfile::tempdir().expect("a directory for what is compiled") };
        let host = format!("host={}", built.path("libhost.so").display());
        built.compile("host", &["--crate-type=dylib", "-Cprefer-dynamic"]);
        built.compile("plugin", &["--crate-type=dylib", "-Cprefer-dynamic", "--extern", &host]);
        built.compile("program", &["--crate-type=bin", "-Cprefer-dynamic", "--extern", &host]);
        built
    }

    /// The output of the program, which ended well.
    fn run(&self, plugin: &str, environment: &[(&str, &str)]) -> String {
        let sysroot = rustc().args(["--print", "target-libdir"]).output().expect("rustc runs");
        let sysroot = String::from_utf8(sysroot.stdout).expect("a path");
        let output = Command::new(self.path("program"))
            .arg(self.path(plugin))
            .env("LD_LIBRARY_PATH", format!("{}:{}", sysroot.trim(), self.directory.path().display()))
            .envs(environment.iter().copied())
            .output()
            .expect("the program runs");
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{environment:?}: {:?}\n{}", output.status, text.concat());
        text.concat()
    }
}

const CHECKED: (&str, &str) =
    ("PROGRAM_OPTIONS", "+ZealMove,+ZealPoison,VerifyGCLevel=3,+VerifyBeforeGC,+VerifyAfterGC");

#[test]
fn a_plugins_constructor_allocates_with_a_mutator_that_was_there_before() {
    let built = Built::shared();
    for collects in [None, Some(("PLUGIN_COLLECTS", "1"))] {
        for thread in [None, Some(("PLUGIN_OTHER_THREAD", "1"))] {
            for options in [None, Some(CHECKED), Some(("PROGRAM_OPTIONS", "Collector=mark-compact"))] {
                let environment: Vec<_> = [collects, thread, options].into_iter().flatten().collect();
                let has_early_headers = |_| {
                    let text = built.run("libplugin.so", &environment);
                    for part in ["program: early", "plugin: 5000", "plugin: 5001 are there", "program: done"]
                    {
                        assert!(text.contains(part), "{environment:?}: {text}");
                    }
                    !text.contains("a stop gave ids first")
                };
                assert!((0..5).any(has_early_headers), "{environment:?}: no header was early");
            }
        }
    }
}

#[test]
fn a_plugin_with_a_copy_of_the_library_is_a_world_of_its_own() {
    let built = Built { directory: tempfile::tempdir().expect("a directory for what is compiled") };
    built.compile("alone", &["--crate-type=cdylib"]);
    built.compile("host", &["--crate-type=rlib"]);
    let host = format!("host={}", built.path("libhost.rlib").display());
    built.compile("program", &["--crate-type=bin", "--extern", &host]);
    let text = built.run("libalone.so", &[("PROGRAM_ONLY_LOADS", "1")]);
    for part in ["program: early", "alone: early", "program: loaded"] {
        assert!(text.contains(part), "{text}");
    }
}
