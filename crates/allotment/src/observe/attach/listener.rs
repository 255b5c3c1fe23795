//! `StartAttachListener`: the thread of a heap that answers other processes, and its end.
//!
//! The thread starts with the heap and ends with its last clone. It keeps the heap alive only while
//! it answers, and it is attached only while it collects. The end of the heap waits for an answer
//! that is under way, as it waits for files that it writes: memory that goes back on another thread
//! at some later moment would surprise more than a short wait. Only a hook that drops the heap does
//! not wait: the answer may wait for it.
//!
//! A child of `fork()` has neither the thread nor the socket. It does not listen.

use super::{Patience, serve};
use crate::Heap;
use crate::platform::{AttachListenerError, LocalListener, OwnThread, is_in_hook};
use std::sync::Arc;

/// The name of the thread.
const THREAD: &str = "allotment-attach";

/// The thread that answers, and its socket. Both end when this is dropped.
pub(in crate::observe) struct AttachListener {
    socket: Arc<LocalListener>,
    thread: OwnThread,
}

impl AttachListener {
    /// Starts the thread of `heap`, which other processes find under `name`.
    pub(in crate::observe) fn start(
        name: &str,
        heap: &Heap,
        patience: Patience,
    ) -> Result<AttachListener, AttachListenerError> {
        let socket = Arc::new(LocalListener::bind(name)?);
        let (of_thread, heap) = (socket.clone(), heap.downgrade());
        let thread = OwnThread::start(THREAD, move || serve(&of_thread, &heap, patience));
        let thread = thread.map_err(|source| AttachListenerError::Thread { source })?;
        Ok(AttachListener { socket, thread })
    }
}

impl Drop for AttachListener {
    fn drop(&mut self) {
        let tell = || self.socket.end();
        // A hook of the embedder may have dropped the heap. Then the thread that listens may wait
        // for this one: for the collection that calls the hook.
        if is_in_hook() { self.thread.let_go(tell) } else { self.thread.end(tell) }
    }
}
