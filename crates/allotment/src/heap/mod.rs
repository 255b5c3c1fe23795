//! The heap as its embedder sees it: [`Heap`], and the [`HeapBuilder`] that makes one.
//!
//! A process may have several heaps, which share nothing. A thread reaches the objects of a heap
//! through the [`Mutator`] that [`Heap::attach`] gives it: by the safe API
//! ([`api`](mod@crate::api)), or by shapes and raw pointers ([`Heap::register`]).

mod assemble;
mod attachment;
mod builder;
mod choose;
#[cfg(all(test, not(loom)))]
mod choose_tests;
mod error;
mod hooks;
mod outputs;
mod prefetch;
#[cfg(all(test, not(loom)))]
mod tests;
mod weak;

pub use crate::platform::{AttachListenerError, MemoryError, Operation};
pub use crate::region::{
    Geometry, GeometryError, MAX_HEAP_BYTES, MAX_REGION_BYTES, MIN_REGION_BYTES, MIN_REGIONS, TARGET_REGIONS,
};
pub use crate::timeline::TimelineError;
pub use attachment::Attachment;
pub use builder::HeapBuilder;
pub use error::BuildError;
pub(crate) use weak::WeakHeap;

use crate::collector::History;
use crate::mutator::{
    AttachError, ForkError, Halted, Mutator, ProviderId, RootProvider, Shared, StopError, Wish, World, attach,
};
use crate::object::{Shape, ShapeError, ShapeRef, Shapes};
use crate::options::OptionSet;
use crate::platform::PrefetchSettings;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// A heap. A clone shares the heap. The memory goes back to the system with the last clone and the
/// last [`Root`](crate::Root). If a thread of the heap's own is just then checking whether to
/// collect (`CollectWhenIdle`, `GCInterval`) or to give memory back (`UncommitDelay`), the memory
/// goes back at the end of that check, on that thread. If
/// such a thread is just then answering another process (`StartAttachListener`), the last clone
/// waits for the answer.
///
/// ```
/// use allotment::{Heap, NewStr, OutOfMemory, alloc};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let heap = Heap::builder().max_heap_size(64 << 20).build()?;
/// let length = heap.attach(|mu| {
///     let text = alloc!(mu, NewStr::from("in the heap"))?;
///     Ok::<usize, OutOfMemory>(text.len())
/// })??;
/// assert_eq!(length, 11);
/// # Ok(())
/// # }
/// ```
///
/// # In a child of `fork()`
///
/// A child has a copy of the heap, but only one thread: the thread that forked. The heap works
/// there if no other thread of the heap ran at the fork: each was detached or in
/// [`Mutator::blocking`], or the forking thread had stopped the world. The other threads are
/// forgotten, with the roots in their frames, and collections start new threads in the child. The
/// mutator of the thread that forked goes on in both processes.
///
/// Otherwise the heap cannot be used in the child. Functions that return a `Result` return a
/// [`ForkError`]; others end the child with a line on standard error. Dropping a heap or a root
/// does neither, and never waits. `docs/fork.md` has the details, and tells how to fork while other
/// threads run.
#[derive(Clone)]
pub struct Heap {
    pub(crate) shared: Arc<Shared>,
    options: Arc<OptionSet>,
    pub(crate) history: Arc<History>,
    /// Dropped with the last clone. The layer above that made it says what that does.
    #[expect(
        dead_code,
        reason = "it is dropped with the last clone, and then ends threads and writes files"
    )]
    at_end: Option<Arc<dyn Any + Send + Sync>>,
}

