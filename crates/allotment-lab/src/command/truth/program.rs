//! The programs in C. The system's compiler builds each once for each source and object size.
//!
//! The programs are built where they run, as the lab is, and are not shipped. A compiler at hand
//! lets a reader change them and measure again. The flags match the lab's loops: stores of 32 bytes
//! where the processor has AVX2 and objects are written, otherwise the instructions that all
//! processors of the machine have.

use super::rows::Source;
use crate::c::compile;
use crate::harness::Interrupt;
use allotment::raw::{Processor, X86_64};
use anyhow::{Context, bail, ensure};
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The common part of the programs.
const HEADER: &str = include_str!("../../../truth/truth.h");

/// A compiler, and a folder for the programs.
pub(super) struct Builder {
    compiler: PathBuf,
    /// The compiler's first line about itself.
    pub(super) version: String,
    folder: TempDir,
}

impl Builder {
    /// A builder with that compiler.
    ///
    /// # Errors
    /// There is no such compiler, or no place for programs.
    pub(super) fn new(compiler: &Path) -> anyhow::Result<Builder> {
        let shown = compiler.display();
        let told = Command::new(compiler).arg("--version").stdin(Stdio::null()).output();
        let told = told.map_err(|error| {
            let advice = advice(error.kind());
            anyhow::Error::from(error).context(format!("cannot start the C compiler `{shown}`: {advice}"))
        })?;
        ensure!(told.status.success(), "`{shown} --version` failed: {} is not a C compiler", shown);
        let version = String::from_utf8_lossy(&told.stdout).lines().next().unwrap_or_default().to_string();
        let folder = tempfile::Builder::new().prefix("allotment-truth-").tempdir();
        let folder = folder.context("no place for the programs in C")?;
        fs::write(folder.path().join("truth.h"), HEADER).context("cannot write a program in C")?;
        Ok(Builder { compiler: compiler.into(), version, folder })
    }

    /// Builds a source for objects of the given bytes.
    ///
    /// # Errors
    /// The compiler refuses the source. The error has the compiler's first words.
    pub(super) fn build(&self, source: &Source, object_bytes: usize) -> anyhow::Result<PathBuf> {
        let name = format!("{}-{object_bytes}", source.name);
        let program = self.folder.path().join(&name);
        if program.exists() {
            return Ok(program);
        }
        let text = self.folder.path().join(format!("{}.c", source.name));
        fs::write(&text, source.text).context("cannot write a program in C")?;
        let mut command = Command::new(&self.compiler);
        command.args(["-std=gnu11", "-O2", "-pthread"]).arg(format!("-DSIZE={object_bytes}"));
        if object_bytes > 0 && matches!(Processor::detect(), Processor::X86_64(X86_64 { avx2: true, .. })) {
            command.arg("-mavx2");
        }
        compile(command.arg("-o").arg(&program).arg(&text), &format!("{}.c", source.name))?;
        Ok(program)
    }
}

/// Advice for a compiler that does not start.
fn advice(why: ErrorKind) -> &'static str {
    match why {
        ErrorKind::NotFound => {
            "install one (cc, gcc or clang), or name one with --cc PATH; without it no row can be checked"
        }
        ErrorKind::WouldBlock => "no more processes may be started here; end some, or raise ulimit -u",
        ErrorKind::OutOfMemory => "there is no memory for a process; end some",
        _ => "name one that starts with --cc PATH; without it no row can be checked",
    }
}

/// The output of a program: operations per microsecond of all threads, and nanoseconds per
/// operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) rate: f64,
    pub(super) nanoseconds: f64,
}

