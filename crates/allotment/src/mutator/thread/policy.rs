//! How threads take memory: the sizes of their buffers, and the options of allocation.

use crate::mutator::ZealSchedule;
use crate::options::Options;
use crate::tlab::budget::Budget;
use crate::tlab::sizing::Config;

/// The rules of allocation. Only the budget changes while the heap lives.
pub(crate) struct Policy {
    pub(crate) sizing: Config,
    pub(crate) budget: Budget,
    /// `UseTLAB`.
    pub(crate) use_tlab: bool,
    /// `ZeroTLAB`.
    pub(crate) zero_tlab: bool,
    /// `ZeroWindowSize`, in bytes.
    pub(crate) zero_window: usize,
    /// Limit in bytes for recycling the last regions first. Of more bytes than this, too little is
    /// in the caches.
    pub(crate) hot_bytes: usize,
    pub(crate) zeal: ZealSchedule,
}

impl Policy {
    /// The policy of these options, for a heap in which threads share `between` bytes between two
    /// collections.
    pub(crate) fn new(options: &Options, sizing: Config, between: usize, hot_bytes: usize) -> Policy {
        Policy {
            budget: Budget::new(&sizing, between, options.tlab_idle_percent),
            sizing,
            use_tlab: options.use_tlab,
            zero_tlab: options.zero_tlab,
            zero_window: options.zero_window_size,
            hot_bytes,
            zeal: ZealSchedule {
                interval: options.zeal_interval,
                seed: options.zeal_seed,
                out_of_memory: options.zeal_out_of_memory,
            },
        }
    }
}
