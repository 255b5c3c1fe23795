//! What the processor and the system count while a thread works: cycles, misses, faults, switches.
//!
//! Counted in the measuring threads themselves, from just before the measured window to just behind it, and divided by the
//! operations of that same window. JMH's `perfnorm` counts a whole process from outside by time stamps, so that
//! harness, compiler and all collector threads are in its figures; of these there is only what a measuring thread does itself. Refused: a `perf` program beside each fork,
//! which does the former, and which many machines do not have.
//!
//! | module | knows |
//! |---|---|
//! | `attribute` | how the kernel is asked for an event |
//! | `perf_event` | the calls: open, start, stop, read |
//! | `refusal` | why it says no |
//! | `reading` | counts, and what to make of those that shared a counter |
//! | `usage` | what is counted without the processor |
//! | `event` | events by the names that `perf` has for them |
//! | `processor` | which processor this is |
//! | `table` | events that only some processors have, by their codes |
//! | `proof` | a loop of which is known what must be counted |
//! | `plan` | from what was asked for to what is counted here |
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

pub use attribute::{Attribute, Sampled};
pub use event::Event;
pub use perf_event::{Group, open, start, stop};
pub use plan::{Plan, Planned, UnknownCounter, here, plan};
pub use processor::Family;
pub use proof::{Expected, trial};
pub use reading::{Reading, Total};
pub use refusal::Refusal;
pub use table::{Code, Row, rows};
pub use thread::ThreadCounters;
pub use usage::{Snapshot, Usage};
#[cfg(test)]
pub(crate) use usage::{fresh_pages, wait_times};
