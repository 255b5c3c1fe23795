//! Parts that loom does not cover: late threads, numbers, names.

use super::limit::{Limit, Wish};
use super::stop::{Participant, Safepoints, StopKind};
use super::thread_list::{Place, ThreadList};
use super::{Late, LateThread, SafepointStatistics, Status, ThreadActivity, ThreadIdentity};
use proptest::prelude::*;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::Duration;

struct Thread {
    limit: Limit,
    status: Status,
    place: Place,
    identity: ThreadIdentity,
}

impl Participant for Arc<Thread> {
    fn limit(&self) -> &Limit {
        &self.limit
    }
    fn status(&self) -> &Status {
        &self.status
    }
    fn place(&self) -> &Place {
        &self.place
    }
    fn identity(&self) -> &ThreadIdentity {
        &self.identity
    }
}

fn thread() -> Arc<Thread> {
    Arc::new(Thread {
        limit: Limit::default(),
        status: Status::default(),
        place: Place::default(),
        identity: ThreadIdentity::current(),
    })
}

#[test]
fn a_late_thread_is_named_once_for_each_stop_and_waited_for() {
    let (name_it, named) = channel::<LateThread>();
    let name_it = Mutex::new(name_it);
    let hook = move |late: &LateThread| name_it.lock().unwrap().send(late.clone()).unwrap();
    let late = Late::new(1, Some(Arc::new(hook)));
    let heap = Arc::new(Safepoints::new(late, 8, ()));
    let (ready, wait_for_it) = channel();
    let slow = {
        let heap = heap.clone();
        let slow = move || {
            let own = thread();
            heap.attach(own.clone(), |_| ());
            let blocking = thread();
            heap.attach(blocking.clone(), |_| ());
            heap.enter_blocking(&blocking);
            for _ in 0..3 {
                // Awake again: a stop does not wait for a thread that the stop before it still
                // holds parked.
                ready.send(()).unwrap();
                let late = named.recv().unwrap();
                assert!(late.waited >= Duration::from_millis(1));
                assert_eq!(
                    (late.thread.name(), late.thread.id()),
                    (Some("slow"), std::thread::current().id())
                );
                let text = late.to_string();
                assert!(text.contains("thread \"slow\" (ThreadId(") && text.contains("`blocking`"), "{text}");
                own.limit.acknowledge();
                heap.park(&own);
            }
            heap.detach(&own, |_| ());
            assert!(named.try_recv().is_err(), "once for each stop");
        };
        std::thread::Builder::new().name("slow".into()).spawn(slow).unwrap()
    };
    for _ in 0..3 {
        wait_for_it.recv().unwrap();
        let last = heap.stop(StopKind::Full, None, |arrival| arrival.last).unwrap();
        assert_eq!(last.expect("one was waited for").id(), slow.thread().id());
    }
    slow.join().unwrap();
}

#[test]
fn a_hook_that_panics_lets_everybody_go_on() {
    let late = Late::new(1, Some(Arc::new(|_| std::panic::resume_unwind(Box::new("out")))));
    let heap = Safepoints::new(late, 8, ());
    let (running, blocking) = (thread(), thread());
    heap.attach(running.clone(), |_| ());
    heap.attach(blocking.clone(), |_| ());
    heap.enter_blocking(&blocking);
    let stop = std::panic::AssertUnwindSafe(|| {
        heap.stop(StopKind::Full, None, |_| unreachable!("one thread never comes"))
    });
    assert!(std::panic::catch_unwind(stop).is_err());
    // Neither waits, though both were asked.
    heap.leave_blocking(&blocking);
    heap.park(&running);
    heap.enter_blocking(&running);
    assert_eq!(heap.stop(StopKind::Full, Some(&blocking), |_| 7), Some(7));
    assert_eq!(heap.statistics().stops, 1, "the other did not come to be");
}

#[test]
fn who_has_arrived_is_not_asked_again_for_what_was_done() {
    let heap = Arc::new(Safepoints::new(Late::new(0, None), 0, ()));
    let (own, other) = (thread(), thread());
    heap.attach(own.clone(), |_| ());
    heap.attach(other.clone(), |_| ());
    let runs = {
        let (heap, other) = (heap.clone(), other.clone());
        std::thread::spawn(move || {
            while !other.limit.pending() {
                std::thread::yield_now();
            }
            heap.enter_blocking(&other);
        })
    };
    heap.stop(StopKind::Full, Some(&own), |_| {
        assert!(other.status.is_requested() && !own.status.is_requested() && !other.limit.pending());
        // A request made now counts for later.
        other.limit.request(Wish::Retire);
    })
    .expect("no other stop");
    runs.join().unwrap();
    assert!(!other.status.is_requested() && other.limit.pending());
    assert!(other.status.is_safe());
    heap.leave_blocking(&other);
    assert!(!other.status.is_safe());
}

/// A stop leaves all that a thread in `blocking` has to do to the thread itself.
#[test]
fn who_sleeps_is_not_looked_at() {
    let heap = Safepoints::new(Late::new(0, None), 0, ());
    let (own, other) = (thread(), thread());
    heap.attach(own.clone(), |_| ());
    heap.attach(other.clone(), |_| ());
    other.limit.request(Wish::Retire);
    heap.enter_blocking(&other);
    for _ in 0..2 {
        let last = heap.stop(StopKind::Full, Some(&own), |arrival| {
            assert!(!other.status.is_requested() && other.status.is_asleep() && other.limit.pending());
            arrival.last
        });
        assert!(last.expect("a stop").is_none(), "no thread had to be waited for");
    }
    assert!(other.status.is_safe() && other.limit.pending());
    heap.leave_blocking(&other);
    assert!(!other.status.is_safe() && !other.status.is_asleep());
}

