//! Counts of the processor and the system while a thread works: cycles, misses, faults, switches.
//!
//! Each measuring thread counts for itself, from just before the measured window to just after it.
//! The counts are divided by the operations of that window. JMH's `perfnorm` counts a whole process
//! from outside by time stamps, so its figures include the harness, the compiler and all collector
//! threads. These figures include only the work of the measuring thread itself.
//!
//! Refused: a `perf` program beside each fork, which counts the whole process and is missing on
//! many machines.
//!
//! | module | content |
//! |---|---|
//! | `attribute` | an event in the kernel's numbers |
//! | `perf_event` | events that count together |
//! | `refusal` | why the kernel refuses an event |
//! | `reading` | counts, and the scaling of counts that shared a counter |
//! | `usage` | counts of the system, without the processor |
//! | `event` | events by the names that `perf` has for them |
//! | `processor` | detection of the processor |
//! | `table` | events that only some processors have, by their codes |
//! | `proof` | a loop with known counts |
//! | `plan` | from the requested names to the events that are counted here |
//! | `thread` | a thread's counters |

mod attribute;
mod event;
mod perf_event;
mod plan;
mod processor;
mod proof;
mod reading;
mod refusal;
mod table;
mod thread;
mod usage;

pub use attribute::Attribute;
pub use event::Event;
pub use perf_event::Group;
pub use plan::{CounterPlan, Planned, UnknownCounter, here, plan};
pub use processor::Family;
pub use proof::{Expected, trial};
pub use reading::{Reading, Total};
pub use refusal::Refusal;
pub use table::{Code, Row, rows};
pub use thread::ThreadCounters;
pub use usage::{Snapshot, Usage, thread_cpu_time};
#[cfg(test)]
pub(crate) use usage::{fresh_pages, wait_times};
