//! Builds a heap from the option table.
//!
//! The program's choice is the weakest: `ALLOTMENT_OPTIONS` in the environment comes after it, so that
//! a user can tune a program without building it again.

use super::hooks::Hooks;
use super::{Heap, prefetch};
use crate::collector::verify::{Checks, Level};
use crate::collector::work::{Gang, default_workers};
use crate::collector::{
    Capacity, CollectionRecord, Epsilon, History, MarkCompact, Pages, Parallel, ParallelParts, Print,
    Settings as CollectorSettings, sizing,
};
use crate::memory::topology::Topology;
use crate::memory::{Clock, MemoryError, PrefetchError, Processor, Reservation, huge_page_size, limit};
use crate::mutator::{
    Collector, Committer, Late, LateThread, OutOfMemory, Registry, Roots, Shared, ZealSchedule, hot_bytes,
};
use crate::object::Shapes;
use crate::options::{
    CollectorKind, OptionError, OptionId, OptionSet, Options, Origin, RefillStrategy, Source, TlabPolicy,
    table::for_each_option,
};
use crate::region::{CardTable, Disposal, FreeSet, Geometry, GeometryError, RefillMode, RegionTable};
use crate::sync::Mutex;
use crate::tlab::budget::Budget;
use crate::tlab::sizing::{Config, Settings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
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
    /// Regions smaller than a user may have, so that tests reach the rare paths.
    #[cfg(all(test, not(loom)))]
    test_geometry: Option<Geometry>,
}

