//! The kernel's description of an event: `perf_event_attr`, as `perf_event_open(2)` documents it.
//!
//! The structure is that of its second version, 72 bytes. It is the first with room for the second
//! value of an off-core event (`config1`), and every kernel since 3.3 accepts it. It is written by
//! hand, since it is nine words.

use serde::{Deserialize, Serialize};

/// `PERF_TYPE_HARDWARE`.
pub(super) const HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
pub(super) const SOFTWARE: u32 = 1;
/// `PERF_TYPE_HW_CACHE`.
pub(super) const CACHE: u32 = 3;
/// `PERF_TYPE_RAW`.
pub(super) const RAW: u32 = 4;

/// Words of the structure.
const WORDS: usize = 9;
/// `PERF_FORMAT_TOTAL_TIME_ENABLED`, `PERF_FORMAT_TOTAL_TIME_RUNNING`, `PERF_FORMAT_GROUP`.
const GROUP_WITH_TIMES: u64 = 1 | 2 | 8;
/// `PERF_SAMPLE_IP`.
const SAMPLE_ADDRESS: u64 = 1;
const DISABLED: u64 = 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// An event in the form that the kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// The numbering that `config` follows: `PERF_TYPE_...`.
    pub kind: u32,
    /// The event's number.
    pub config: u64,
    /// The second value: the requests that an off-core event counts.
    pub config1: u64,
    /// Counts in the kernel too. Only events that happen nowhere else are counted there; the first
    /// touch of a page would otherwise hide everything.
    pub kernel: bool,
}

/// Sampling of addresses, instead of counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The count between two samples: for clocks, nanoseconds.
    pub period: u64,
}

impl Attribute {
    /// An event of the processor by its own code.
    pub const fn raw(config: u64, config1: u64) -> Attribute {
        Attribute { kind: RAW, config, config1, kernel: false }
    }

    /// The system's clock of a CPU, `PERF_COUNT_SW_CPU_CLOCK`: the sampling event where no better
    /// one exists.
    pub const CPU_CLOCK: Attribute = Attribute { kind: SOFTWARE, config: 0, config1: 0, kernel: false };

    /// Whether the system counts the event, so that it takes no counter of the processor.
    pub fn is_software(&self) -> bool {
        self.kind == SOFTWARE
    }

    /// The structure. An event that `leads` waits to be started; the events that join its group
    /// start with it.
    pub(super) fn words(&self, leads: bool, sampled: Option<Sampled>) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        words[0] = u64::from(self.kind) | (size_of::<[u64; WORDS]>() as u64) << 32;
        words[1] = self.config;
        match sampled {
            Some(Sampled { period }) => (words[2], words[3]) = (period, SAMPLE_ADDRESS),
            None => words[4] = GROUP_WITH_TIMES,
        }
        words[5] = EXCLUDE_HYPERVISOR
            | if leads { DISABLED } else { 0 }
            | if self.kernel { 0 } else { EXCLUDE_KERNEL };
        words[7] = self.config1;
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_where_the_kernel_looks_for_them() {
        let hitm = Attribute::raw(0x01B7, 0x10_003C_0002);
        assert_eq!(hitm.words(true, None), [72 << 32 | 4, 0x1B7, 0, 0, 11, 0x61, 0, 0x10_003C_0002, 0]);
        assert_eq!(hitm.words(false, None)[5], 0x60, "who joins is started with its leader");
        let migrations = Attribute { kind: SOFTWARE, config: 4, config1: 0, kernel: true };
        assert_eq!(migrations.words(true, None), [72 << 32 | 1, 4, 0, 0, 11, 0x41, 0, 0, 0]);
        let sampled = Attribute::CPU_CLOCK.words(true, Some(Sampled { period: 250_000 }));
        assert_eq!(sampled, [72 << 32 | 1, 0, 250_000, 1, 0, 0x61, 0, 0, 0]);
    }
}
