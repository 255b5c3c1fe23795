//! What of the options concerns every collector that collects.

use super::verify::Checks;

/// See [the options](crate::options).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `UncommitDelay`, in ms.
    pub(crate) uncommit_delay_ms: u64,
    /// `InitialHeapSize`: bytes that stay committed.
    pub(crate) keep_bytes: usize,
    /// `UseTransparentHugePages`: for the tables, too.
    pub(crate) huge_pages: bool,
    /// `ZealMove`.
    pub(crate) move_all: bool,
    pub(crate) checks: Checks,
}