/// Why there is no heap.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// An option is wrong, or two contradict each other.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The heap cannot be divided into regions.
    #[error(transparent)]
    Geometry(#[from] GeometryError),
    /// The system does not give the memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// More is to be committed at the beginning than the heap may ever have.
    #[error(
        "InitialHeapSize={initial}: without MaxHeapSize the heap has at most {max} bytes here; set MaxHeapSize, or \
         lower InitialHeapSize"
    )]
    InitialAboveMax {
        /// InitialHeapSize in bytes.
        initial: usize,
        /// What MaxRAMPercentage of the memory is, in bytes.
        max: usize,
    },
    /// `AllocatePrefetch` options that do not work together, or not on this processor.
    #[error(transparent)]
    Prefetch(#[from] PrefetchError),
    /// The system gives less memory than the heap is to begin with.
    #[error("InitialHeapSize={bytes}: the system refused to commit that much; a smaller one may work")]
    InitialHeap {
        /// InitialHeapSize in bytes.
        bytes: usize,
    },
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

    /// Asks `hook`, when a collection did not make room for an allocation, to release what it can (caches, say);
    /// where it answers `true` another collection follows, else the allocation fails with that error. Called
    /// on the thread that allocates, which is attached but not stopped. A hook that always says `true` is asked for ever.
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
    /// [`BuildError`] as `build`, as far as options alone can be wrong.
    pub fn resolve(mut self) -> Result<OptionSet, BuildError> {
        self.choose(&Topology::detect())?;
        Ok(self.options)
    }

    /// Takes in the environment, checks, and puts numbers where the options left the choice to the heap.
    fn choose(&mut self, topology: &Topology) -> Result<(Options, Geometry), BuildError> {
        self.options.apply_environment()?;
        let mut chosen = self.options.finish()?;
        if chosen.max_heap_size == 0 {
            chosen.max_heap_size = limit::default_max_heap_size(chosen.max_ram_percentage);
            let (initial, max) = (chosen.initial_heap_size, chosen.max_heap_size);
            if initial > max {
                return Err(BuildError::InitialAboveMax { initial, max });
            }
        }
        let geometry = self.geometry(&chosen)?;
        chosen.max_heap_size = geometry.heap_bytes();
        chosen.region_size = geometry.region_bytes();
        // A worker's buffer that is most of a region leaves the rest of it to nobody.
        let largest = geometry.region_bytes() / 4;
        chosen.young_plab_size = chosen.young_plab_size.min(largest);
        chosen.old_plab_size = chosen.old_plab_size.min(largest);
        if chosen.allocation_regions == 0 {
            // Without buffers all threads share one pointer; under one lock one region serves all.
            let one = !chosen.use_tlab || chosen.refill_strategy == RefillStrategy::Lock;
            chosen.allocation_regions = if one { 1 } else { topology.cpus().len().max(1) };
        }
        prefetch::choose(&self.options, &mut chosen)?;
        self.options.resolve(&chosen);
        Ok((chosen, geometry))
    }

    #[cfg(all(test, not(loom)))]
    pub(crate) fn test_geometry(mut self, region_bytes: usize, regions: usize) -> HeapBuilder {
        self.test_geometry = Some(Geometry { region_shift: region_bytes.trailing_zeros(), regions });
        self
    }

    fn geometry(&self, chosen: &Options) -> Result<Geometry, GeometryError> {
        #[cfg(all(test, not(loom)))]
        if let Some(geometry) = self.test_geometry {
            return Ok(geometry);
        }
        Geometry::new(chosen.max_heap_size, chosen.region_size)
    }

    /// Makes the heap.
    ///
    /// # Errors
    /// [`BuildError`]: an option of the program or of `ALLOTMENT_OPTIONS` is wrong, options contradict
    /// each other, or the system does not give the memory.
    pub fn build(mut self) -> Result<Heap, BuildError> {
        let topology = Topology::detect();
        let (chosen, geometry) = self.choose(&topology)?;
        let weight = match self.options.origin(OptionId::TLABAllocationWeight) {
            Origin::Default => None,
            _ => Some(chosen.tlab_allocation_weight as u8),
        };
        let sizing = Config::new(&settings(&chosen, geometry, weight));
        let reservation = reserve(&chosen, geometry, self.name.as_deref().unwrap_or("heap"))?;
        if chosen.always_pre_touch && chosen.initial_heap_size > 0 {
            // By all cores at once; region by region it is then found touched.
            let bytes = chosen.initial_heap_size.next_multiple_of(geometry.region_bytes());
            reservation.pretouch(0, bytes.min(geometry.heap_bytes()), topology.available_parallelism())?;
        }
        let base = reservation.base() as usize;
        let backing = Committer {
            reservation,
            region_bytes: geometry.region_bytes(),
            granule: granule(&chosen, geometry),
            pre_touch: chosen.always_pre_touch,
        };
        let mode = match chosen.refill_strategy {
            RefillStrategy::Cas => RefillMode::CompareAndSwap,
            RefillStrategy::Lock => RefillMode::Lock,
        };
        let cards = CardTable::new(base, geometry.heap_bytes())?;
        let table = RegionTable::new(base, geometry);
        let disposal = Disposal {
            poison: chosen.zeal_poison,
            protect: chosen.zeal_protect,
            quarantine: chosen.zeal_quarantine,
        };
        let free = FreeSet::new(table, backing, mode, chosen.allocation_regions).with_disposal(disposal);
        if !free.commit_ahead(chosen.initial_heap_size) {
            return Err(BuildError::InitialHeap { bytes: chosen.initial_heap_size });
        }
        let late = Late::new(chosen.safepoint_timeout_delay).with_hook(self.hooks.late_thread);
        let clock = Clock::new(self.hooks.clock);
        let history = Arc::new(History::new(clock.clone(), print(&chosen), self.hooks.collection));
        let workers = match chosen.parallel_gc_threads {
            0 => default_workers(topology.available_parallelism()),
            threads => threads,
        };
        let machine = sizing::Machine::new(geometry, &topology, workers);
        let cpus: Vec<usize> = topology.cpus().iter().map(|cpu| cpu.number).collect();
        let gang = Gang::new("allotment-gc", workers).on_cpus(&cpus);
        let settings = CollectorSettings {
            pages: Pages {
                huge: chosen.use_transparent_huge_pages,
                touching: topology.available_parallelism(),
                touched_for: if chosen.always_pre_touch {
                    chosen.initial_heap_size.max(geometry.region_bytes())
                } else {
                    0
                },
            },
            uncommit_delay_ms: chosen.uncommit_delay,
            keep_bytes: chosen.initial_heap_size,
            move_all: chosen.zeal_move,
            checks: Checks {
                before: chosen.verify_before_gc,
                after: chosen.verify_after_gc,
                level: Level::from_number(chosen.verify_gc_level),
            },
        };
        // What threads share between two collections.
        let mut between = geometry.heap_bytes();
        let collector: Box<dyn Collector> = match chosen.collector {
            CollectorKind::Epsilon => Box::new(Epsilon),
            CollectorKind::MarkCompact => {
                let (initial, ratio) = (chosen.initial_heap_size, chosen.min_heap_free_ratio);
                let capacity = Capacity::new(initial, geometry.region_bytes(), ratio);
                free.set_capacity(capacity.after(0));
                Box::new(MarkCompact::new(base, geometry, history.clone(), settings, capacity, gang)?)
            }
            CollectorKind::Parallel => {
                let (parallel, first) = Parallel::new(ParallelParts {
                    base,
                    machine,
                    gang,
                    history: history.clone(),
                    settings,
                    sizes: sizing::Settings::from(&chosen),
                    when_idle: chosen.collect_when_idle,
                    homes: free.homes(),
                    young_plab_bytes: chosen.young_plab_size,
                    old_plab_bytes: chosen.old_plab_size,
                })?;
                free.set_capacity(first.capacity);
                between = first.eden_regions << geometry.region_shift;
                Box::new(Arc::new(parallel))
            }
        };
        let shared = Shared {
            free,
            cards,
            shapes: Shapes::default(),
            budget: Budget::new(&sizing, between, chosen.tlab_idle_percent),
            roots: Roots::default(),
            // Under test two CPUs count as four, so that several threads of a stop can be called to help.
            registry: Registry::new(&sizing, topology.available_parallelism() << u32::from(cfg!(test)), late),
            sizing,
            collector,
            on_heap_limit: self.hooks.heap_limit,
            topology,
            clock,
            use_tlab: chosen.use_tlab,
            zero_tlab: chosen.zero_tlab,
            zero_window: chosen.zero_window_size,
            hot_bytes: if cfg!(test) {
                4 * geometry.region_bytes()
            } else {
                hot_bytes(&Processor::detect(), machine.l2_bytes)
            },
            zeal: ZealSchedule {
                interval: chosen.zeal_interval,
                seed: chosen.zeal_seed,
                out_of_memory: chosen.zeal_out_of_memory,
            },
            full_collections: AtomicU64::new(0),
            load_hook: AtomicBool::new(false),
            regions: Mutex::new(()),
        };
        Ok(Heap { shared: Arc::new(shared), options: Arc::new(self.options), history })
    }
}

