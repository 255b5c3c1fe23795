//! Readers of the files that running programs write: heap snapshots, allocation profiles, and a
//! JVM's log of its TLABs.
//!
//! Users of a JVM, Go, Node or Rust need no lab for them. The binary
//! `allotment-tools` has just these commands, and the command `allotment` of the lab has them too.
//!
//! ```text
//! allotment-tools heap dominators app.hprof
//! allotment-tools profile top heap.pb.gz
//! allotment-tools tlab-log gc.log
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`snapshot`] | heap snapshots in files |
//! | [`pprof`] | allocation profiles in files |
//! | [`tlab_log`] | a JVM's log of its TLABs |
//! | [`command`] | the command line |

pub mod command;
mod file_error;
mod numbers;
pub mod pprof;
pub mod snapshot;
pub mod tlab_log;

pub use file_error::FileError;
