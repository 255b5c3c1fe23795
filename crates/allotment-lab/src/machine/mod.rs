//! The machine that numbers are measured on: what it is, what it costs to ask it the time, and what
//! disturbs it.
//!
//! What the heap itself must know of a machine (CPUs, caches, memory limits) comes from
//! [`allotment::memory`]; here is what only a measurement wants to know.

mod clock;
mod description;
mod free_memory;
mod linux;
mod noise;
mod resident;
mod x86_64;

pub use clock::read_cost;
pub use description::{Machine, placement};
pub use free_memory::free_memory;
pub use linux::{die_with_parent, hardware_counters, pin_current_thread};
pub use noise::Noise;
pub use resident::Resident;
pub use x86_64::time_stamp_counter;
