//! The C compilers of this machine, and a compilation.

use crate::jvm::Surroundings;
use anyhow::{Context, bail};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The coordinate of rows that tells the compiler.
pub const CC: &str = "cc";

/// The names of compilers.
pub const COMPILERS: &[&str] = &["gcc", "clang"];

/// A C compiler: a program, and the arguments that make a compiler of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiler {
    program: PathBuf,
    arguments: &'static [&'static str],
}

/// The compiler is not on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{missing} on the PATH, and its work is code in C")]
pub struct NoCompiler {
    missing: String,
}

impl Compiler {
    /// The compiler of a name in [`COMPILERS`], on the `PATH`. Where there is no clang, the one in
    /// Zig is taken (`zig cc`).
    ///
    /// # Errors
    /// There is none.
    pub fn find(name: &str) -> Result<Compiler, NoCompiler> {
        Compiler::find_in(&Surroundings::of_process(), name)
    }

    fn find_in(surroundings: &Surroundings, name: &str) -> Result<Compiler, NoCompiler> {
        let found =
            |name: &str, arguments| surroundings.program(name).map(|program| Compiler { program, arguments });
        match name {
            "clang" => found("clang", &[])
                .or_else(|| found("zig", &["cc"]))
                .ok_or_else(|| NoCompiler { missing: "neither clang nor zig is".into() }),
            name => found(name, &[]).ok_or_else(|| NoCompiler { missing: format!("no {name} is") }),
        }
    }

    /// The compiler's first line about itself, such as `gcc (Debian 12.2.0-14) 12.2.0`.
    pub fn version(&self) -> Option<String> {
        let told = self.command().arg("--version").stdin(Stdio::null()).output().ok()?;
        let line = String::from_utf8_lossy(&told.stdout).lines().next()?.to_string();
        told.status.success().then_some(line)
    }

    /// A command that compiles.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(self.arguments);
        command
    }
}

/// Compiles: runs a compiler that makes what is called `name` in errors.
///
/// # Errors
/// The compiler cannot be started, or refuses. The error has the compiler's first words.
pub(crate) fn compile(command: &mut Command, name: &str) -> anyhow::Result<()> {
    let compiler = PathBuf::from(command.get_program());
    // In English: the words below are.
    let done = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let done = done.with_context(|| format!("cannot start {}", compiler.display()))?;
    if done.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&done.stderr);
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined reference");
    let first: Vec<&str> = told.lines().filter(is_error).take(2).collect();
    let said = if first.is_empty() { done.status.to_string() } else { first.join(" | ") };
    bail!("{} does not build {name}: {said}", compiler.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jvm::examples::script;
    use std::path::Path;

    fn found(folder: &Path, name: &str) -> Result<Compiler, String> {
        let path = Some(folder.as_os_str().to_owned());
        let surroundings = Surroundings { path, ..Surroundings::of_process() };
        Compiler::find_in(&surroundings, name).map_err(|error| error.to_string())
    }

    #[test]
    fn a_compiler_is_found_on_the_path_or_its_absence_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let none = "no gcc is on the PATH, and its work is code in C";
        assert_eq!(found(folder.path(), "gcc"), Err(none.into()));
        let neither = "neither clang nor zig is on the PATH, and its work is code in C";
        assert_eq!(found(folder.path(), "clang"), Err(neither.into()));
        script(&folder.path().join("zig"), "echo $1: clang version 22.1");
        let zig = found(folder.path(), "clang").unwrap();
        assert_eq!(zig.version(), Some("cc: clang version 22.1".into()));
        script(&folder.path().join("clang"), "echo clang version 11; echo more");
        assert_eq!(found(folder.path(), "clang").unwrap().version(), Some("clang version 11".into()));
        script(&folder.path().join("gcc"), "echo gcc; exit 1");
        assert_eq!(found(folder.path(), "gcc").unwrap().version(), None);
    }

    #[test]
    fn a_refusal_has_the_compilers_first_words() {
        let folder = tempfile::tempdir().unwrap();
        let gcc = folder.path().join("gcc");
        for (behaviour, said) in [
            (
                "echo a.c:1: error: one >&2; echo note >&2; echo error: two >&2; exit 1",
                "a.c:1: error: one | error: two",
            ),
            ("echo 'a.c: undefined reference to `f`' >&2; exit 1", "a.c: undefined reference to `f`"),
            ("exit 3", "exit status: 3"),
        ] {
            script(&gcc, behaviour);
            let error = compile(&mut Command::new(&gcc), "a.c").unwrap_err().to_string();
            assert_eq!(error, format!("{} does not build a.c: {said}", gcc.display()));
        }
        let error = compile(&mut Command::new("/no/such/gcc"), "a.c").unwrap_err().to_string();
        assert_eq!(error, "cannot start /no/such/gcc");
    }
}
