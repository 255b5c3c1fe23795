//! Threads that keep a stop waiting, and the report about them.
//!
//! A thread that neither allocates nor polls keeps all other threads waiting, and from outside all
//! of them appear hung. The stopper knows the late thread: it reports that thread once, and waits
//! on. HotSpot can kill the process here (`AbortVMOnSafepointTimeout`). An embedder that wants that
//! does it in the hook.

use super::ThreadIdentity;
use crate::platform::{in_hook, tell};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A thread that has not come to a safepoint in time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LateThread {
    /// The late thread.
    pub thread: ThreadIdentity,
    /// How long the stop has waited for it.
    pub waited: Duration,
}

impl fmt::Display for LateThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LateThread { thread, waited } = self;
        write!(
            f,
            "the world cannot be stopped: thread {thread} has not come to a safepoint for {waited:.1?}; it should \
             poll (`safepoint`), or wait within `blocking`"
        )
    }
}

/// A hook that is called for a late thread.
pub(crate) type LateThreadHook = Arc<dyn Fn(&LateThread) + Send + Sync>;

/// When a thread counts as late, and the hook to call.
#[derive(Clone)]
pub(crate) struct Late {
    /// Time after which a thread is late; `None`: never.
    pub(super) delay: Option<Duration>,
    hook: LateThreadHook,
}

impl Late {
    /// Reports after `delay_ms`; 0: never. Without a hook it prints a line.
    pub(crate) fn new(delay_ms: u64, hook: Option<LateThreadHook>) -> Late {
        let delay = (delay_ms > 0).then(|| Duration::from_millis(delay_ms));
        Late { delay, hook: hook.unwrap_or_else(|| Arc::new(|late| tell(format_args!("allotment: {late}")))) }
    }

    pub(super) fn tell(&self, late: &LateThread) {
        in_hook(|| (self.hook)(late));
    }
}
