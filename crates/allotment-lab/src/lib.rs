//! Measures what each part of the heap buys on this machine: the library behind the `allotment` command.
//!
//! The layers, lowest first; a module may use only modules before it:
//!
//! | module | knows |
//! |---|---|
//! | [`statistics`] | mean, error, percentiles, ratios |
//! | [`format`](mod@format) | results, and how to write them |
//! | [`counters`] | what processor and system count while a thread works |
//! | [`machine`] | what the numbers were measured on |
//! | [`tlab_log`] | what a JVM's log says of its TLABs |
//! | [`coherence`] | a model of caches: who waits for whose line, on machines with more cores |
//! | [`jvm`] | Java virtual machines: which there are, and the benchmarks they run |
//! | `walk` | memory that threads walk to keep caches busy |
//! | [`profile`] | where the time of measured code goes: samples, symbols, disassembly |
//! | [`harness`] | cases, processes, threads, the measured window |
//! | [`experiments`] | what is measured |
//! | [`report`] | what results say, as pages with charts |
//! | [`command`] | the command line |
//!
//! To add an experiment, see [`experiments`].

pub mod coherence;
pub mod command;
pub mod counters;
pub mod experiments;
pub mod format;
pub mod harness;
pub mod jvm;
pub mod machine;
pub mod profile;
pub mod report;
pub mod statistics;
pub mod tlab_log;
mod walk;
