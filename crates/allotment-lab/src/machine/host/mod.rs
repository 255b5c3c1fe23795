//! The relation of two CPUs at this moment.
//!
//! A host moves the CPUs of a virtual machine between cores, and the machine does not learn of it.
//! Measurements of several threads depend on it. So two things are measured: the time of a cache
//! line from one CPU to the other, and the work of both CPUs at once.

mod pair;
mod ping_pong;
mod two_cpus;

pub use ping_pong::{HandOver, ping_pong};
pub use two_cpus::{TWO_CPUS, await_two_cpus};

use super::first_two;

/// The first two CPUs of this process at one moment.
#[derive(Clone, Copy, Debug)]
pub struct HostSample {
    /// Nanoseconds that a cache line takes from one to the other.
    pub line: Option<f64>,
    /// The work of both at once, in units of the work of the faster alone: 2 if they are two cores.
    pub cpus: Option<f64>,
}

impl HostSample {
    /// Measures both, in some milliseconds. `None` if this process has one CPU.
    #[must_use]
    pub fn take() -> Option<HostSample> {
        let cpus = first_two()?;
        Some(HostSample { line: ping_pong::hand_over(cpus), cpus: two_cpus::cpus_at_once(cpus) })
    }
}
