//! Why a heap cannot be used in a child of `fork()`. `thread/forked.rs` finds that out.

/// Why a heap cannot be used in a child of `fork()`. [`Heap`](crate::Heap) says which operations
/// are possible.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForkError {
    /// Another thread was attached and ran. Its objects may be half made.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread was attached and not in `blocking`; fork \
         while all others are in `blocking` or detached"
    )]
    ThreadRan,
    /// Another thread was stopping the world, perhaps for a collection.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread was stopping the world; fork while no \
         other thread uses the heap"
    )]
    WorldStopped,
    /// Another thread held a lock of the heap. No thread of the child can release it.
    #[error(
        "this heap cannot be used in a child process: at the fork another thread held one of its locks; fork while no \
         other thread uses the heap"
    )]
    Locked,
    /// Other threads were attached at the fork, and the thread that forked has not used the heap
    /// yet. This may change.
    #[error(
        "this heap cannot be used yet on this thread of a child process: the thread that forked must attach, or use its \
         mutator, first"
    )]
    NotYet,
}
crate::debug::debug_is_display!(ForkError);