/// Runs a program for a number of windows of `time`, or until the user interrupts.
///
/// # Errors
/// The program fails, prints something else, or does not end.
pub(super) fn run(
    program: &Path,
    threads: usize,
    time: Duration,
    windows: u32,
    numbers: &[usize],
    interrupt: &Interrupt,
) -> anyhow::Result<Said> {
    /// The time for the program's preparation on a busy machine.
    const PATIENCE: Duration = Duration::from_secs(120);
    let name = program.file_name().map_or_else(|| "program".into(), OsStr::to_string_lossy).into_owned();
    let mut child = Command::new(program)
        .arg(threads.to_string())
        .arg(time.as_micros().max(1).to_string())
        .arg(windows.to_string())
        .args(numbers.iter().map(ToString::to_string))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {name}"))?;
    let start = Instant::now();
    // The program prints a line of a few bytes, which the pipe holds, so no reader is needed
    // meanwhile.
    while child.try_wait().with_context(|| format!("cannot wait for {name}"))?.is_none() {
        let late = start.elapsed() > PATIENCE + 4 * windows * time;
        if late || interrupt.requested() {
            let _ = child.kill();
            let _ = child.wait();
            ensure!(!late, "{name} did not end");
            bail!("interrupted");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let output = child.wait_with_output().with_context(|| format!("cannot read what {name} says"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        bail!("{name} failed, {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    said(&text)
        .with_context(|| format!("{name} said `{}`, which is not a result", text.trim().escape_debug()))
}

/// Two numbers, both above zero.
fn said(text: &str) -> Option<Said> {
    let mut numbers = text.split_whitespace().map(|word| word.parse::<f64>().ok());
    let (rate, nanoseconds) = (numbers.next()??, numbers.next()??);
    let sound = numbers.next().is_none() && [rate, nanoseconds].iter().all(|n| n.is_finite() && *n > 0.0);
    sound.then_some(Said { rate, nanoseconds })
}

#[cfg(test)]
mod tests {
    use super::super::rows::ROWS;
    use super::*;
    use crate::experiments;

    #[test]
    fn only_two_numbers_are_a_result() {
        assert_eq!(said("2.5 400.0\n"), Some(Said { rate: 2.5, nanoseconds: 400.0 }));
        for wrong in ["", "2.5", "2.5 x", "2.5 1 1", "0 1", "inf 1", "nan 1", "-1 1"] {
            assert_eq!(said(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_compiler_that_is_none_is_told_of() {
        for (compiler, told) in
            [("/no/such/cc", "install one (cc, gcc or clang)"), ("false", "is not a C compiler")]
        {
            let Err(error) = Builder::new(Path::new(compiler)) else { panic!("{compiler}") };
            assert!(format!("{error:#}").contains(told), "{error:#}");
        }
        let exhausted = advice(std::io::Error::from_raw_os_error(libc::EAGAIN).kind());
        assert!(exhausted.contains("ulimit -u") && !exhausted.contains("install"), "{exhausted}");
    }

    #[test]
    fn what_a_compiler_refuses_is_told_with_its_words() {
        let Ok(builder) = Builder::new(Path::new("cc")) else { return };
        let source = Source { name: "wrong", text: "int main(void) { return nothing; }" };
        let error = builder.build(&source, 16).unwrap_err().to_string();
        assert!(error.contains("does not build wrong.c") && error.contains("nothing"), "{error}");
        let source = Source { name: "fails", text: "int main(void) { return 3; }" };
        let program = builder.build(&source, 16).unwrap();
        let error = run(&program, 1, Duration::from_millis(1), 1, &[], &Interrupt::never()).unwrap_err();
        assert!(error.to_string().contains("fails-16 failed"), "{error}");
    }

    /// Builds every program and runs it with as many threads as its row has. The memory is small,
    /// since its size does not matter here.
    #[test]
    fn every_program_runs() {
        let Ok(builder) = Builder::new(Path::new("cc")) else { return };
        assert!(!builder.version.is_empty());
        for row in ROWS {
            let case = row.case(experiments::all(), 2).unwrap();
            let program = builder.build(row.source, row.object_bytes()).unwrap();
            let mut numbers = row.numbers(&case).unwrap();
            if let Some(bytes) = numbers.first_mut().filter(|bytes| **bytes > 3) {
                *bytes = (*bytes).min(1 << 20);
            }
            let said = run(&program, row.threads, Duration::from_millis(1), 3, &numbers, &Interrupt::never())
                .unwrap();
            // With one measuring thread, one figure is the inverse of the other.
            let product = said.rate * said.nanoseconds / 1e3;
            assert!(row.threads > 1 || (product - 1.0).abs() < 0.01, "{said:?}");
        }
    }
}
