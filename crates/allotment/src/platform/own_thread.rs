//! A heap's own thread that writes a file or answers callers, so that no other thread waits for
//! these.
//!
//! The thread owns the file, and does not exist in a child of `fork()`. So a child can neither
//! write to the file nor remove it. A child must not wait for a lock that the thread holds in the
//! parent, so code that hands data over checks [`OwnThread::is_here`] first.

use super::ProcessMark;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, current};

/// The mark of the process that started the thread.
const HERE: u32 = 1;

/// A thread that works until it is told to end.
pub(crate) struct OwnThread {
    /// The process that started the thread.
    process: ProcessMark,
    /// `None` after the thread was told to end. Locked only at the end.
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl OwnThread {
    /// Starts the thread. If that fails, `body` is dropped, with the file in it.
    ///
    /// # Errors
    /// The system gives no thread.
    pub(crate) fn start(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<OwnThread> {
        let handle = Builder::new().name(name.into()).spawn(body)?;
        Ok(OwnThread { process: ProcessMark::new(HERE), handle: Mutex::new(Some(handle)) })
    }

    /// Whether the thread is in this process.
    pub(crate) fn is_here(&self) -> bool {
        self.process.load() == HERE
    }

    /// Calls `tell`, which makes the thread return, and waits for the thread, unless it is the
    /// calling one. A second call does nothing. In a child of `fork()` it forgets the thread.
    pub(crate) fn end(&self, tell: impl FnOnce()) {
        if let Some(handle) = self.take() {
            tell();
            if handle.thread().id() != current().id() {
                // If the thread panicked, it has printed that.
                let _ = handle.join();
            }
        }
    }

    /// As [`end`](Self::end), but does not wait.
    pub(crate) fn let_go(&self, tell: impl FnOnce()) {
        if self.take().is_some() {
            tell();
        }
    }

    /// Takes the thread, at the first call. In a child of `fork()` it forgets the thread.
    fn take(&self) -> Option<JoinHandle<()>> {
        if !self.is_here() {
            // A thread that is not in this process may hold the lock.
            if let Ok(mut handle) = self.handle.try_lock() {
                // A join or a detach might reach another thread that now has its memory.
                std::mem::forget(handle.take());
            }
            return None;
        }
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