impl Heap {
    /// Registers a shape, so that objects of it can be allocated through raw pointers. Types with
    /// [`#[derive(Object)]`](macro@crate::Object) need no registration.
    ///
    /// ```
    /// use allotment::{Heap, raw::{Element, Shape}};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let heap = Heap::builder().max_heap_size(64 << 20).build()?;
    /// let bytes = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 }))?;
    /// heap.attach(|mutator| {
    ///     // SAFETY: the shape is this heap's, and nothing resets it meanwhile.
    ///     let object = unsafe { mutator.raw_mut().alloc_raw(bytes, 100)? };
    ///     // SAFETY: an array of bytes has its length after the header.
    ///     assert_eq!(unsafe { object.byte_add(8).cast::<usize>().read() }, 100);
    ///     Ok::<(), allotment::OutOfMemory>(())
    /// })??;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ShapeError`] if the shape describes no object, or all ids are taken.
    pub fn register(&self, shape: Shape) -> Result<ShapeRef, ShapeError> {
        if self.shared.collector.concurrent().is_some() && !shape.has_lasting_slots() {
            return Err(ShapeError::Invalid {
                name: shape.name().to_owned(),
                reason: format!(
                    "its trace function may visit other slots later, and Collector={} traces while threads run; \
                     `Shape::slots_never_change` says that it does not",
                    self.collector()
                ),
            });
        }
        self.shared.space.shapes.register(shape)
    }

