//! A thread of a heap's own that writes a file or answers callers, so that no other thread waits for
//! them.
//!
//! The thread has the file, and is not in a child of `fork()`. So a child can neither write to the
//! file nor remove it. It must not wait for a lock that the thread holds in the parent: whoever
//! hands something over asks [`OwnThread::is_here`] first.

use super::ProcessMark;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, current};

/// What is in this process alone.
const HERE: u32 = 1;

/// A thread that writes, until it is told to end.
pub(crate) struct OwnThread {
    /// The process that started the thread.
    process: ProcessMark,
    /// `None`: the thread was told to end. Locked at the end alone.
    handle: Mutex<Option<JoinHandle<()>>>,
}

impl OwnThread {
    /// Starts the thread. If that fails, `body` is dropped, and the file in it.
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

    /// Calls `tell`, with which the thread returns, and waits for that, unless it is the calling
    /// thread. A second call does nothing. In a child of `fork()`: forgets the thread.
    pub(crate) fn end(&self, tell: impl FnOnce()) {
        if let Some(handle) = self.take() {
            tell();
            if handle.thread().id() != current().id() {
                // If it panicked, it has said so.
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

    /// The thread, the first time. In a child of `fork()`: forgets the thread.
    fn take(&self) -> Option<JoinHandle<()>> {
        if !self.is_here() {
            // The lock may be held by a thread that is not in this process.
            if let Ok(mut handle) = self.handle.try_lock() {
                // A join or a detach might reach a thread that has its memory now.
                std::mem::forget(handle.take());
            }
            return None;
        }
        self.handle.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
