//! Measures the gain from each part of the heap on this machine: the library behind the `allotment`
//! command.
//!
//! The layers, lowest first. A module uses only modules before it; `.ci/layers` reads the table:
//!
//! | module | content |
//! |---|---|
//! | `hold` | locks that a panic leaves usable |
//! | [`format`](mod@format) | results, and how to write them |
//! | [`counters`] | counts of the processor and the system while a thread works |
//! | [`machine`] | the machine that measures |
//! | `walk` | memory that threads walk to keep caches busy |
//! | [`jvm`] | Java virtual machines, and the benchmarks they run |
//! | [`c`] | code in C on the heap: compilers, what they made, threads |
//! | [`profile`] | the time of measured code: samples, symbols, disassembly |
//! | [`harness`] | cases, processes, threads, the measured window |
//! | [`experiments`] | the definitions of the experiments |
//! | [`report`] | results as pages with charts |
//! | [`command`] | the command line |
//!
//! The command `allotment` has all verbs: those of the lab, of the tools (`allotment-tools`, which
//! read files) and of the models (`allotment-models`). `allotment-report` is what the three share.
//!
//! To add an experiment, see [`experiments`].

pub mod c;
pub mod command;
pub mod counters;
pub mod experiments;
pub mod format;
pub mod harness;
mod hold;
pub mod jvm;
pub mod machine;
pub mod profile;
pub mod report;
mod walk;

pub use allotment_report::statistics;