    /// The registered shapes.
    ///
    /// ```
    /// # use allotment::{Heap, raw::Shape};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let cell = heap.register(Shape::fixed("Cell", 16))?;
    /// assert_eq!(heap.shapes().get(cell.id()).map(Shape::name), Some("Cell"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shapes(&self) -> &Shapes {
        &self.shared.space.shapes
    }

    /// Runs `body` as a thread of this heap. However `body` ends, the thread detaches and gives its
    /// buffer back. The call waits while the world is stopped.
    ///
    /// No bare pointer leaves `body`; a [`Root`](crate::Root) does. An attached thread that waits
    /// for something else must wait in [`Mutator::blocking`], since a collection waits for the
    /// thread.
    ///
    /// ```
    /// # use allotment::{AttachError, Heap};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let answer = heap.attach(|_mu| 42)?;
    /// assert_eq!(answer, 42);
    /// let again = heap.attach(|_mu| heap.attach(|_mu| ()))?;
    /// assert_eq!(again, Err(AttachError::AlreadyAttached));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AttachError::AlreadyAttached`] inside another `attach`, of any heap: a thread has one heap
    /// at a time, which keeps the objects of two heaps apart. [`AttachError::WorldStopped`] inside
    /// [`stop_the_world`](Self::stop_the_world). [`AttachError::Forked`] in a child of `fork()` in
    /// which the heap cannot be used.
    pub fn attach<R>(&self, body: impl for<'t> FnOnce(&mut Mutator<'t>) -> R) -> Result<R, AttachError> {
        attach(&self.shared, body)
    }

    /// Kills every object at once. The heap uses the memory again, and gives it to the cores that
    /// wrote it last. Weak roots are cleared.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(drop))??;
    /// heap.reset()?;
    /// assert_eq!(heap.memory().used_bytes, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ResetError`] while any thread is attached, or a root or pin keeps an object alive, or in a
    /// child of `fork()` in which the heap cannot be used. The heap is then unchanged.
    pub fn reset(&self) -> Result<(), ResetError> {
        let shared = &self.shared;
        shared.after_fork()?;
        let capacity = self.geometry().heap_bytes();
        // Before the registry is locked: a worker may need it to finish its piece.
        let _halted = Halted::begin(&*shared.collector);
        let mut detached = shared.threads.registry.detached().map_err(|threads| StillAttached { threads })?;
        let used = shared.space.free.occupancy().used_bytes;
        // Ends a cycle that is under way: what it has begun would outlive the objects.
        let world = World::without_threads(shared);
        shared.threads.roots.let_go().map_err(|roots| ResetError::Rooted { roots })?;
        let _regions = shared.keep_regions();
        shared.space.free.reset();
        if let Some(regions) = shared.collector.emptied(&world) {
            shared.space.free.set_capacity(regions);
        }
        detached.end_cycle(used, capacity);
        shared.policy.budget.forget_census();
        Ok(())
    }

    /// Gives the memory of empty regions back to the system; returns the number of bytes. The heap
    /// commits such regions again when it needs them. Mutators may run meanwhile. A collection
    /// waits for the end of the call.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(drop))??;
    /// heap.reset()?;
    /// let freed = heap.uncommit();
    /// assert!(freed > 0);
    /// assert_eq!(heap.memory().committed_bytes, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uncommit(&self) -> usize {
        self.shared.after_fork_or_abort();
        let _regions = self.shared.keep_regions();
        self.shared.space.free.uncommit_free()
    }

    /// Asks every attached thread to give up its buffer at its next safepoint. An allocating thread
    /// reaches one at its next allocation that may be a safepoint. Does not wait.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     heap.request_safepoint();
    ///     mu.safepoint(); // the thread has no buffer now
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn request_safepoint(&self) {
        self.shared.after_fork_or_abort();
        self.shared.threads.registry.request(Wish::Retire);
    }

    /// Samples allocations from here on, at points that are `bytes` apart on average for each
    /// thread; 0: samples none. By default `AllocationSampleInterval` is in force.
    ///
    /// Any thread may call this, attached or not. Each attached thread adopts the interval at its
    /// next safepoint, which is requested; threads that attach later begin with it. What was
    /// sampled before stays, and each sample keeps the interval of its point.
    ///
    /// The interval can be any number of bytes above 0. 512 KiB
    /// ([`DEFAULT_SAMPLE_INTERVAL`](crate::stats::DEFAULT_SAMPLE_INTERVAL)) costs hardly anything,
    /// and 1 samples every object.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.set_allocation_sample_interval(1); // every object
    /// heap.attach(|mu| alloc!(mu, NewStr::from("text")).map(drop))??;
    /// heap.set_allocation_sample_interval(0);
    /// assert_eq!(heap.allocation_profile().sites()[0].samples, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_allocation_sample_interval(&self, bytes: usize) {
        self.shared.after_fork_or_abort();
        self.shared.watch.sampler.set_interval(bytes);
        self.shared.threads.registry.request(Wish::Halt);
    }

    /// Asks `provider` for roots at each collection.
    ///
    /// ```
    /// # use allotment::{Heap, raw::{RootProvider, RootVisitor}};
    /// struct Nothing;
    ///
    /// // SAFETY: it visits nothing.
    /// unsafe impl RootProvider for Nothing {
    ///     fn visit_roots(&self, _roots: &mut RootVisitor<'_, '_>) {}
    /// }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let id = heap.add_root_provider(Box::new(Nothing));
    /// heap.attach(|mu| mu.collect())?; // asks the provider
    /// assert!(heap.remove_root_provider(id).is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_root_provider(&self, provider: Box<dyn RootProvider>) -> ProviderId {
        self.shared.after_fork_or_abort();
        self.shared.threads.roots.providers.add(provider)
    }

    /// Removes a provider, which is then asked no more; `None` if it is not there.
    ///
    /// ```
    /// # use allotment::{Heap, raw::{RootProvider, RootVisitor}};
    /// # struct Nothing;
    /// # unsafe impl RootProvider for Nothing {
    /// #     fn visit_roots(&self, _roots: &mut RootVisitor<'_, '_>) {}
    /// # }
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let id = heap.add_root_provider(Box::new(Nothing));
    /// assert!(heap.remove_root_provider(id).is_some());
    /// assert!(heap.remove_root_provider(id).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remove_root_provider(&self, id: ProviderId) -> Option<Box<dyn RootProvider>> {
        self.shared.after_fork_or_abort();
        self.shared.threads.roots.providers.remove(id)
    }

    /// Stops all threads of the heap, runs `f`, and lets the threads go on. The caller is a thread
    /// that is not attached, or is in [`Mutator::blocking`]. `None` means that another thread
    /// stopped the world first: `f` did not run, and that stop is over.
    ///
    /// [`RawMutator::stop_the_world`](crate::raw::RawMutator::stop_the_world) lists the
    /// restrictions on `f`. It must not panic. If `f` waits for a thread of this heap, or for a lock
    /// that such a thread holds, both wait forever.
    ///
    /// ```
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).build()?;
    /// assert_eq!(heap.stop_the_world(|world| world.threads())?, Some(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`StopError`] if the thread would wait for itself: it is attached and not in `blocking`, or
    /// stops the world already. Or if the process is a child of `fork()` in which the heap cannot
    /// be used.
    ///
    /// # Panics
    /// As [`RawMutator::stop_the_world`](crate::raw::RawMutator::stop_the_world).
    pub fn stop_the_world<R>(&self, f: impl FnOnce(&mut World<'_>) -> R) -> Result<Option<R>, StopError> {
        self.shared.stop_the_world(f)
    }

    /// The division of the heap into regions.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let geometry = heap.geometry();
    /// assert_eq!(geometry.heap_bytes(), 16 << 20);
    /// assert_eq!(geometry.regions * geometry.region_bytes(), 16 << 20);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn geometry(&self) -> Geometry {
        self.shared.space.free.table().geometry()
    }

    /// Address of the first byte of the heap.
    ///
    /// ```
    /// # use allotment::{Heap, NewStr, alloc};
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// heap.attach(|mu| {
    ///     let text = alloc!(mu, NewStr::from("text"))?;
    ///     assert!((heap.base()..heap.base() + (16 << 20)).contains(&text.as_ptr().addr()));
    ///     Ok::<(), allotment::OutOfMemory>(())
    /// })??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn base(&self) -> usize {
        self.shared.space.free.table().base()
    }

    /// The collector's name.
    ///
    /// ```
    /// # use allotment::{Heap, options::CollectorKind};
    /// let heap = Heap::builder().max_heap_size(16 << 20).collector(CollectorKind::MarkCompact).build()?;
    /// assert_eq!(heap.collector(), "mark-compact");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn collector(&self) -> &'static str {
        self.shared.collector.name()
    }

    /// Every option with the value in force and where it came from.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// for row in heap.options().rows().take(3) {
    ///     println!("{} = {} ({})", row.info.name, row.value, row.origin);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn options(&self) -> &OptionSet {
        &self.options
    }

    /// The prefetch that generated code should do when it allocates here: the `AllocatePrefetch`
    /// options, or this processor's defaults where they are not given.
    ///
    /// ```
    /// # use allotment::Heap;
    /// # let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// let settings = heap.prefetch_settings();
    /// println!("{settings:?}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn prefetch_settings(&self) -> PrefetchSettings {
        prefetch::settings(self.options.values())
    }

    /// Whether threads have buffers (`UseTLAB`). Generated code asks: without buffers, it takes
    /// memory from a region that all threads share.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).use_tlab(false).build()?;
    /// assert!(!heap.has_buffers());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn has_buffers(&self) -> bool {
        self.options.values().use_tlab
    }
}