/// The threads that a stop of each kind looks at, with this many threads in `blocking`.
fn looked_at(sleeping: usize) -> [usize; 4] {
    let heap = Safepoints::new(Late::new(0, None), 0, ());
    let own = thread();
    let others: Vec<_> = (0..sleeping).map(|_| thread()).collect();
    let (first, last) = others.split_at(sleeping / 2);
    first.iter().for_each(|other| heap.attach(other.clone(), |_| ()));
    heap.attach(own.clone(), |_| ());
    last.iter().for_each(|other| heap.attach(other.clone(), |_| ()));
    others.iter().for_each(|other| heap.enter_blocking(other));
    let stop = |kind| {
        heap.stop(kind, Some(&own), |_| ()).expect("no other stop");
        std::mem::take(&mut heap.lock().looked_at)
    };
    let counts = [StopKind::Light, StopKind::Full, StopKind::Light].map(stop);
    // All but one are settled. Two of those come back, and block again.
    heap.lock().threads.settle(|thread| !Arc::ptr_eq(thread, &others[1]));
    assert_eq!(heap.lock().threads.unsettled().len(), 2);
    heap.leave_blocking(&others[0]);
    heap.leave_blocking(&others[sleeping - 1]);
    heap.enter_blocking(&others[sleeping - 1]);
    heap.enter_blocking(&others[0]);
    assert_eq!(heap.lock().threads.unsettled().len(), 4);
    let again = stop(StopKind::Light);
    assert!(others.iter().all(|other| other.status.is_asleep()));
    // In any order, each is found and comes back.
    for other in others.iter().step_by(2).chain(others.iter().skip(1).step_by(2)) {
        heap.leave_blocking(other);
        heap.detach(other, |_| ());
    }
    let inner = heap.lock();
    assert!(inner.threads.len() == 1 && Arc::ptr_eq(&inner.threads[0], &own));
    [counts[0], counts[1], counts[2], again]
}

#[test]
fn the_length_of_a_stop_does_not_grow_with_threads_that_sleep() {
    let (few, many) = (looked_at(10), looked_at(2000));
    for (few, many) in few.iter().zip(&many) {
        assert!(*many <= 3 * few && *few > 0, "{few:?}, {many:?}");
    }
    assert_eq!(many[1..3], [2, 2], "the stopper alone, at the begin and the end");
}

#[test]
fn statistics_know_the_last_the_longest_and_all() {
    let mut statistics = SafepointStatistics::default();
    let ms = Duration::from_millis;
    [3, 5, 4].into_iter().for_each(|time| statistics.record(ms(time)));
    let SafepointStatistics { stops, last, max, times } = statistics;
    assert_eq!((stops, last, max), (3, ms(4), ms(5)));
    assert_eq!((times.count(), times.sum()), (stops, ms(12)));
}

#[test]
fn a_thread_without_a_name_has_its_numbers() {
    let text = std::thread::spawn(|| ThreadIdentity::current().to_string()).join().unwrap();
    assert!(text.starts_with("without a name (ThreadId("), "{text}");
    let here = ThreadIdentity::current();
    assert_eq!(here.system_id(), rustix::thread::gettid().as_raw_nonzero().get());
}

/// A thread that spins goes on at once. Stops look at it, so it needs no lock then.
#[test]
fn a_thread_that_spins_does_not_sleep() {
    let status = Status::default();
    assert!(status.request(true));
    status.arrive();
    status.begin_spin();
    assert_eq!((status.resume(), status.activity()), (None, ThreadActivity::Stopped));
    assert!(!status.lay_asleep());
    status.end_spin();
    assert!(status.lay_asleep() && status.is_asleep());
    assert_eq!(status.activity(), ThreadActivity::Blocking);
}

/// A thread and whether it is settled.
type Expected = (Arc<Thread>, bool);

/// Each thread is in the list once, in the part of its state.
fn check_places(list: &ThreadList<Arc<Thread>>, expected: &[Expected]) {
    let (awake, unsettled) = (list.awake().len(), list.unsettled().len());
    assert_eq!((list.len(), list.verify()), (expected.len(), Ok(())));
    for (thread, is_settled) in expected {
        let place = list.iter().position(|other| Arc::ptr_eq(other, thread)).expect("it is there");
        assert_eq!((thread.status.is_asleep(), *is_settled), (place >= awake, place >= unsettled));
    }
}

proptest! {
    #[test]
    fn threads_are_in_the_parts_of_their_states(
        deeds in prop::collection::vec((0..6_usize, any::<prop::sample::Index>()), 1..200),
    ) {
        let (mut list, mut expected) = (ThreadList::default(), Vec::<Expected>::new());
        for (deed, which) in deeds {
            if deed == 0 || expected.is_empty() {
                let thread = thread();
                expected.push((thread.clone(), false));
                list.add(thread);
                continue;
            }
            let number = which.index(expected.len());
            let thread = expected[number].0.clone();
            match deed {
                1 => drop(list.remove(&expected.swap_remove(number).0)),
                2 => _ = thread.status.enter(),
                3 if !thread.status.is_asleep() => {
                    let place = list.iter().position(|other| Arc::ptr_eq(other, &thread));
                    let (place, is_safe) = (place.expect("it is there"), thread.status.is_safe());
                    prop_assert!(!list.lay_asleep(place, Some(&thread)), "a stopper does not sleep");
                    prop_assert_eq!(list.lay_asleep(place, None), is_safe);
                }
                4 => {
                    list.settle(|other| Arc::ptr_eq(other, &thread));
                    expected[number].1 |= thread.status.is_asleep();
                }
                5 => {
                    list.rouse(&thread, false);
                    expected[number].1 = false;
                }
                _ => {}
            }
            check_places(&list, &expected);
        }
    }
}
