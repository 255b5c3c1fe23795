//! A thread's identity, as its embedder and the system know it.

use crate::platform::SystemThread;
use crate::sync::{Thread, ThreadId, current};
use std::cell::Cell;
use std::fmt;

thread_local! {
    /// The kernel's number of this thread, read once and not at each attach.
    static SYSTEM_ID: Cell<i32> = Cell::new(SystemThread::current().number());
}

/// Reads the kernel's number of the calling thread again: a child of `fork()` has another one.
pub(in crate::mutator) fn renew_system_id() {
    SYSTEM_ID.set(SystemThread::current().number());
}

/// Names a thread that is or was attached.
#[derive(Clone, Debug)]
pub struct ThreadIdentity {
    thread: Thread,
    system_id: i32,
}

impl ThreadIdentity {
    /// The calling thread.
    pub(in crate::mutator) fn current() -> ThreadIdentity {
        ThreadIdentity { thread: current(), system_id: SYSTEM_ID.get() }
    }

    /// The handle to wake the thread with.
    pub(super) fn thread(&self) -> &Thread {
        &self.thread
    }

    /// The thread's name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.thread.name()
    }

    /// The thread's id within the program.
    pub fn id(&self) -> ThreadId {
        self.thread.id()
    }

    /// The kernel's number of the thread, as debuggers and `/proc/self/task` show it.
    pub fn system_id(&self) -> i32 {
        self.system_id
    }
}

/// The form used in log lines: `"worker" (ThreadId(3), system id 4711)`.
impl fmt::Display for ThreadIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name:?}")?,
            None => f.write_str("without a name")?,
        }
        write!(f, " ({:?}, system id {})", self.id(), self.system_id)
    }
}