impl Heap {
    /// Drops this clone, and waits for the end of the heap: other threads may still detach, drop
    /// their clones and roots, or end a check whether to collect. When this returns, no hook, root
    /// provider or trace function runs, and the memory is with the system.
    ///
    /// The call waits forever if the calling thread is attached, keeps another clone or a root, or
    /// calls this from a hook. In a child of `fork()` the call does not wait for a heap of the
    /// parent: what the parent's other threads kept is never dropped there.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).options("GCInterval=1")?.build()?;
    /// std::thread::scope(|scope| {
    ///     let other = heap.clone();
    ///     scope.spawn(move || drop(other));
    ///     heap.close();
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(self) {
        let end = self.shared.end.end();
        drop(self);
        end.wait();
    }

    /// This heap, which drops `at_end` with its last clone.
    pub(crate) fn ending_with(self, at_end: impl Any + Send + Sync) -> Heap {
        Heap { at_end: Some(Arc::new(at_end)), ..self }
    }
}

impl fmt::Debug for Heap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heap")
            .field("base", &format_args!("{:#x}", self.base()))
            .field("geometry", &self.geometry())
            .field(
                "attachments",
                &self.shared.after_fork().map(|()| self.shared.threads.registry.attachments()),
            )
            .finish()
    }
}

/// The operation needs every thread to be detached.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{threads} threads are attached to the heap: all have to detach first")]
pub struct StillAttached {
    /// Threads attached at that moment.
    pub threads: usize,
}
crate::debug::debug_is_display!(StillAttached);

/// The reason why a heap was not reset.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResetError {
    /// A thread may be using objects.
    #[error(transparent)]
    Attached(#[from] StillAttached),
    /// The process is a child of `fork()` in which the heap cannot be used.
    #[error(transparent)]
    Forked(#[from] ForkError),
    /// A root or a pin could still reach an object.
    #[error("{roots} roots and pins keep objects of the heap alive: drop them before the reset")]
    Rooted {
        /// Roots that hold a reference, and pinned objects.
        roots: usize,
    },
}
crate::debug::debug_is_display!(ResetError);
