//! Which thread it is, as its embedder and the system know it.

use crate::platform::SystemThread;
use crate::sync::{Thread, ThreadId, current};
use std::cell::Cell;
use std::fmt;

thread_local! {
    /// The kernel's number of this thread: asked for once, not at each attach.
    static SYSTEM_ID: Cell<i32> = Cell::new(SystemThread::current().number());
}

/// Asks for the kernel's number of the calling thread again: in a child of `fork()` it is another
/// one.
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

    /// For who wakes it up.
    pub(super) fn thread(&self) -> &Thread {
        &self.thread
    }

    /// Its name, if it was given one.
    pub fn name(&self) -> Option<&str> {
        self.thread.name()
    }

    /// Its id within the program.
    pub fn id(&self) -> ThreadId {
        self.thread.id()
    }

    /// The kernel's number of it, as debuggers and `/proc/self/task` have it.
    pub fn system_id(&self) -> i32 {
        self.system_id
    }
}

/// As a line of a log names it: `"worker" (ThreadId(3), system id 4711)`.
impl fmt::Display for ThreadIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name:?}")?,
            None => f.write_str("without a name")?,
        }
        write!(f, " ({:?}, system id {})", self.id(), self.system_id)
    }
}
