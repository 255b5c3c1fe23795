//! An attachment that its owner keeps, for a thread that has no body to run.

use super::Heap;
use crate::mutator::{AttachError, ForkError, Hot, Mutator, OwnState};
use std::fmt;

/// A thread attached to a heap, from [`Heap::attach_thread`] until the value is dropped.
///
/// A program that is called back, by a framework or from C, has no place for the body of
/// [`Heap::attach`]. It keeps an attachment instead, and works in [`with`](Self::with) wherever it
/// is called. Between two of these calls the thread is attached and at no safepoint: stops of the
/// world wait for it. A thread that waits for something does so in [`blocking`](Self::blocking).
///
/// The attachment stays on its thread, and keeps the heap. A thread that ends while it is attached,
/// because the attachment was leaked, is detached and named on standard error.
///
/// ```
/// use allotment::{Attachment, Heap, NewStr, OutOfMemory, Root, Str, alloc};
///
/// struct Window {
///     attachment: Attachment,
///     title: Option<Root<Str>>,
/// }
///
/// impl Window {
///     fn on_title(&mut self, text: &str) -> Result<(), OutOfMemory> {
///         let title = &mut self.title;
///         self.attachment.with(|mu| {
///             let text = alloc!(mu, NewStr::from(text))?;
///             *title = Some(Root::new(mu, text));
///             Ok(())
///         })
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
/// let mut window = Window { attachment: heap.attach_thread()?, title: None };
/// window.on_title("first")?;
/// window.on_title("second")?;
/// let Window { attachment, title } = &mut window;
/// let length = attachment.with(|mu| title.as_ref().map(|title| title.get(mu).len()));
/// assert_eq!(length, Some(6));
/// # Ok(())
/// # }
/// ```
#[must_use = "dropping it detaches the thread"]
pub struct Attachment {
    /// First: the thread detaches before the heap may end.
    state: OwnState,
    heap: Heap,
}

impl Heap {
    /// Attaches the calling thread until the result is dropped. [`attach`](Self::attach) is better
    /// where there is a body to run. The call waits while the world is stopped.
    ///
    /// ```
    /// # use allotment::{AttachError, Heap};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut attachment = heap.attach_thread()?;
    /// assert!(attachment.with(|mu| mu.collect()));
    /// assert_eq!(heap.attach(|_mu| ()), Err(AttachError::AlreadyAttached));
    /// drop(attachment);
    /// assert_eq!(heap.attach(|_mu| ()), Ok(()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`attach`](Self::attach), and [`AttachError::ThreadEnds`] in the destructor of a
    /// thread-local value.
    pub fn attach_thread(&self) -> Result<Attachment, AttachError> {
        Ok(Attachment { state: OwnState::attach(&self.shared)?, heap: self.clone() })
    }

    /// Whether the heap can be used in this process. Outside of children of `fork()` it can.
    ///
    /// ```
    /// # let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// assert_eq!(heap.check_fork(), Ok(()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ForkError`] in a child of `fork()` in which the heap cannot be used.
    pub fn check_fork(&self) -> Result<(), ForkError> {
        self.shared.after_fork()
    }
}

impl Attachment {
    /// Runs `body` as the attached thread. If `body` unwinds, the thread stays attached.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut attachment = heap.attach_thread()?;
    /// let length = attachment.with(|mu| alloc!(mu, NewStr::from("text")).map(|text| text.len()))?;
    /// assert_eq!(length, 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If the thread was detached because it ends: in the destructor of a thread-local value.
    pub fn with<R>(&mut self, body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R) -> R {
        let done = self.state.with(body);
        done.expect("the thread is ending and was detached: use an attachment before its thread ends")
    }

    /// Runs `f`, which may wait for anything: [`Mutator::blocking`].
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut attachment = heap.attach_thread()?;
    /// let stopped = attachment.blocking(|| heap.stop_the_world(|world| world.threads()));
    /// assert_eq!(stopped, Ok(Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As for [`with`](Self::with).
    pub fn blocking<R>(&mut self, f: impl FnOnce() -> R) -> R {
        self.with(|mutator| mutator.blocking(f))
    }

    /// Ends the attachment as the end of its thread would: detaches the thread, and names it on
    /// standard error unless it is the first thread. For an owner that has a destructor of the
    /// thread's end, and frees the attachment there. Roots in frames are forgotten: the frames are
    /// gone.
    ///
    /// Returns `false` if code of the heap is on the thread's stack. Then the thread calls `exit`
    /// from there, and stays attached.
    ///
    /// The memory of the [hot part](Self::hot) is never freed after this. Generated code that still
    /// runs as the thread ends may read the hot part before it calls a function that refuses.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let mut attachment = heap.attach_thread()?;
    /// assert!(attachment.end_with_thread());
    /// assert_eq!(heap.threads().len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn end_with_thread(&mut self) -> bool {
        self.state.end_with_thread()
    }

    /// The heap.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// The hot part of the thread's state:
    /// [`RawMutator::with_hot`](crate::raw::RawMutator::with_hot) takes it.
    pub fn hot(&self) -> *const Hot {
        self.state.hot()
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Attachment").finish_non_exhaustive()
    }
}
