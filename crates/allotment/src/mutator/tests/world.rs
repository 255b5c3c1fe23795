//! The stopped world: its invariants, who may stop it, and the state that threads find afterwards.

use super::heap;
use super::kit::{By, Kind, Kit, What};
use crate::Heap;
use crate::mutator::{AttachError, RootKind, StopError, World};
use crate::object::{Element, Object, Shape, ShapeRef, SlotKind, walk};
use crate::options::CollectorKind;
use crate::region::State;
use std::os::unix::process::ExitStatusExt;
use std::ptr::NonNull;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

const SMALL: What = What { kind: Kind::Fixed(0), by: By::Object };

/// Walks every region of the stopped world. Returns the number of objects, or the error.
pub(super) fn objects(world: &World<'_>) -> Result<u64, String> {
    let (shared, mut objects) = (world.shared(), 0);
    shared.space.free.verify()?;
    for index in 0..shared.space.free.table().len() {
        match shared.space.free.table().get(index).state() {
            State::Exclusive => return Err(format!("region {index} is one thread's own")),
            state if state.begins_objects() => {}
            _ => continue,
        }
        let (bottom, top) = (shared.space.free.table().bottom(index), shared.space.free.object_end(index));
        let count = |object: Object<'_>| objects += u64::from(object.shape.is_some());
        // SAFETY: the region is committed up to its top, and no thread runs.
        unsafe { walk(&shared.space.shapes, bottom, top, count) }
            .map_err(|error| format!("{index}: {error}"))?;
    }
    if world.states().any(|state| state.hot.has_buffer() || state.owned.borrow().private.is_some()) {
        return Err("a thread has a buffer, or regions of its own".to_owned());
    }
    Ok(objects)
}

#[test]
fn without_threads_there_is_nobody_to_wait_for() {
    let heap = heap(4096, 10, "");
    let seen = heap.stop_the_world(|world| {
        assert!(world.last_to_arrive().is_none());
        (world.threads(), objects(world))
    });
    assert_eq!(seen, Ok(Some((0, Ok(0)))));
    assert_eq!(heap.metrics().stops.stops, 1);
    assert_eq!(heap.attach(|mutator| mutator.raw_mut().stop_the_world(|world| world.threads())), Ok(Some(1)));
    assert_eq!(heap.metrics().stops.stops, 2);
    heap.verify().unwrap();
}

#[test]
fn of_a_thread_in_blocking_buffer_reservation_and_regions_are_seen_to() {
    let heap = heap(4096, 32, "MinTLABSize=256,TLABSize=512");
    let kit = Kit::new(&heap);
    for marked in [false, true] {
        heap.attach(|mutator| {
            marked.then(|| mutator.raw_mut().mark());
            kit.allocate(&*mutator, SMALL).expect("room");
            let mut room = mutator.make_room(64).unwrap();
            assert!(mutator.state().hot.has_buffer());
            // By another thread, and by this one, which is in `blocking` as well.
            let inside = || heap.stop_the_world(|world| objects(world)).unwrap().expect("alone");
            let seen = mutator
                .blocking(|| std::thread::scope(|scope| [scope.spawn(inside).join().unwrap(), inside()]));
            let expected = Ok(1 + 2 * u64::from(marked));
            assert_eq!(seen, [expected.clone(), expected]);
            assert!(!mutator.state().hot.has_buffer() && !mutator.state().hot.limit.pending());
            assert_eq!(kit.allocate((&*mutator, &mut room), SMALL), None, "it lapsed");
            kit.allocate(&*mutator, SMALL).expect("and all goes on");
        })
        .unwrap();
    }
    assert_eq!(heap.verify().unwrap().objects(kit.shape(SMALL.kind).id()), 4);
}

#[test]
fn a_reservation_outlives_blocking_if_nobody_stopped_the_world() {
    let heap = heap(4096, 10, "");
    let kit = Kit::new(&heap);
    heap.attach(|mutator| {
        let mut room = mutator.make_room(16).unwrap();
        assert_eq!(mutator.blocking(|| heap.metrics().threads.now), 1);
        assert!(kit.allocate((&*mutator, &mut room), SMALL).is_some());
    })
    .unwrap();
}

