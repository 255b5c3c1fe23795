//! The C API of allotment: the library `liballotment`, whose header is `include/allotment.h`,
//! with its parts in `include/allotment`.
//!
//! The header is the reference: each function is described there, with its obligations. The fast
//! paths of allocations, barriers and frames are inlines of the header. Rust has their slow paths,
//! everything else, and each inline once more as a function of the same name, for languages that
//! cannot use the header's.
//!
//! | file | has |
//! |---|---|
//! | `error.rs` | codes, and the caller's error |
//! | `border.rs` | the calling thread, wrong calls that end the process |
//! | `callback.rs` | functions of the program that the library calls |
//! | `sanitizer.rs` | what ThreadSanitizer is told |
//! | `layout.rs` | the constants of `allotment/layout.h`, from the core's tables |
//! | `heap.rs`, `options.rs` | heaps, and what a program chooses about one |
//! | `thread.rs` | attaching, polls, blocking |
//! | `shape.rs` | shapes |
//! | `alloc.rs` | allocations |
//! | `slots.rs` | barriers |
//! | `frames.rs`, `handles.rs`, `providers.rs` | roots |
//! | `stop.rs` | the stopped world |
//! | `observe.rs` | figures, snapshots, profiles, options in force |
//! | `check.rs` | what `-DAL_CHECK` asks |
//! | `rust.rs` | for programs in Rust that have parts in C |
//!
//! A wrong input of a function that returns a code gives a code. Any other wrong call ends the
//! process with one line: a C function without a result cannot say no, and would go on with a
//! broken heap.
//!
//! Refused:
//! - A header that a tool prints: most of it are inlines, macros and constants, which the tools do
//!   not know.
//! - Calls that run a body, as in Rust: a C++ exception or a `longjmp` would leave them unnoticed.
//! - An error for each thread (`errno`): it would have to be freed, and inlines would have to reset
//!   it.

#![allow(non_camel_case_types, reason = "types have their names of the header")]

mod alloc;
mod border;
mod callback;
mod check;
mod error;
mod frames;
mod handles;
mod heap;
mod layout;
mod observe;
mod options;
mod providers;
mod rust;
mod sanitizer;
mod shape;
mod slots;
mod stop;
mod thread;

pub use layout::{LayoutRow, layout};
pub use rust::{CHeap, HEADERS};
