//! Java virtual machines, to stand beside the heap: which there are, what they have, how one is asked.
//!
//! The workloads are Java programs under JMH, in the folder `jvm/` of the repository. Their sources are part of this
//! program, which builds them once with Maven and keeps the jar in the user's cache: so `allotment run --jvm auto`
//! works from anywhere. Shipping the jar was refused: a binary in the repository that nobody can read.
//!
//! | module | knows |
//! |---|---|
//! | `process` | a program that must end, and what it said |
//! | `jdk` | one JDK: where it is, which release |
//! | `discovery` | where JDKs lie |
//! | `collectors` | the JVM's collectors, and their flags |
//! | `machine` | a JDK with a collector, asked what it is |
//! | `sources`, `jar` | the benchmarks, and the jar they become |
//! | `workload` | which benchmark stands beside a case |

mod collectors;
mod discovery;
#[cfg(test)]
pub(crate) mod examples;
mod jar;
mod jdk;
mod machine;
pub(crate) mod process;
mod sources;
mod workload;

pub use collectors::{Collector, CollectorError, Sizes};
pub use discovery::{Surroundings, find, find_all};
pub use jar::{JarError, Jars};
pub use jdk::{Jdk, JdkError};
pub use machine::Jvm;
pub use workload::Workload;
