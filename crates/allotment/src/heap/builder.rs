//! Collects the choices about a heap: options, hooks, a name.
//!
//! The program's choice is the weakest: `ALLOTMENT_OPTIONS` in the environment overrides it, so
//! that a user can tune a program without building it again. `choose.rs` derives the open values
//! from the options; `assemble.rs` puts the parts of a heap together.

use super::assemble::{Overrides, assemble};
use super::choose::{Chosen, Platform, choose};
use super::hooks::Hooks;
use super::outputs::Outputs;
use super::{BuildError, Heap};
use crate::collector::CollectionRecord;
use crate::mutator::{LateThread, OutOfMemory, StackWalker};
use crate::options::{
    CollectorKind, OptionError, OptionSet, RefillStrategy, ShenandoahMode, Source, TlabPolicy,
    table::for_each_option,
};
use crate::platform::topology::Topology;
#[cfg(all(test, not(loom)))]
use crate::region::Geometry;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Collects options, then [`build`](Self::build)s the heap.
///
/// The methods named like options are the weakest source. `ALLOTMENT_OPTIONS` in the environment
/// overrides them, so that a user can tune a program without building it again.
/// [`options`](Self::options) overrides both. [`defaults`](Self::defaults) is as weak as the methods.
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
    overrides: Overrides,
}

impl Heap {
    /// Begins a heap: every option of the table is a method of the builder.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// assert_eq!(heap.memory().reserved_bytes, 16 << 20);
    /// # Ok::<(), allotment::heap::BuildError>(())
    /// ```
    pub fn builder() -> HeapBuilder {
        HeapBuilder::default()
    }
}