#[test]
fn an_older_mark_recycles_nothing_and_a_new_one_what_came_after_it() {
    let heap = heap(4096, 32, "");
    let kit = Kit::new(&heap);
    let stop = |heap: &Heap| heap.stop_the_world(|world| objects(world)).unwrap().expect("alone").unwrap();
    heap.attach(|mutator| {
        let old = mutator.raw_mut().mark();
        (0..500).for_each(|_| assert!(kit.allocate(&*mutator, SMALL).is_some()));
        // A run of regions is not lost either.
        kit.allocate(&*mutator, What { kind: Kind::Fixed(6), by: By::Caller }).expect("room");
        assert_eq!(mutator.blocking(|| stop(&heap)), 501);
        // SAFETY: none of the objects is used any more.
        unsafe { mutator.raw_mut().recycle(old) };
        assert_eq!(mutator.blocking(|| stop(&heap)), 501);
        let new = mutator.raw_mut().mark();
        (0..500).for_each(|_| assert!(kit.allocate(&*mutator, SMALL).is_some()));
        let used = heap.memory().used_bytes;
        // SAFETY: none of the objects is used any more.
        unsafe {
            mutator.raw_mut().recycle(old);
            assert_eq!(heap.memory().used_bytes, used);
            mutator.raw_mut().recycle(new);
        }
        assert!(heap.memory().used_bytes < used);
        assert_eq!(mutator.blocking(|| stop(&heap)), 501);
    })
    .unwrap();
    assert_eq!(heap.verify().unwrap().objects(kit.shape(SMALL.kind).id()), 500);
}

#[test]
fn who_would_wait_for_itself_is_told() {
    let (one, other) = (heap(4096, 10, ""), heap(4096, 10, ""));
    one.attach(|mutator| {
        assert_eq!(one.stop_the_world(|_| ()), Err(StopError::Attached));
        assert_eq!(other.stop_the_world(|_| ()), Err(StopError::Attached));
        let inside = mutator.blocking(|| {
            assert_eq!(one.attach(|_| ()), Err(AttachError::AlreadyAttached));
            other.stop_the_world(|_| one.stop_the_world(|_| ()))
        });
        assert_eq!(inside, Ok(Some(Err(StopError::Stopping))));
        assert_eq!(
            mutator.raw_mut().stop_the_world(|_| one.stop_the_world(|_| ())),
            Some(Err(StopError::Stopping))
        );
        assert_eq!(one.stop_the_world(|_| ()), Err(StopError::Attached), "still");
    })
    .unwrap();
    let attached = one.stop_the_world(|_| (one.attach(|_| ()), other.attach(|_| ())));
    assert_eq!(attached, Ok(Some((Err(AttachError::WorldStopped), Err(AttachError::WorldStopped)))));
    assert_eq!(one.stop_the_world(|_| other.verify().is_ok()), Ok(Some(true)));
    assert_eq!(one.attach(|_| ()), Ok(()));
}

#[test]
fn a_thread_that_attaches_and_one_that_returns_wait_for_the_end_of_the_stop() {
    let heap = heap(4096, 10, "");
    let (stopped, returned) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (inside, begun) = (Barrier::new(2), Barrier::new(3));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            heap.attach(|mutator| {
                mutator.blocking(|| {
                    inside.wait();
                    begun.wait();
                });
                returned.fetch_add(1, Ordering::SeqCst);
                assert!(!stopped.load(Ordering::SeqCst));
            })
        });
        scope.spawn(|| {
            begun.wait();
            heap.attach(|_| {
                returned.fetch_add(1, Ordering::SeqCst);
                assert!(!stopped.load(Ordering::SeqCst));
            })
        });
        inside.wait();
        let early = heap.stop_the_world(|_| {
            stopped.store(true, Ordering::SeqCst);
            begun.wait();
            (0..1000).for_each(|_| std::thread::yield_now());
            let early = returned.load(Ordering::SeqCst);
            stopped.store(false, Ordering::SeqCst);
            early
        });
        assert_eq!(early, Ok(Some(0)));
    });
    assert_eq!(returned.into_inner(), 2);
}

