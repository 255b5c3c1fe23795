//! Where the time of measured code goes: samples of threads' program counters, and the instructions
//! they fell on.
//!
//! | module | content |
//! |---|---|
//! | `samples` | how often each address was seen |
//! | `sampler` | a thread that is sampled, by one of the next two |
//! | `ring` | samples that the kernel writes into memory |
//! | `timer` | samples by signal, where the kernel gives no events |
//! | `regions` | grouping of addresses |
//! | `image` | the code in this process, its bytes and its names |
//! | `listing` | the hottest code in readable form, as JMH's `perfasm` prints it |
//!
//! A process samples itself, since only it has the code that was made at run time. Refused: `perf
//! record` and its files. A machine must have `perf`, and `perf` knows nothing of such code once
//! the process has ended.

mod image;
mod listing;
mod regions;
mod ring;
mod sampler;
mod samples;
mod timer;

pub use image::Image;
pub use listing::listing;
pub use sampler::{Clock, ThreadSampler};
pub use samples::Samples;
