//! C programs beside the library that cargo built: how tests compile and run them.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

/// The package.
pub(crate) const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

/// The folder with `liballotment_ffi.so`: that of the tests' own programs.
pub(crate) fn library_folder() -> PathBuf {
    let program = std::env::current_exe().expect("the test's own program");
    program.parent().expect("it is in a folder").to_owned()
}

/// A file that cargo made of the library.
pub(crate) fn library(extension: &str) -> PathBuf {
    let file = library_folder().join(format!("liballotment_ffi.{extension}"));
    assert!(file.exists(), "{} is missing: cargo builds it before the tests", file.display());
    file
}

/// A place for the tests' programs.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("c");
    std::fs::create_dir_all(&folder).expect("a folder in the target directory");
    folder.join(name)
}

/// A command that compiles C, and its name.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    pub(crate) command: Vec<&'static str>,
    /// For C++.
    pub(crate) plus_plus: Vec<&'static str>,
}

impl Compiler {
    pub(crate) fn start(&self, plus_plus: bool) -> Command {
        let words = if plus_plus { &self.plus_plus } else { &self.command };
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg("-I").arg(Path::new(PACKAGE).join("include"));
        command
    }

    pub(crate) fn name(&self) -> String {
        self.command.join("-")
    }

    /// Whether this is the clang of zig.
    pub(crate) fn is_zig(&self) -> bool {
        self.command[0] != "gcc" && self.command.last() == Some(&"cc")
    }

    /// Whether the compiler has what programs with a sanitizer need. gcc always does. zig builds it
    /// first, which takes minutes, so it counts as having none.
    pub(crate) fn sanitizes(&self, flag: &str) -> bool {
        let has = self.command == ["gcc"] || !self.is_zig() && self.builds_with(flag);
        if !has {
            println!("not checked: {} has no {flag}", self.name());
        }
        has
    }

    /// Whether a program with that flag can be built.
    fn builds_with(&self, flag: &str) -> bool {
        // Tests that run at the same time ask for different flags.
        let name = format!("with{flag}-{}", self.name());
        let (source, program) = (scratch(&format!("{name}.c")), scratch(&name));
        std::fs::write(&source, "int main(void) { return 0; }\n").expect("a file");
        let built = self.start(false).arg(flag).arg(&source).arg("-o").arg(program).output();
        built.expect("the compiler runs").status.success()
    }
}

/// Whether a command is there.
pub(crate) fn works(command: &[&str]) -> bool {
    Command::new(command[0])
        .args(&command[1..])
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success())
}

/// The command of the emulator under which these tests run, word by word; empty on a machine of their
/// own. `.ci/emulate` sets it for cargo.
pub(crate) fn emulator() -> Vec<String> {
    const RUNNER: &str = "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER";
    let command =
        if cfg!(target_arch = "aarch64") { std::env::var(RUNNER).unwrap_or_default() } else { String::new() };
    command.split_whitespace().map(str::to_owned).collect()
}

/// The flag for all instructions of this machine.
pub(crate) fn all_instructions() -> &'static str {
    match (emulator().is_empty(), cfg!(target_arch = "aarch64")) {
        (false, _) => "-march=armv8.2-a+sve",
        (true, true) => "-mcpu=native",
        (true, false) => "-march=native",
    }
}

/// The compilers of this machine: gcc, and clang or `zig cc` where they are. Beside an emulator gcc
/// is a cross compiler.
pub(crate) fn compilers() -> &'static [Compiler] {
    static FOUND: LazyLock<Vec<Compiler>> = LazyLock::new(|| {
        if !emulator().is_empty() {
            return vec![Compiler {
                command: vec!["aarch64-linux-gnu-gcc"],
                plus_plus: vec!["aarch64-linux-gnu-g++"],
            }];
        }
        let known = [
            Compiler { command: vec!["gcc"], plus_plus: vec!["g++"] },
            Compiler { command: vec!["clang"], plus_plus: vec!["clang++"] },
            Compiler { command: vec!["zig", "cc"], plus_plus: vec!["zig", "c++"] },
            Compiler {
                command: vec!["python3", "-m", "ziglang", "cc"],
                plus_plus: vec!["python3", "-m", "ziglang", "c++"],
            },
        ];
        let mut found: Vec<Compiler> =
            known.into_iter().filter(|compiler| works(&compiler.command)).collect();
        // Both are the same one.
        if found.iter().filter(|compiler| compiler.is_zig()).count() == 2 {
            found.pop();
        }
        assert!(!found.is_empty(), "no C compiler: apt-get install gcc");
        found
    });
    &FOUND
}

/// The flags with which the header and all C code here compile without a word.
pub(crate) const STRICT: [&str; 6] = ["-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Werror"];

/// Compiles a file of `tests/` to a program.
pub(crate) fn build(compiler: &Compiler, file: &str, name: &str, flags: &[&str]) -> PathBuf {
    let program = scratch(&format!("{name}-{}", compiler.name()));
    let plus_plus = file.ends_with(".cc");
    library("so");
    let folder = library_folder();
    let output = compiler
        .start(plus_plus)
        .args(STRICT)
        .args(flags)
        .arg(Path::new(PACKAGE).join("tests").join(file))
        .arg("-o")
        .arg(&program)
        .arg("-L")
        .arg(&folder)
        .arg(format!("-Wl,-rpath,{}", folder.display()))
        .args(["-lallotment_ffi", "-lpthread"])
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{}: {}", compiler.name(), text(&output));
    program
}

/// All that a program said.
pub(crate) fn text(output: &Output) -> String {
    let parts = [&output.stdout, &output.stderr];
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).concat()
}

/// Runs a program, and ends it after `seconds`.
pub(crate) fn run(program: &Path, arguments: &[&str], options: &str, seconds: u32) -> Output {
    run_under(&[], program, arguments, options, seconds)
}

/// As [`run`], with words before the program: `env`, or a program that watches it.
pub(crate) fn run_under(
    words: &[&str],
    program: &Path,
    arguments: &[&str],
    options: &str,
    seconds: u32,
) -> Output {
    Command::new("timeout")
        .arg("--signal=ABRT")
        .arg(seconds.to_string())
        .args(emulator())
        .args(words)
        .arg(program)
        .args(arguments)
        .env("ALLOTMENT_OPTIONS", options)
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("`timeout` of coreutils runs")
}
