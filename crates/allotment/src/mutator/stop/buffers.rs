//! The end of a cycle of the threads' buffers: what the threads did in the cycle, and the sizes
//! that follow from it.

use super::World;
use crate::mutator::thread::registry::Attached;
use crate::mutator::thread::state::State;
use crate::options::TlabPolicy;
use crate::tlab::sizing::{Config, Cycle};
use crate::tlab::statistics::TlabTotals;
use std::fmt;

impl World<'_> {
    /// Counts of all threads' buffers, detached threads included, since the last call or since the
    /// heap was reset. To be called once for each collection.
    pub(crate) fn end_buffer_count(&self) -> TlabTotals {
        let mut inner = self.shared().threads.registry.threads.lock();
        let mut cycle = std::mem::take(&mut inner.data.left_in_cycle);
        // A settled thread has allocated nothing since the last call.
        for state in inner.threads.unsettled().iter().map(Attached::state) {
            let now = state.statistics();
            let in_cycle = now.since(&state.counted.replace(now));
            state.owned.borrow_mut().allocated_in_cycle = in_cycle.allocated_in_all();
            cycle.add(&in_cycle);
        }
        cycle
    }

    /// Ends a cycle, which was [`counted`](Self::end_buffer_count), and in which threads allocated
    /// `used` of `capacity` bytes. The averages take in these numbers. A thread's next buffers
    /// follow from the averages, from what the thread allocated, and from the `next` bytes that can
    /// be allocated now. Returns the new sizes.
    pub(crate) fn end_buffer_cycle(
        &self,
        counted: &TlabTotals,
        used: usize,
        capacity: usize,
        next: usize,
    ) -> BufferSizes {
        let policy = &self.shared().policy;
        let mut inner = self.shared().threads.registry.threads.lock();
        inner.data.end_cycle(counted, used, capacity);
        // A settled thread has the least size, and keeps it.
        let settled = (inner.threads.len() - inner.threads.unsettled().len()) * policy.sizing.floor();
        let mut before = settled;
        for state in inner.threads.unsettled().iter().map(Attached::state) {
            let mut owned = state.owned.borrow_mut();
            before += owned.sizing.desired_size;
            let cycle = Cycle { used, capacity, allocated: owned.allocated_in_cycle as usize };
            policy.budget.end_cycle(&policy.sizing, &inner.data.averages, &mut owned.sizing, &cycle);
        }
        policy.budget.forget_census();
        policy.budget.set_capacity(next);
        let (share, mut after, mut cut) = (policy.budget.share(), settled, 0);
        for state in inner.threads.unsettled().iter().map(Attached::state) {
            let mut owned = state.owned.borrow_mut();
            let wished = owned.sizing.desired_size;
            policy.budget.trim(&policy.sizing, &mut owned.sizing, share);
            let size = owned.sizing.desired_size;
            after += size;
            cut += usize::from(size < wished);
            state.published.publish(&owned.sizing);
        }
        inner.threads.settle(|thread| thread.state().has_settled(&policy.sizing));
        BufferSizes {
            policy: policy.sizing.policy,
            threads: inner.threads.len(),
            allocators: counted.threads,
            allocated: counted.sum.allocated_in_all() as usize,
            capacity,
            before,
            after,
            cut,
            share,
        }
    }
}

impl State {
    /// Whether a thread that sleeps has nothing that a stop would take from it, and the end of a
    /// cycle changes nothing of it. In a stop, after the end of a cycle.
    fn has_settled(&self, sizing: &Config) -> bool {
        let owned = self.owned.borrow();
        let has_memory = self.hot.has_buffer() || owned.private.is_some();
        !has_memory
            && owned.allocated_in_cycle == 0
            && owned.sizing.rests(sizing)
            && self.counted.get() == self.statistics()
    }
}

/// The sizes of all threads' buffers before and after a cycle's end, and the numbers that they
/// follow from. Sizes are in bytes. They are desired sizes: a thread asks for that size at its next
/// refill, in addition to the pending object.
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
    /// The sum of all threads' sizes before the cycle's end.
    pub before: usize,
    /// The sum of all threads' sizes after the cycle's end.
    pub after: usize,
    /// Number of threads whose size the budget cut (`TLABIdlePercent`; policy `adaptive`).
    pub cut: usize,
    /// The size that the budget left each of them.
    pub share: usize,
}

impl fmt::Display for BufferSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: usize| bytes.div_ceil(1024);
        let BufferSizes { policy, threads, allocators, allocated, capacity, before, after, cut, share } =
            *self;
        write!(
            f,
            "TLABs {policy}: {threads} threads, {allocators} allocated {}k of eden {}k, sizes {}k->{}k",
            kib(allocated),
            kib(capacity),
            kib(before),
            kib(after)
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
                move |world: &mut World<'_>| {
                    world.end_buffer_cycle(&world.end_buffer_count(), 1 << 20, 2 << 20, next)
                }
            };
            let kept = mutator.raw_mut().stop_the_world(end(64 << 20)).expect("alone");
            let from = kept.before;
            assert!(from >= 64 * KIB, "it has grown: {kept:?}");
            let expected = BufferSizes {
                policy: TlabPolicy::Adaptive,
                threads: 1,
                allocators: 1,
                allocated: kept.allocated,
                capacity: 2 << 20,
                before: from,
                after: from,
                cut: 0,
                share: kept.share,
            };
            assert_eq!(kept, expected);
            assert!(kept.allocated >= 2 << 20 && kept.share >= from, "{kept:?}");
            // It allocated nothing, and is back at the floor by that alone.
            let idle = mutator.raw_mut().stop_the_world(end(64 << 20)).expect("alone");
            assert_eq!((idle.allocators, idle.allocated, idle.cut), (0, 0, 0));
            assert_eq!((idle.before, idle.after), (from, 16 * KIB));
            allocate(mutator);
            let cut = mutator.raw_mut().stop_the_world(end(0)).expect("alone");
            assert!(cut.before >= 64 * KIB, "it has grown: {cut:?}");
            assert_eq!((cut.cut, cut.share, cut.after), (1, 16 * KIB, 16 * KIB));
        })
        .expect("it is attached to none");
    }
}