macro_rules! methods {
    ($($(#[doc = $text:literal])+ $name:ident, $field:ident: $type:ty = $default:expr, $limits:expr,
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
    /// Names the heap's memory, as it appears in `/proc/self/maps`; "heap" by default. Other
    /// processes ask the heap by this name, too (`StartAttachListener`).
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).name("cache").build()?;
    /// let maps = std::fs::read_to_string("/proc/self/maps")?;
    /// println!("{}", maps.lines().filter(|line| line.contains("cache")).count());
    /// # drop(heap);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> HeapBuilder {
        self.name = Some(name.into());
        self
    }

    /// Calls `hook` for a thread that keeps a stop of the world waiting longer than
    /// `SafepointTimeoutDelay`, once for each stop. By default the heap writes a line to standard
    /// error instead. The stopping thread calls the hook, and other threads may be waiting for that
    /// thread: the hook must neither attach nor stop the world.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder()
    ///     .max_heap_size(16 << 20)
    ///     .on_late_thread(|late| eprintln!("{late}"))
    ///     .build()?;
    /// # drop(heap);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_late_thread(mut self, hook: impl Fn(&LateThread) + Send + Sync + 'static) -> HeapBuilder {
        self.hooks.late_thread = Some(Arc::new(hook));
        self
    }

    /// Asks `hook` to release memory (caches, say). The heap asks when a collection did not make
    /// room for an allocation, or when collections take nearly all of the time and free nearly
    /// nothing (`UseGCOverheadLimit`). If the hook answers `true`, another collection follows;
    /// otherwise the allocation fails with that error. The hook runs on the allocating thread,
    /// which is attached but not stopped. A hook that always answers `true` is asked without end.
    ///
    /// ```
    /// # use allotment::Heap;
    /// use std::sync::Mutex;
    ///
    /// static CACHE: Mutex<Vec<allotment::Root<allotment::Str>>> = Mutex::new(Vec::new());
    /// let heap = Heap::builder()
    ///     .max_heap_size(16 << 20)
    ///     .on_heap_limit(|_error| {
    ///         let mut cache = CACHE.lock().expect("no thread panics with it");
    ///         !std::mem::take(&mut *cache).is_empty() // `true`: something was released
    ///     })
    ///     .build()?;
    /// # drop(heap);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_heap_limit(
        mut self,
        hook: impl Fn(&OutOfMemory) -> bool + Send + Sync + 'static,
    ) -> HeapBuilder {
        self.hooks.heap_limit = Some(Arc::new(hook));
        self
    }

    /// Calls `hook` after each collection, on the thread that collected. That thread is attached
    /// and not stopped. Exceptions are a collection of [`Cause::Idle`](crate::stats::Cause::Idle)
    /// or [`Cause::Interval`](crate::stats::Cause::Interval), and a concurrent cycle: they run on
    /// threads that the heap owns, which are not attached. If the hook panics on such a thread,
    /// there are no more such collections. After a collection of `Cause::Interval`, memory then
    /// goes back to the system at collections only.
    ///
    /// ```
    /// # use allotment::Heap;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// static COLLECTIONS: AtomicU64 = AtomicU64::new(0);
    /// let heap = Heap::builder()
    ///     .max_heap_size(16 << 20)
    ///     .on_collection(|_record| _ = COLLECTIONS.fetch_add(1, Ordering::Relaxed))
    ///     .build()?;
    /// heap.attach(|mu| mu.collect())?;
    /// assert_eq!(COLLECTIONS.load(Ordering::Relaxed), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn on_collection(mut self, hook: impl Fn(&CollectionRecord) + Send + Sync + 'static) -> HeapBuilder {
        self.hooks.collection = Some(Arc::new(hook));
        self
    }

    /// Makes the heap decide by `clock` instead of the system's clock. `clock` shows the time since
    /// a moment of its choice and never runs backwards. Sizes follow from the run times of mutators
    /// and of collections, so this serves simulations that are replayed and tests that compare two
    /// runs.
    ///
    /// A single-threaded program has the same collections in each run if the rest is the same, too:
    /// `ParallelGCThreads=1`, `AllocationRegions=1` (otherwise the CPU has a say),
    /// `-CollectWhenIdle`, and no `GCInterval`. Without `GCInterval`, a heap with a clock gives
    /// memory back to the system at collections only. Phases of a collection and times to safepoints, which count as part of
    /// pauses, follow the system's clock; so does every wait for a thread.
    ///
    /// The heap calls `clock` when the heap is made and reset, at refills of buffers, and several
    /// times in a collection. Any thread may make the call, even in the stopped world, where a
    /// panic ends the process. `clock` must be quick, and must neither panic nor use this heap.
    ///
    /// The distances of allocation samples, which are random, are then the same in each run, too.
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

    /// Makes `walker` walk the stacks of allocation samples, and name their frames in profiles.
    /// Without it, frames of the machine's stack are taken, where the program was compiled with
    /// frame pointers (`-C force-frame-pointers=yes`).
    #[must_use]
    pub fn stack_walker(mut self, walker: impl StackWalker + 'static) -> HeapBuilder {
        self.hooks.stack_walker = Some(Arc::new(walker));
        self
    }

    /// Sets the program's choices in a user's notation, as the methods named like options do. The
    /// environment overrides them.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let builder = Heap::builder().max_heap_size(16 << 20).defaults("Collector=epsilon,-UseTLAB")?;
    /// // Whether ALLOTMENT_OPTIONS names a collector or not: the program's own choice is weaker.
    /// println!("{}", builder.build()?.collector());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OptionError`] for an unknown name or a value out of range.
    pub fn defaults(mut self, text: &str) -> Result<HeapBuilder, OptionError> {
        self.options.apply_str(text, Source::Builder)?;
        Ok(self)
    }

    /// Sets options in a user's notation: `"TLABSize=64k,-ResizeTLAB"`. They override the
    /// environment.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).options("Collector=epsilon,-UseTLAB")?.build()?;
    /// assert_eq!(heap.collector(), "epsilon");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`OptionError`] for an unknown name or a value out of range.
    pub fn options(mut self, text: &str) -> Result<HeapBuilder, OptionError> {
        self.options.apply_str(text, Source::CommandLine)?;
        Ok(self)
    }

    /// Every option with its origin and the value that [`build`](Self::build) would use. Makes no
    /// heap.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let options = Heap::builder().max_heap_size(16 << 20).resolve()?;
    /// let size = options.rows().find(|row| row.info.name == "MaxHeapSize").expect("an option");
    /// println!("{} ({})", size.value, size.origin);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of `build`, except for files that cannot be written and for memory that the system
    /// refuses.
    pub fn resolve(self) -> Result<OptionSet, BuildError> {
        self.resolve_on(&Topology::detect())
    }

    /// [Resolves](Self::resolve) the options on a machine that was examined before. This is for a
    /// caller that resolves many times, since `Topology::detect` reads dozens of files.
    ///
    /// # Errors
    /// Those of `resolve`.
    #[doc(hidden)]
    pub fn resolve_on(mut self, topology: &Topology) -> Result<OptionSet, BuildError> {
        Ok(self.choose(topology)?.set)
    }

    /// Makes the heap.
    ///
    /// ```
    /// # use allotment::Heap;
    /// let heap = Heap::builder().max_heap_size(16 << 20).build()?;
    /// assert_eq!(heap.memory().used_bytes, 0);
    /// let refused = Heap::builder().max_heap_size(1).build();
    /// println!("{}", refused.expect_err("a heap of 1 byte"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BuildError`]: an option of the program or of `ALLOTMENT_OPTIONS` is wrong, options
    /// contradict each other, a file that an option names cannot be written, or the system does not
    /// give the memory.
    pub fn build(mut self) -> Result<Heap, BuildError> {
        let topology = Topology::detect();
        let chosen = self.choose(&topology)?;
        let mut outputs = Outputs::open(chosen.set.values())?;
        self.hooks.out_of_memory = outputs.snapshots.clone().map(Heap::when_exhausted);
        let listens = chosen.set.values().start_attach_listener;
        let name = self.name.as_deref().unwrap_or("heap");
        let heap = assemble(chosen, topology, self.overrides, name, self.hooks, &mut outputs)?;
        Ok(heap.observed(listens.then_some(name), outputs.profile)?)
    }

    fn choose(&mut self, topology: &Topology) -> Result<Chosen, BuildError> {
        self.options.apply_environment()?;
        choose(&self.options, self.overrides.geometry, &Platform::detect(topology))
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn test_geometry(mut self, region_bytes: usize, regions: usize) -> HeapBuilder {
        self.overrides = Overrides {
            geometry: Some(Geometry { region_shift: region_bytes.trailing_zeros(), regions }),
            // Two CPUs count as four, so that several threads of a stop can be called to help.
            cpus: Some(2 * Topology::detect().available_parallelism()),
            hot_bytes: Some(4 * region_bytes),
            seed: Some(0),
        };
        self
    }

    /// The heap's samples have these distances.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn test_seed(mut self, seed: u64) -> HeapBuilder {
        self.overrides.seed = Some(seed);
        self
    }
}
