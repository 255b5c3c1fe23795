//! The machine that measures: its description, the cost of its clock, and its disturbances.
//!
//! [`allotment::internals::platform`] has the facts that the heap itself needs (CPUs, caches, memory
//! limits). This module has the facts that only measurements need.

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
