//! How the end of a cycle changed the sizes of threads' buffers, for the records of collections.

use crate::options::TlabPolicy;
use std::fmt;

/// How the sizes of all threads' buffers changed when a cycle ended, and from which numbers. Sizes
/// are in bytes. They are desired sizes: a thread asks for that size at its next refill, in
/// addition to the pending object.
///
/// Prints as `TLABs adaptive: 41 threads, 8 allocated 9000k of eden 9216k, sizes 1312k->656k, 2 cut
/// to 64k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferSizes {
    /// The policy that chose the sizes.
    pub policy: TlabPolicy,
    /// Number of attached threads.
    pub threads: usize,
    /// Number of threads that allocated in the cycle, those that have detached since included.
    pub allocators: usize,
    /// Bytes that those threads allocated, in buffers and outside.
    pub allocated: usize,
    /// Bytes that could be allocated in the cycle.
    pub capacity: usize,
    /// The sum of all threads' sizes, before and after.
    pub sizes: (usize, usize),
    /// Number of threads whose size the budget cut (`TLABIdlePercent`; policy `adaptive`).
    pub cut: usize,
    /// The size that the budget left each of them.
    pub share: usize,
}

impl fmt::Display for BufferSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: usize| bytes.div_ceil(1024);
        let BufferSizes { policy, threads, allocators, allocated, capacity, sizes: (from, to), cut, share } =
            *self;
        write!(
            f,
            "TLABs {policy}: {threads} threads, {allocators} allocated {}k of eden {}k, sizes {}k->{}k",
            kib(allocated),
            kib(capacity),
            kib(from),
            kib(to)
        )?;
        if cut > 0 { write!(f, ", {cut} cut to {}k", kib(share)) } else { Ok(()) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Heap;
    use crate::mutator::Mutator;
    use crate::object::Shape;
    use crate::options::CollectorKind;
    use std::time::Duration;

    #[test]
    fn what_the_budget_takes_from_a_thread_is_told() {
        const KIB: usize = 1 << 10;
        // Time stands still, so that each refill comes quickly.
        let heap = Heap::builder()
            .max_heap_size(64 << 20)
            .collector(CollectorKind::Epsilon)
            .clock(|| Duration::ZERO);
        let heap = heap.use_transparent_huge_pages(false).build().expect("a heap");
        let shape = heap.register(Shape::fixed("Plain", 512)).expect("a shape");
        let allocate = |mutator: &mut Mutator<'_>| {
            for _ in 0..4096 {
                // SAFETY: the shape is the heap's, and the object is not used.
                unsafe { mutator.raw_mut().alloc_raw(shape, 0) }.expect("room");
            }
        };
        heap.attach(|mutator| {
            allocate(mutator);
            let end = |next| {
                move |world: &mut crate::mutator::World<'_>| {
                    world.end_buffer_cycle(&world.end_buffer_count(), 1 << 20, 2 << 20, next)
                }
            };
            let kept = mutator.raw_mut().stop_the_world(end(64 << 20)).expect("alone");
            let from = kept.sizes.0;
            assert!(from >= 64 * KIB, "it has grown: {kept:?}");
            let expected = BufferSizes {
                policy: TlabPolicy::Adaptive,
                threads: 1,
                allocators: 1,
                allocated: kept.allocated,
                capacity: 2 << 20,
                sizes: (from, from),
                cut: 0,
                share: kept.share,
            };
            assert_eq!(kept, expected);
            assert!(kept.allocated >= 2 << 20 && kept.share >= from, "{kept:?}");
            // It allocated nothing, and is back at the floor by that alone.
            let idle = mutator.raw_mut().stop_the_world(end(64 << 20)).expect("alone");
            assert_eq!((idle.allocators, idle.allocated, idle.sizes, idle.cut), (0, 0, (from, 16 * KIB), 0));
            allocate(mutator);
            let cut = mutator.raw_mut().stop_the_world(end(0)).expect("alone");
            assert!(cut.sizes.0 >= 64 * KIB, "it has grown: {cut:?}");
            assert_eq!((cut.cut, cut.share, cut.sizes.1), (1, 16 * KIB, 16 * KIB));
        })
        .expect("it is attached to none");
    }
}
