//! `StartAttachListener`: the thread of a heap that answers other processes, and its end.
//!
//! The thread starts with the heap and ends with its last clone. It keeps the heap alive only while
//! it answers, and it is attached only while it collects. What it answers is the business of a
//! higher layer. The end of the heap waits for an answer that is under way, as it waits for files
//! that it writes: memory that goes back on another thread at some later moment would surprise
//! more than a short wait. Only a hook that drops the heap does not wait: the answer may wait for it.
//!
//! A child of `fork()` has neither the thread nor the socket. It does not listen.

use super::Heap;
use crate::collector::History;
use crate::mutator::Shared;
use crate::options::OptionSet;
use crate::platform::{AttachListenerError, LocalListener, OwnThread, is_in_hook};
use std::sync::{Arc, Weak};

/// The name of the thread.
const THREAD: &str = "allotment-attach";

/// The thread that answers, and its socket.
pub(crate) struct AttachListener {
    socket: Arc<LocalListener>,
    thread: OwnThread,
}

impl AttachListener {
    /// Starts the thread, which does `serve`. It must return when the socket ends.
    pub(crate) fn start(
        heap: &str,
        serve: impl FnOnce(&LocalListener) + Send + 'static,
    ) -> Result<AttachListener, AttachListenerError> {
        let socket = Arc::new(LocalListener::bind(heap)?);
        let of_thread = socket.clone();
        let thread = OwnThread::start(THREAD, move || serve(&of_thread));
        let thread = thread.map_err(|source| AttachListenerError::Thread { source })?;
        Ok(AttachListener { socket, thread })
    }
}

impl Drop for AttachListener {
    fn drop(&mut self) {
        let tell = || self.socket.end();
        // A hook of the embedder may have dropped the heap. Then the thread that listens may wait for
        // this one: for the collection that calls the hook.
        if is_in_hook() { self.thread.let_go(tell) } else { self.thread.end(tell) }
    }
}

/// A heap that is not kept alive.
pub(crate) struct WeakHeap {
    shared: Weak<Shared>,
    options: Arc<OptionSet>,
    history: Arc<History>,
}

impl WeakHeap {
    /// The heap, kept alive for now. It ends without what a last clone does.
    pub(crate) fn upgrade(&self) -> Option<Heap> {
        let (shared, options, history) = (self.shared.upgrade()?, self.options.clone(), self.history.clone());
        Some(Heap { shared, options, history, attach_listener: None, at_end: None })
    }
}

impl Heap {
    pub(crate) fn downgrade(&self) -> WeakHeap {
        let (options, history) = (self.options.clone(), self.history.clone());
        WeakHeap { shared: Arc::downgrade(&self.shared), options, history }
    }

    /// The same heap, which ends this listener with its last clone.
    pub(crate) fn with_attach_listener(self, listener: AttachListener) -> Heap {
        Heap { attach_listener: Some(Arc::new(listener)), ..self }
    }
}