/// A thread's number decides its identity hashes and its sampling distances.
#[test]
fn threads_that_attach_at_once_get_numbers_of_their_own() {
    let heap = heap(4096, 10, "");
    std::thread::scope(|scope| {
        let threads = heap.stop_the_world(|_| {
            let attach = || heap.attach(|mutator| mutator.state().hashes.next());
            let threads = [scope.spawn(attach), scope.spawn(attach)];
            let waits = |_: &usize| heap.shared.threads.registry.attachments().ever < 2;
            (0..100_000).take_while(waits).for_each(|_| std::thread::yield_now());
            threads
        });
        let [one, other] = threads.unwrap().unwrap().map(|thread| thread.join().unwrap().unwrap());
        assert_ne!(one, other);
    });
}

#[test]
fn a_panic_in_blocking_detaches_and_the_heap_stays_usable() {
    let heap = heap(4096, 16, "");
    let kit = Kit::new(&heap);
    let outcome = std::thread::scope(|scope| {
        let panics = || {
            heap.attach(|mutator| {
                kit.allocate(&*mutator, SMALL).expect("room");
                // Held at that moment: the thread waits for the end of the stop, and unwinds then.
                mutator.blocking(|| {
                    heap.stop_the_world(|_| ()).unwrap();
                    std::panic::resume_unwind(Box::new("out"))
                })
            })
        };
        scope.spawn(panics).join()
    });
    assert!(outcome.is_err());
    assert_eq!(heap.metrics().threads.now, 0);
    assert_eq!(heap.stop_the_world(|world| objects(world)), Ok(Some(Ok(1))));
    assert_eq!(
        heap.attach(|mutator| mutator.raw_mut().stop_the_world(|world| objects(world))),
        Ok(Some(Ok(1)))
    );
    heap.verify().unwrap();
}

/// Each object once, in order, with its shape; each root with its kind; and no object that a
/// program overwrote is passed over in silence.
#[test]
fn the_contents_of_a_stopped_heap_are_visited() {
    for collector in CollectorKind::ALL {
        let heap = heap(4096, 64, &format!("Collector={}", collector.name()));
        let small = heap.register(Shape::fixed("Small", 24)).unwrap();
        let large = heap.register(Shape::array("Large", 16, Element::Plain { bytes: 8 })).unwrap();
        heap.attach(|mutator| {
            let raw = mutator.raw_mut();
            // SAFETY: the shapes are this heap's, and have no references.
            let roots: Vec<_> = unsafe {
                (0..40)
                    .map(|number| {
                        let (shape, length) = if number % 4 == 0 { (large, 1000) } else { (small, 0) };
                        let object = raw.alloc_raw(shape, length).unwrap();
                        raw.new_root(object.addr().get() as u64)
                    })
                    .collect()
            };
            let [one, two] = [1, 2].map(|number: usize| roots[number].get(raw).unwrap());
            // SAFETY: references to live objects.
            let held = unsafe { (raw.new_weak_root(one), raw.pin(NonNull::new(two as *mut u8).unwrap())) };
            let mut held = Some(held);
            raw.stop_the_world(|world| {
                let mut found = Vec::new();
                let visited = world.for_each_object(|object| {
                    let length = if object.shape == large.id() { 1000 } else { 0 };
                    assert_eq!(object.description.bytes_for(length), Some(object.bytes));
                    found.push((object.address, object.shape));
                });
                assert_eq!((visited, found.len() as u64), (Ok(()), objects(world).unwrap()));
                assert!(found.is_sorted_by(|one, next| one.0 < next.0), "each once, in order");
                let of = |shape: ShapeRef| found.iter().filter(|found| found.1 == shape.id()).count();
                assert_eq!((of(large), of(small)), (10, 30), "{collector:?}");
                let mut kinds = [0; RootKind::ALL.len()];
                world.for_each_root(|root| {
                    assert!(found.iter().any(|found| found.0 == root.address), "{root:?}");
                    assert_eq!(root.slot == SlotKind::Weak, root.kind == RootKind::WeakHandle);
                    kinds[root.kind as usize] += 1;
                    held = None; // no lock is held
                });
                assert_eq!(kinds, [0, 40, 1, 0, 1], "{collector:?}");
                // SAFETY: a header of a stopped heap, which is as it was afterwards.
                unsafe {
                    let header = found[7].0 as *mut u64;
                    let before = header.replace(0);
                    let error = world.for_each_object(|_| ()).unwrap_err().to_string();
                    assert!(error.starts_with(&format!("{:#x}: ", found[7].0)), "{error}");
                    header.write(before);
                }
            });
        })
        .unwrap();
        heap.verify().unwrap();
    }
}

