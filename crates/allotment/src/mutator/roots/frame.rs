//! The place from which generated code called the heap. It leads to the roots in the code's frames.

use std::ptr;

/// The place from which generated code called the heap.
#[derive(Debug)]
#[repr(C)]
pub struct GeneratedFrame {
    /// The frame of the call that was under way when generated code was entered again, or null.
    pub(in crate::mutator) previous: *const GeneratedFrame,
    /// The caller's frame pointer: `rbp` or `x29`.
    pub(in crate::mutator) frame_pointer: usize,
    /// The address after the caller's call.
    pub(in crate::mutator) return_address: usize,
    /// The hot part, which the entry keeps here: the stack of AArch64 is a multiple of 16.
    #[cfg(target_arch = "aarch64")]
    pub(in crate::mutator) hot: usize,
}

impl GeneratedFrame {
    /// The caller's frame pointer (`rbp` or `x29`), whatever the caller uses it for.
    pub fn frame_pointer(&self) -> usize {
        self.frame_pointer
    }

    /// The address after the caller's call: the key of a stack map.
    pub fn return_address(&self) -> usize {
        self.return_address
    }

    /// The caller's stack pointer (`rsp` or `sp`) before the call. A stack map's offsets are relative
    /// to it.
    pub fn stack_pointer(&self) -> usize {
        ptr::from_ref(self).addr() + size_of::<GeneratedFrame>()
    }

    /// The frame of the call that was under way when the thread entered generated code again, from
    /// a hook of the embedder.
    pub fn previous(&self) -> Option<&GeneratedFrame> {
        // SAFETY: a call that is under way has its frame on the stack of the same thread, further
        // out.
        unsafe { self.previous.as_ref() }
    }
}