fn print(chosen: &Options) -> Print {
    match (chosen.print_gc, chosen.print_gc_details) {
        (_, true) => Print::Details,
        (true, false) => Print::Line,
        (false, false) => Print::Nothing,
    }
}

fn settings(chosen: &Options, geometry: Geometry, allocation_weight: Option<u8>) -> Settings {
    Settings {
        policy: chosen.tlab_policy,
        region_size: geometry.region_bytes(),
        capacity: geometry.heap_bytes(),
        tlab_size: chosen.tlab_size,
        min_tlab_size: chosen.min_tlab_size,
        max_tlab_size: chosen.max_tlab_size,
        resize: chosen.resize_tlab,
        waste_target_percent: chosen.tlab_waste_target_percent,
        refill_waste_fraction: chosen.tlab_refill_waste_fraction,
        waste_increment: chosen.tlab_waste_increment,
        allocation_weight,
        elasticity: chosen.tlab_elasticity,
        decay_ms: chosen.tlab_decay_time,
    }
}

/// Bytes of address space that become writable together.
fn granule(chosen: &Options, geometry: Geometry) -> usize {
    // A protected region must not become accessible with its neighbour.
    let by_huge_page = chosen.use_transparent_huge_pages && !chosen.zeal_protect;
    let huge = if by_huge_page { huge_page_size() } else { 0 };
    geometry.region_bytes().max(huge)
}

fn reserve(chosen: &Options, geometry: Geometry, name: &str) -> Result<Reservation, MemoryError> {
    let reservation = Reservation::reserve(geometry.heap_bytes(), granule(chosen, geometry), name)?;
    if chosen.use_transparent_huge_pages {
        reservation.advise_huge_pages()?;
    }
    Ok(reservation)
}
