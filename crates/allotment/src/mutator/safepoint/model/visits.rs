//! Light stops: each visit of roots is made once, by the thread or a worker, before the thread's
//! work.

use super::{Heap, StopKind, Thread, attach, detach, heap, poll, spawn, stop, threads_and_shared};
use loom::sync::Arc;
use loom::thread;
use std::sync::atomic::Ordering;

/// A light stop that begins a visit of all threads' roots; `false`: another stop came first.
fn begin_visits(heap: &Heap) -> bool {
    let begin = || {
        let (threads, shared) = threads_and_shared(heap);
        shared.change_barriers();
        threads.iter().for_each(|thread| thread.begin_visit());
    };
    heap.stop(StopKind::Light, None, |_| begin()).is_some()
}

/// A light stop that begins a visit of roots, and the worker that makes the visit for threads that
/// are safe. Returns when every thread was visited.
fn visit(heap: &Heap) {
    assert!(begin_visits(heap));
    loop {
        let mut number = 0;
        while visit_one(heap, number) {
            number += 1;
        }
        let is_visited = |thread: &Arc<Thread>| {
            let begun = thread.begun.load(Ordering::Relaxed);
            thread.visited.try_lock().is_ok_and(|visited| *visited == begun)
        };
        if heap.lock().threads.iter().all(is_visited) {
            return;
        }
        thread::yield_now();
    }
}

/// Visits the roots of a thread, if it is safe; `false`: there is no such thread.
fn visit_one(heap: &Heap, number: usize) -> bool {
    let inner = heap.lock();
    let Some(thread) = inner.threads.get(number) else { return false };
    let mut visited = thread.visited.lock().unwrap();
    if thread.status.is_safe() {
        thread.visit_if_due(&mut visited);
    }
    true
}

/// One thread beside `visits` visits; its last action must be to leave or to enter `blocking`.
fn beside_visits(
    visits: u32,
    preemptions: Option<usize>,
    acts: impl Fn(&Heap, &Arc<Thread>) + Copy + Send + Sync + 'static,
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions;
    model.check(move || {
        let heap = heap();
        let own = attach(&heap);
        let visitor = spawn(&heap, move |heap| (0..visits).for_each(|_| visit(&heap)));
        own.work();
        acts(&heap, &own);
        visitor.join().unwrap();
    });
}

#[test]
fn a_thread_that_polls_does_its_duty_before_its_work() {
    beside_visits(1, None, |heap, own| {
        poll(heap, own);
        own.work();
        heap.enter_blocking(own);
    });
}

#[test]
fn the_duty_of_a_thread_in_blocking_is_done_once_by_the_worker_or_the_thread() {
    beside_visits(1, Some(3), |heap, own| {
        heap.enter_blocking(own);
        heap.leave_blocking(own);
        own.work();
        heap.enter_blocking(own);
    });
}

#[test]
fn a_thread_that_leaves_has_no_duty() {
    beside_visits(1, Some(4), |heap, own| {
        heap.enter_blocking(own);
        heap.leave_blocking(own);
        own.work();
        detach(heap, own);
    });
}

/// The duty of one stop is done before the next stop, whether the thread has woken up or not.
#[test]
fn of_two_visits_each_is_made_once() {
    beside_visits(2, Some(2), |heap, own| {
        poll(heap, own);
        own.work();
        heap.enter_blocking(own);
        heap.leave_blocking(own);
        own.work();
        heap.enter_blocking(own);
    });
}

/// The duty of a light stop accepts the limit's requests. A stop that was requested before the duty
/// has held the thread after it: else a thread that polls would not come to that stop.
#[test]
fn no_duty_accepts_the_request_of_a_stop_that_waits_for_the_thread() {
    let mut two = loom::model::Builder::new();
    two.preemption_bound = Some(3);
    two.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let stopper = spawn(&heap, |heap| {
            assert!(begin_visits(&heap));
            assert!(stop(&heap, None));
        });
        heap.enter_blocking(&own);
        heap.leave_blocking(&own);
        {
            // No stop begins meanwhile.
            let _threads = heap.lock();
            assert!(!own.status.is_awaited() || own.limit.pending(), "no poll finds the stop");
        }
        heap.enter_blocking(&own);
        stopper.join().unwrap();
    });
}

