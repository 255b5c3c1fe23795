//! Measures the gain from each part of the heap on this machine: the library behind the `allotment`
//! command.
//!
//! The layers, lowest first. A module uses only modules before it; `.ci/layers` reads the table:
//!
//! | module | content |
//! |---|---|
//! | [`statistics`] | mean, error, percentiles, ratios |
//! | [`format`](mod@format) | results, and how to write them |
//! | [`counters`] | counts of the processor and the system while a thread works |
//! | [`machine`] | the machine that measures |
//! | `walk` | memory that threads walk to keep caches busy |
//! | [`tlab_log`] | a JVM's log of its TLABs |
//! | [`snapshot`] | heap snapshots in files |
//! | [`pprof`] | allocation profiles in files |
//! | [`coherence`] | a model of cache coherence, on machines with more cores |
//! | [`jvm`] | Java virtual machines, and the benchmarks they run |
//! | [`tlab_simulation`] | a model of threads that wait for memory, on any machine |
//! | [`profile`] | the time of measured code: samples, symbols, disassembly |
//! | [`harness`] | cases, processes, threads, the measured window |
//! | [`experiments`] | the definitions of the experiments |
//! | [`report`] | results as pages with charts |
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
pub mod pprof;
pub mod profile;
pub mod report;
pub mod snapshot;
pub mod statistics;
pub mod tlab_log;
pub mod tlab_simulation;
mod walk;
