//! An event in the kernel's numbers, as `perf_event_open(2)` documents them.
//!
//! The structure and the calls are those of the crate `perf-event2`. Refused: its types for the
//! kinds of events. A plan travels to the processes that measure, and they need its numbers alone.

use perf_event::Builder;
use perf_event::events::Raw;
use serde::{Deserialize, Serialize};

/// `PERF_TYPE_HARDWARE`.
pub(super) const HARDWARE: u32 = 0;
/// `PERF_TYPE_SOFTWARE`.
pub(super) const SOFTWARE: u32 = 1;
/// `PERF_TYPE_HW_CACHE`.
pub(super) const CACHE: u32 = 3;
/// `PERF_TYPE_RAW`.
pub(super) const RAW: u32 = 4;

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

    /// The builder of a stopped counter of the event, for the calling thread.
    pub fn builder(&self) -> Builder<'static> {
        let mut builder = Builder::new(Raw::new(self.config).config1(self.config1));
        builder.attrs_mut().type_ = self.kind;
        builder.exclude_kernel(!self.kernel);
        builder
    }
}
