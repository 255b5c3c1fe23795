//! The number of threads that work on a collection.

/// Bytes of used heap that are worth waking another worker. A wake-up takes up to 0.4 ms on a
/// virtual machine, in which one worker marks 0.5 MB; and most of the used bytes are garbage.
const BYTES_EACH: usize = if cfg!(test) { 4 << 10 } else { 8 << 20 };

/// The most workers of a heap on a machine with `cpus` CPUs, if no option says it. This is
/// HotSpot's formula for ParallelGCThreads (`WorkerPolicy::nof_parallel_worker_threads`): all of up
/// to 8 CPUs, and five of eight beyond.
pub(crate) fn default_workers(cpus: usize) -> usize {
    if cpus <= 8 { cpus.max(1) } else { 8 + (cpus - 8) * 5 / 8 }
}

/// The most workers of a concurrent cycle, if no option says it: a quarter of the `workers` of a
/// stopped collection, and at least 1. They run while the program does, so most CPUs are left to
/// the program.
pub(crate) fn default_concurrent_workers(workers: usize) -> usize {
    workers.div_ceil(4).max(1)
}

/// The number of workers, at most `most`, for a collection of this many bytes: one for every 8 MiB
/// that are used, or part of them.
pub(crate) fn wanted_workers(used_bytes: usize, most: usize) -> usize {
    used_bytes.div_ceil(BYTES_EACH).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_eight_cpus_and_five_of_eight_beyond() {
        let table = [(0, 1), (1, 1), (2, 2), (8, 8), (9, 8), (10, 9), (16, 13), (64, 43), (128, 83)];
        for (cpus, workers) in table {
            assert_eq!(default_workers(cpus), workers, "{cpus} CPUs");
        }
    }

    #[test]
    fn one_of_four_runs_beside_the_program() {
        for (workers, concurrent) in [(0, 1), (1, 1), (2, 1), (4, 1), (5, 2), (8, 2), (13, 4), (1024, 256)] {
            assert_eq!(default_concurrent_workers(workers), concurrent, "{workers} workers");
        }
    }

    #[test]
    fn a_small_heap_is_collected_by_one() {
        let table = [
            (0, 8, 1),
            (1, 8, 1),
            (BYTES_EACH, 8, 1),
            (BYTES_EACH + 1, 8, 2),
            (5 * BYTES_EACH, 8, 5),
            (usize::MAX, 8, 8),
            (usize::MAX, 1, 1),
            (usize::MAX, 0, 1),
        ];
        for (used, most, workers) in table {
            assert_eq!(wanted_workers(used, most), workers, "{used} bytes, {most} workers");
        }
    }
}
