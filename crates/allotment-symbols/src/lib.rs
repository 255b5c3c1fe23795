//! Names of code: functions, files and lines for places in ELF files, and for code made at run time.
//!
//! Profiles hold addresses. A [`Binary`] names a place in a file of code with the file's debug
//! information, or its symbols where there is none. [`Symbols`] finds and keeps the files of a
//! profile, and checks their build ids. [`JitCode`] reads the names that a compiler in the process
//! gave its code. The crate knows neither heaps nor formats of profiles. The heap and the lab both
//! use it.
//!
//! Refused: the crate `backtrace`, which only names code of its own process, and checks no build
//! id.

mod binary;
mod debug_files;
mod jit_code;
mod names;
mod symbols;

pub use binary::{Binary, BinaryError};
pub use jit_code::{JitCode, JitFunction};
pub use names::readable;
pub use symbols::{Mapped, Symbols};

/// A function at a place in the code, with the line that it was at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The name in readable form.
    pub function: String,
    /// The name in the file: mangled, if the language mangles names.
    pub system_name: String,
    /// The source file; empty if it is not known.
    pub file: String,
    /// The line, from 1; 0 if it is not known.
    pub line: u32,
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod pages {}
