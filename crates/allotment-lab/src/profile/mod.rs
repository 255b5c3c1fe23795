//! Where the time of measured code goes: samples of threads' program counters, and the instructions they fell on.
//!
//! | module | knows |
//! |---|---|
//! | `samples` | how often which address was seen |
//! | `sampler` | a thread that is sampled: by one of the next two |
//! | `ring` | samples that the kernel writes into memory |
//! | `timer` | samples by signal, where the kernel gives no events |
//! | `regions` | which addresses belong together |
//! | `image` | what code there is in this process, its bytes and its names |
//! | `listing` | the hottest of it as people read it, as JMH's `perfasm` prints it |
//!
//! A process looks at itself, since only it has code that was made at run time. Refused: `perf record` and its files, for
//! which a machine must have `perf`, and which knows nothing of such code once the process has ended.

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
