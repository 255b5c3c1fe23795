//! Threads that allocate, block, come, go and panic, while several others stop the world. In a
//! stopped world no thread acts, every region is parsable, and no object is lost.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use super::world::objects;
use crate::Heap;
use crate::mutator::Mutator;
use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

const THREADS: usize = 6;

/// An action of a thread, and whether the thread goes on.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Allocate(usize),
    Poll,
    Block,
    Stop,
    StopInBlocking,
    Mark,
    Reserve,
    Detach,
    Panic,
    PanicInBlocking,
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        8 => (0..4_usize).prop_map(Deed::Allocate),
        4 => Just(Deed::Poll),
        4 => Just(Deed::Block),
        2 => Just(Deed::Stop),
        2 => Just(Deed::StopInBlocking),
        1 => Just(Deed::Mark),
        2 => Just(Deed::Reserve),
        1 => Just(Deed::Detach),
        1 => Just(Deed::Panic),
        1 => Just(Deed::PanicInBlocking),
    ]
}

/// One thread's view of the test.
struct Thread<'a> {
    heap: &'a Heap,
    kit: &'a Kit,
    /// The number of actions of every thread. Only threads that may run count.
    counters: &'a [AtomicU64],
    number: usize,
    /// Objects allocated.
    objects: u64,
    /// Stops by this thread.
    stops: u64,
}

impl Thread<'_> {
    fn count(&self) {
        self.counters[self.number].fetch_add(1, Ordering::Relaxed);
    }

    /// In the stopped world: whether no thread moves and all is in order.
    fn still(counters: &[AtomicU64], objects: impl Fn() -> Result<u64, String>) -> Result<(), String> {
        let look = || counters.iter().map(|counter| counter.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let before = look();
        objects()?;
        std::thread::yield_now();
        if before == look() { Ok(()) } else { Err("a thread ran in the stopped world".to_owned()) }
    }

    /// Does the deed; `false`: the thread detaches.
    fn act(&mut self, mutator: &mut Mutator<'_>, deed: Deed) -> bool {
        self.count();
        let what = |size| What { kind: Kind::Fixed(size), by: By::Window };
        match deed {
            Deed::Allocate(size) => {
                self.objects += u64::from(self.kit.allocate(&*mutator, what(size)).is_some());
            }
            Deed::Poll => mutator.safepoint(),
            Deed::Block => mutator.blocking(std::thread::yield_now),
            Deed::Stop => {
                let counters = self.counters;
                let seen = mutator.raw_mut().stop_the_world(|world| Self::still(counters, || objects(world)));
                self.stops += u64::from(seen.is_some());
                assert!(seen.is_none_or(|seen| seen.is_ok()));
            }
            Deed::StopInBlocking => {
                let (heap, counters) = (self.heap, self.counters);
                let stop = || heap.stop_the_world(|world| Self::still(counters, || objects(world)));
                let seen = mutator.blocking(stop).expect("the thread is in `blocking`");
                self.stops += u64::from(seen.is_some());
                assert!(seen.is_none_or(|seen| seen.is_ok()));
            }
            Deed::Mark => drop(mutator.raw_mut().mark()),
            Deed::Reserve => {
                let mut room = mutator.make_room(16).expect("room");
                let object = self.kit.allocate((&*mutator, &mut room), what(0));
                self.objects += u64::from(object.is_some());
            }
            Deed::Detach => return false,
            Deed::Panic => std::panic::resume_unwind(Box::new("out")),
            Deed::PanicInBlocking => mutator.blocking(|| std::panic::resume_unwind(Box::new("out"))),
        }
        self.count();
        true
    }

    fn run(&mut self, deeds: &[Deed]) {
        let mut deeds = deeds.iter().copied();
        while deeds.len() > 0 {
            let heap = self.heap;
            let attached = std::panic::AssertUnwindSafe(|| {
                heap.attach(|mutator| while deeds.next().is_some_and(|deed| self.act(mutator, deed)) {})
            });
            match std::panic::catch_unwind(attached) {
                Ok(outcome) => outcome.expect("detached before"),
                // An assertion's payload is a `String` or has another text.
                Err(payload) => assert_eq!(payload.downcast_ref::<&str>(), Some(&"out")),
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 32, ..ProptestConfig::default() })]

    #[test]
    fn nobody_does_anything_in_a_stopped_world(
        options in prop::sample::select(&["", "-UseTLAB", "MinTLABSize=64,TLABSize=128,ZeroWindowSize=64"][..]),
        scripts in proptest::collection::vec(proptest::collection::vec(deed(), 50..300), THREADS),
    ) {
        let heap = heap(4096, 4096, options);
        let kit = Kit::new(&heap);
        let counters: Vec<_> = (0..THREADS).map(|_| AtomicU64::new(0)).collect();
        let (allocated, stops) = std::thread::scope(|scope| {
            let spawn = |number| {
                let (objects, stops) = (0, 0);
                let mut thread =
                    Thread { heap: &heap, kit: &kit, counters: &counters, number, objects, stops };
                let script: &[Deed] = &scripts[number];
                scope.spawn(move || {
                    thread.run(script);
                    (thread.objects, thread.stops)
                })
            };
            let handles: Vec<_> = (0..THREADS).map(spawn).collect();
            let mut stops = 0;
            while handles.iter().any(|handle| !handle.is_finished()) {
                let seen = heap.stop_the_world(|world| Thread::still(&counters, || objects(world))).unwrap();
                stops += u64::from(seen.is_some());
                assert_eq!(seen.unwrap_or(Ok(())), Ok(()));
            }
            let ended = handles.into_iter().map(|handle| handle.join().expect("a thread that checks itself"));
            ended.fold((0, stops), |sum, (objects, stops)| (sum.0 + objects, sum.1 + stops))
        });
        prop_assert_eq!(heap.metrics().stops.stops, stops);
        prop_assert_eq!(heap.metrics().threads.now, 0);
        let census = heap.verify().unwrap();
        prop_assert_eq!(census.shapes.values().map(|(objects, _)| objects).sum::<u64>(), allocated);
    }
}
