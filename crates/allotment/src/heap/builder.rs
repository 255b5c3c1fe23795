//! Collects what is chosen about a heap: options, hooks, a name.
//!
//! The program's choice is the weakest: `ALLOTMENT_OPTIONS` in the environment comes after it, so that
//! a user can tune a program without building it again. What follows from the options is `choose.rs`, the parts of a
//! heap are put together in `assemble.rs`.

use super::assemble::assemble;
use super::choose::{Chosen, Platform, choose};
use super::hooks::Hooks;
use super::{BuildError, Heap};
use crate::collector::CollectionRecord;
use crate::mutator::{LateThread, OutOfMemory};
use crate::options::{
    CollectorKind, OptionError, OptionSet, RefillStrategy, Source, TlabPolicy, table::for_each_option,
};
use crate::platform::topology::Topology;
use crate::region::Geometry;
use std::sync::Arc;
use std::time::Duration;

/// Collects options, then [`build`](Self::build)s.
///
/// The methods named like options are the weakest say: `ALLOTMENT_OPTIONS` in the environment wins over them, so that a user
/// can tune a program without building it again, and [`options`](Self::options) wins over both.
///
/// ```
/// let heap = allotment::Heap::builder().max_heap_size(32 << 20).zero_tlab(true).build()?;
/// assert_eq!(heap.geometry().heap_bytes(), 32 << 20);
/// # Ok::<(), allotment::heap::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct HeapBuilder {
    options: OptionSet,
    name: Option<String>,
    hooks: Hooks,
    /// Regions smaller than a user may have, of tests, which reach the rare paths with them.
    geometry: Option<Geometry>,
}

impl Heap {
    /// Begins a heap: every option of the table is a method of the builder.
    pub fn builder() -> HeapBuilder {
        HeapBuilder::default()
    }
}

macro_rules! methods {
    ($($(#[doc = $text:literal])+ $name:ident, $field:ident: $type:ty = $default:expr, $kind:ident => $limits:expr,
        [$($hotspot:literal),*] $difference:literal;)+) => {
        /// One method for each row of the option table.
        impl HeapBuilder {
            $($(#[doc = $text])+
            #[must_use]
            pub fn $field(mut self, value: $type) -> Self {
                self.options.$field(value);
                self
            })+
        }
    };
}
for_each_option!(methods);

impl HeapBuilder {
    /// Names the heap's memory, as it appears in `/proc/self/maps`; "heap" by default.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> HeapBuilder {
        self.name = Some(name.into());
        self
    }

    /// Tells `hook` of a thread that keeps a stop of the world waiting for longer than `SafepointTimeoutDelay`, once
    /// for each stop; by default a line on standard error does. The stopping thread calls it, which other
    /// threads may be waiting for: it must neither attach nor stop the world.
    #[must_use]
    pub fn on_late_thread(mut self, hook: impl Fn(&LateThread) + Send + Sync + 'static) -> HeapBuilder {
        self.hooks.late_thread = Some(Arc::new(hook));
        self
    }

    /// Asks `hook` to release what it can (caches, say) when a collection did not make room for an
    /// allocation, or when collections take nearly all of the time and free nearly nothing
    /// (`UseGCOverheadLimit`). Where it answers `true` another collection follows, else the
    /// allocation fails with that error. Called on the thread that allocates, which is attached but
    /// not stopped. A hook that always says `true` is asked for ever.
    #[must_use]
    pub fn on_heap_limit(
        mut self,
        hook: impl Fn(&OutOfMemory) -> bool + Send + Sync + 'static,
    ) -> HeapBuilder {
        self.hooks.heap_limit = Some(Arc::new(hook));
        self
    }

    /// Tells `hook` of each collection when it is over, on the thread that collected: one that is attached and not
    /// stopped, or, for those of [`Cause::Idle`](crate::mutator::Cause::Idle), one of the heap's own, which is not attached. If the hook panics on that
    /// one, there are no more such collections.
    #[must_use]
    pub fn on_collection(mut self, hook: impl Fn(&CollectionRecord) + Send + Sync + 'static) -> HeapBuilder {
        self.hooks.collection = Some(Arc::new(hook));
        self
    }

    /// Has the heap decide by the time that `clock` shows, instead of the system's: since a moment of its choice, never running
    /// backwards. Sizes follow from how long mutators ran and collections took; for simulations that are replayed, and tests
    /// that compare two runs. A program of one thread then has the same collections in each run if the rest is the same, too:
    /// `ParallelGCThreads=1`, `AllocationRegions=1` (otherwise the CPU has a say) and `-CollectWhenIdle`. Phases of a collection and
    /// times to safepoints, which count as part of pauses, are the system's, and so is what waits for a thread.
    ///
    /// Called when the heap is made and reset, at refills of buffers, and several times in a collection, by whatever thread does
    /// that, also in the stopped world, where a panic ends the process. It must be quick, and neither panic nor use this heap.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::time::Duration;
    ///
    /// static STEPS: AtomicU64 = AtomicU64::new(0);
    /// let clock = || Duration::from_millis(STEPS.load(Ordering::Relaxed));
    /// let heap = allotment::Heap::builder().max_heap_size(16 << 20).clock(clock).build()?;
    /// STEPS.store(5, Ordering::Relaxed);
    /// heap.attach(|mu| mu.collect())?;
    /// assert_eq!(heap.collections().recent[0].start, Duration::from_millis(5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn clock(mut self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> HeapBuilder {
        self.hooks.clock = Some(Arc::new(clock));
        self
    }

    /// Sets options as a user writes them: `"TLABSize=64k,-ResizeTLAB"`. They win over the environment.
    ///
    /// # Errors
    /// [`OptionError`] for an unknown name or a value out of range.
    pub fn options(mut self, text: &str) -> Result<HeapBuilder, OptionError> {
        self.options.apply_str(text, Source::CommandLine)?;
        Ok(self)
    }

    /// Every option with the value that [`build`](Self::build) would use and where it came from; makes no
    /// heap.
    ///
    /// # Errors
    /// [`BuildError`] as `build`, but for what the system refuses when it is asked for memory.
    pub fn resolve(self) -> Result<OptionSet, BuildError> {
        self.resolve_on(&Topology::detect())
    }

    /// [`resolve`](Self::resolve) on a machine that was looked at before: for whoever resolves many times, since
    /// `Topology::detect` reads dozens of files.
    ///
    /// # Errors
    /// As `resolve`.
    #[doc(hidden)]
    pub fn resolve_on(mut self, topology: &Topology) -> Result<OptionSet, BuildError> {
        Ok(self.choose(topology)?.set)
    }

    /// Makes the heap.
    ///
    /// # Errors
    /// [`BuildError`]: an option of the program or of `ALLOTMENT_OPTIONS` is wrong, options contradict
    /// each other, or the system does not give the memory.
    pub fn build(mut self) -> Result<Heap, BuildError> {
        let topology = Topology::detect();
        let chosen = self.choose(&topology)?;
        assemble(chosen, topology, self.name.as_deref().unwrap_or("heap"), self.hooks)
    }

    fn choose(&mut self, topology: &Topology) -> Result<Chosen, BuildError> {
        self.options.apply_environment()?;
        choose(&self.options, self.geometry, &Platform::detect(topology))
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn test_geometry(mut self, region_bytes: usize, regions: usize) -> HeapBuilder {
        self.geometry = Some(Geometry { region_shift: region_bytes.trailing_zeros(), regions });
        self
    }
}
