//! Java virtual machines to compare the heap with: finding them, their properties, and starting
//! them.
//!
//! The workloads are Java programs under JMH, in the folder `jvm/` of the repository. Their sources
//! are part of this program, which builds them once with Maven and keeps the jar in the user's
//! cache. So `allotment run --jvm auto` works from any folder.
//!
//! Refused: shipping the jar. It would be an unreadable binary in the repository.
//!
//! | module | content |
//! |---|---|
//! | `process` | an external program with a time limit, and its output |
//! | `jdk` | one JDK: its folder and its release |
//! | `discovery` | finding JDKs |
//! | `collectors` | the JVM's collectors, and their flags |
//! | `machine` | a JDK with a collector, and its properties |
//! | `sources`, `jar` | the benchmarks, and their jar |
//! | `layouts` | the layouts of Java classes |
//! | `workload` | the benchmark that is the counterpart of a case |

mod collectors;
mod discovery;
#[cfg(test)]
pub(crate) mod examples;
mod jar;
mod jdk;
mod layouts;
mod machine;
pub(crate) mod process;
mod sources;
mod workload;

pub use collectors::{Collector, CollectorError, Sizes, larger_heaps};
pub use discovery::{Surroundings, find, find_all};
pub use jar::Jars;
pub use jdk::{Jdk, JdkError};
pub use layouts::{JavaField, JavaLayout};
pub use machine::Jvm;
pub use workload::Workload;
