//! The measuring harness: the grid of cases, a process per fork, threads that start and stop
//! together.
//!
//! The harness measures as JMH does, since JMH's methods are known and its numbers stand beside
//! ours. A fork is a fresh process, so address layout and heap state vary. An iteration's threads
//! work before and after the measured window, so the window has the full load. Each thread has its
//! own clock, and all iterations of all forks are pooled. One difference: the forks of all cases are
//! interleaved, so a machine that becomes slower during a run does so for all cases. Refused:
//! measuring within one process, as criterion does. A process has one heap, which is measured here.
//!
//! There are two sides. The parent ([`run`]) starts forks and gathers their results. The fork
//! ([`Bench`]) measures one case and sends its results as lines of JSON.

mod axis;
mod bench;
mod cache_size;
mod case;
mod compare;
mod estimate;
mod experiment;
mod fork_process;
mod gate;
mod gather;
mod grid;
mod host;
mod iteration;
mod jmh_mode;
mod jvm_case;
mod jvm_fork;
mod left_out;
mod lock;
mod meeting;
pub mod neighbours;
mod profiling;
mod progress;
mod protocol;
mod runner;
mod sampler;
mod settings;
mod sink;
mod stage;
mod supervised;
mod warnings;
mod watch;
mod worker;

pub use allotment_report::command::Interrupt;
pub(crate) use axis::label;
pub use axis::{Axis, Kind};
pub use bench::Bench;
pub use case::{Case, ParameterError};
pub use compare::{NO_JVM, compare, ours_beside};
pub use estimate::Estimate;
pub use experiment::{Baseline, Charts, Experiment, Latency, Mode, ObjectShape};
#[cfg(test)]
pub(crate) use grid::expand_on;
pub use grid::{GridError, Selection, check_threads, expand};
pub use jmh_mode::{JmhMode, TimeUnit};
pub use jvm_case::{JVM, JvmCase, OnJvms, jvm_cases};
pub use left_out::LeftOut;
pub use lock::{Lock, LockError};
pub use neighbours::Neighbours;
pub use profiling::{Profiled, profile};
pub use protocol::{Order, run_fork};
pub use runner::{Calls, Outcome, Run, case_name, run};
pub use settings::{Pin, Plan, Settings};
pub use sink::{keep, keep_value};
pub use stage::Play;
pub use warnings::{Circumstances, warnings};
pub use watch::Watch;
pub use worker::{Iteration, NoProbe, Probe, SecondaryValue, Share, Thread, Worker};
