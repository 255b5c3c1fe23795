//! Exact numbers of instructions: disassembles the release build of `examples/fast_path.rs` and
//! counts.
//!
//! The compiler may undo in any release what the fast path was written for; this is where it shows.
//! Each machine has its file. An x86-64 host checks AArch64 too, by a cross build.

mod aarch64;
mod example;
#[cfg(target_arch = "x86_64")]
mod x86_64;
