//! Puts the parts of a heap together, from chosen options.
//!
//! This is the only module that knows all layers. Each part takes its options through settings of
//! its own layer, and assembles itself.

use super::choose::Chosen;
use super::hooks::Hooks;
use super::outputs::Outputs;
use super::{BuildError, Heap};
use crate::collector::sizing::Machine;
use crate::collector::{Built, History, Parts, Print, build};
use crate::mutator::{HERE, Late, Policy, Registry, Sampler, Shared, Threads, Watch, hot_bytes};
use crate::platform::topology::Topology;
use crate::platform::{Clock, ProcessMark, Processor};
use crate::region::{Space, SpaceSettings};
use crate::timeline::Timeline;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

/// What a heap takes from its machine and from chance, beside its options. Tests choose it, so that
/// they repeat themselves and reach rare paths with little memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    /// CPUs that threads of a stop may be called to help on.
    pub(super) cpus: usize,
    /// Limit in bytes for recycling the last regions first.
    pub(super) hot_bytes: usize,
    /// Seed of the distances of allocation samples.
    pub(super) seed: u64,
}

impl Surroundings {
    /// Those of this machine, with a seed that differs from heap to heap and from process to
    /// process. Samples of many processes are then independent.
    fn detect(topology: &Topology, machine: &Machine) -> Surroundings {
        Surroundings {
            cpus: topology.available_parallelism(),
            hot_bytes: hot_bytes(&Processor::detect(), machine.l2_bytes),
            seed: RandomState::new().hash_one(0),
        }
    }
}

/// Makes the heap of these options; its memory bears that name. It writes no files when it ends, until
/// [`Heap::observed`].
pub(super) fn assemble(
    chosen: Chosen,
    topology: Topology,
    surroundings: Option<Surroundings>,
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
    let surroundings = surroundings.unwrap_or_else(|| Surroundings::detect(&topology, &machine));
    let Surroundings { cpus, hot_bytes, seed } = surroundings;
    // A heap that decides by the program's clock repeats itself, in its samples too.
    let seed = if hooks.clock.is_some() { 0 } else { seed };

    let space = Space::new(&SpaceSettings::from(options), geometry, topology, name)?;
    if !space.free.commit_ahead(options.initial_heap_size) {
        return Err(BuildError::InitialHeap { bytes: options.initial_heap_size });
    }
    let clock = Clock::new(hooks.clock);
    let timeline = outputs.timeline.as_deref().map(|path| Timeline::begin(path, &clock, name));
    let timeline = timeline.transpose()?.map(Arc::new);
    let log = outputs.begin_log(&clock)?;
    let print = Print::from(options);
    let history = Arc::new(History::new(clock.clone(), print, log, hooks.collection, timeline.clone()));
    let parts =
        Parts { options, space: &space, machine, history: history.clone(), timeline: timeline.clone() };
    let Built { collector, between } = build(&parts)?;
    let late = Late::new(options.safepoint_timeout_delay).with_hook(hooks.late_thread);
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
    };
    let (shared, options) = (Arc::new(shared), Arc::new(set));
    Ok(Heap { shared, options, history, at_end: None })
}
