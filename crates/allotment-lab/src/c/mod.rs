//! Code in C on the heap: compiled when a case runs, by a compiler of the machine, and loaded.
//!
//! The experiments have the work of some modes a second time in C, with the inlines of
//! `allotment.h`, as programs in C have them. So the modes need a C compiler; without one they are
//! left out, with a sentence.
//!
//! | file | has |
//! |---|---|
//! | `compiler.rs` | the compilers of this machine |
//! | `code.rs` | code that was compiled and loaded |
//! | `thread.rs` | threads that C code attached |
//!
//! Refused: a build script that compiles the code. A machine without a C compiler builds the lab,
//! and two compilers are compared in one run.

mod code;
mod compiler;
mod thread;

pub use code::{Code, Source};
pub use compiler::{CC, COMPILERS, Compiler, NoCompiler};
pub use thread::{attach_and_detach, attached};

pub(crate) use compiler::compile;
