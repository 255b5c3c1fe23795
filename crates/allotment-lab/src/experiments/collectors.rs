//! The collector and its workers as parameters of an experiment: the axes, the heap with these
//! settings, and the messages for settings that do not exist.
//!
//! The words of the axis are a list here, not the option's own list, since the defaults of an
//! experiment are fixed at compile time. A word that this build's `Collector` does not take leaves
//! out only its own cases, with the option's own message.

use super::memory;
use crate::harness::{Axis, Kind};
use crate::machine::topology;
use allotment::heap::HeapBuilder;
use allotment::options::OptionError;
use allotment::raw::Hot;
use allotment::{Heap, Mutator};

/// The axis `collector`: the action when the heap is full.
pub(super) const COLLECTOR: Axis = Axis::new(
    "collector",
    "option Collector of the heap; genshen: shenandoah with ShenandoahGCMode=generational",
    Kind::Choice(&["parallel", "mark-compact", "shenandoah", "genshen", "epsilon"]),
    &["parallel", "mark-compact"],
)
.quick(&["parallel", "mark-compact"]);

/// The axis `workers`: the largest number of threads that collect at the same time. Its values are
/// variants of one run, so that their forks take turns.
pub(super) const WORKERS: Axis =
    Axis::new("workers", "option ParallelGCThreads of the heap; 0: as it says", Kind::Count, &["0"]);

/// Whether the collector of that name works beside threads.
pub(super) fn is_concurrent(collector: &str) -> bool {
    matches!(collector, "shenandoah" | "genshen")
}

/// The barriers in force for this thread, as bits ([`Hot::MARKING`] and so on). They stay the same
/// until the thread's next safepoint.
pub(super) fn barriers(mutator: &Mutator<'_>) -> u32 {
    // SAFETY: the word is in the thread's own hot part, which lives as long as the mutator. It
    // changes at safepoints only.
    unsafe { mutator.raw().hot().byte_add(Hot::BARRIERS_OFFSET).cast::<u32>().read() }
}

/// Waits, at safepoints, until no barrier is in force for this thread. Until its next safepoint
/// slots may be read and written as plain memory: nothing marks that would have to be told, and
/// nothing moves.
pub(super) fn without_barriers(mutator: &mut Mutator<'_>) {
    while barriers(mutator) != 0 {
        mutator.safepoint();
        std::thread::yield_now();
    }
}

/// The heap, collected by `workers` workers.
///
/// # Errors
/// The option `ParallelGCThreads` does not take that number.
pub(super) fn by_workers(heap: HeapBuilder, workers: u64) -> Result<HeapBuilder, OptionError> {
    if workers == 0 { Ok(heap) } else { heap.options(&format!("ParallelGCThreads={workers}")) }
}

/// A heap of at most `bytes` bytes that `collector` collects. Its initial size is the default.
///
/// # Errors
/// The option `Collector` does not take that word.
pub(super) fn heap_of(collector: &str, bytes: usize) -> Result<HeapBuilder, OptionError> {
    let options = match collector {
        "genshen" => "Collector=shenandoah,ShenandoahGCMode=generational".to_owned(),
        collector => format!("Collector={collector}"),
    };
    Heap::builder().name("lab").max_heap_size(bytes).options(&options)
}

/// The heap of [`heap_of`] at its full size from the beginning. A capacity that follows the live
/// bytes would make every larger heap the same.
///
/// # Errors
/// The option `Collector` does not take that word.
pub(super) fn full_heap(collector: &str, bytes: usize) -> Result<HeapBuilder, OptionError> {
    Ok(heap_of(collector, bytes)?.initial_heap_size(bytes))
}

/// Checks that `collector` can collect a heap of `bytes` bytes, and that the heap fits into this
/// machine's memory.
///
/// # Errors
/// Why not.
pub(super) fn check(collector: &str, bytes: usize) -> anyhow::Result<()> {
    let builder = heap_of(collector, bytes)?;
    fits(bytes)?;
    resolves(builder)
}

/// Checks that a heap of `bytes` bytes fits into this machine's memory. A heap may grow to its full
/// size, whatever of it is alive.
///
/// # Errors
/// Why not.
pub(super) fn fits(bytes: usize) -> anyhow::Result<()> {
    memory::fits(&format!("heaps of {}", memory::mebibytes(bytes)), bytes, "smaller ones")
}

/// Checks that such a heap is possible here.
///
/// # Errors
/// Why not.
pub(super) fn resolves(heap: HeapBuilder) -> anyhow::Result<()> {
    heap.resolve_on(topology())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use allotment::options::{Origin, Source};

    #[test]
    fn a_heap_has_the_collector_that_was_asked_for() {
        for (word, collector, mode) in [
            ("parallel", "parallel", "satb"),
            ("mark-compact", "mark-compact", "satb"),
            ("shenandoah", "shenandoah", "satb"),
            ("genshen", "shenandoah", "generational"),
            ("epsilon", "epsilon", "satb"),
        ] {
            check(word, 16 << 20).unwrap();
            let heap = heap_of(word, 16 << 20).unwrap().build().unwrap();
            let value = |name: &str| heap.options().rows().find(|row| row.info.name == name).unwrap().value;
            assert_eq!((&*value("Collector"), &*value("ShenandoahGCMode")), (collector, mode));
            assert_eq!(heap.geometry().heap_bytes(), 16 << 20);
        }
    }

    #[test]
    fn nothing_is_in_force_while_no_cycle_is_under_way() {
        for collector in ["parallel", "shenandoah", "genshen"] {
            let heap = heap_of(collector, 16 << 20).unwrap().build().unwrap();
            assert_eq!(is_concurrent(heap.collector()), collector != "parallel");
            heap.attach(|mutator| {
                assert!(mutator.collect());
                without_barriers(mutator);
                assert_eq!(barriers(mutator), 0);
            })
            .unwrap();
        }
    }

    #[test]
    fn a_heap_has_the_workers_that_were_asked_for() {
        for (workers, origin) in [(0, Origin::Ergonomic), (3, Origin::Given(Source::CommandLine))] {
            let heap = by_workers(Heap::builder().max_heap_size(16 << 20), workers).unwrap().build().unwrap();
            let row = heap.options().rows().find(|row| row.info.name == "ParallelGCThreads").unwrap();
            assert_eq!(row.origin, origin);
            assert!(workers == 0 || row.value == workers.to_string(), "{}", row.value);
        }
        let refused = by_workers(Heap::builder(), 2000).unwrap_err().to_string();
        assert!(refused.contains("ParallelGCThreads"));
    }

    #[test]
    fn what_does_not_exist_is_told_in_the_words_of_the_option() {
        let refusal = |collector, bytes| check(collector, bytes).unwrap_err().to_string();
        let refused = refusal("train", 16 << 20);
        assert!(refused.contains("Collector") && refused.contains("mark-compact"), "{refused}");
        let large = refusal("parallel", 900 << 30);
        assert!(large.starts_with("heaps of 921600m need 921600m of memory, and there are "), "{large}");
        let small = refusal("mark-compact", 1 << 20);
        assert!(small.contains("MaxHeapSize"), "{small}");
    }
}
