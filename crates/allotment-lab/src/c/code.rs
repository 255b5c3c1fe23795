//! Code in C that was compiled for this process and loaded.
//!
//! The library that the code is linked to is the lab itself. `c/calls.c` has a table of the
//! functions that the inlines of `allotment.h` call, which is filled in when the code is loaded.

use super::{Compiler, compile};
use allotment_ffi::HEADERS;
use anyhow::Context;
use libloading::Library;
use std::ffi::c_void;
use std::fs;
use std::mem::ManuallyDrop;
use std::path::Path;
use tempfile::TempDir;

/// The parts that all code has: path and content.
const PARTS: &[(&str, &str)] = &[
    ("lab.h", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/c/lab.h"))),
    ("calls.c", include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/c/calls.c"))),
];

/// The flags of each compilation: what a program in C has, and that an undefined name is an error.
const FLAGS: &[&str] =
    &["-std=gnu11", "-O2", "-Wall", "-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-z,defs"];

/// A file of code.
#[derive(Clone, Copy, Debug)]
pub struct Source {
    /// Its name, such as `tlab.c`.
    pub name: &'static str,
    /// Its content.
    pub text: &'static str,
}

/// Code that was compiled and loaded. It stays loaded until the process ends, so functions of it may
/// be kept.
#[derive(Debug)]
pub struct Code {
    library: ManuallyDrop<Library>,
    /// The folder of the files, in which a profile looks for the code.
    _folder: TempDir,
}

/// `lab_calls` of `c/calls.c`.
#[repr(C)]
struct Calls {
    alloc_slow: unsafe extern "C" fn(*mut c_void, u64, usize) -> *mut c_void,
    alloc_raw_slow: unsafe extern "C" fn(*mut c_void, u64, usize) -> *mut c_void,
    unlink_slow: unsafe extern "C" fn(*mut c_void, *mut c_void),
}

unsafe extern "C" {
    fn al_alloc_slow(mu: *mut c_void, header: u64, bytes: usize) -> *mut c_void;
    fn al_alloc_raw_slow(mu: *mut c_void, header: u64, bytes: usize) -> *mut c_void;
    fn al_unlink_slow(mu: *mut c_void, frame: *mut c_void);
}

impl Code {
    /// Compiles the source with these flags beside those of every source, and loads the code.
    ///
    /// # Errors
    /// The compiler refuses the source, the code does not run on this machine, or there is no place
    /// for files.
    pub fn load(compiler: &Compiler, source: Source, flags: &[String]) -> anyhow::Result<Code> {
        let folder = tempfile::Builder::new().prefix("allotment-c-").tempdir();
        let folder = folder.context("no place for the code in C")?;
        let at = |name: &str| folder.path().join(name);
        for (name, text) in HEADERS.iter().chain(PARTS).chain([&(source.name, source.text)]) {
            write(&at(name), text).context("cannot write the code in C")?;
        }
        let made = at("code.so");
        let mut command = compiler.command();
        command.args(FLAGS).args(flags).arg("-I").arg(folder.path()).arg("-o").arg(&made);
        compile(command.arg(at("calls.c")).arg(at(source.name)), source.name)?;
        // SAFETY: the library has no initialiser: the sources have none.
        let library = unsafe { Library::new(&made) };
        let library = library.with_context(|| format!("the code of {} cannot be loaded", source.name))?;
        let code = Code { library: ManuallyDrop::new(library), _folder: folder };
        // SAFETY: the type is that of the function in `calls.c`, which copies the table.
        unsafe {
            let connect: unsafe extern "C" fn(*const Calls) = code.function("lab_connect")?;
            connect(&Calls {
                alloc_slow: al_alloc_slow,
                alloc_raw_slow: al_alloc_raw_slow,
                unlink_slow: al_unlink_slow,
            });
        }
        Ok(code)
    }

    /// A function of the code, as a pointer of the type `F`.
    ///
    /// # Errors
    /// There is no such function.
    ///
    /// # Safety
    /// - `F` is a pointer to a function of the type that the source gives `name`.
    pub unsafe fn function<F: Copy>(&self, name: &str) -> anyhow::Result<F> {
        // SAFETY: the caller's predicate.
        let found = unsafe { self.library.get::<F>(name) };
        Ok(*found.with_context(|| format!("the code in C has no function {name}"))?)
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::COMPILERS;

    #[test]
    fn code_runs_and_what_a_compiler_refuses_is_told_with_its_words() {
        for compiler in COMPILERS.iter().filter_map(|name| Compiler::find(name).ok()) {
            let text = "#include \"lab.h\"\nLAB_EXPORT int seven(void) { return N; }";
            let code = Code::load(&compiler, Source { name: "seven.c", text }, &["-DN=7".into()]).unwrap();
            // SAFETY: the type is the source's.
            let seven: extern "C" fn() -> i32 = unsafe { code.function("seven").unwrap() };
            assert_eq!(seven(), 7);
            // SAFETY: there is no such function.
            let none = unsafe { code.function::<extern "C" fn()>("eight") }.unwrap_err();
            assert_eq!(none.to_string(), "the code in C has no function eight");
            // The code outlives its files.
            drop(code);
            assert_eq!(seven(), 7);

            let error = Code::load(&compiler, Source { name: "seven.c", text }, &[]).unwrap_err().to_string();
            assert!(
                error.contains("does not build seven.c: ")
                    && error.contains("'N' undeclared") | error.contains("identifier 'N'"),
                "{error}"
            );
            let text = "#include \"lab.h\"\nLAB_EXPORT al_mutator *own(void) { return al_current(); }";
            let error = Code::load(&compiler, Source { name: "own.c", text }, &[]).unwrap_err().to_string();
            assert!(error.contains("al_current"), "{error}");
        }
    }
}
