//! How threads take memory: the sizes of their buffers, and the options of allocation.

use crate::mutator::ZealSchedule;
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
