//! Every interleaving of threads that ask for a collection of all garbage.

use super::super::collection_request::share_collection;
use super::*;

/// A thread, the heap, and the number of collections.
struct Requester {
    own: Arc<Thread>,
    heap: Heap,
    done: Arc<loom::sync::atomic::AtomicU64>,
    garbage: std::sync::Arc<Garbage>,
}

/// The garbage of each thread: what it has let go of, and what a collection has found. The model
/// checker does not see these numbers.
#[derive(Default)]
struct Garbage {
    dropped: [AtomicU32; 2],
    found: [AtomicU32; 2],
}

impl Requester {
    fn attach(
        heap: &Heap,
        done: &Arc<loom::sync::atomic::AtomicU64>,
        garbage: &std::sync::Arc<Garbage>,
    ) -> Requester {
        Requester { own: attach(heap), heap: heap.clone(), done: done.clone(), garbage: garbage.clone() }
    }

    /// Lets go of something, and asks for a collection. Returns whether this thread collected.
    fn ask(&mut self, number: usize) -> bool {
        self.garbage.dropped[number].fetch_add(1, Ordering::Relaxed);
        touch(&self.own);
        let collected = share_collection(
            self,
            |this| this.done.load(Ordering::Relaxed),
            |this| poll(&this.heap, &this.own),
            |this| this.heap.stop(StopKind::Full, Some(&this.own), |_| this.collect()),
        );
        let count = |of: &[AtomicU32; 2]| of[number].load(Ordering::Relaxed);
        let Garbage { dropped, found } = &*self.garbage;
        assert_eq!(count(found), count(dropped), "the collection began after the request");
        collected.is_some()
    }

    /// A collection: it finds what threads had let go of when it began.
    fn collect(&self) {
        for (dropped, found) in self.garbage.dropped.iter().zip(&self.garbage.found) {
            found.store(dropped.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Two threads that are attached ask. `blocks`: the second one comes back from `blocking` first.
fn two_ask(blocks: bool) {
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(3);
    three.check(move || {
        let (heap, garbage) = (heap(), std::sync::Arc::<Garbage>::default());
        let done = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let mut one = Requester::attach(&heap, &done, &garbage);
        let other = {
            let (done, garbage) = (done.clone(), garbage.clone());
            spawn(&heap, move |heap| {
                let mut two = Requester::attach(&heap, &done, &garbage);
                if blocks {
                    heap.enter_blocking(&two.own);
                    heap.leave_blocking(&two.own);
                }
                let collected = two.ask(1);
                detach(&heap, &two.own);
                collected
            })
        };
        let collected = one.ask(0);
        detach(&heap, &one.own);
        let by_other = other.join().unwrap();
        let collections = u64::from(collected) + u64::from(by_other);
        assert!(collections >= 1 && done.load(Ordering::Relaxed) == collections);
    });
}

#[test]
fn a_request_is_served_by_a_collection_that_began_after_it() {
    two_ask(false);
}

#[test]
fn a_request_of_a_thread_that_a_stop_held_is_served_too() {
    two_ask(true);
}

/// A stop that is not a collection serves no request.
#[test]
fn another_stop_serves_no_request() {
    let mut two = loom::model::Builder::new();
    two.preemption_bound = Some(3);
    two.check(|| {
        let (heap, garbage) = (heap(), std::sync::Arc::<Garbage>::default());
        let done = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let mut one = Requester::attach(&heap, &done, &garbage);
        let stopper = spawn(&heap, |heap| stop(&heap, None));
        assert!(one.ask(0), "no other thread collects");
        detach(&heap, &one.own);
        stopper.join().unwrap();
    });
}
