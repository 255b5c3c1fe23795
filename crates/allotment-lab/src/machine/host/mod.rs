//! What the host gives of two CPUs right now.
//!
//! A host moves the CPUs of a virtual machine between cores, and tells the machine nothing of it.
//! Measurements of several threads depend on it, so two questions are asked: how long a cache line
//! takes from one CPU to the other, and how much both CPUs do at once.

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
    /// What both do at once, of what the faster does alone: 2 where they are two cores.
    pub cpus: Option<f64>,
}

impl HostSample {
    /// Measures both, in some milliseconds; `None`: this process may use one CPU only.
    #[must_use]
    pub fn take() -> Option<HostSample> {
        let cpus = first_two()?;
        Some(HostSample { line: ping_pong::hand_over(cpus), cpus: two_cpus::cpus_at_once(cpus) })
    }
}
