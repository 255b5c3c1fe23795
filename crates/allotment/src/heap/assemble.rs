//! Puts the parts of a heap together, from chosen options.
//!
//! This is the only module that knows all layers. Each part takes its options through settings of
//! its own layer, and assembles itself.

use super::choose::Chosen;
use super::hooks::Hooks;
use super::outputs::Outputs;
use super::{BuildError, Heap};
use crate::collector::record::LogLevel;
use crate::collector::sizing::Machine;
use crate::collector::{Built, History, Parts, build};
use crate::mutator::{EndSignal, HERE, Late, Policy, Registry, Sampler, Shared, Threads, Watch, hot_bytes};
use crate::platform::topology::Topology;
use crate::platform::{Clock, ProcessMark, Processor};
use crate::region::{Geometry, Space};
use crate::timeline::Timeline;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// Values in place of those of the machine and of chance. Tests set them, so that they repeat
/// themselves and reach rare paths with little memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overrides {
    /// Regions, which may be smaller than a user may choose.
    pub(super) geometry: Option<Geometry>,
    /// CPUs that threads of a stop may be called to help on.
    pub(super) cpus: Option<usize>,
    /// Limit in bytes for recycling the last regions first.
    pub(super) hot_bytes: Option<usize>,
    /// Seed of the distances of allocation samples.
    pub(super) seed: Option<u64>,
}

/// Makes the heap of these options; its memory has that name. It writes no files when it ends,
/// until [`Heap::observed`].
pub(super) fn assemble(
    chosen: Chosen,
    topology: Topology,
    overrides: Overrides,
    name: &str,
    hooks: Hooks,
    outputs: &mut Outputs,
) -> Result<Heap, BuildError> {
    let Chosen { set, geometry, sizing } = chosen;
    let options = set.values();
    if let (Some(_), Some(path)) = (&hooks.clock, &outputs.timeline) {
        return Err(BuildError::TimelineWithClock { path: path.display().to_string() });
    }
    let machine = Machine::new(geometry, &topology, options.parallel_gc_threads);
    let cpus = overrides.cpus.unwrap_or_else(|| topology.available_parallelism());
    let hot_bytes = overrides.hot_bytes.unwrap_or_else(|| hot_bytes(&Processor::detect(), machine.l2_bytes));
    // A heap that decides by the program's clock repeats itself, in its samples too. Other samples
    // are independent of those of other heaps and processes.
    let repeats = hooks.clock.is_some().then_some(0);
    let seed = overrides.seed.or(repeats).unwrap_or_else(|| RandomState::new().hash_one(0));

    let space = Space::new(options, geometry, topology, name)?;
    if !space.free.commit_ahead(options.initial_heap_size) {
        return Err(BuildError::InitialHeap { bytes: options.initial_heap_size });
    }
    let clock = Clock::new(hooks.clock);
    let timeline = outputs.timeline.as_deref().map(|path| Timeline::begin(path, &clock, name));
    let timeline = timeline.transpose()?.map(Arc::new);
    let log = outputs.begin_log(&clock)?;
    let level = LogLevel::from_options(options);
    let history = Arc::new(History::new(clock.clone(), level, log, hooks.collection, timeline.clone()));
    let parts =
        Parts { options, space: &space, machine, history: history.clone(), timeline: timeline.clone() };
    let Built { collector, between } = build(&parts)?;
    let late = Late::new(options.safepoint_timeout_delay, hooks.late_thread);
    let shared = Shared {
        process: ProcessMark::new(HERE),
        space,
        threads: Threads::new(Registry::new(&sizing, cpus, late)),
        policy: Policy::new(options, sizing, between, hot_bytes),
        watch: Watch {
            sampler: Sampler::new(
                options.allocation_sample_interval,
                options.allocation_sample_memory,
                seed,
                hooks.stack_walker,
            ),
            timeline,
            clock,
            on_heap_limit: hooks.heap_limit,
            on_out_of_memory: hooks.out_of_memory,
        },
        collector,
        end: EndSignal::new(),
    };
    let (shared, options) = (Arc::new(shared), Arc::new(set));
    shared.collector.heap_is_ready(&shared);
    Ok(Heap { shared, options, history, at_end: None })
}