#[test]
fn the_embedder_is_told_of_late_threads() {
    let (tell, told) = channel();
    let builder = Heap::builder().max_heap_size(4 << 20).safepoint_timeout_delay(1);
    let heap = builder.on_late_thread(move |late| tell.send(late.thread.id()).unwrap()).build().unwrap();
    let attached = Barrier::new(2);
    std::thread::scope(|scope| {
        let late = scope.spawn(|| {
            heap.attach(|mutator| {
                attached.wait();
                assert_eq!(told.recv().unwrap(), std::thread::current().id());
                mutator.safepoint();
                told
            })
        });
        attached.wait();
        let last = heap.stop_the_world(|world| world.last_to_arrive().map(|thread| thread.id()));
        assert_eq!(last, Ok(Some(Some(late.thread().id()))));
        assert!(late.join().unwrap().unwrap().try_recv().is_err(), "once");
    });
    let statistics = heap.metrics().stops;
    assert!(
        statistics.max >= std::time::Duration::from_millis(1) && statistics.max == statistics.times.sum()
    );
}

#[test]
fn five_hundred_threads_stop_again_and_again() {
    const THREADS: usize = 500;
    const STOPS: u64 = 20;
    let heap = heap(4096, 64, "");
    let turns: Vec<_> = (0..THREADS).map(|_| AtomicUsize::new(0)).collect();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for turns in &turns {
            let (heap, done) = (&heap, &done);
            let run = move || {
                heap.attach(|mutator| {
                    while !done.load(Ordering::Relaxed) {
                        turns.fetch_add(1, Ordering::Relaxed);
                        mutator.safepoint();
                        std::thread::yield_now();
                    }
                })
                .unwrap();
            };
            std::thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, run).unwrap();
        }
        let count = || turns.iter().map(|turns| turns.load(Ordering::Relaxed)).collect::<Vec<_>>();
        let mut before = vec![0; THREADS];
        for _ in 0..STOPS {
            // All have gone on since the last stop.
            while before.iter().zip(count()).any(|(before, now)| *before == now) {
                std::thread::yield_now();
            }
            let seen = heap.stop_the_world(|world| {
                before = count();
                std::thread::yield_now();
                (world.threads(), before == count())
            });
            assert_eq!(seen, Ok(Some((THREADS, true))));
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(heap.metrics().stops.stops, STOPS);
}

#[test]
fn a_panic_in_the_stopped_world_ends_the_process_with_a_reason() {
    const CHILD: &str = "ALLOTMENT_TEST_PANICS_IN_THE_STOPPED_WORLD";
    if std::env::var_os(CHILD).is_some() {
        let _ = heap(4096, 10, "").stop_the_world(|_| std::panic::resume_unwind(Box::new("out")));
        return;
    }
    let this = "mutator::tests::world::a_panic_in_the_stopped_world_ends_the_process_with_a_reason";
    let output = crate::own_program().args(["--exact", this, "--nocapture"]).env(CHILD, "").output().unwrap();
    assert_eq!(output.status.signal(), Some(6), "{output:?}");
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("allotment: ")).collect();
    assert!(matches!(lines[..], [line] if line.contains("while the world was stopped panicked")), "{text}");
}
