//! The machine that measures: its description, the cost of its clock, and its disturbances.
//!
//! [`allotment::internals::platform`] has the facts that the heap itself needs (CPUs, caches, memory
//! limits). This module has the facts that only measurements need.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod clock;
mod cpu_account;
mod description;
mod free_memory;
mod host;
mod linux;
mod needs_x86_64;
mod noise;
mod resident;
mod topology;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use clock::read_cost;
pub use cpu_account::{CpuAccount, CpuTime, process_cpu_time};
pub use description::{Machine, first_two, placement};
pub use free_memory::free_memory;
pub use host::{HandOver, HostSample, TWO_CPUS, await_two_cpus, ping_pong};
pub use linux::{die_with_parent, pin_current_thread, raise_open_files};
#[cfg(test)]
pub(crate) use needs_x86_64::examples as processors;
pub use needs_x86_64::{NeedsX86_64, require_x86_64};
pub use noise::{Noise, stolen_milliseconds};
pub use resident::Resident;
pub use topology::topology;

// The machine, chosen here and nowhere else. Both have the same names.
#[cfg(target_arch = "aarch64")]
use aarch64 as instructions;
use instructions::ticks_per_second;
pub use instructions::{program_counter, ticks};
#[cfg(target_arch = "x86_64")]
use x86_64 as instructions;

#[cfg(test)]
mod tests {
    #[test]
    fn ticks_rise() {
        let first = super::ticks();
        let later = (0..1_000_000).map(|_| super::ticks()).max().unwrap();
        assert!(later > first);
    }
}
