//! The machine that numbers are measured on: what it is, what it costs to ask it the time, and what
//! disturbs it.
//!
//! What the heap itself must know of a machine (CPUs, caches, memory limits) comes from
//! [`allotment::internals::platform`]; here is what only a measurement wants to know.

mod clock;
mod cpu_account;
mod description;
mod free_memory;
mod host;
mod linux;
mod noise;
mod resident;
mod topology;
mod x86_64;

pub use clock::read_cost;
pub use cpu_account::{CpuAccount, CpuTime, process_cpu_time};
pub use description::{Machine, first_two, placement};
pub use free_memory::free_memory;
pub use host::{HandOver, HostSample, TWO_CPUS, await_two_cpus, ping_pong};
pub use linux::{die_with_parent, pin_current_thread, raise_open_files};
pub use noise::{Noise, stolen_milliseconds};
pub use resident::Resident;
pub use topology::topology;
pub use x86_64::time_stamp_counter;
