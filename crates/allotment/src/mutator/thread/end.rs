//! The end of a heap, which a program may wait for.
//!
//! The last reference to a heap may be that of a thread of the heap's own, or of a thread that is
//! detaching. A program that frees what its callbacks use has to know that none of these threads
//! calls any more. So the last field of the heap sets a flag when it is dropped.

use crate::sync::{Condvar, Mutex};
use std::sync::{Arc, PoisonError};

/// Sets the flag of its [`HeapEnd`] when it is dropped.
pub(crate) struct EndSignal(HeapEnd);

/// The end of one heap.
#[derive(Clone)]
pub(crate) struct HeapEnd {
    flag: Arc<(Mutex<bool>, Condvar)>,
    /// The process that made the heap.
    process: u32,
}

impl EndSignal {
    pub(crate) fn new() -> EndSignal {
        let flag = Arc::new((Mutex::new(false), Condvar::new()));
        EndSignal(HeapEnd { flag, process: std::process::id() })
    }

    pub(crate) fn end(&self) -> HeapEnd {
        self.0.clone()
    }
}

impl Drop for EndSignal {
    fn drop(&mut self) {
        let (has_ended, wakes) = &*self.0.flag;
        *has_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wakes.notify_all();
    }
}

impl HeapEnd {
    /// Waits for the end. In a child of `fork()` this returns at once: the parent's other threads
    /// keep the child's copy forever.
    pub(crate) fn wait(&self) {
        if std::process::id() != self.process {
            return;
        }
        let (has_ended, wakes) = &*self.flag;
        let mut ended = has_ended.lock().unwrap_or_else(PoisonError::into_inner);
        while !*ended {
            ended = wakes.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