/// A full stop beside visits: it uses the state of all threads, and leaves the duty to them.
#[test]
fn a_full_stop_comes_between_a_light_one_and_the_duty() {
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(2);
    three.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let visitor = spawn(&heap, |heap| {
            // The other stop may come first, and is waited for.
            while !begin_visits(&heap) {}
        });
        let stopper = spawn(&heap, |heap| stop(&heap, None));
        heap.enter_blocking(&own);
        heap.leave_blocking(&own);
        own.work();
        heap.enter_blocking(&own);
        visitor.join().unwrap();
        stopper.join().unwrap();
        heap.leave_blocking(&own);
        own.work();
        detach(&heap, &own);
    });
}

/// Begins with a thread that the first stop lays asleep, which comes back beside other stops.
fn sleeper_beside(preemptions: usize, stops: impl Fn(&Heap) + Copy + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let heap = heap();
        let own = attach(&heap);
        own.work();
        heap.enter_blocking(&own);
        // The stopper is this very thread, which is in `blocking` as others would be.
        visit(&heap);
        assert!(own.status.is_asleep());
        let stopper = spawn(&heap, move |heap| stops(&heap));
        heap.leave_blocking(&own);
        assert!(!own.status.is_asleep());
        own.work();
        heap.enter_blocking(&own);
        stopper.join().unwrap();
        heap.leave_blocking(&own);
        own.work();
        detach(&heap, &own);
    });
}

#[test]
fn a_thread_that_sleeps_does_its_duty_once_when_it_comes_back() {
    sleeper_beside(3, visit);
}

#[test]
fn a_thread_that_sleeps_comes_back_beside_a_full_stop() {
    sleeper_beside(3, |heap| assert!(stop(heap, None)));
}

#[test]
fn a_thread_that_sleeps_comes_back_beside_two_stops() {
    sleeper_beside(2, |heap| {
        assert!(begin_visits(heap));
        assert!(stop(heap, None));
    });
}

/// A thread that sleeps comes back while a light stop, its duty and another stop are under way.
/// Afterwards it only polls: neither stop waits in vain, and the visit is made once.
#[test]
fn a_thread_that_slept_polls_after_its_duty_beside_another_stop() {
    let mut two = loom::model::Builder::new();
    two.preemption_bound = Some(2);
    two.check(|| {
        let heap = heap();
        let own = attach(&heap);
        heap.enter_blocking(&own);
        visit(&heap);
        assert!(own.status.is_asleep());
        let stopper = spawn(&heap, |heap| {
            assert!(begin_visits(&heap));
            assert!(stop(&heap, None));
        });
        heap.leave_blocking(&own);
        {
            // No stop begins meanwhile.
            let _threads = heap.lock();
            assert!(!own.status.is_awaited() || own.limit.pending(), "no poll finds the stop");
        }
        own.work();
        poll(&heap, &own);
        own.work();
        heap.enter_blocking(&own);
        stopper.join().unwrap();
        heap.leave_blocking(&own);
        own.work();
    });
}

/// A thread enters `blocking` beside two stops: the first may lay it asleep, or wait for it.
#[test]
fn a_thread_falls_asleep_and_comes_back_beside_two_stops() {
    let mut two = loom::model::Builder::new();
    two.preemption_bound = Some(2);
    two.check(|| {
        let heap = heap();
        let own = attach(&heap);
        let stopper = spawn(&heap, |heap| {
            assert!(begin_visits(&heap));
            assert!(stop(&heap, None));
        });
        for _ in 0..2 {
            own.work();
            heap.enter_blocking(&own);
            heap.leave_blocking(&own);
        }
        own.work();
        heap.enter_blocking(&own);
        stopper.join().unwrap();
        heap.leave_blocking(&own);
        own.work();
        detach(&heap, &own);
    });
}

/// Two threads that sleep: one comes back while the other one is visited by the worker, and the
/// places of both among the threads change.
#[test]
fn of_two_that_sleep_one_comes_back() {
    let mut three = loom::model::Builder::new();
    three.preemption_bound = Some(2);
    three.check(|| {
        let heap = heap();
        let (stays, comes) = (attach(&heap), attach(&heap));
        heap.enter_blocking(&stays);
        heap.enter_blocking(&comes);
        visit(&heap);
        let visitor = spawn(&heap, |heap| visit(&heap));
        heap.leave_blocking(&comes);
        comes.work();
        heap.enter_blocking(&comes);
        visitor.join().unwrap();
        heap.leave_blocking(&stays);
        stays.work();
        detach(&heap, &stays);
        heap.leave_blocking(&comes);
        comes.work();
        detach(&heap, &comes);
    });
}
