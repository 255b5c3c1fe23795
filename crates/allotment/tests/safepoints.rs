//! Every function that is called a safepoint is one: a thread that only calls it, again and again,
//! does not keep a stop of the world waiting.

use allotment::Mutator;
use allotment::raw::{Element, Shape, ShapeRef};
use allotment::{Field, Heap, IdMap, Interner, List, NewIdMap, NewInterner, Object, alloc, root};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

/// A stop that takes so long is one that never ends.
const NEVER: Duration = Duration::from_secs(120);

const STOPS: usize = 20;

#[derive(Object)]
struct Node {
    next: Field<Option<Node>>,
}

/// Something that is called a safepoint.
type Safepoint = (&'static str, fn(&mut Mutator<'_>, ShapeRef));

const SAFEPOINTS: [Safepoint; 9] = [
    ("collect", |mu, _| _ = mu.collect()),
    ("make_room", |mu, _| _ = mu.make_room(64)),
    ("make_room of too much", |mu, _| _ = mu.make_room(usize::MAX)),
    ("make_room of more than there is", |mu, _| _ = mu.make_room(1 << 30)),
    ("safepoint", |mu, _| mu.safepoint()),
    ("blocking", |mu, _| mu.blocking(|| ())),
    ("stop_the_world", |mu, _| _ = mu.raw_mut().stop_the_world(|_| ())),
    ("alloc!", |mu, _| _ = alloc!(mu, NewNode { next: None }).is_ok()),
    // SAFETY: the shape is the heap's, and nobody uses the object.
    ("alloc_raw", |mu, shape| _ = unsafe { mu.raw_mut().alloc_raw(shape, 100) }),
];

const HEAPS: [&str; 10] = [
    "Collector=epsilon",
    "Collector=epsilon,-UseTLAB",
    "Collector=epsilon,ZealOutOfMemory=3",
    "Collector=mark-compact",
    "Collector=parallel",
    "Collector=parallel,ZealInterval=3",
    "Collector=shenandoah",
    "Collector=shenandoah,ZealInterval=3",
    "Collector=mark-compact,ZealInterval=1,ZealOutOfMemory=2",
    "Collector=parallel,-CollectWhenIdle,ZealInterval=2,ZealSeed=7",
];

fn heap(options: &str) -> (Heap, ShapeRef) {
    let builder = Heap::builder().max_heap_size(4 << 20);
    let heap = builder.options(options).expect("options").build().expect("a heap");
    let shape = heap.register(Shape::array("Bytes", 16, Element::Plain { bytes: 1 })).expect("a shape");
    (heap, shape)
}

/// Stops the world of a heap of which one thread runs `body`, by threads of both kinds; then it is
/// `over`.
fn stops_beside(heap: &Heap, what: &str, over: &AtomicBool, body: impl FnOnce(&mut Mutator<'_>) + Send) {
    let begun = Barrier::new(2);
    thread::scope(|scope| {
        let (stopped, stops) = channel();
        scope.spawn(|| {
            heap.attach(|mu| {
                begun.wait();
                body(mu);
            })
            .expect("attached");
        });
        let begun = &begun;
        scope.spawn(move || {
            begun.wait();
            for _ in 0..STOPS {
                heap.stop_the_world(|world| assert!(world.threads() > 0)).expect("not attached");
                heap.attach(|mu| _ = mu.raw_mut().stop_the_world(|world| assert!(world.threads() > 1)))
                    .expect("attached");
            }
            over.store(true, Ordering::Relaxed);
            stopped.send(()).expect("somebody waits");
        });
        if stops.recv_timeout(NEVER).is_err() {
            // The threads cannot be joined.
            eprintln!("a stop of the world waits for ever for who does: {what}");
            std::process::abort();
        }
    });
}

/// The same for a thread that does `turn` again and again.
fn stops_beside_turns(heap: &Heap, what: &str, mut turn: impl FnMut(&mut Mutator<'_>) + Send) {
    let over = AtomicBool::new(false);
    stops_beside(heap, what, &over, |mu| {
        while !over.load(Ordering::Relaxed) {
            turn(mu);
        }
    });
}

#[test]
fn each_safepoint_lets_a_stop_come_under_each_collector() {
    for options in HEAPS {
        for (name, safepoint) in SAFEPOINTS {
            let (heap, shape) = heap(options);
            stops_beside_turns(&heap, &format!("{name} with {options}"), |mu| safepoint(mu, shape));
        }
    }
}

#[test]
fn collections_that_have_nothing_to_allocate_let_a_stop_come() {
    for options in ["Collector=epsilon", "Collector=parallel"] {
        let (heap, _) = heap(options);
        let over = AtomicBool::new(false);
        stops_beside(&heap, &format!("interning with {options}"), &over, |mu| {
            root!(mu, interner = alloc!(mu, NewInterner::new()).expect("room"));
            root!(mu, text = Interner::intern(mu, interner, "known").expect("room"));
            while !over.load(Ordering::Relaxed) {
                Interner::intern(mu, interner, "known").expect("it is known");
            }
            Interner::unify(mu, interner, text).expect("it is known");
        });
        let over = AtomicBool::new(false);
        stops_beside(&heap, &format!("unifying with {options}"), &over, |mu| {
            root!(mu, interner = alloc!(mu, NewInterner::new()).expect("room"));
            root!(mu, text = Interner::intern(mu, interner, "known").expect("room"));
            while !over.load(Ordering::Relaxed) {
                Interner::unify(mu, interner, text).expect("it is known");
            }
        });
        let over = AtomicBool::new(false);
        stops_beside(&heap, &format!("List::reserve with {options}"), &over, |mu| {
            root!(mu, list = List::<Option<Node>>::with_capacity(mu, 8).expect("room"));
            while !over.load(Ordering::Relaxed) {
                List::reserve(mu, list, 1).expect("there is room");
            }
        });
        let over = AtomicBool::new(false);
        stops_beside(&heap, &format!("IdMap::reserve with {options}"), &over, |mu| {
            root!(mu, map = alloc!(mu, NewIdMap::<Node, Node>::new()).expect("room"));
            IdMap::reserve(mu, map, 8).expect("room");
            while !over.load(Ordering::Relaxed) {
                IdMap::reserve(mu, map, 1).expect("there is room");
            }
        });
    }
}

/// The hook says that it released something as long as it is asked, and nothing is freed.
#[test]
fn a_heap_whose_hook_always_says_yes_lets_a_stop_come() {
    for collector in ["epsilon", "mark-compact", "parallel"] {
        let over = Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let heap = Heap::builder()
            .max_heap_size(4 << 20)
            .on_heap_limit(move |_| !ends.load(Ordering::Relaxed))
            .options(&format!("Collector={collector}"))
            .expect("options")
            .build()
            .expect("a heap");
        stops_beside(&heap, &format!("on_heap_limit with {collector}"), &over, |mu| {
            mu.make_room(8 << 20).expect_err("more than the heap");
        });
    }
}
